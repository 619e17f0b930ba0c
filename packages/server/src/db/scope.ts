import { AsyncLocalStorage } from "node:async_hooks";
import type { Clock } from "../lib/clock.ts";

/** Identifies one open transaction, so that queries after its end are refused. */
export interface Scope {
  open: boolean;
  /** True once it has changed a row. Kept on SQLite only. */
  wrote: boolean;
  /** The instant of the transaction (ms since 1970), once it has asked the clock. */
  now?: number;
  readonly afterCommit: (() => void)[];
}

export function newScope(): Scope {
  return { open: true, wrote: false, afterCommit: [] };
}

/** The transaction that the current code runs in, if any. Stored in the asynchronous context of the caller, not in this module. */
export const currentScope = new AsyncLocalStorage<Scope>();

/** Runs a hook after COMMIT. The rows are durable by then, so a hook that throws must affect neither them nor the response. */
export function runHook(hook: () => void): void {
  try {
    hook();
  } catch (error) {
    process.emitWarning(error as Error);
  }
}

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
