import type { RequestRecord } from "@mailsvc/sdk/contract";
import { describe, expect, test } from "vitest";
import { ask } from "../../test/scenario.ts";
import { keyFor, secondWorkspace } from "../../test/tenant.ts";
import { DAY } from "../lib/units.ts";
import { createWorld, type TestWorld } from "../testing.ts";
import { toSafePath } from "./request-log.ts";

const hello = { from: "a@acme.test", to: "ada@example.com", subject: "Hello", text: "x" };
const lines = async (world: TestWorld, query: Parameters<TestWorld["sdk"]["requests"]["list"]>[0] = {}): Promise<string[]> =>
  (await world.sdk.requests.list(query)).data.map(({ method, path, status, error }) => `${method} ${path} ${status} ${error}`);

describe("requests", () => {
  test("are listed with what they asked, how they were answered and by which key", async () => {
    await using world = await createWorld();
    const { key, id } = await world.sdk.keys.create({ name: "shop", permissions: ["transactional:send"] });
    const response = await ask(world, { path: "/api/v1/send", body: hello, key });
    const { data } = await world.sdk.requests.list({ key: "shop" });
    expect(data).toMatchObject([
      {
        id: response.headers.get("x-request-id"),
        ...{ method: "POST", path: "/api/v1/send", route: "/api/v1/send", status: 200, error: null },
        key: { id, name: "shop", preview: expect.stringMatching(/^ms_dev_/) },
      },
    ]);
    expect((await world.sdk.requests.list({ key: id })).data).toEqual(data);
    expect((await world.sdk.requests.list({ key: "other" })).data).toEqual([]);
    expect(JSON.stringify(data)).not.toContain("ada@example.com");
  });

  test("are listed when they are refused: without a key, with a wrong one, at a wrong path, with too much or with nonsense", async () => {
    await using world = await createWorld({ flags: { "max-body": "1" } });
    await world.fetch(`${world.url}/api/v1/emails`);
    await ask(world, { method: "GET", path: "/api/v1/emails", key: `ms_live_${"a".repeat(49)}` });
    await ask(world, { method: "GET", path: "/api/v1/email" });
    await ask(world, { method: "DELETE", path: "/api/v1/send" });
    await ask(world, { path: "/api/v1/send", body: { ...hello, text: "x".repeat(2_000_000) } });
    await ask(world, { path: "/api/v1/send", body: { from: "nobody" } });
    await ask(world, { method: "GET", path: "/api/v1/%E0%A4%A" });
    expect(await lines(world, { failed: true })).toEqual([
      "GET /api/v1/* 400 validation_error",
      "POST /api/v1/send 400 validation_error",
      "POST /api/v1/send 413 payload_too_large",
      "DELETE /api/v1/send 405 method_not_allowed",
      "GET /api/v1/email 404 not_found",
      "GET /api/v1/emails 401 unauthorized",
      "GET /api/v1/emails 401 unauthorized",
    ]);
    const [wrong, none] = (await world.sdk.requests.list({ path: "/api/v1/emails" })).data;
    expect([wrong?.key, none?.key]).toEqual([{ id: null, name: null, preview: "ms_live_aa…aaaa" }, null]);
    expect(await lines(world, { failed: false })).toEqual([]);
  });

  test("are filtered by path and method, and continue after a number", async () => {
    await using world = await createWorld();
    const { id } = await world.sdk.emails.send(hello);
    await world.sdk.emails.get(id);
    await world.sdk.contacts.list();
    expect(await lines(world, { path: "/api/v1/emails/*" })).toEqual([`GET /api/v1/emails/${id} 200 null`]);
    expect(await lines(world, { path: "/api/v1/emails/:id" })).toEqual([`GET /api/v1/emails/${id} 200 null`]);
    expect(await lines(world, { method: "POST" })).toEqual(["POST /api/v1/send 200 null"]);
    const [newest] = (await world.sdk.requests.list({ limit: 1 })).data;
    expect(newest?.path).toBe("/api/v1/contacts");
    await world.sdk.lists.list();
    expect(await lines(world, { after: newest?.sequence ?? 0 })).toEqual(["GET /api/v1/lists 200 null"]);
    await expect(world.sdk.requests.list({ path: "emails" })).rejects.toMatchObject({
      code: "validation_error",
      details: [{ path: "path", message: expect.stringContaining("A path begins with /.") }],
    });
  });

  test("hold no addresses, no queries and no ids of contacts", async () => {
    await using world = await createWorld();
    const contact = await world.sdk.contacts.create({ email: "ada@example.com", externalId: "customer-7" });
    await world.sdk.contacts.get("ada@example.com");
    await world.sdk.contacts.get("customer-7");
    await world.sdk.contacts.get(contact.id);
    await world.sdk.emails.list({ to: "ada@example.com" });
    await ask(world, { method: "GET", path: "/api/v2/contacts/ada%40example.com" });
    const { data } = await world.sdk.requests.list({});
    for (const secret of ["ada", "customer-7", contact.id]) expect(JSON.stringify(data)).not.toContain(secret);
    expect(await lines(world, { path: "/api/v1/contacts/:id" })).toHaveLength(3);
  });

  test("of another workspace are never seen, nor are bodies of this one", async () => {
    await using world = await createWorld();
    const other = await secondWorkspace(world);
    await other.sdk.emails.send(hello);
    expect((await world.sdk.requests.list({ path: "/api/v1/send" })).data).toEqual([]);
    expect((await other.sdk.requests.list({ path: "/api/v1/send" })).data).toHaveLength(1);
  });

  test("that only look at the server are left out", async () => {
    await using world = await createWorld();
    await world.sdk.clock.show();
    await world.sdk.requests.list();
    await ask(world, { method: "GET", path: "/healthz" });
    await ask(world, { method: "GET", path: "/api/v1/emails", headers: { "x-mailsvc-look": "1" } });
    expect(await lines(world)).toEqual([]);
    await ask(world, { path: "/api/v1/send", body: hello, headers: { "x-mailsvc-look": "1" } });
    await world.sdk.clock.advance({ by: "1m" });
    expect(await lines(world)).toEqual(["POST /__dev/clock/advance 200 null", "POST /api/v1/send 200 null"]);
  });

  test("are the last thousand, and none after a reset", async () => {
    await using world = await createWorld();
    const { requestLog } = world.app.deps;
    const request = { requestId: "req_1", method: "GET", pathname: "/x", route: null, status: 200, error: null };
    for (let i = 0; i < 1100; i += 1) requestLog?.note({ ...request, ms: 0, workspaceId: null, keyId: null, keyPreview: null });
    const { data } = await world.sdk.requests.list({ limit: 1000 });
    expect([data.length, data[0]?.sequence, data.at(-1)?.sequence]).toEqual([1000, 1100, 101]);
    await world.sdk.world.reset();
    expect(await lines(world)).toEqual(["POST /__dev/reset 200 null"]);
  });

  test("are followed as they are answered, and by a filter", async () => {
    await using world = await createWorld();
    const stop = new AbortController();
    const seen: RequestRecord[] = [];
    const following = (async () => {
      for await (const request of world.sdk.requests.tail({ failed: true }, { signal: stop.signal })) {
        seen.push(request);
        if (seen.length === 2) stop.abort();
      }
    })();
    // The stream begins with what comes next, once it is open.
    while (seen.length < 2) {
      await ask(world, { path: "/api/v1/send", body: {} });
      await world.sdk.lists.list();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await following;
    expect(seen.map(({ path, error }) => [path, error])).toEqual([
      ["/api/v1/send", "validation_error"],
      ["/api/v1/send", "validation_error"],
    ]);
  });

  test("are kept by a server that was asked to, with the same filters and no addresses, for as many days", async () => {
    await using world = await createWorld({ dev: false, flags: { keep: "requests=30" } });
    const { sdk } = world;
    await sdk.contacts.create({ email: "ada@example.com" });
    await sdk.contacts.get("ada@example.com");
    await ask(world, { path: "/api/v1/send", body: {} });
    await ask(world, { method: "GET", path: "/api/v1/emails", key: null });
    const all = (await sdk.requests.list()).data;
    expect(all.map(({ method, path, error }) => `${method} ${path} ${error}`)).toEqual([
      "GET /api/v1/emails unauthorized",
      "POST /api/v1/send validation_error",
      "GET /api/v1/contacts/:id null",
      "POST /api/v1/contacts null",
    ]);
    expect(all[1]).toMatchObject({ key: { id: expect.stringMatching(/^key_/), name: expect.any(String) }, ms: expect.any(Number) });
    expect(JSON.stringify(all)).not.toContain("ada");
    expect(await lines(world, { failed: true, method: "POST" })).toEqual(["POST /api/v1/send 400 validation_error"]);
    expect(await lines(world, { method: "GET", failed: false })).toEqual(["GET /api/v1/contacts/:id 200 null"]);
    expect(await lines(world, { path: "/api/v1/contacts", limit: 1 })).toEqual(["GET /api/v1/contacts/:id 200 null"]);
    expect(await lines(world, { after: all[1]?.sequence ?? 0 })).toEqual(["GET /api/v1/emails 401 unauthorized"]);
    await world.clock.advance("1d");
    world.clock.control.freeze(world.clock.now() + 40 * DAY);
    await world.clock.advance("3d");
    expect(await lines(world)).toEqual([]);
  });

  test("are followed on such a server as they are written, and from where a lost connection was", async () => {
    await using world = await createWorld({ dev: false, flags: { keep: "requests=30" } });
    const { db, requestStore } = world.app.deps;
    const stop = new AbortController();
    const seen: RequestRecord[] = [];
    const following = (async () => {
      for await (const request of world.sdk.requests.tail({ failed: true }, { signal: stop.signal })) {
        seen.push(request);
        if (seen.length === 2) stop.abort();
      }
    })();
    // The stream begins with what comes next, once it is open.
    while (seen.length < 2) {
      await ask(world, { path: "/api/v1/send", body: {} });
      await world.sdk.lists.list();
      await requestStore?.save();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await following;
    expect(seen.map(({ path, error }) => [path, error])).toEqual([
      ["/api/v1/send", "validation_error"],
      ["/api/v1/send", "validation_error"],
    ]);
    const [newest] = (await world.sdk.requests.list({ limit: 1 })).data;
    const resumed = await requestStore?.begin(db.read, (newest?.sequence ?? 0) - 1);
    expect(await resumed?.next()).toMatchObject([{ sequence: newest?.sequence }]);
  });

  test("that another server wrote with a smaller number are given too, once", async () => {
    await using world = await createWorld({ dev: false, flags: { keep: "requests=30" } });
    const { db, requestStore } = world.app.deps;
    await world.sdk.lists.list();
    await requestStore?.save();
    const [row] = await db.read.select().from(db.read.t.requestRecords);
    if (!row) throw new Error("A request was kept.");
    const write = (seq: number) => db.tx((tx) => tx.insertAll(tx.t.requestRecords, [{ ...row, seq }]));
    const follower = await requestStore?.begin(db.read, row.seq);
    const numbers = async () => (await follower?.next())?.map(({ sequence }) => sequence - row.seq);
    await write(row.seq + 12);
    expect(await numbers()).toEqual([12]);
    await write(row.seq + 11);
    await write(row.seq + 13);
    expect(await numbers()).toEqual([11, 13]);
    expect(await numbers()).toEqual([]);
    expect(follower?.last).toBe(row.seq + 13);
  });

  test("that were not written when a server stops are written then", async () => {
    await using world = await createWorld({ dev: false, flags: { keep: "requests=30" } });
    await world.sdk.lists.list();
    const { db, requestStore } = world.app.deps;
    expect(await db.read.$count(db.read.t.requestRecords)).toBe(0);
    await requestStore?.save();
    expect(await db.read.$count(db.read.t.requestRecords)).toBe(1);
  });

  test("need the permission to read events, and dev mode", async () => {
    await using world = await createWorld();
    const clerk = await keyFor(world, "contacts:read");
    expect((await ask(world, { method: "GET", path: "/api/v1/requests", key: clerk })).status).toBe(403);
    await using production = await createWorld({ dev: false });
    await expect(production.sdk.requests.list()).rejects.toMatchObject({ code: "invalid_state" });
    await expect(production.sdk.requests.tail().next()).rejects.toMatchObject({ code: "invalid_state" });
  });
});

test.each([
  ["/api/v1/emails/em_01jc3v2m9k8q4w6x0y5z7a1b2c", "/api/v1/emails/:id", "/api/v1/emails/em_01jc3v2m9k8q4w6x0y5z7a1b2c"],
  ["/api/v1/contacts/ada%40example.com", "/api/v1/contacts/:id", "/api/v1/contacts/:id"],
  ["/api/v1/contacts/con_01jc3v2m9k8q4w6x0y5z7a1b2c", "/api/v1/contacts/:id", "/api/v1/contacts/:id"],
  ["/api/v1/v1/events", "/api/v1/events", "/api/v1/v1/events"],
  ["/api/v1/contakts/ada@example.com", null, "/api/v1/contakts/*"],
  ["/u/Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MA", null, "/u/*"],
  ["/", null, "/"],
])("%s of the endpoint %s is kept as %s", (path, route, kept) => {
  expect(toSafePath(path, route)).toBe(kept);
});
