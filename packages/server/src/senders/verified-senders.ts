// Workspaces send from a few addresses each.
const MAX_ENTRIES = 20_000;

/**
 * The addresses found verified lately, in memory: looking one up costs a send 4 µs of its 20 in the database. A sender
 * that is removed here is forgotten at once; one removed by another process within `maxAgeMs`.
 */
export class VerifiedSenders {
  readonly #maxAgeMs: number;
  readonly #realNow: () => number;
  readonly #seenAt = new Map<string, number>();

  constructor(maxAgeMs: number, realNow: () => number) {
    this.#maxAgeMs = maxAgeMs;
    this.#realNow = realNow;
  }

  has(workspaceId: string, address: string): boolean {
    const at = this.#seenAt.get(`${workspaceId} ${address}`);
    return at !== undefined && (this.#maxAgeMs === Number.POSITIVE_INFINITY || this.#realNow() - at < this.#maxAgeMs);
  }

  add(workspaceId: string, address: string): void {
    if (this.#seenAt.size >= MAX_ENTRIES) this.#seenAt.clear();
    this.#seenAt.set(`${workspaceId} ${address}`, this.#maxAgeMs === Number.POSITIVE_INFINITY ? 0 : this.#realNow());
  }

  clear(): void {
    this.#seenAt.clear();
  }
}
