// A database takes a limited number of values per statement: SQLite 32,766, Postgres 65,535.
const CHUNK = 500;

/** Splits items into lists of at most `size`, so that a statement does not get too long. */
export function splitIntoChunks<T>(items: readonly T[], size: number = CHUNK): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size));
}
