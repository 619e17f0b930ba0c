import { expect, test } from "vitest";
import { startReceiver } from "../../test/marketplace.ts";
import { ask } from "../../test/scenario.ts";
import { keyFor } from "../../test/tenant.ts";
import { createWorld, type TestWorld } from "../testing.ts";

const hello = { from: "a@acme.test", to: "ada@example.com", subject: "Hello", text: "x" };
const send = (world: TestWorld, idempotencyKey: string, changes: Record<string, unknown> = {}, key?: string) =>
  ask(world, {
    path: "/api/v1/send",
    body: { ...hello, ...changes },
    headers: { "idempotency-key": idempotencyKey },
    ...(key && { key }),
  });
const total = async (world: TestWorld) => (await world.sdk.emails.list()).pagination.total;
const codeOf = async (response: Response) => ((await response.json()) as { error: { code: string } }).error.code;

test("the same request with the same key has one effect; the repeated response is the same and marked as a replay", async () => {
  await using world = await createWorld();
  const first = await send(world, "k");
  const second = await send(world, "k");
  expect([first.status, first.headers.get("idempotency-replayed")]).toEqual([200, null]);
  expect([second.status, second.headers.get("idempotency-replayed")]).toEqual([200, "true"]);
  expect(await second.text()).toBe(await first.text());
  expect(second.headers.get("x-request-id")).not.toBe(first.headers.get("x-request-id"));
  expect(await world.inbox.all()).toHaveLength(1);
});

test("fifty concurrent requests with the same key have one effect and fifty equal responses", async () => {
  await using world = await createWorld();
  const answers = await Promise.all(Array.from({ length: 50 }, () => send(world, "k")));
  expect(new Set(answers.map((a) => a.status))).toEqual(new Set([200]));
  expect(new Set(await Promise.all(answers.map((a) => a.text()))).size).toBe(1);
  expect(answers.filter((a) => a.headers.get("idempotency-replayed") === null)).toHaveLength(1);
  expect(await total(world)).toBe(1);
});

test("concurrent requests with keys share a transaction, and each is replayed with its own answer", async () => {
  await using world = await createWorld();
  await world.sdk.suppressions.create({ email: "gone@example.com" });
  const all = (): Promise<Response[]> =>
    Promise.all(
      Array.from({ length: 50 }, (_, i) => send(world, `k${i}`, { to: i % 10 === 3 ? "gone@example.com" : `reader${i}@example.com` })),
    );
  const texts = (answers: readonly Response[]): Promise<string[]> => Promise.all(answers.map((answer) => answer.text()));
  // One of them has an answer of before.
  const earlier = await (await send(world, "k7", { to: "reader7@example.com" })).text();
  const first = await all();
  expect(first.map(({ status }) => status)).toEqual(Array.from({ length: 50 }, (_, i) => (i % 10 === 3 ? 400 : 200)));
  const given = await texts(first);
  expect(given[7]).toBe(earlier);
  const again = await all();
  expect(again.map(({ headers }) => headers.get("idempotency-replayed"))).toEqual(
    Array.from({ length: 50 }, (_, i) => (i % 10 === 3 ? null : "true")),
  );
  const repeated = await texts(again);
  expect(repeated.filter((_, i) => i % 10 !== 3)).toEqual(given.filter((_, i) => i % 10 !== 3));
  expect(await total(world)).toBe(45);
});

test("of fifty concurrent requests with the same key and different bodies, one succeeds and the others are refused", async () => {
  await using world = await createWorld();
  const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => send(world, "k", { subject: `Hello ${i}` })));
  expect(answers.filter((a) => a.status === 200)).toHaveLength(1);
  expect(answers.filter((a) => a.status === 409)).toHaveLength(49);
  expect(await total(world)).toBe(1);
});

