import { expect, test } from "vitest";
import { manualTime, rest } from "../../test/manual-time.ts";
import { claimedJob, ScriptedStore } from "../../test/queue-scripted-store.ts";
import { silentLog } from "../lib/log.ts";
import { seededRandom } from "../lib/random.ts";
import type { JobHandler, LaneJob } from "./queue.ts";
import { Worker } from "./worker.ts";

/** A worker on a store in memory, whose jobs run until `end`. */
function setUp({ isOverloaded = false, claimAhead = 0 } = {}) {
  const store = new ScriptedStore();
  store.maxClaimAhead = claimAhead;
  const clock = manualTime();
  const worker = new Worker(store, { clock, random: seededRandom(1), log: silentLog, overloaded: () => isOverloaded });
  const begun: string[] = [];
  const running = new Map<string, () => void>();
  const work: JobHandler = async ({ id }) => {
    begun.push(id);
    await new Promise<void>((done) => running.set(id, done));
    return {};
  };
  return {
    store,
    clock,
    worker,
    begun,
    start: async (concurrency = 2) => {
      await worker.start({ work }, concurrency);
      await rest();
    },
    end: async (id: string) => {
      running.get(id)?.();
      await rest();
    },
    wake: async (...jobs: LaneJob[]) => {
      store.due.push(...jobs);
      worker.wake();
      await rest();
    },
  };
}

const jobs = (n: number): LaneJob[] => Array.from({ length: n }, (_, i) => claimedJob(`${i + 1}`));

test("a worker is stopped, then claims what is due and is idle, with a timer for the next job", async () => {
  const t = setUp();
  expect(t.worker.mode).toBe("stopped");
  t.store.due = jobs(1);
  t.store.nextDue = { at: 1000, kind: "work" };
  await t.start();
  expect([t.worker.mode, t.begun]).toEqual(["idle", ["1"]]);
  t.store.due = [claimedJob("2")];
  t.store.nextDue = null;
  await t.clock.advance(1000);
  expect(t.begun).toEqual(["1", "2"]);
});

test("no more jobs run than there are slots, and one that ends makes room for the next", async () => {
  const t = setUp();
  t.store.due = jobs(3);
  await t.start(2);
  expect(t.begun).toEqual(["1", "2"]);
  await t.end("1");
  expect(t.begun).toEqual(["1", "2", "3"]);
  expect(t.store.ended).toEqual(["1"]);
});

/** The ids of the jobs that a worker holds. */
const heldBy = (store: ScriptedStore): string[] => (store.events?.held() ?? []).map(({ id }) => id);

test("a lane in which nothing is due is not asked again until a wake-up", async () => {
  const t = setUp();
  t.store.due = jobs(1);
  await t.start();
  const asked = t.store.claims.length;
  await t.end("1");
  expect(t.store.claims).toHaveLength(asked);
  await t.wake();
  expect(t.store.claims).toHaveLength(asked + 1);
});

test("for jobs that are due as they are added only their lane is asked, and the timer stays", async () => {
  const t = setUp();
  t.store.nextDue = { at: 1000, kind: "work" };
  await t.start();
  const asked = t.store.nextAsked;
  t.store.due = [claimedJob("1", "mail")];
  t.worker.added(new Set(["mail"]), t.clock.now());
  await rest();
  expect([t.begun, t.store.claims.at(-1), t.store.nextAsked]).toEqual([["1"], { default: 0, background: 0, mail: 2, bulk: 0 }, asked]);
  t.store.due = [claimedJob("2")];
  await t.clock.advance(1000);
  expect(t.begun).toEqual(["1", "2"]);
});

test("a job that is not due any more, because the clock was set back, is begun at its time", async () => {
  const t = setUp();
  await t.start();
  t.store.nextDue = { at: 50, kind: "work" };
  t.worker.added(new Set(["mail"]), 50);
  await rest();
  t.store.due = [claimedJob("1", "mail")];
  await t.clock.advance(50);
  expect(t.begun).toEqual(["1"]);
});

test("a wake-up during a claim is not lost", async () => {
  const t = setUp();
  let open = (): void => {};
  t.store.gate = new Promise((resolve) => {
    open = resolve;
  });
  await t.start();
  expect(t.worker.mode).toBe("claiming");
  t.store.due = jobs(1);
  t.worker.wake();
  open();
  await rest();
  expect([t.worker.mode, t.begun]).toEqual(["idle", ["1"]]);
});

