import type { Clock } from "../lib/clock.ts";
import { currentScope } from "./scope.ts";

/**
 * The same clock, except that it stands still inside a transaction: everything one transaction decides and stores is of the instant at
 * which it first asked. Two readings would differ by a few ms, and of two functions one could find a month over that the other has not.
 */
export function transactionClock(clock: Clock): Clock {
  return {
    now: () => {
      const scope = currentScope.getStore();
      if (!scope?.open) return clock.now();
      scope.now ??= clock.now();
      return scope.now;
    },
    after: (ms, name, fire) => clock.after(ms, name, fire),
    get advancing() {
      return clock.advancing ?? false;
    },
    real: clock.real,
  };
}
