import type { PgTable } from "drizzle-orm/pg-core";

// After each light transaction that had to run again, twice as many of its kind are ordinary ones at once.
const MAX_SKIPPED = 64;

/** What is remembered of a kind of transactions. */
interface Kind {
  /** How many are ordinary at once after a failure, and how many of them are left. */
  skip: number;
  left: number;
  /** How many numbers the last light one took from each table's counter. */
  numbers: ReadonlyMap<PgTable, number>;
}

/**
 * Remembers which kinds of transactions need more than a light one, so that these do not run twice each time. A kind that has
 * failed is tried again after 1, 2, 4 … 64 transactions: it may have been an exception.
 */
export class KindMemory {
  readonly #kinds = new WeakMap<object, Kind>();

  mayBeLight(kind: object): boolean {
    const known = this.#get(kind);
    if (known.left === 0) return true;
    known.left -= 1;
    return false;
  }

  /** The numbers that the next transaction of this kind is likely to need. */
  numbersOf(kind: object): ReadonlyMap<PgTable, number> {
    return this.#get(kind).numbers;
  }

  failed(kind: object): void {
    const known = this.#get(kind);
    known.skip = Math.min(known.skip * 2 || 1, MAX_SKIPPED);
    known.left = known.skip;
  }

  succeeded(kind: object, numbers: ReadonlyMap<PgTable, number>): void {
    const known = this.#get(kind);
    known.skip = 0;
    known.numbers = numbers;
  }

  #get(kind: object): Kind {
    let known = this.#kinds.get(kind);
    if (!known) {
      known = { skip: 0, left: 0, numbers: new Map() };
      this.#kinds.set(kind, known);
    }
    return known;
  }
}