test("concurrent requests with the same key cause one effect outside of the database", async () => {
  await using hooks = await startReceiver();
  await using world = await createWorld();
  await world.sdk.listings.create({ slug: "writer", name: "Writer", webhookUrl: hooks.url, permissions: [] });
  const headers = { "idempotency-key": "k" };
  const ping = () => ask(world, { path: "/api/v1/marketplace/listings/writer/test-webhook", headers });
  const answers = await Promise.all(Array.from({ length: 20 }, ping));
  expect(new Set(answers.map((a) => a.status))).toEqual(new Set([200]));
  expect(new Set(await Promise.all(answers.map((a) => a.text()))).size).toBe(1);
  expect(answers.filter((a) => a.headers.get("idempotency-replayed") === null)).toHaveLength(1);
  expect(hooks.bodies).toHaveLength(1);
  expect((await ping()).headers.get("idempotency-replayed")).toBe("true");
  expect(hooks.bodies).toHaveLength(1);
});

test("another body with the same key is refused", async () => {
  await using world = await createWorld();
  await send(world, "k");
  const other = await send(world, "k", { subject: "Other" });
  expect([other.status, await codeOf(other)]).toEqual([409, "idempotency_key_reused"]);
  expect(await total(world)).toBe(1);
});

test("a refused request does not use the key: the corrected request succeeds", async () => {
  await using world = await createWorld();
  expect((await send(world, "k", { to: "nobody" })).status).toBe(400);
  expect((await send(world, "k", { from: "x@unverified.com" })).status).toBe(400);
  const good = await send(world, "k");
  expect([good.status, good.headers.get("idempotency-replayed")]).toEqual([200, null]);
});

test("a response is replayed for 24 hours and then deleted", async () => {
  await using world = await createWorld();
  const first = await (await send(world, "k")).text();
  await world.clock.advance("23h");
  expect(await (await send(world, "k")).text()).toBe(first);
  await world.clock.advance("3h");
  const later = await send(world, "k");
  expect([later.status, later.headers.get("idempotency-replayed")]).toEqual([200, null]);
  expect(await later.text()).not.toBe(first);
  expect(await total(world)).toBe(2);
});

test("responses that come all the time are each deleted about a day later, and not an hour after that", async () => {
  await using world = await createWorld();
  await send(world, "a");
  await world.clock.advance("10m");
  const first = await (await send(world, "b")).text();
  await world.clock.advance("24h");
  await world.clock.advance("2m");
  expect(await (await send(world, "b")).text()).not.toBe(first);
});

test("thousands of old responses are deleted in chunks", async () => {
  await using world = await createWorld();
  const { db, clock } = world.app.deps;
  const rows = Array.from({ length: 2500 }, (_, i) => ({
    keyId: "key_x",
    route: "POST /x",
    idempotencyKey: `k${i}`,
    requestHash: "h",
    status: 200,
    answer: "{}",
    createdAt: clock.now(),
  }));
  await db.tx(async (tx) => {
    for (let i = 0; i < rows.length; i += 500) await tx.insert(tx.t.idempotency).values(rows.slice(i, i + 500));
  });
  await world.clock.advance("26h");
  expect(await db.read.$count(db.read.t.idempotency)).toBe(0);
});

test("an Idempotency-Key belongs to one API key and one endpoint", async () => {
  await using world = await createWorld();
  const other = await keyFor(world, "transactional:send");
  const first = await (await send(world, "k")).text();
  const second = await send(world, "k", {}, other);
  expect(second.headers.get("idempotency-replayed")).toBeNull();
  expect(await second.text()).not.toBe(first);
  const elsewhere = await ask(world, {
    path: "/api/v1/suppressions",
    body: { email: "x@example.com" },
    headers: { "idempotency-key": "k" },
  });
  expect(elsewhere.status).toBe(201);
});

test("the status of the response is replayed too, on every endpoint that changes something", async () => {
  await using world = await createWorld();
  const create = () => ask(world, { path: "/api/v1/senders", body: { email: "hello@acme.example" }, headers: { "idempotency-key": "k" } });
  const first = await create();
  const second = await create();
  expect([first.status, second.status]).toEqual([201, 201]);
  expect(await second.json()).toEqual(await first.json());
});

