import { describe, expect, test } from "vitest";
import { ask } from "../../test/scenario.ts";
import { keyFor } from "../../test/tenant.ts";
import { StorageUnavailable } from "../db/errors.ts";
import { createWorld, type TestWorld } from "../testing.ts";

const hello = { from: "a@acme.test", to: "ada@example.com", subject: "Hello", text: "x" };
const send = (world: TestWorld, key?: string) => ask(world, { path: "/api/v1/send", body: hello, ...(key && { key }) });
const told = (r: Response) => ["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset", "retry-after"].map((h) => r.headers.get(h));

describe("rates", () => {
  test("every response to a key says how many requests are left, and a 429 when to retry", async () => {
    await using world = await createWorld({ flags: { "rate-limit": "send=2/s" } });
    expect(told(await send(world))).toEqual(["2", "1", "1", null]);
    expect(told(await send(world))).toEqual(["2", "0", "1", null]);
    const third = await send(world);
    expect([third.status, ...told(third)]).toEqual([429, "2", "0", "1", "1"]);
    expect(await third.json()).toMatchObject({
      error: { code: "rate_limited", message: "Too many requests. This API key may make 2 send requests per second." },
    });
  });

  test("a bucket refills with time, and never beyond its size", async () => {
    await using world = await createWorld({ flags: { "rate-limit": "send=2/s" } });
    const three = async () => [await send(world), await send(world), await send(world)].map((r) => r.status);
    expect(await three()).toEqual([200, 200, 429]);
    await world.clock.advance("500ms");
    expect((await send(world)).status).toBe(200);
    expect((await send(world)).status).toBe(429);
    await world.clock.advance("1h");
    expect(await three()).toEqual([200, 200, 429]);
  });

  test("each key has its own limits, and each of its buckets too", async () => {
    await using world = await createWorld({ flags: { "rate-limit": "send=1/s,write=1/s,read=1/s" } });
    const path = "/api/v1/suppressions";
    expect((await send(world)).status).toBe(200);
    expect((await send(world)).status).toBe(429);
    expect((await ask(world, { path, body: { email: "x@example.com" } })).status).toBe(201);
    expect((await ask(world, { path, body: { email: "y@example.com" } })).status).toBe(429);
    expect((await ask(world, { method: "GET", path })).status).toBe(200);
    expect((await ask(world, { method: "GET", path })).status).toBe(429);
    await world.clock.advance("1s");
    const other = await keyFor(world, "transactional:send");
    expect((await send(world, other)).status).toBe(200);
    expect((await send(world)).status).toBe(200);
  });

  test("a rate-limited request has no effect, and an invalid request counts as well", async () => {
    await using world = await createWorld({ flags: { "rate-limit": "send=1/s" } });
    expect((await ask(world, { path: "/api/v1/send", body: "{" })).status).toBe(400);
    expect((await send(world)).status).toBe(429);
    expect((await world.sdk.emails.list()).pagination.total).toBe(0);
  });

  test("responses without a key have no rate headers", async () => {
    await using world = await createWorld();
    expect(told(await ask(world, { method: "GET", path: "/healthz", key: null }))).toEqual([null, null, null, null]);
  });
});

test("an unavailable database is answered 503 storage_unavailable with Retry-After; nothing is stored, and the next try succeeds", async () => {
  await using world = await createWorld();
  const db = world.app.deps.db as { tx: unknown };
  const { tx } = db;
  db.tx = () => Promise.reject(new StorageUnavailable("The database cannot work at the moment (SQLITE_FULL)."));
  const headers = { "idempotency-key": "k" };
  const full = await ask(world, { path: "/api/v1/send", body: hello, headers });
  expect([full.status, full.headers.get("retry-after")]).toEqual([503, "1"]);
  expect(await full.json()).toMatchObject({ error: { code: "storage_unavailable", hint: expect.stringContaining("nothing was stored") } });
  expect((await ask(world, { method: "GET", path: "/api/v1/emails" })).status).toBe(200);
  db.tx = tx;
  expect((await ask(world, { path: "/api/v1/send", body: hello, headers })).status).toBe(200);
  expect((await world.sdk.emails.list()).pagination.total).toBe(1);
});
