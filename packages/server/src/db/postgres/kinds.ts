// After each light transaction that had to run again, twice as many of its kind are ordinary ones at once.
const MAX_SKIPPED = 64;

/**
 * Remembers which kinds of transactions need more than a light one, so that these do not run twice each time. A kind that has
 * failed is tried again after 1, 2, 4 … 64 transactions: it may have been an exception.
 */
export class KindMemory {
  readonly #failures = new WeakMap<object, { skip: number; left: number }>();

  mayBeLight(kind: object): boolean {
    const failure = this.#failures.get(kind);
    if (!failure || failure.left === 0) return true;
    failure.left -= 1;
    return false;
  }

  failed(kind: object): void {
    const skip = Math.min((this.#failures.get(kind)?.skip ?? 0) * 2 || 1, MAX_SKIPPED);
    this.#failures.set(kind, { skip, left: skip });
  }

  succeeded(kind: object): void {
    this.#failures.delete(kind);
  }
}
