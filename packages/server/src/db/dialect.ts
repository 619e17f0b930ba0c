import type { SQL } from "drizzle-orm";

/**
 * Rows of `contacts` that may hold a part of a text, found by an index: a source `hits` of their numbers, called `rowid`,
 * and a condition that narrows it. Whether they do hold it is still to be checked.
 */
export interface Hits {
  readonly from: SQL;
  readonly where: SQL | undefined;
}

/** The index of parts of texts, which the databases keep each in their own way. */
export interface Parts {
  /**
   * How many of the newest rows to read before the index is asked; 0 for none. It is worth it where the index does not give its hits newest first,
   * or cannot narrow much.
   */
  readFirst(part: string): number;
  /** Finds by the index, in all workspaces; null when it cannot help with so short a part, so that only reading row by row is left. */
  hits(part: string): Promise<Hits | null>;
}
