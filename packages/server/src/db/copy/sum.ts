import { hash } from "node:crypto";

/** A value as it is copied: texts and JSON as text, bytes as bytes, the rest as numbers and booleans. */
export type Value = string | number | boolean | Uint8Array | null;

const MASK = (1n << 64n) - 1n;

/** Counts rows and adds up their hashes. The sum does not depend on the order of rows, because the two databases sort text differently. */
export class RowSum {
  rows = 0;
  #sum = 0n;

  add(row: readonly Value[]): void {
    this.rows += 1;
    this.#sum = (this.#sum + hash("sha256", JSON.stringify(row.map(toHashable)), "buffer").readBigUInt64BE()) & MASK;
  }

  get checksum(): string {
    return this.#sum.toString(16).padStart(16, "0");
  }
}

function toHashable(value: Value): unknown {
  return value instanceof Uint8Array ? [hash("sha256", value, "hex")] : value;
}
