import { ApiError } from "../lib/api-error.ts";

// Connections of one API key, and of all keys, that follow events on this process.
const MAX_TAILS_OF_KEY = 10;
const MAX_TAILS = 1000;

/** Counts the connections that follow events, by API key. */
export class Tails {
  readonly #open = new Map<string, number>();

  /** Counts a connection until the returned function is called. Throws ApiError rate_limited. */
  open(keyId: string): () => void {
    const open = this.#open.get(keyId) ?? 0;
    const all = [...this.#open.values()].reduce((sum, n) => sum + n, 0);
    if (open >= MAX_TAILS_OF_KEY || all >= MAX_TAILS)
      throw new ApiError("rate_limited", `Too many connections follow events: ${open} with this API key, ${all} in all.`, {
        headers: { "retry-after": "10" },
        hint: `Close one first. An API key may follow with ${MAX_TAILS_OF_KEY} connections at a time.`,
      });
    this.#open.set(keyId, open + 1);
    return () => {
      const left = (this.#open.get(keyId) ?? 1) - 1;
      if (left > 0) this.#open.set(keyId, left);
      else this.#open.delete(keyId);
    };
  }
}
