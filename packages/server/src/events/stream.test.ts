import { eq } from "drizzle-orm";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { createDatabase, dropDatabases } from "../../test/postgres.ts";
import type { Db } from "../db/db.ts";
import { StorageUnavailable } from "../db/errors.ts";
import { assumeEmailHeld } from "../db/held.ts";
import { silentLog } from "../lib/log.ts";
import { createWorld, type TestWorld } from "../testing.ts";
import { byPosition, deleteEvents, inRun, isAfter, type NewEvent, positionIn, recordEvents } from "./events.ts";
import { EventStreamLoop } from "./stream.ts";

afterAll(dropDatabases);

const event = (workspaceId: string, emailId: string): NewEvent => ({
  workspaceId,
  type: "email.sent",
  at: 1,
  emailId: assumeEmailHeld(emailId),
});

const record = ({ app: { deps } }: TestWorld, events: readonly NewEvent[]): Promise<void> =>
  deps.db.tx((tx) => recordEvents(tx, deps, events));

/** The stream of a workspace after a number. */
const readStream = async ({ app: { deps } }: TestWorld, workspaceId: string, after = 0) => {
  const { t } = deps.db.read;
  return deps.db.read
    .select({ position: positionIn(t), key: t.events.sequence, emailId: t.events.emailId })
    .from(t.eventRuns)
    .innerJoin(t.events, inRun(t))
    .where(isAfter(t, workspaceId, after))
    .orderBy(...byPosition(t));
};

const upTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i + 1);

test("the stream of each workspace counts from 1, in the order in which events were recorded", async () => {
  await using world = await createWorld();
  await record(world, [event("ws_a", "1"), event("ws_b", "2"), event("ws_a", "3")]);
  await record(world, [event("ws_b", "4"), event("ws_a", "5")]);
  await world.settle();
  expect(await readStream(world, "ws_a")).toMatchObject([
    { position: 1, emailId: "1" },
    { position: 2, emailId: "3" },
    { position: 3, emailId: "5" },
  ]);
  expect((await readStream(world, "ws_b")).map((e) => [e.position, e.emailId])).toEqual([
    [1, "2"],
    [2, "4"],
  ]);
});

test("more events than a tick numbers are all numbered", async () => {
  await using world = await createWorld();
  await record(
    world,
    Array.from({ length: 4500 }, (_, i) => event(i % 3 === 0 ? "ws_a" : "ws_b", String(i))),
  );
  await world.app.deps.eventStream.catchUp();
  const [a, b] = [await readStream(world, "ws_a"), await readStream(world, "ws_b")];
  expect(a.map((e) => e.position)).toEqual(upTo(1500));
  expect(b.map((e) => e.position)).toEqual(upTo(3000));
  expect(b.map((e) => e.key)).toEqual(b.map((e) => e.key).sort((x, y) => x - y));
});

test("a caller that catches up does not wait for what is recorded later", async () => {
  await using world = await createWorld();
  const { eventStream } = world.app.deps;
  let recorded = 0;
  let done = false;
  const feed = async (): Promise<void> => {
    for (; !done && recorded < 20_000; recorded += 1) await record(world, [event("ws_a", "1")]);
  };
  const feeding = Array.from({ length: 8 }, feed);
  for (const wanted of [100, 200, 300]) {
    while (recorded < wanted) await new Promise(setImmediate);
    await eventStream.catchUp();
    expect((await readStream(world, "ws_a")).length).toBeGreaterThanOrEqual(wanted);
  }
  expect(recorded).toBeLessThan(10_000);
  done = true;
  await Promise.all(feeding);
});

test("a caller that catches up is let go when events cannot be numbered, so that they can be read while nothing can be written", async () => {
  const database = await createDatabase();
  onTestFinished(() => database.drop());
  await using world = await createWorld({ databaseUrl: database.url });
  const { deps } = world.app;
  await deps.queue.stop();
  await record(world, [event("ws_a", "1")]);
  const tx = (): Promise<never> => Promise.reject(new StorageUnavailable("The disk is full."));
  const db: Db = Object.create(deps.db, { tx: { value: tx } });
  const loop = new EventStreamLoop({ deps: () => ({ ...deps, db, log: silentLog }), readers: [] });
  onTestFinished(() => loop.stop());
  loop.start();
  await loop.catchUp();
  expect(await readStream(world, "ws_a")).toEqual([]);
});

test("a transaction that fails leaves neither an event nor a gap", async () => {
  await using world = await createWorld();
  await record(world, [event("ws_a", "1")]);
  await world.settle();
  const { deps } = world.app;
  await expect(
    deps.db.tx(async (tx) => {
      await recordEvents(tx, deps, [event("ws_a", "lost")]);
      throw new Error("rolled back");
    }),
  ).rejects.toThrow("rolled back");
  await record(world, [event("ws_a", "2")]);
  await world.settle();
  expect((await readStream(world, "ws_a")).map((e) => [e.position, e.emailId])).toEqual([
    [1, "1"],
    [2, "2"],
  ]);
});

