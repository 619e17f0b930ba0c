import pg from "pg";
import { afterAll, expect, test, vi } from "vitest";
import { createDatabase, dropDatabases, type TestDatabase } from "../../../test/postgres.ts";
import { firstIdAt, TEST_MAIL_FROM } from "../../lib/ids.ts";
import { startOfMonth } from "../../lib/month.ts";
import { createWorld, type TestWorld } from "../../testing.ts";
import { firstNumberOfMonth, type MonthlyTables } from "../months.ts";
import type { PostgresDb } from "./database.ts";

afterAll(dropDatabases);

const hello = { from: "hello@acme.example", to: "ada@mail.example", subject: "Hello", text: "Hello" };
const flags = { keep: "emails=30,events=30" };

interface OnPostgres extends AsyncDisposable {
  readonly world: TestWorld;
  readonly database: TestDatabase;
  readonly db: PostgresDb;
  /** The parts of a table, with how many rows each has. */
  parts(table: string): Promise<Record<string, number>>;
}

async function start(options: Parameters<typeof createWorld>[0] = {}): Promise<OnPostgres> {
  const database = await createDatabase();
  const world = await createWorld({ flags, databaseUrl: database.url, ...options });
  const db = world.app.deps.db as PostgresDb;
  return {
    world,
    database,
    db,
    parts: async (table) => {
      const names = await db.read.raw<{ name: string }>(
        "select inhrelid::regclass::text as name from pg_inherits where inhparent = $1::regclass",
        [table],
      );
      const rows = names.map(async ({ name }) => [
        name,
        Number((await db.read.raw<{ n: string }>(`select count(*) as n from ${name}`))[0]?.n),
      ]);
      return Object.fromEntries((await Promise.all(rows)).sort());
    },
    [Symbol.asyncDispose]: async () => {
      await world.dispose();
      await database.drop();
    },
  };
}

test("mail and events are dropped with their month, together with all that is theirs", async () => {
  await using on = await start();
  const { sdk, clock } = on.world;
  await sdk.emails.send({ ...hello, tags: { kind: "welcome" } });
  await on.world.settle();
  expect(await on.parts("emails")).toEqual({});
  await clock.advance("1d");
  expect(await on.parts("emails")).toEqual({ emails_apart: 0, emails_open: 0, emails_until_2026_02: 1 });
  clock.control.freeze(Date.parse("2026-01-31T00:00:00.000Z"));
  await clock.advance("4d");
  await sdk.emails.send({ ...hello, subject: "February" });
  await on.world.settle();
  expect(await on.parts("emails")).toMatchObject({ emails_until_2026_02: 1, emails_until_2026_03: 1 });
  expect(await on.parts("events")).toMatchObject({ events_until_2026_02: 3, events_until_2026_03: 3 });
  expect(await on.parts("event_runs")).toMatchObject({
    event_runs_until_2026_02: expect.any(Number),
    event_runs_until_2026_03: expect.any(Number),
  });
  expect((await sdk.emails.list()).data.map(({ subject }) => subject)).toEqual(["February", "Hello"]);

  clock.control.freeze(Date.parse("2026-03-05T00:00:00.000Z"));
  // The counters were behind, so what is divided by their numbers goes a day later.
  await clock.advance("3d");
  for (const table of ["emails", "contents", "events", "event_runs", "email_labels"]) {
    const parts = await on.parts(table);
    expect(parts).toHaveProperty(`${table}_rest`, 0);
    expect(parts).not.toHaveProperty(`${table}_until_2026_02`);
  }
  expect((await sdk.emails.list()).data.map(({ subject }) => subject)).toEqual(["February"]);
  const { id } = await sdk.emails.send({ ...hello, subject: "March" });
  await on.world.settle();
  expect((await sdk.emails.get(id)).status).toBe("delivered");
  expect((await sdk.events.list({ email: id })).data).toHaveLength(3);
});

test("no insert fails when the clock is advanced by years, and what came meanwhile is dropped in its turn", async () => {
  await using on = await start();
  const { sdk, clock } = on.world;
  await clock.advance("1d");
  clock.control.freeze(Date.parse("2029-01-10T00:00:00.000Z"));
  const { id } = await sdk.emails.send(hello);
  await on.world.settle();
  expect((await sdk.emails.get(id)).status).toBe("delivered");
  await clock.advance("1d");
  expect(Object.values(await on.parts("emails")).reduce((sum, n) => sum + n, 0)).toBe(1);
  clock.control.freeze(Date.parse("2029-04-10T00:00:00.000Z"));
  await clock.advance("3d");
  expect((await sdk.emails.list()).data).toEqual([]);
  expect(await on.db.read.$count(on.db.read.t.contents)).toBe(0);
});

