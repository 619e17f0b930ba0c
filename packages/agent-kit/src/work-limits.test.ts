import { expect, test } from "vitest";
import type { AgentClock } from "./runtime.ts";
import { type WorkLimitError, WorkLimits } from "./work-limits.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** A clock that fires each timer at its time, unless the machine sleeps. */
class TestClock implements AgentClock {
  #now = 1_900_000_000_000;
  readonly #timers = new Map<symbol, { at: number; fire: () => void }>();

  now = (): number => this.#now;

  after = (ms: number, fire: () => void): (() => void) => {
    const id = Symbol();
    this.#timers.set(id, { at: this.#now + ms, fire });
    return () => void this.#timers.delete(id);
  };

  advance(ms: number): void {
    const until = this.#now + ms;
    for (;;) {
      const [next] = [...this.#timers].sort(([, a], [, b]) => a.at - b.at);
      if (next === undefined || next[1].at > until) break;
      this.#timers.delete(next[0]);
      this.#now = Math.max(this.#now, next[1].at);
      next[1].fire();
    }
    this.#now = until;
  }

  /** The machine sleeps: no timer fires meanwhile. */
  sleep(ms: number): void {
    this.#now += ms;
  }
}

function start(limits: Partial<Record<"maxDurationMs" | "maxSilenceMs", number>>) {
  const clock = new TestClock();
  const ended: WorkLimitError["code"][] = [];
  const work = new WorkLimits({
    clock,
    maxDurationMs: Number.POSITIVE_INFINITY,
    maxSilenceMs: Number.POSITIVE_INFINITY,
    ...limits,
    workedMs: 0,
    onExceeded: ({ code }) => ended.push(code),
  });
  return { clock, work, ended };
}

test("work and silence are ended when their time is over", () => {
  const long = start({ maxDurationMs: HOUR });
  long.clock.advance(HOUR - 1);
  expect([long.ended, long.work.workedMs]).toEqual([[], HOUR - 1]);
  long.clock.advance(1);
  expect(long.ended).toEqual(["max_duration"]);
  const silent = start({ maxSilenceMs: 10 * MINUTE });
  silent.clock.advance(9 * MINUTE);
  silent.work.touch();
  silent.clock.advance(10 * MINUTE - 1);
  expect(silent.ended).toEqual([]);
  silent.clock.advance(1);
  expect(silent.ended).toEqual(["max_silence"]);
});

test("the time in which the machine slept is neither work nor silence", () => {
  const { clock, work, ended } = start({ maxDurationMs: HOUR, maxSilenceMs: 10 * MINUTE });
  clock.advance(5 * MINUTE);
  clock.sleep(2 * HOUR);
  clock.advance(0);
  expect(ended).toEqual([]);
  expect(work.workedMs).toBeLessThanOrEqual(6 * MINUTE);
  // Activity after the wakeup counts, even before any timer has fired.
  clock.sleep(2 * HOUR);
  work.touch();
  expect(work.workedMs).toBeLessThanOrEqual(7 * MINUTE);
  clock.advance(9 * MINUTE);
  expect(ended).toEqual([]);
  clock.advance(2 * MINUTE);
  expect(ended).toEqual(["max_silence"]);
});
