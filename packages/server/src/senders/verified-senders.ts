import { growingCache } from "../lib/growing-cache.ts";

// A workspace sends from a few addresses.
const MAX_ENTRIES = 20_000;

/**
 * Caches verified sender addresses: looking one up in the database would cost a send 4 µs of its 20. A sender removed by this
 * process is forgotten at once, one removed by another process within `maxAgeMs`.
 */
export class VerifiedSenders {
  readonly #maxAgeMs: number;
  readonly #realNow: () => number;
  readonly #seenAt = growingCache<string, number>(MAX_ENTRIES);

  constructor(maxAgeMs: number, realNow: () => number) {
    this.#maxAgeMs = maxAgeMs;
    this.#realNow = realNow;
  }

  has(workspaceId: string, address: string): boolean {
    const at = this.#seenAt.get(`${workspaceId} ${address}`);
    return at !== undefined && (this.#maxAgeMs === Number.POSITIVE_INFINITY || this.#realNow() - at < this.#maxAgeMs);
  }

  add(workspaceId: string, address: string): void {
    this.#seenAt.set(`${workspaceId} ${address}`, this.#maxAgeMs === Number.POSITIVE_INFINITY ? 0 : this.#realNow());
  }

  clear(): void {
    this.#seenAt.clear();
  }
}
