import { expect, test } from "vitest";
import { manualTime, rest } from "../../test/manual-time.ts";
import { claimedJob, ScriptedStore } from "../../test/queue-scripted-store.ts";
import { type Log, silentLog } from "../lib/log.ts";
import { seededRandom } from "../lib/random.ts";
import { Attempts } from "./attempts.ts";
import { LEASE_MS } from "./lease.ts";
import type { BatchHandler, JobHandlers } from "./queue.ts";
import { Settling } from "./settling.ts";

function setUp(handlers: JobHandlers, log: Log = silentLog) {
  const store = new ScriptedStore();
  const clock = manualTime();
  const nothing = (): void => {};
  const settling = new Settling({
    ...{ store, clock, log, random: seededRandom(1) },
    isStopping: () => false,
    putBack: nothing,
  });
  let freed = 0;
  const attempts = new Attempts({ real: clock.real, log: silentLog, settling, slotFreed: () => void (freed += 1) });
  attempts.use(handlers);
  return { store, clock, attempts, freed: () => freed };
}

test("an attempt takes a slot while it runs, and leaves it when it has ended", async () => {
  let end = (): void => {};
  const t = setUp({ work: () => new Promise((done) => (end = () => done({}))) });
  t.attempts.begin([claimedJob("1")]);
  expect([t.attempts.size, [...t.attempts.jobs].map(({ id }) => id), t.attempts.slotsTaken]).toEqual([1, ["1"], 1]);
  end();
  await rest();
  expect([t.attempts.size, t.attempts.slotsTaken, t.freed(), t.store.ended]).toEqual([0, 0, 2, ["1"]]);
});

test("an attempt that throws, or that takes longer than its lease, has failed", async () => {
  const t = setUp({
    work: ({ id }) => {
      if (id === "1") throw new Error("at once");
      return new Promise(() => {});
    },
  });
  t.attempts.begin([claimedJob("1"), claimedJob("2")]);
  await t.clock.advance(LEASE_MS);
  expect(t.store.failed.map((text) => text.replace(/ at \d+/, ""))).toEqual([
    "1: Error: at once",
    "2: Error: The attempt took longer than its lease of 10 minutes.",
  ]);
  expect([t.attempts.size, t.attempts.slotsTaken, t.clock.timers]).toEqual([0, 0, 0]);
});

test("the log of a failed attempt names no address, which its error may; the job keeps the error", async () => {
  const logged: unknown[] = [];
  const note = (...line: unknown[]): void => void logged.push(line);
  const handlers = { work: () => Promise.reject(new Error("Not delivered: 554 5.7.1 <ada@example.com>: Relay access denied")) };
  const t = setUp(handlers, { info: note, warn: note, error: note });
  t.attempts.begin([claimedJob("1")]);
  await rest();
  expect(logged).toEqual([
    ["job failed", expect.objectContaining({ error: "Error: Not delivered: 554 5.7.1 <[address]>: Relay access denied" })],
  ]);
  expect(t.store.failed).toEqual([expect.stringContaining("<ada@example.com>")]);
});

test("while the outcome of an attempt is being stored, it takes no slot", async () => {
  const t = setUp({ work: async () => ({ commit: async () => {} }) });
  t.store.tx = () => new Promise(() => {});
  t.attempts.begin([claimedJob("1")]);
  await rest();
  expect([t.attempts.size, t.attempts.slotsTaken, t.freed()]).toEqual([1, 0, 1]);
});

test("jobs of a batch handler run together and take no slot; it tells what it takes", () => {
  const ran: string[][] = [];
  const batch: BatchHandler = {
    freeSlots: (lane) => (lane === "mail" ? 7 : 0),
    run: (jobs) => void ran.push(jobs.map(({ id }) => id)),
    commit: async () => {},
  };
  const t = setUp({ work: batch, other: batch });
  t.attempts.begin([claimedJob("1", "mail"), claimedJob("2", "mail"), { ...claimedJob("3", "mail"), kind: "other" }]);
  expect([ran, t.attempts.size, t.attempts.slotsTaken]).toEqual([[["1", "2", "3"]], 3, 0]);
  expect([t.attempts.batchSlots?.("mail"), t.attempts.batchSlots?.("bulk")]).toEqual([7, 0]);
  expect(setUp({ work: async () => ({}) }).attempts.batchSlots).toBeNull();
});
