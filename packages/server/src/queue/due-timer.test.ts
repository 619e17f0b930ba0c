import { expect, test } from "vitest";
import { manualTime } from "../../test/manual-time.ts";
import { ScriptedStore } from "../../test/queue-scripted-store.ts";
import { DueTimer } from "./due-timer.ts";

function setUp() {
  const store = new ScriptedStore();
  const clock = manualTime();
  const fired: number[] = [];
  return { store, clock, fired, timer: new DueTimer(store, clock, () => void fired.push(clock.now())) };
}

test("the timer fires when the next job is due, and is set anew only after it was invalidated", async () => {
  const { store, clock, fired, timer } = setUp();
  store.nextDue = { at: 100, kind: "work" };
  await timer.arm(clock.now());
  store.nextDue = { at: 50, kind: "work" };
  await timer.arm(clock.now());
  await clock.advance(60);
  expect(fired).toEqual([]);
  store.nextDue = { at: 80, kind: "work" };
  timer.invalidate();
  await timer.arm(clock.now());
  await clock.advance(100);
  expect(fired).toEqual([80]);
});

test("without a next job there is no timer, and a cancelled one does not fire", async () => {
  const { store, clock, fired, timer } = setUp();
  await timer.arm(clock.now());
  expect(clock.timers).toBe(0);
  store.nextDue = { at: 100, kind: "work" };
  timer.invalidate();
  await timer.arm(clock.now());
  expect(clock.timers).toBe(1);
  timer.cancel();
  await clock.advance(200);
  expect(fired).toEqual([]);
});

test("a store that throws leaves the timer to be set again", async () => {
  const { store, clock, timer } = setUp();
  store.nextDue = { at: 100, kind: "work" };
  const failing = new DueTimer({ next: () => Promise.reject(new Error("away")) }, clock, () => {});
  await expect(failing.arm(0)).rejects.toThrow("away");
  await expect(failing.arm(0)).rejects.toThrow("away");
  await timer.arm(clock.now());
  expect(clock.timers).toBe(1);
});