test("a month is not dropped while a transaction uses the tables, and is when it has ended", async () => {
  await using on = await start();
  const { sdk, clock } = on.world;
  await sdk.emails.send(hello);
  await on.world.settle();
  const { months, read } = on.db;
  const group: MonthlyTables = {
    tables: [{ table: read.t.emails, key: read.t.emails.id }],
    firstKey: (ms) => firstIdAt("em", startOfMonth(ms)),
    apart: TEST_MAIL_FROM,
    counted: false,
  };
  expect(await months.prepare(group, clock.now())).toBe("done");
  const end = await months.findEnd(group, Date.parse("2026-02-10T00:00:00.000Z"));
  expect(end).toBe(group.firstKey(Date.parse("2026-02-01T00:00:00.000Z")));
  expect(await months.findEnd(group, Date.parse("2026-01-31T00:00:00.000Z"))).toBeNull();
  const client = new pg.Client({ connectionString: on.database.url });
  await client.connect();
  await client.query("begin");
  await client.query("select * from emails");
  expect(await months.drop(group, end ?? "", [])).toBe("locked");
  expect(await on.parts("emails")).toMatchObject({ emails_until_2026_02: 1 });
  await client.query("commit");
  await client.end();
  expect(await months.drop(group, end ?? "", [])).toBe("done");
  expect(await on.parts("emails")).toEqual({ emails_apart: 0, emails_open: 0, emails_rest: 0 });
  // A late row of a month that is gone goes to the rest.
  await sdk.emails.send(hello);
  await on.world.settle();
  expect(await on.parts("emails")).toMatchObject({ emails_rest: 1 });
  expect(await months.findEnd(group, Date.parse("2026-02-10T00:00:00.000Z"))).toBeNull();
});

test("the files of a month are deleted after the commit that takes it out of the tables, and what a crash left by the next sweep", async () => {
  await using on = await start();
  const { sdk, clock } = on.world;
  await sdk.emails.send(hello);
  await on.world.settle();
  await clock.advance("1d");
  const statements: string[] = [];
  const query = pg.Client.prototype.query;
  vi.spyOn(pg.Client.prototype, "query").mockImplementation(function (this: pg.Client, ...args: unknown[]) {
    if (typeof args[0] === "string") statements.push(args[0]);
    return Reflect.apply(query, this, args);
  });
  clock.control.freeze(Date.parse("2026-03-05T00:00:00.000Z"));
  // As if a server had died before it dropped the table.
  await on.db.read.raw("create table emails_gone_1 (like emails)");
  await clock.advance("3d");
  vi.restoreAllMocks();
  const listTables = async () =>
    (
      await on.db.read.raw<{ name: string }>("select relname as name from pg_class where relkind = 'r' and relname like '%\\_gone\\_%'")
    ).map(({ name }) => name);
  expect(await listTables()).toEqual([]);
  expect(statements.filter((text) => text.startsWith("drop table")).length).toBeGreaterThan(5);
  // Outside of every transaction.
  let isOpen = false;
  for (const text of statements) {
    if (/^(?:begin|commit|rollback)/i.test(text)) isOpen = /^begin/i.test(text);
    if (text.startsWith("drop table")) expect([text, isOpen]).toEqual([text, false]);
  }
  expect(statements).toContain('drop table "emails_gone_1"');
});

test("a transaction that uses the emails delays their months, which operators see, and no other records", async () => {
  await using on = await start({ flags: { keep: "emails=30,events=30,received=1" } });
  const { sdk, clock } = on.world;
  const { log } = on.world.app.deps;
  const warned = vi.spyOn(log, "warn");
  const readReadiness = async () => {
    const response = await on.world.fetch(`${on.world.url}/readyz`, { headers: { authorization: `Bearer ${on.world.apiKey}` } });
    return { status: response.status, since: ((await response.json()) as { retentionDelayedSince: string | null }).retentionDelayedSince };
  };
  await sdk.emails.send(hello);
  await on.world.settle();
  await clock.advance("1d");
  clock.control.freeze(Date.parse("2026-02-10T00:00:00.000Z"));
  await clock.advance("1d");
  expect(await on.parts("events")).toHaveProperty("events_until_2026_02");
  await sdk.inboundDomains.create({ domain: "in.acme.example" });
  await sdk.emails.send({ ...hello, replyTo: "hello@in.acme.example" });
  await on.world.reply(hello.to, { text: "Fine" });
  const human = new pg.Client({ connectionString: on.database.url, application_name: "psql" });
  await human.connect();
  await human.query("begin; select * from contents");
  clock.control.freeze(Date.parse("2026-03-10T00:00:00.000Z"));
  await clock.advance("15m");
  expect(await readReadiness()).toEqual({ status: 200, since: "2026-03-10T00:00:00.000Z" });
  expect(warned.mock.calls).toEqual([
    [
      "old records cannot be dropped, because a transaction uses their tables",
      {
        records: "emails",
        since: "2026-03-10T00:00:00.000Z",
        transaction: expect.stringMatching(/^process \d+ of Postgres \(psql\), in a transaction since/),
      },
    ],
  ]);
  // Months of tables that nobody locks are dropped.
  expect((await sdk.received.list()).data).toEqual([]);
  expect(await on.parts("events")).not.toHaveProperty("events_until_2026_02");
  expect(await on.parts("contents")).toHaveProperty("contents_until_2026_02");
  await human.query("rollback");
  await human.end();
  await clock.advance("15m");
  expect(await readReadiness()).toEqual({ status: 200, since: null });
  await clock.advance("2d");
  expect(await on.parts("contents")).not.toHaveProperty("contents_until_2026_02");
});

