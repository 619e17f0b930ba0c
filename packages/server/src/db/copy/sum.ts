import { hash } from "node:crypto";

/** A value as it travels: texts and JSON as text, bytes as bytes, the rest as numbers and booleans. */
export type Value = string | number | boolean | Uint8Array | null;

const MASK = (1n << 64n) - 1n;

/**
 * Counts rows and sums their hashes. A sum does not ask in which order the rows come: the two databases sort text
 * differently.
 */
export class RowSum {
  rows = 0;
  #sum = 0n;

  add(row: readonly Value[]): void {
    this.rows += 1;
    this.#sum = (this.#sum + hash("sha256", JSON.stringify(row.map(shown)), "buffer").readBigUInt64BE()) & MASK;
  }

  get checksum(): string {
    return this.#sum.toString(16).padStart(16, "0");
  }
}

function shown(value: Value): unknown {
  return value instanceof Uint8Array ? [hash("sha256", value, "hex")] : value;
}
