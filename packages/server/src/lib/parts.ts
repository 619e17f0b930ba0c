import { CHUNK_BYTES, concatInTurns, waitForTurn } from "./turn.ts";

/** Cuts bytes into parts of a megabyte, to be stored in their own rows: one row of 27 MB takes 50 ms to write, and as long to read. */
export function splitIntoParts(bytes: Uint8Array): { first: Uint8Array; others: Uint8Array[] } {
  const others: Uint8Array[] = [];
  for (let at = CHUNK_BYTES; at < bytes.length; at += CHUNK_BYTES) others.push(bytes.subarray(at, at + CHUNK_BYTES));
  return { first: bytes.subarray(0, CHUNK_BYTES), others };
}

/** Joins the parts of `size` bytes, of which `first` is the first; `read` gives the others by their number, from 1. */
export async function joinParts(first: Uint8Array, size: number, read: (part: number) => Promise<Uint8Array>): Promise<Uint8Array> {
  // A large file that was stored before parts existed is in one row.
  if (first.length === size) return first;
  const parts = [first];
  for (let length = first.length; length < size; ) {
    await waitForTurn();
    const part = await read(parts.length);
    parts.push(part);
    length += part.length;
  }
  return concatInTurns(parts);
}

// A database takes a limited number of values per statement: SQLite 32,766, Postgres 65,535.
const CHUNK = 500;

/** Splits items into lists of at most `size`, so that a statement does not get too long. */
export function splitIntoChunks<T>(items: readonly T[], size: number = CHUNK): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size));
}
