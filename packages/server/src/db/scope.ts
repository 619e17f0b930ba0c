import { AsyncLocalStorage } from "node:async_hooks";

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