test("a repeated request with the same Idempotency-Key shows the created API key again", async () => {
  await using world = await createWorld();
  const create = async () =>
    (await (
      await ask(world, {
        path: "/api/v1/keys",
        body: { name: "n", permissions: ["keys:read"] },
        headers: { "idempotency-key": "k" },
      })
    ).json()) as { key: string };
  const { key } = await create();
  expect((await create()).key).toBe(key);
  expect((await world.sdk.keys.list()).pagination.total).toBe(2);
});

test("the same path with another id is another request", async () => {
  await using world = await createWorld();
  const ids = await Promise.all(
    [1, 2].map(async () => ((await world.sdk.emails.send({ ...hello, scheduledAt: "2026-02-01T00:00:00Z" })) as { id: string }).id),
  );
  const cancel = (id = "") => ask(world, { path: `/api/v1/emails/${id}/cancel`, headers: { "idempotency-key": "k" } });
  expect((await cancel(ids[0])).status).toBe(200);
  expect((await cancel(ids[1])).status).toBe(409);
});

test("an internal error stores nothing, so the retry does the work", async () => {
  await using world = await createWorld();
  const { queue } = world.app.deps;
  const { announce } = queue;
  queue.announce = () => Promise.reject(new Error("trouble"));
  expect((await send(world, "k")).status).toBe(500);
  queue.announce = announce;
  const again = await send(world, "k");
  expect([again.status, again.headers.get("idempotency-replayed")]).toEqual([200, null]);
});

test("a request that means the same is the same, however its JSON is written", async () => {
  await using world = await createWorld();
  const post = (body: string, path = "/api/v1/send") =>
    world.fetch(`${world.url}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${world.apiKey}`, "content-type": "application/json", "idempotency-key": "k" },
      body,
    });
  const first = await post('{"from":"a@acme.test","to":"ada@example.com","subject":"Hello","text":"x","headers":{"X-A":"1","X-B":"2"}}');
  expect(first.status).toBe(200);
  const spellings = [
    '{"text":"x", "headers":{"X-B":"2","X-A":"1"},\n "subject":"Hello","to":"ada@example.com","from":"a@acme.test"}',
    '{"from":"a@acme.test","to":"\\u0061da@example.com","subject":"Hello","text":"x","headers":{"X-A":"1","X-B":"2"}}',
  ];
  for (const spelling of spellings) {
    const again = await post(spelling);
    expect([again.status, again.headers.get("idempotency-replayed")]).toEqual([200, "true"]);
  }
  const other = await post('{"from":"a@acme.test","to":"ada@example.com","subject":"Hello","text":"x","headers":{"X-A":"2","X-B":"1"}}');
  expect(other.status).toBe(409);
  const draft = '{"name":"n","subjectLine":"s","fromEmail":"news@acme.example"';
  expect((await post(`${draft}}`, "/api/v1/campaigns")).status).toBe(201);
  const spelledOut = await post(`${draft},"recipientType":"all","exclude":[],"trackOpens":true}`, "/api/v1/campaigns");
  expect([spelledOut.status, spelledOut.headers.get("idempotency-replayed")]).toEqual([201, "true"]);
});

test("an email of a batch that means the same under its own key is the same", async () => {
  await using world = await createWorld();
  const batch = async (json: string) => {
    const response = await world.fetch(`${world.url}/api/v1/send/batch`, {
      method: "POST",
      headers: { authorization: `Bearer ${world.apiKey}`, "content-type": "application/json" },
      body: `{"mode":"permissive","emails":[${json}]}`,
    });
    return (await response.json()) as { results: unknown[] };
  };
  const first = await batch('{"from":"a@acme.test","to":"eve@example.com","subject":"s","text":"x","idempotencyKey":"i"}');
  const again = await batch('{ "idempotencyKey":"i", "text":"x","subject":"s","to":"eve@example.com","from":"a@acme.test"}');
  expect(again.results).toMatchObject(first.results);
  expect((await world.sdk.emails.list()).pagination.total).toBe(1);
});
