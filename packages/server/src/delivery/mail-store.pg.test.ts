import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { sendAsBulk } from "../../test/bulk-mail.ts";
import { createDatabase, dropDatabases, type TestDatabase } from "../../test/postgres.ts";
import { scriptedMailer } from "../../test/scripted-mailer.ts";
import type { PostgresDb } from "../db/postgres/database.ts";
import { silentLog } from "../lib/log.ts";
import type { ClaimedJob, LaneJob } from "../queue/queue.ts";
import { createWorld, type TestWorld } from "../testing.ts";
import { PostgresMailStore } from "./mail-store.pg.ts";

let database: TestDatabase;
let world: TestWorld;
let db: PostgresDb;

beforeEach(async () => {
  database = await createDatabase();
  world = await createWorld({ databaseUrl: database.url, mailer: scriptedMailer() });
  await world.app.deps.queue.stop();
  db = world.app.deps.db as PostgresDb;
});
afterEach(async () => {
  await world.dispose();
  await database.drop();
});
afterAll(dropDatabases);

/** The store of a server process that is alive, and what it holds. */
const openProcess = async (name: string) => {
  await db.read.raw("insert into workers (name, seen_at) values ($1, now())", [name]);
  const held: ClaimedJob[] = [];
  let beat = async (): Promise<void> => {};
  const workers = {
    ...{ name, live: 1, liveWorkers: async () => [name], onDeath: () => {} },
    onBeat: (fn: () => Promise<void>) => {
      beat = fn;
    },
  };
  const store = new PostgresMailStore({ db, real: world.app.deps.clock.real, log: silentLog, workers });
  await store.open([], { wake: () => {}, held: () => held });
  return {
    store,
    held,
    beat: () => beat(),
    claim: async (limit: number): Promise<readonly LaneJob[]> => {
      const { jobs } = await store.claim(world.clock.now(), { bulk: limit });
      held.push(...jobs);
      return jobs;
    },
    die: () => db.read.raw("delete from workers where name = $1", [name]),
  };
};

const idsOf = (...all: (readonly ClaimedJob[])[]): string[] => all.flat().map(({ id }) => id);

test("processes that claim at the same time get each email once, the first ones first, as many as they ask for", async () => {
  const ids = await sendAsBulk(
    world,
    Array.from({ length: 100 }, (_, i) => `r${i}@example.com`),
  );
  const [one, other] = [await openProcess("one"), await openProcess("other")];
  const first = await one.claim(10);
  expect(idsOf(first)).toEqual(ids.slice(0, 10));
  const both = await Promise.all([one.claim(40), other.claim(30), one.claim(0)]);
  expect(both.map(({ length }) => length)).toEqual([40, 30, 0]);
  const rest = await other.claim(100);
  expect(idsOf(first, ...both, rest).toSorted()).toEqual(ids);
  expect((await one.store.claim(world.clock.now(), { mail: 5, bulk: 5 })).drained).toEqual(["mail", "bulk"]);
});

test("what a dead process had claimed is claimed again, and so is a claim whose answer was lost; what is held stays", async () => {
  const ids = await sendAsBulk(world, ["a@example.com", "b@example.com", "c@example.com"]);
  const [one, other] = [await openProcess("one"), await openProcess("other")];
  const [a] = await one.claim(1);
  const [b] = await other.claim(1);
  // Its process never learned of it.
  const [c] = await other.claim(1);
  other.held.splice(1);
  expect(idsOf([a, b, c].flatMap((job) => job ?? []))).toEqual(ids);
  await one.beat();
  expect(await one.claim(3)).toEqual([]);
  await other.beat();
  expect(idsOf(await other.claim(3))).toEqual([c?.id]);
  await one.die();
  await other.beat();
  expect(idsOf(await other.claim(3))).toEqual([a?.id]);
});

test("a claim that is given back, or fails, waits again: at once, or after its backoff with one fault more", async () => {
  await sendAsBulk(world, ["a@example.com", "b@example.com"]);
  const one = await openProcess("one");
  const [a, b] = (await one.claim(2)) as [LaneJob, LaneJob];
  await one.store.release([a]);
  await one.store.fail(b, world.clock.now() + 60_000, "Error: a bug");
  one.held.length = 0;
  expect(await one.store.readStats(db.read)).toEqual({ waiting: 2, running: 0, dueAt: world.clock.now() });
  expect(idsOf(await one.claim(2))).toEqual([a.id]);
  expect(await one.store.next(world.clock.now())).toEqual({ at: world.clock.now() + 60_000, kind: "email.deliver" });
  const { jobs } = await one.store.claim(world.clock.now() + 60_000, { bulk: 2 });
  expect(jobs).toMatchObject([{ id: b.id, attempt: 2 }]);
  expect(await one.store.readStats(db.read)).toMatchObject({ waiting: 0, running: 2 });
});
