import { expect, test } from "vitest";
import { manualTime, rest } from "../../test/manual-time.ts";
import { claimedJob } from "../../test/queue-scripted-store.ts";
import { silentLog } from "../lib/log.ts";
import { BatchRun } from "./attempts.ts";
import { LEASE_MS } from "./lease.ts";
import type { ClaimedJob, LaneJob, Settle } from "./queue.ts";
import type { Settlement } from "./settling.ts";

function setUp({ giveUp, attempt = 1 }: { giveUp?: () => unknown; attempt?: number } = {}) {
  const time = manualTime();
  const happened: string[] = [];
  const store = async ({ job, more, shared }: Settlement): Promise<void> => {
    if (shared?.effect === "bad") throw new Error("cannot be written");
    happened.push(`${job.id} ${more ? "part " : ""}stored`);
  };
  const fail = async (job: ClaimedJob, error: unknown): Promise<void> => void happened.push(`${job.id} failed: ${error}`);
  let settle: Settle<unknown> = async () => {};
  const handler = {
    freeSlots: () => 10,
    run: (_jobs: readonly LaneJob[], given: Settle<unknown>) => {
      settle = given;
    },
    commit: async () => {},
    ...(giveUp && { giveUp }),
  };
  const run = new BatchRun(handler, {
    ...{ real: time.real, settling: { store, fail, isLast: ({ attempt, maxAttempts }) => attempt >= maxAttempts, logFailure: () => {} } },
    log: { ...silentLog, warn: (message) => void happened.push(message) },
    slotFreed: () => {},
    ended: ({ id }) => void happened.push(`${id} ended`),
  });
  const job = { ...claimedJob("1", "mail"), attempt };
  run.begin([job]);
  return { time, happened, job, settle: (outcome: Parameters<Settle<unknown>>[1]) => settle(job, outcome) };
}

test("an attempt ends once its outcome is stored, and a second outcome is dropped", async () => {
  const t = setUp();
  await t.settle({ effect: "x" });
  expect([t.happened, t.time.timers]).toEqual([["1 stored", "1 ended"], 0]);
  await t.settle({ effect: "y" });
  expect(t.happened.slice(2)).toEqual(["a job settled after its lease had expired; its effect is not committed"]);
});

test("an attempt fails by its own word, or because its outcome cannot be stored", async () => {
  const t = setUp();
  await t.settle({ error: new Error("no") });
  expect(t.happened).toEqual(["1 failed: Error: no", "1 ended"]);
  const other = setUp();
  await other.settle({ effect: "bad" });
  expect(other.happened).toEqual(["1 failed: Error: cannot be written", "1 ended"]);
});

test("the last attempt that fails ends with the effect of giving up, and fails if that cannot be stored", async () => {
  const once = setUp({ giveUp: () => "given up" });
  await once.settle({ error: new Error("no") });
  expect(once.happened).toEqual(["1 failed: Error: no", "1 ended"]);
  const last = setUp({ giveUp: () => "given up", attempt: 10 });
  await last.settle({ error: new Error("no") });
  expect(last.happened).toEqual(["1 stored", "1 ended"]);
  const bad = setUp({ giveUp: () => "bad", attempt: 10 });
  await bad.settle({ effect: "bad" });
  expect(bad.happened).toEqual(["1 failed: Error: cannot be written", "1 ended"]);
});

test("a part is stored while the job runs, rejects if it cannot be, and lets the lease begin again", async () => {
  const t = setUp();
  await t.time.advance(LEASE_MS - 1);
  await t.settle({ effect: "x", more: true });
  await expect(t.settle({ effect: "bad", more: true })).rejects.toThrow("cannot be written");
  await t.time.advance(LEASE_MS - 1);
  expect(t.happened).toEqual(["1 part stored"]);
  await t.time.advance(1);
  await rest();
  expect(t.happened.slice(1)).toEqual(["1 failed: Error: The attempt took longer than its lease of 10 minutes.", "1 ended"]);
});
