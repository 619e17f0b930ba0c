import { StoreError, UsageError } from "../errors.ts";
import { currentTime } from "../runtime.ts";

/**
 * Storage for an agent's lasting data: keys, states of activations, events and results of steps. Three operations are enough for all of
 * it; `store.laws.ts` holds the tests that every store passes.
 */
export interface Store {
  /** The value of a key; null when there is none. */
  get(key: string): Promise<string | null>;
  /**
   * Replaces the value of a key in one atomic step, if it is `from`; null stands for no value. Returns whether it did. With `ttlMs`
   * the value may be dropped after that many milliseconds, and `list` leaves it out; without, it stays and is listed. When the
   * promise resolves, the value survives whatever the store survives.
   */
  swap(key: string, from: string | null, to: string | null, ttlMs?: number): Promise<boolean>;
  /** The keys that begin with a prefix and have no time to live, in the order of their characters. */
  list(prefix: string): Promise<string[]>;
  /**
   * The store's clock, ms since 1970, by which all its processes agree when a lease ends. Without it each process uses its own clock, which
   * is right for a store on one machine.
   */
  now?(): Promise<number>;
}

/** A store as the kit uses it: it has a clock, and its failures are StoreErrors. */
export interface CheckedStore extends Store {
  now(): Promise<number>;
}

/** Reads, changes and writes the value of a key, again if another writer came between. `change` returns undefined to leave it. */
export async function update(
  store: Store,
  key: string,
  change: (value: string | null) => { to: string | null; ttlMs?: number } | undefined,
): Promise<void> {
  for (;;) {
    const from = await store.get(key);
    const next = change(from);
    if (next === undefined || next.to === from) return;
    if (await store.swap(key, from, next.to, next.ttlMs)) return;
  }
}

/** The same store, whose failures are StoreErrors, so that they are not taken for failures of the work. */
export function withStoreErrors(store: Store): CheckedStore {
  const rethrow = (cause: unknown): never => {
    throw cause instanceof UsageError ? cause : new StoreError(cause);
  };
  return {
    get: (key) => store.get(key).catch(rethrow),
    swap: (...args) => store.swap(...args).catch(rethrow),
    list: (prefix) => store.list(prefix).catch(rethrow),
    now: async () => (store.now ? store.now().catch(rethrow) : currentTime()),
  };
}
