import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { rest } from "../../test/manual-time.ts";
import { openSqlite } from "../db/sqlite/database.ts";
import { realTime } from "../lib/clock.ts";
import { ControllableClock } from "../lib/controllable-clock.ts";
import { type Log, silentLog } from "../lib/log.ts";
import { seededRandom } from "../lib/random.ts";
import { sqliteSchema } from "../schema.sqlite.ts";
import { emptyDatabase } from "../testing/empty-database.ts";
import { createQueue } from "./create-queue.ts";
import { type QueueHarness, queueLaws } from "./queue.laws.ts";
import type { BatchHandler } from "./queue.ts";
import { SqliteJobStore } from "./store.sqlite.ts";

const open = async (
  options: { log?: Log; overloaded?: () => boolean } = {},
): Promise<QueueHarness & { db: Awaited<ReturnType<typeof openSqlite>> }> => {
  const folder = mkdtempSync(join(tmpdir(), "mailsvc-queue-"));
  writeFileSync(join(folder, "mailsvc.db"), await emptyDatabase());
  const db = await openSqlite(folder, sqliteSchema, { synchronous: "OFF" });
  const clock = new ControllableClock(Date.parse("2026-01-01T00:00:00Z"), "frozen");
  const make = () => createQueue(new SqliteJobStore(db), { clock, random: seededRandom(1), log: silentLog, ...options });
  return {
    db,
    clock,
    queue: make(),
    restarted: make,
    close: async () => {
      await db.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

queueLaws("the queue on SQLite", open);
queueLaws("the queue on SQLite while requests wait", () => {
  // They wait for a while only: thousands of other jobs would take their time, as they should.
  let asked = 0;
  return open({ overloaded: () => (asked += 1) <= 50 });
});

test("a full disk loses no job and no outcome: once there is room, what the attempt did is stored, and it does not run again", async () => {
  let refused = (): void => {};
  const full = new Promise<void>((resolve) => {
    refused = resolve;
  });
  const h = await open({ log: { ...silentLog, warn: (message) => message.includes("cannot be stored") && refused() } });
  let runs = 0;
  await h.queue.start(
    {
      work: async () => {
        runs += 1;
        await h.db.exclusive((c) => void c.pragma(`max_page_count = ${c.pragma("page_count", { simple: true })}`));
        return { commit: async (tx) => void (await tx.insert(tx.t.meta).values({ name: "effect", value: "x".repeat(300_000) })) };
      },
    },
    1,
  );
  await h.db.tx((tx) => h.queue.enqueue(tx, { kind: "work", payload: {} }));
  await full;
  await h.db.exclusive((c) => void c.pragma("max_page_count = 1000000"));
  await h.queue.idle();
  expect(runs).toBe(1);
  expect((await h.queue.list(h.db.read, { limit: 10, offset: 0 })).rows).toEqual([]);
  expect(await h.db.read.select().from(h.db.read.t.meta)).toHaveLength(1);
  await h.queue.stop();
  await h.close();
});

test("a failure that cannot be written down at once is written down as soon as it can be", async () => {
  const h = await open();
  const seen: string[] = [];
  await h.queue.start(
    {
      work: async () => {
        // The very table is gone for a while: nothing can be noted about this job.
        await h.db.exclusive((c) => void c.exec("ALTER TABLE jobs RENAME TO jobs_away"));
        void realTime.sleep(300).then(() => h.db.exclusive((c) => void c.exec("ALTER TABLE jobs_away RENAME TO jobs")));
        seen.push("ran");
        throw new Error("failed");
      },
    },
    1,
  );
  await h.db.tx((tx) => h.queue.enqueue(tx, { kind: "work", payload: {}, maxAttempts: 1 }));
  await h.queue.idle();
  expect((await h.queue.list(h.db.read, { limit: 10, offset: 0 })).rows).toMatchObject([{ state: "dead", lastError: "Error: failed" }]);
  expect(seen).toEqual(["ran"]);
  await h.queue.stop();
  await h.close();
});

test("while requests are waiting, jobs go on slowly, and all of them get done", async () => {
  let waiting = true;
  const h = await open({ overloaded: () => waiting });
  let done = 0;
  await h.queue.start(
    {
      work: async () => {
        done += 1;
        if (done === 12) waiting = false;
        return {};
      },
    },
    16,
  );
  await h.db.tx(async (tx) => {
    for (let n = 0; n < 60; n += 1) await h.queue.enqueue(tx, { kind: "work", payload: {} });
  });
  await h.queue.idle();
  expect(done).toBe(60);
  await h.queue.stop();
  await h.close();
});

test("a queue that has been stopped leaves no timer behind", async () => {
  const h = await open();
  await h.queue.start({ work: async () => ({}) }, 1);
  await h.db.tx((tx) => h.queue.enqueue(tx, { kind: "work", payload: {}, runAt: h.clock.now() + 60_000 }));
  await h.queue.idle();
  expect(h.clock.timers).toBe(1);
  await h.queue.stop();
  expect(h.clock.timers).toBe(0);
  await h.close();
});

const many = async (h: QueueHarness & { db: Awaited<ReturnType<typeof openSqlite>> }, n: number): Promise<PromiseSettledResult<void>[]> =>
  Promise.allSettled(
    Array.from({ length: n }, (_, i) =>
      h.db.tx(async (tx) => {
        await h.queue.enqueue(tx, { kind: i % 10 === 3 ? "other" : "work", payload: { i } });
        if (i % 10 === 7) {
          await tx.insert(tx.t.meta).values({ name: `effect ${i}`, value: "x" });
          throw new Error("refused");
        }
      }),
    ),
  );

test("jobs added while requests wait all run once, but those of refused callers", async () => {
  const h = await open({ overloaded: () => true });
  const ran: unknown[] = [];
  const work = async ({ payload }: { payload: Record<string, unknown> }) => {
    ran.push(payload.i);
    return {};
  };
  await h.queue.start({ work, other: work }, 4);
  const added = await many(h, 100);
  expect(added.filter(({ status }) => status === "rejected")).toHaveLength(10);
  await h.queue.idle();
  expect(ran.toSorted((a, b) => Number(a) - Number(b))).toEqual(Array.from({ length: 100 }, (_, i) => i).filter((i) => i % 10 !== 7));
  expect((await h.queue.list(h.db.read, { limit: 10, offset: 0 })).rows).toEqual([]);
  await h.queue.stop();
  await h.close();
});

/** A queue with a batch handler for two jobs at a time, which run until `end`. */
const openBatches = async () => {
  const h = await open();
  const running = new Map<unknown, () => void>();
  const begun: unknown[] = [];
  const handler: BatchHandler<never> = {
    freeSlots: () => 2 - running.size,
    run: (jobs, settle) => {
      for (const job of jobs) {
        begun.push(job.payload.n);
        running.set(job.payload.n, () => void settle(job, {}));
      }
    },
    commit: async () => {},
  };
  await h.queue.start({ mail: handler }, 1);
  await h.queue.idle();
  const add = (...names: string[]): Promise<void> =>
    h.db.tx((tx) => h.queue.enqueue(tx, ...names.map((n) => ({ kind: "mail", payload: { n }, lane: "mail" as const }))));
  const states = async (): Promise<string[]> =>
    (await h.db.read.select().from(h.db.read.t.jobs)).map(({ payload, state, claims }) => `${payload.n} ${state} ${claims}`);
  const end = async (): Promise<void> => {
    for (const [name, settle] of [...running]) {
      running.delete(name);
      settle();
    }
    await rest();
    await h.db.writer.idle();
    await rest();
  };
  return { h, add, states, end, begun };
};

test("a job that a batch handler has room for is claimed by the transaction that adds it, and begins after its commit", async () => {
  const { h, add, states, end, begun } = await openBatches();
  await h.db.tx(async (tx) => {
    await h.queue.enqueue(tx, { kind: "mail", payload: { n: "a" }, lane: "mail" });
    expect([(await tx.select().from(tx.t.jobs)).map(({ state }) => state), begun]).toEqual([["running"], []]);
  });
  expect([begun, await states()]).toEqual([["a"], ["a running 1"]]);
  // One slot is left for two jobs: they wait for a claim.
  await add("b", "c");
  await rest();
  await h.db.writer.idle();
  await rest();
  expect([begun, await states()]).toEqual([
    ["a", "b"],
    ["a running 1", "b running 1", "c ready 0"],
  ]);
  await end();
  // None overtakes one that waits.
  expect(begun).toEqual(["a", "b", "c"]);
  await end();
  await h.queue.stop();
  await h.close();
});

test("no job is claimed as it is added while sending is paused, after a stop, or by a transaction that fails", async () => {
  const { h, add, states, end, begun } = await openBatches();
  const failed = h.db.tx(async (tx) => {
    await h.queue.enqueue(tx, { kind: "mail", payload: { n: "refused" }, lane: "mail" });
    throw new Error("refused");
  });
  await expect(failed).rejects.toThrow("refused");
  await h.db.tx((tx) => h.queue.pause(tx, null));
  await add("paused");
  await h.queue.idle();
  expect([begun, await states()]).toEqual([[], ["paused ready 0"]]);
  await h.db.tx((tx) => h.queue.resume(tx));
  await rest();
  await h.db.writer.idle();
  await rest();
  expect(begun).toEqual(["paused"]);
  await end();
  await h.queue.stop();
  await add("late");
  expect([begun, await states()]).toEqual([["paused"], ["late ready 0"]]);
  await h.close();
});

test("a job that was claimed as it was added runs again after a crash, as one that was interrupted", async () => {
  const { h, add, begun } = await openBatches();
  await add("a");
  expect(begun).toEqual(["a"]);
  // The process is gone, and another one starts on its file.
  const attempts: unknown[] = [];
  const handler: BatchHandler<never> = {
    freeSlots: () => 2,
    run: (jobs, settle) => {
      for (const job of jobs) {
        attempts.push([job.payload.n, job.attempt, job.interruptions]);
        void settle(job, {});
      }
    },
    commit: async () => {},
  };
  const next = h.restarted();
  await next.start({ mail: handler }, 1);
  await next.idle();
  expect(attempts).toEqual([["a", 1, 1]]);
  await next.stop();
  await h.close();
});
