import { currentTime } from "../runtime.ts";
import type { Store } from "./store.ts";

interface Entry {
  readonly value: string;
  /** Ms since 1970; null for an entry that stays. */
  readonly expiresAt: number | null;
}

// Expired entries are removed once in this many writes.
const SWEEP_EVERY = 1000;

/** A store in the memory of this process: for tests, and for trying things out. Nothing survives a restart. */
export function memoryStore(): Store {
  const entries = new Map<string, Entry>();
  let writes = 0;

  const read = (key: string): Entry | undefined => {
    const entry = entries.get(key);
    return entry && entry.expiresAt !== null && entry.expiresAt <= currentTime() ? undefined : entry;
  };

  return {
    get: async (key) => read(key)?.value ?? null,
    swap: async (key, from, to, ttlMs) => {
      if ((read(key)?.value ?? null) !== from) return false;
      if (to === null) entries.delete(key);
      else entries.set(key, { value: to, expiresAt: ttlMs === undefined ? null : currentTime() + ttlMs });
      if (++writes % SWEEP_EVERY === 0) for (const [name] of entries) if (!read(name)) entries.delete(name);
      return true;
    },
    list: async (prefix) =>
      [...entries].flatMap(([key, { expiresAt }]) => (expiresAt === null && key.startsWith(prefix) ? [key] : [])).sort(),
  };
}
