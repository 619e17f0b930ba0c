import type { ControllableClock } from "../src/lib/controllable-clock.ts";

/** A clock that moves 1 ms on whenever it is read, as time passes in production; a frozen one hides code that asks twice for one decision. */
export function tickingClock(clock: ControllableClock): ControllableClock {
  const now = (): number => {
    clock.freeze(clock.now() + 1);
    return clock.now();
  };
  return Object.create(clock, { now: { value: now } });
}
