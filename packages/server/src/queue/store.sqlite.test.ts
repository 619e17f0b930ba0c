import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { rest } from "../../test/manual-time.ts";
import { claimedJob, ScriptedStore } from "../../test/queue-scripted-store.ts";
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

/** A source of stored work, whose jobs are mails, and a batch handler for two of them at a time, which run until `end`. */
const openSource = async () => {
  const h = await open();
  const source = Object.assign(new ScriptedStore(), {
    lanes: ["mail"] as const,
    beginsStored: true,
    readStats: async () => ({ waiting: 3, running: 1, dueAt: 5 }),
  });
  const queue = createQueue(new SqliteJobStore(h.db), { clock: h.clock, random: seededRandom(1), log: silentLog }, [source]);
  const begun: string[] = [];
  let settleAll = (): void => {};
  const handler: BatchHandler<never> = {
    freeSlots: () => 2 - (begun.length - source.ended.length),
    run: (jobs, settle) => {
      begun.push(...jobs.map(({ id }) => id));
      const before = settleAll;
      settleAll = () => {
        before();
        for (const job of jobs) void settle(job, {});
      };
    },
    commit: async () => {},
  };
  await queue.start({ work: handler }, 1);
  await queue.idle();
  const store = (ids: string[], fails = false): Promise<void> =>
    h.db.tx(async (tx) => {
      await tx.insert(tx.t.meta).values({ name: ids.join(), value: "" });
      await queue.announce(tx, { lane: "mail", dueAt: h.clock.now(), jobs: ids.map((id) => claimedJob(id, "mail")) });
      expect(begun.some((id) => ids.includes(id))).toBe(false);
      if (fails) throw new Error("refused");
    });
  const end = async (): Promise<void> => {
    const settle = settleAll;
    settleAll = () => {};
    settle();
    await rest();
  };
  const close = async (): Promise<void> => {
    await end();
    await queue.stop();
    await h.close();
  };
  return { h, queue, source, store, begun, end, close };
};

test("stored work for which there is room begins after the commit, without a claim; none overtakes what waits", async () => {
  const { source, store, begun, end, close } = await openSource();
  const claims = source.claims.length;
  await store(["a"]);
  expect([begun, source.claims.length]).toEqual([["a"], claims]);
  // There is room for one of two: they wait for a claim.
  source.due = ["b", "c"].map((id) => claimedJob(id, "mail"));
  await store(["b", "c"]);
  await rest();
  expect(begun).toEqual(["a", "b"]);
  source.due.push(claimedJob("d", "mail"));
  await store(["d"]);
  await end();
  await rest();
  expect(begun).toEqual(["a", "b", "c", "d"]);
  await close();
});

test("stored work begins once, if it was claimed between its commit and then", async () => {
  const { h, queue, source, begun, close } = await openSource();
  await h.db.tx(async (tx) => {
    await tx.insert(tx.t.meta).values({ name: "a", value: "" });
    tx.afterCommit(() => {
      source.due = [claimedJob("a", "mail")];
    });
    tx.afterCommit(() => queue.refresh());
  });
  await rest();
  expect(begun).toEqual(["a"]);
  await h.db.tx((tx) => queue.announce(tx, { lane: "mail", dueAt: h.clock.now(), jobs: [claimedJob("a", "mail")] }));
  expect(begun).toEqual(["a"]);
  await close();
});

test("no stored work begins without a claim while sending is paused, after a stop, or if its transaction fails", async () => {
  const { h, queue, source, store, begun, close } = await openSource();
  await expect(store(["refused"], true)).rejects.toThrow("refused");
  await h.db.tx((tx) => queue.pause(tx, null));
  const claims = source.claims.length;
  await store(["paused"]);
  await rest();
  expect([begun, source.claims.length]).toEqual([[], claims + 1]);
  await h.db.tx((tx) => queue.resume(tx));
  await queue.stop();
  await store(["late"]);
  expect(begun).toEqual([]);
  await close();
});

test("stored work counts in the statistics of the queue", async () => {
  const { h, queue, close } = await openSource();
  expect(await queue.readStats(h.db.read)).toMatchObject({ jobs: { ready: 3, running: 1 }, oldestDueAt: 5 });
  await close();
});
