import { and, eq, isNull } from "drizzle-orm";
import { afterAll, afterEach, beforeEach, expect, test, vi } from "vitest";
import { openPostgres, type PostgresDb } from "../src/db/postgres/database.ts";
import { SharedBuckets } from "../src/http/shared-buckets.ts";
import { realTime } from "../src/lib/clock.ts";
import { postgresSchema } from "../src/schema.pg.ts";
import { createWorld } from "../src/testing/world.ts";
import type { TestWorld } from "../src/testing.ts";
import { createDatabase, dropDatabases, type TestDatabase } from "./postgres.ts";
import { ask } from "./scenario.ts";

let database: TestDatabase;
const worlds: TestWorld[] = [];
const dbs: PostgresDb[] = [];

beforeEach(async () => {
  database = await createDatabase();
});
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.dispose();
  for (const db of dbs.splice(0)) await db.close();
  await database.drop();
});
afterAll(dropDatabases);

const hello = { from: "hi@acme.test", to: "ada@example.com", subject: "Hello", text: "It works." };

/** Server processes on one database, as far as anybody can tell. */
const cluster = async (size: number, flags: Record<string, string> = {}): Promise<TestWorld[]> => {
  const made = await Promise.all(Array.from({ length: size }, (_, seed) => createWorld({ seed, databaseUrl: database.url, flags })));
  worlds.push(...made);
  return made;
};

const two = async (): Promise<[TestWorld, TestWorld]> => (await cluster(2)) as [TestWorld, TestWorld];

test("processes that start at once on an empty database make one workspace with one key", async () => {
  const made = await cluster(4);
  expect(new Set(made.map((w) => w.workspaceId)).size).toBe(1);
  expect(new Set(made.map((w) => w.apiKey)).size).toBe(1);
  const [first] = made;
  expect((await first?.sdk.keys.list())?.pagination.total).toBe(1);
});

// A busy machine adds to the time for which a process may cache a key, so the test next to the cache checks it, with its own clock.
test("a key that one revokes is dead at the others soon", async () => {
  const [one, other] = await two();
  const { id, key } = await one.sdk.keys.create({ name: "worker", permissions: ["transactional:send"] });
  expect((await ask(other, { path: "/api/v1/send", key, body: hello })).status).toBe(200);
  await one.sdk.keys.revoke(id);
  let status = 200;
  while (status === 200) status = (await ask(other, { path: "/api/v1/send", key, body: hello })).status;
  expect(status).toBe(401);
});

test("of two owner keys revoked at once through two processes one stays", async () => {
  const [one, other] = await two();
  const mine = (await one.sdk.me.get()).key.id;
  await one.app.deps.db.tx(async (tx) => {
    await tx.insert(tx.t.keys).values({
      id: "key_00000000000000000000000002",
      workspaceId: one.workspaceId,
      name: "second",
      permissions: [],
      owner: true,
      test: false,
      hash: "h",
      preview: "p",
      createdAt: 0,
      revokedAt: null,
    });
  });
  const revoke = (world: TestWorld, id: string) => ask(world, { method: "DELETE", path: `/api/v1/keys/${id}` });
  const answers = await Promise.all([revoke(one, mine), revoke(other, "key_00000000000000000000000002")]);
  // The second process may have read already that the key it is called with is revoked.
  expect([
    [200, 409],
    [200, 401],
  ]).toContainEqual(answers.map((a) => a.status).sort());
  const { read } = one.app.deps.db;
  const { keys } = read.t;
  expect(await read.$count(keys, and(eq(keys.workspaceId, one.workspaceId), eq(keys.owner, true), isNull(keys.revokedAt)))).toBe(1);
});

test("one Idempotency-Key sent to all processes at once takes effect once, and all answer the same", async () => {
  const made = await cluster(3);
  const headers = { "idempotency-key": "once" };
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, i) => ask(made[i % 3] as TestWorld, { path: "/api/v1/send", headers, body: hello })),
  );
  expect(new Set(answers.map((a) => a.status))).toEqual(new Set([200]));
  expect(new Set(await Promise.all(answers.map((a) => a.text()))).size).toBe(1);
  expect((await made[0]?.sdk.emails.list())?.pagination.total).toBe(1);
});

test("connections are cut while two processes accept sends: each Idempotency-Key takes effect once, and has one answer", async () => {
  const [one, other] = await two();
  const watcher = await openPostgres(database.url, postgresSchema, { migrate: false, connections: 2 });
  dbs.push(watcher);
  const CLIENTS = 40;
  const CUTS = 4;
  let answered = 0;
  let refused = 0;
  let cuts = 0;
  let failed = false;
  // It goes on until a cut has hit requests, however quickly they are answered.
  const over = (): boolean => failed || (cuts >= CUTS && refused > 0);
  /** Repeats a send until it is accepted. */
  const send = async (world: TestWorld, key: string): Promise<string> => {
    for (;;) {
      const answer = await ask(world, { path: "/api/v1/send", headers: { "idempotency-key": key }, body: hello });
      answered += 1;
      if (answer.status === 200) return ((await answer.json()) as { id: string }).id;
      expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "1"]);
      refused += 1;
      await realTime.sleep(10);
    }
  };
  const ids: [string, string][] = [];
  let keys = 0;
  const client = async (): Promise<void> => {
    while (!over()) {
      const key = `key-${keys++}`;
      ids.push(await Promise.all([send(one, key), send(other, key)]));
    }
  };
  const cut = async (): Promise<void> => {
    while (!over()) {
      const until = answered + 50;
      while (answered < until && !over()) await realTime.sleep(1);
      await watcher.read.raw(
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
      );
      cuts += 1;
    }
  };
  const running = Promise.all([...Array.from({ length: CLIENTS }, client), cut()]);
  running.catch(() => {
    failed = true;
  });
  await running;
  for (const [first, second] of ids) expect(first).toBe(second);
  const { read } = one.app.deps.db;
  expect(await read.$count(read.t.emails)).toBe(keys);
  expect(await read.$count(read.t.contents)).toBe(keys);
});

