import { expect, test } from "vitest";
import { manualTime, rest } from "../../test/manual-time.ts";
import { silentLog } from "../lib/log.ts";
import { EndedJobs } from "./ended-jobs.ts";
import { claimedJob, ScriptedStore } from "./scripted-store.ts";

function setUp({ isStopping = false } = {}) {
  const store = new ScriptedStore();
  const clock = manualTime();
  let idle = 0;
  const ended = new EndedJobs({
    ...{ store, clock, log: silentLog, retryMs: 1000 },
    isStopping: () => isStopping,
    idle: () => {
      idle += 1;
    },
  });
  return { store, clock, ended, idle: () => idle };
}

test("jobs that end are deleted, and held until they are", async () => {
  const t = setUp();
  for (const id of ["1", "2"]) t.ended.add(claimedJob(id));
  expect([t.ended.jobs.length, t.idle()]).toEqual([2, 0]);
  await rest();
  expect([t.store.ended, t.ended.jobs, t.idle()]).toEqual([["1", "2"], [], 1]);
});

test("a database that cannot delete them is asked again after a second", async () => {
  const t = setUp();
  t.store.errors.push(new Error("away"), new Error("away"));
  t.ended.add(claimedJob("1"));
  await t.clock.advance(1999);
  t.ended.add(claimedJob("2"));
  expect(t.ended.jobs.map(({ id }) => id)).toEqual(["2", "1"]);
  await t.clock.advance(1);
  expect([t.store.ended, t.ended.jobs]).toEqual([["1", "2"], []]);
});

test("a queue that is stopping tries once", async () => {
  const t = setUp({ isStopping: true });
  t.store.errors.push(new Error("away"));
  t.ended.add(claimedJob("1"));
  await t.clock.advance(1000);
  expect([t.store.ended, t.ended.jobs, t.idle()]).toEqual([[], [], 1]);
});