test("a job that falls due during a claim that found nothing is not forgotten", async () => {
  const t = setUp();
  let open = (): void => {};
  t.store.gate = new Promise((resolve) => {
    open = resolve;
  });
  t.store.nextDue = { at: 5, kind: "work" };
  await t.start();
  await t.clock.advance(10);
  t.store.due = jobs(1);
  open();
  await t.clock.advance(0);
  expect([t.worker.mode, t.begun]).toEqual(["idle", ["1"]]);
});

test("while requests wait, claims are small and 50 ms apart", async () => {
  const t = setUp({ isOverloaded: true, claimAhead: 100 });
  t.store.due = jobs(8);
  await t.start(32);
  expect([t.worker.mode, t.store.claims]).toEqual(["idle", [{ default: 4, background: 4, mail: 4, bulk: 4 }]]);
  for (const id of ["1", "2", "3", "4"]) await t.end(id);
  expect(t.worker.mode).toBe("resting");
  await t.clock.advance(49);
  expect(t.store.claims).toHaveLength(1);
  await t.clock.advance(1);
  expect(t.store.claims).toHaveLength(2);
});

test("a store that throws is asked again after a second, and wake-ups do not hurry it", async () => {
  const t = setUp();
  t.store.errors.push(new Error("away"));
  await t.start();
  expect([t.worker.mode, t.store.claims.length]).toEqual(["retrying", 1]);
  await t.wake(claimedJob("1"));
  await t.clock.advance(999);
  expect(t.store.claims).toHaveLength(1);
  await t.clock.advance(1);
  expect([t.worker.mode, t.begun]).toEqual(["idle", ["1"]]);
});

test("who waits until nothing is due does not wait for that second", async () => {
  const t = setUp();
  t.store.errors.push(new Error("away"), new Error("away"));
  t.store.due = jobs(1);
  await t.start();
  await t.worker.idle();
  expect([t.worker.mode, t.begun]).toEqual(["retrying", []]);
  const idle = t.worker.idle();
  await rest();
  expect([t.worker.mode, t.begun]).toEqual(["idle", ["1"]]);
  await t.end("1");
  await idle;
});

test("stop puts back what a claim under way brings, and waits for what runs", async () => {
  const t = setUp();
  t.store.due = jobs(1);
  await t.start();
  let open = (): void => {};
  t.store.gate = new Promise((resolve) => {
    open = resolve;
  });
  await t.wake(claimedJob("2"));
  let stopped = false;
  const stop = t.worker.stop().then(() => {
    stopped = true;
  });
  open();
  await rest();
  expect([t.worker.mode, stopped, t.store.released, t.begun]).toEqual(["stopping", false, ["2"], ["1"]]);
  await t.end("1");
  await stop;
  expect([t.worker.mode, t.store.isOpen, t.clock.timers, t.store.ended]).toEqual(["stopped", false, 0, ["1"]]);
});

test("jobs that were claimed ahead begin as slots are free, are held, and are put back by stop", async () => {
  const t = setUp({ claimAhead: 2 });
  t.store.due = jobs(5);
  await t.start(1);
  expect([t.begun, heldBy(t.store)]).toEqual([["1"], ["1"]]);
  await t.end("1");
  // It claims as many jobs ahead as began a moment ago.
  expect([t.begun, heldBy(t.store)]).toEqual([
    ["1", "2"],
    ["2", "3"],
  ]);
  const stop = t.worker.stop();
  await t.end("2");
  await stop;
  expect([t.begun, t.store.released]).toEqual([["1", "2"], ["3"]]);
});

test("stop while the database is away does not wait for it, and a worker can be started again", async () => {
  const t = setUp();
  t.store.errors.push(new Error("away"));
  await t.start();
  await t.worker.stop();
  expect([t.worker.mode, t.clock.timers]).toEqual(["stopped", 0]);
  t.store.due = jobs(1);
  await t.start();
  expect([t.worker.mode, t.begun]).toEqual(["idle", ["1"]]);
});

test("idle answers when nothing runs, and at once when the worker is stopped", async () => {
  const t = setUp();
  await t.worker.idle();
  t.store.due = jobs(1);
  await t.start();
  let idle = false;
  const waiting = t.worker.idle().then(() => {
    idle = true;
  });
  await rest();
  expect(idle).toBe(false);
  await t.end("1");
  await waiting;
  expect(t.store.ended).toEqual(["1"]);
});
