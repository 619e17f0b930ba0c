import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { realTime, systemClock } from "./clock.ts";
import { DAY, HOUR, MINUTE } from "./units.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A timer of the machine's clock, and whether it has fired. */
function setTimer(ms: number) {
  const timer = { fired: false, cancel: (): void => set.cancel() };
  const set = systemClock.after(ms, "test", () => {
    timer.fired = true;
  });
  return timer;
}

test("a timer fires at its time, however far that is", () => {
  const [soon, late] = [setTimer(10), setTimer(90 * MINUTE)];
  vi.advanceTimersByTime(9);
  expect(soon.fired).toBe(false);
  vi.advanceTimersByTime(1);
  expect(soon.fired).toBe(true);
  vi.advanceTimersByTime(90 * MINUTE - 11);
  expect(late.fired).toBe(false);
  vi.advanceTimersByTime(1);
  expect(late.fired).toBe(true);
});

test("a timer fires within a minute after the machine's clock was set forward, or the machine slept", () => {
  const timer = setTimer(HOUR);
  vi.advanceTimersByTime(MINUTE / 2);
  vi.setSystemTime(Date.now() + HOUR);
  vi.advanceTimersByTime(MINUTE);
  expect(timer.fired).toBe(true);
});

test("a timer does not wait longer when the machine's clock was set back", () => {
  const timer = setTimer(2 * MINUTE);
  vi.setSystemTime(Date.now() - HOUR);
  vi.advanceTimersByTime(2 * MINUTE);
  expect(timer.fired).toBe(true);
});

test("a cancelled timer does not fire, also after it has looked at the clock", () => {
  const timer = setTimer(3 * MINUTE);
  vi.advanceTimersByTime(90_000);
  timer.cancel();
  vi.advanceTimersByTime(HOUR);
  expect(timer.fired).toBe(false);
});

test("a timer of real time fires at its time, and gives Node no delay of more than a minute", () => {
  const start = performance.now();
  let fired = false;
  realTime.after(30 * DAY, () => {
    fired = true;
  });
  vi.advanceTimersToNextTimer();
  expect(performance.now() - start).toBe(MINUTE);
  vi.advanceTimersByTime(30 * DAY - MINUTE - 1);
  expect(fired).toBe(false);
  vi.advanceTimersByTime(1);
  expect(fired).toBe(true);
});
