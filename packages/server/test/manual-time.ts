import type { Clock } from "../src/lib/clock.ts";
import { yieldToEventLoop } from "../src/lib/turn.ts";

/** A clock that stands until `advance`, its real time too. */
interface ManualTime extends Clock {
  /** Timers that are set. */
  readonly timers: number;
  /** Moves time forward, fires what is due on the way, and waits until the work it started has come to rest. */
  advance(ms: number): Promise<void>;
}

/** Makes a clock that only the test moves. It begins at 0. */
export function manualTime(): ManualTime {
  let now = 0;
  const timers = new Set<{ at: number; fire: () => void }>();
  const after = (ms: number, fire: () => void) => {
    const timer = { at: now + Math.max(0, ms), fire };
    timers.add(timer);
    return { cancel: () => void timers.delete(timer) };
  };
  const next = (until: number) => [...timers].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0];
  return {
    now: () => now,
    after: (ms, _name, fire) => after(ms, fire),
    real: { now: () => now, date: () => now, after, sleep: (ms) => new Promise((done) => after(ms, done)) },
    get timers() {
      return timers.size;
    },
    advance: async (ms) => {
      const end = now + ms;
      await rest();
      for (let timer = next(end); timer; timer = next(end)) {
        now = timer.at;
        timers.delete(timer);
        timer.fire();
        await rest();
      }
      now = end;
      await rest();
    },
  };
}

/** Waits for some turns of the event loop: longer than any work that waits for no timer. */
export async function rest(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await yieldToEventLoop();
}
