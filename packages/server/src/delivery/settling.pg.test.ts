import pg from "pg";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { createDatabase, dropDatabases, type TestDatabase } from "../../test/postgres.ts";
import { accepted, type ScriptedMailer, scriptedMailer } from "../../test/scripted-mailer.ts";
import { createWorld, type TestWorld } from "../testing.ts";

/* Conflicts in the transaction that stores the outcomes of many mails together. */

const ADDRESSES = Array.from({ length: 30 }, (_, i) => `r${i}@example.com`);
const UNLUCKY = "r7@example.com";

let database: TestDatabase;
let world: TestWorld;
let mailer: ScriptedMailer;
let client: pg.Client;
let letGo: () => void;

// All mails are handed over before the first one is accepted, so that their outcomes settle together.
beforeEach(async () => {
  database = await createDatabase();
  const go = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  mailer = { ...scriptedMailer(() => go.then(() => accepted)), concurrency: ADDRESSES.length };
  world = await createWorld({ databaseUrl: database.url, mailer });
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
});
afterEach(async () => {
  letGo();
  await world.dispose();
  await client.query("drop function if exists fail_sometimes cascade");
  await client.query("drop sequence if exists failures");
  await client.end();
  await database.drop();
});
afterAll(dropDatabases);

const until = async (check: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await check())) await new Promise((turn) => setImmediate(turn));
};

/** Refuses to store that one mail was sent, the first times. */
const refuse = async (times: number, code: string): Promise<void> => {
  await client.query("create sequence failures");
  await client.query(`create function fail_sometimes() returns trigger language plpgsql as $$ begin
    if new.to_text = '${UNLUCKY}' and new.status = 'sent' and nextval('failures') <= ${times} then
      raise exception 'no' using errcode = '${code}';
    end if;
    return new; end $$`);
  await client.query("create trigger fail_sometimes before update on emails for each row execute function fail_sometimes()");
};

const failures = async (): Promise<number> =>
  Number((await client.query<{ last_value: string }>("select last_value from failures")).rows[0]?.last_value);

const handOver = async (): Promise<void> => {
  await world.sdk.emails.send({ from: "hello@acme.test", subject: "Hello", text: "It works.", to: ADDRESSES });
  await until(() => mailer.sent.length === ADDRESSES.length);
};

/** The mails that are sent, at the first attempt and without doubt. */
const listSent = async (): Promise<string[]> =>
  (await world.sdk.emails.list({ status: "sent", limit: 100 })).data
    .filter(({ attempts, inDoubt }) => attempts === 1 && !inDoubt)
    .map(({ to }) => to)
    .toSorted();

const expectAllOnce = async (): Promise<void> => {
  expect(await listSent()).toEqual(ADDRESSES.toSorted());
  expect(mailer.sent).toHaveLength(ADDRESSES.length);
  const events = await world.sdk.events.list({ type: "email.sent", limit: 100 });
  expect(events.data).toHaveLength(ADDRESSES.length);
  expect((await world.sdk.jobs.list()).pagination.total).toBe(0);
};

test.each([
  ["a serialization failure", "40001"],
  ["a deadlock", "40P01"],
])("%s, a few times in a row, makes the group run again: each mail is sent and recorded once", async (_name, code) => {
  await refuse(8, code);
  await handOver();
  letGo();
  await world.settle();
  expect(await failures()).toBe(9);
  await expectAllOnce();
});

test("a change of one mail by another transaction delays the group, and no mail is sent or recorded twice", async () => {
  await handOver();
  await client.query("begin");
  await client.query("update emails set updated_at = updated_at + 1 where to_text = $1", [UNLUCKY]);
  letGo();
  const blocked = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
  await until(async () => (await client.query(blocked)).rowCount !== 0);
  expect(await listSent()).not.toContain(UNLUCKY);
  await client.query("commit");
  await world.settle();
  await expectAllOnce();
});

test("an outcome that cannot be stored hurts no other one of its group: that mail is in doubt, and sent again", async () => {
  // With its group, and alone.
  await refuse(2, "23514");
  await handOver();
  letGo();
  await world.settle();
  const others = ADDRESSES.filter((to) => to !== UNLUCKY).toSorted();
  expect(await listSent()).toEqual(others);
  expect((await world.sdk.emails.list({ status: "sending" })).data.map(({ to }) => to)).toEqual([UNLUCKY]);
  await world.clock.advance("1m");
  expect((await world.sdk.emails.list({ inDoubt: true })).data).toMatchObject([{ to: UNLUCKY, status: "sent", attempts: 2 }]);
  expect(mailer.sent.slice(ADDRESSES.length).map(({ envelopeTo }) => envelopeTo)).toEqual([UNLUCKY]);
  expect(await listSent()).toEqual(others);
});