test("a suppression made at one process is never missed at another one", async () => {
  const [one, other] = await two();
  for (let round = 0; round < 20; round += 1) {
    const to = `reader${round}@example.com`;
    await one.sdk.suppressions.create({ email: to });
    expect((await ask(other, { path: "/api/v1/send", body: { ...hello, to } })).status).toBe(400);
  }
});

test("a rate limit holds for all processes together, and its headers tell what is left in all", async () => {
  const made = await cluster(3, { "rate-limit": "send=30/s" });
  const send = (i: number) => ask(made[i % 3] as TestWorld, { path: "/api/v1/send", body: hello });
  const first = await send(0);
  expect([first.headers.get("ratelimit-limit"), first.headers.get("ratelimit-remaining")]).toEqual(["30", "29"]);
  const answers = await Promise.all(Array.from({ length: 90 }, (_, i) => send(i)));
  const allowed = answers.filter((a) => a.status === 200).length;
  // The clocks of these worlds stand still, so nothing fills again.
  expect(allowed).toBe(29);
  const refused = answers.find((a) => a.status === 429);
  expect([refused?.headers.get("retry-after"), refused?.headers.get("ratelimit-remaining")]).toEqual(["1", "0"]);
});

test("test events are counted by all processes together, and by those that start afterwards", async () => {
  const made = await cluster(2);
  const [one, other] = made as [TestWorld, TestWorld];
  // Nobody is there: an attempt that fails is one all the same.
  await one.sdk.listings.create({ slug: "pinged", name: "Pinged", webhookUrl: "http://127.0.0.1:9/", permissions: [] });
  const path = "/api/v1/marketplace/listings/pinged/test-webhook";
  const answers = await Promise.all(Array.from({ length: 14 }, (_, i) => ask(made[i % 2] as TestWorld, { path, body: {} })));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(10);
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(4);
  expect(answers.find(({ status }) => status === 429)?.headers.get("retry-after")).toBe("6");
  await Promise.all([one.dispose(), other.dispose()]);
  const [next] = await cluster(1);
  expect((await ask(next as TestWorld, { path, body: {} })).status).toBe(429);
});

test("over time, several processes together let through the rate, and hardly less", async () => {
  // A full bucket lasts a second: what nobody asks for while the machine does other things is not lost.
  const rate = { perSecond: 100, burst: 100 };
  const limiters = await Promise.all(
    [1, 2, 3].map(async () => {
      const db = await openPostgres(database.url, postgresSchema, { migrate: false, connections: 2 });
      dbs.push(db);
      return new SharedBuckets(db, Date.now, false);
    }),
  );
  const from = realTime.now();
  let allowed = 0;
  const client = async (limiter: SharedBuckets): Promise<void> => {
    while (realTime.now() - from < 1500) {
      const taken = await limiter.take("key:send", rate);
      if (taken.allowed) allowed += 1;
      else await realTime.sleep(1);
    }
  };
  await Promise.all(limiters.flatMap((l) => [client(l), client(l)]));
  const most = rate.burst + (rate.perSecond * (realTime.now() - from)) / 1000;
  expect(allowed).toBeLessThanOrEqual(most);
  expect(allowed).toBeGreaterThan(most * 0.7);
});

test("what is drawn at once is so much that a busy key costs few queries", async () => {
  const db = await openPostgres(database.url, postgresSchema, { migrate: false });
  dbs.push(db);
  const limiter = new SharedBuckets(db, Date.now, false);
  const rate = { perSecond: 50_000, burst: 50_000 };
  const queries = vi.spyOn(db.read, "raw");
  for (let i = 0; i < 5000; i += 1) expect((await limiter.take("key:send", rate)).allowed).toBe(true);
  expect(queries.mock.calls.length).toBeGreaterThan(0);
  expect(queries.mock.calls.length).toBeLessThanOrEqual(4);
});

test("while the database takes no writes, each process limits by itself", async () => {
  const url = new URL(database.url);
  url.searchParams.set("options", "-c default_transaction_read_only=on");
  const db = await openPostgres(url.href, postgresSchema, { migrate: false, connections: 2 });
  dbs.push(db);
  let now = 1_000_000;
  const limiter = new SharedBuckets(db, () => now, false);
  const rate = { perSecond: 2, burst: 2 };
  const take = () => limiter.take("key:read", rate);
  expect(await take()).toEqual({ allowed: true, limit: 2, remaining: 1, reset: 1 });
  expect(await take()).toMatchObject({ allowed: true, remaining: 0 });
  expect(await take()).toMatchObject({ allowed: false, remaining: 0, reset: 1 });
  now += 1000;
  expect(await take()).toMatchObject({ allowed: true });
});