test("the number of a deleted event is not given again", async () => {
  await using world = await createWorld();
  await record(world, [event("ws_a", "1"), event("ws_a", "2")]);
  await world.settle();
  const { db } = world.app.deps;
  await db.tx((tx) => deleteEvents(tx, eq(tx.t.events.emailId, "2")));
  await record(world, [event("ws_a", "3")]);
  await world.settle();
  expect((await readStream(world, "ws_a")).map((e) => e.position)).toEqual([1, 3]);
});

test("the key of a deleted event is not given again, and of what keeps it taken one row stays", async () => {
  await using world = await createWorld();
  const { db } = world.app.deps;
  const { events } = db.read.t;
  const keys: number[] = [];
  for (const emailId of upTo(5).map(String)) {
    await record(world, [event("ws_a", emailId), event("ws_b", emailId)]);
    await world.settle();
    await db.tx(async (tx) => {
      for (const { key } of await deleteEvents(tx, eq(tx.t.events.emailId, emailId))) keys.push(key);
    });
  }
  expect(new Set(keys).size).toBe(10);
  expect(await db.read.$count(events)).toBeLessThanOrEqual(1);
  await record(world, [event("ws_a", "6")]);
  await world.settle();
  expect(await readStream(world, "ws_a")).toMatchObject([{ position: 6, emailId: "6" }]);
  expect(Math.max(...keys)).toBeLessThan((await readStream(world, "ws_a"))[0]?.key ?? 0);
});

test("an event that is deleted by the transaction that records it takes no number from another one", async () => {
  await using world = await createWorld();
  const { deps } = world.app;
  await deps.db.tx(async (tx) => {
    await recordEvents(tx, deps, [event("ws_a", "1"), event("ws_a", "2")]);
    expect(await deleteEvents(tx, eq(tx.t.events.emailId, "2"))).toHaveLength(1);
    await recordEvents(tx, deps, [event("ws_b", "3"), event("ws_a", "4")]);
  });
  await world.settle();
  const stream = await readStream(world, "ws_a");
  expect(stream.map(({ emailId }) => emailId)).toEqual(["1", "4"]);
  expect(stream[1]?.position).toBeGreaterThan(stream[0]?.position ?? 0);
  expect(await readStream(world, "ws_b")).toMatchObject([{ position: 1, emailId: "3" }]);
});

test("events of a process that died before it numbered them are numbered by the next one", async () => {
  const database = await createDatabase();
  {
    await using one = await createWorld({ seed: 1, databaseUrl: database.url });
    // No loop runs any more, as if the process had been killed after its commit.
    await one.app.deps.queue.stop();
    await record(one, [event("ws_a", "1")]);
    expect(await readStream(one, "ws_a")).toEqual([]);
  }
  {
    await using next = await createWorld({ seed: 2, databaseUrl: database.url });
    await next.settle();
    expect((await readStream(next, "ws_a")).map((e) => e.position)).toEqual([1]);
  }
  await database.drop();
});

test("a reader on one server misses nothing that transactions of several servers commit out of order", async () => {
  const database = await createDatabase();
  {
    await using one = await createWorld({ seed: 1, databaseUrl: database.url });
    await using other = await createWorld({ seed: 2, databaseUrl: database.url });
    const rounds = 40;
    let writing = true;
    const write = async (world: TestWorld, name: string): Promise<void> => {
      const { deps } = world.app;
      for (let i = 0; i < rounds; i += 1)
        await Promise.all(
          upTo(4).map((n) =>
            deps.db.tx(async (tx) => {
              await recordEvents(tx, deps, [event("ws_a", `${name}${i}.${n}`)]);
              // Later statements let other transactions, with later keys, commit first.
              for (let j = 0; j < n * 2; j += 1) await tx.select().from(tx.t.meta);
            }),
          ),
        );
    };
    const seen: number[] = [];
    const follow = async (): Promise<void> => {
      for (;;) {
        const last = !writing;
        for (const { position } of await readStream(one, "ws_a", seen.at(-1) ?? 0)) seen.push(position);
        if (last) return;
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    const reader = follow();
    await Promise.all([write(one, "one"), write(other, "other")]);
    await Promise.all([one.settle(), other.settle()]);
    writing = false;
    await reader;
    expect(seen).toEqual(upTo(2 * 4 * rounds));
    const rows = await readStream(one, "ws_a");
    expect(new Set(rows.map((e) => e.emailId)).size).toBe(2 * 4 * rounds);
  }
  await database.drop();
});