test("a counter is set by one process at a time", async () => {
  await using on = await start();
  const { months, read } = on.db;
  const group: MonthlyTables = {
    tables: [{ table: read.t.contents, key: read.t.contents.id }],
    firstKey: firstNumberOfMonth,
    apart: null,
    counted: true,
  };
  const now = on.world.clock.now();
  const isThere = async () =>
    Number((await read.raw<{ n: string }>("select nextval('contents_id_seq') as n"))[0]?.n) > firstNumberOfMonth(now);
  const other = new pg.Client({ connectionString: on.database.url });
  await other.connect();
  await other.query("select pg_advisory_lock(7316245104)");
  await months.advance(group, now);
  expect(await isThere()).toBe(false);
  await other.end();
  await vi.waitUntil(async () => {
    await months.advance(group, now);
    return isThere();
  });
});

test("a person is exported and erased from all months, and a snapshot restores them", async () => {
  await using on = await start();
  const { sdk, clock } = on.world;
  await sdk.emails.send(hello);
  await clock.advance("1d");
  clock.control.freeze(Date.parse("2026-02-03T00:00:00.000Z"));
  await sdk.emails.send({ ...hello, subject: "February" });
  await on.world.settle();
  const before = await on.parts("emails");
  await sdk.world.snapshot({ name: "two-months" });
  const person = await sdk.people.get("ada@mail.example");
  expect(person.emails.map(({ subject }) => subject).sort()).toEqual(["February", "Hello"]);
  expect(await sdk.people.erase("ada@mail.example")).toMatchObject({ emails: 2 });
  expect(await on.db.read.$count(on.db.read.t.contents)).toBe(0);
  await sdk.world.restore({ name: "two-months" });
  expect(await on.parts("emails")).toEqual(before);
  expect((await sdk.emails.list()).data.map(({ subject }) => subject)).toEqual(["February", "Hello"]);
});

const MOST_SENDS = 2000;

test("servers that share a database drop a month once, and send while it goes", async () => {
  await using on = await start();
  const { sdk, clock } = on.world;
  await sdk.emails.send(hello);
  await clock.advance("1d");
  expect(await on.parts("emails")).toMatchObject({ emails_until_2026_02: 1 });
  await using other = await createWorld({ flags, databaseUrl: on.database.url, seed: 2, now: "2026-03-05T00:00:00.000Z" });
  clock.control.freeze(Date.parse("2026-03-05T00:00:00.000Z"));
  // Eight at a time, until the month is gone: no send fails, and each is there afterwards. A clock moves on once nothing is left to do, which
  // never comes on a busy machine while others send without end.
  const { emails } = other.sdk.withOptions({ apiKey: on.world.apiKey });
  const sends: Promise<unknown>[] = [];
  let isGone = false;
  const send = async (): Promise<void> => {
    while (!isGone && sends.length < MOST_SENDS) {
      const one = emails.send(hello);
      sends.push(one);
      await one.catch(() => {});
    }
  };
  const senders = Promise.all(Array.from({ length: 8 }, send));
  await clock.advance("3d");
  isGone = true;
  await senders;
  expect((await Promise.allSettled(sends)).filter(({ status }) => status === "rejected")).toEqual([]);
  expect(await on.parts("emails")).not.toHaveProperty("emails_until_2026_02");
  const { read } = on.db;
  expect(await read.$count(read.t.emails)).toBe(sends.length);
  expect(await read.$count(read.t.contents)).toBe(sends.length);
});
