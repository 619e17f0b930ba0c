import type { SQL } from "drizzle-orm";
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";

/** A text that is searched: a column of a table whose rows `seq` numbers. */
export interface SearchedText {
  readonly table: PgTable & { readonly seq: PgColumn };
  readonly text: PgColumn;
}

/**
 * Rows that may contain a searched text, found by the index: a source aliased `hits` whose column `rowid` is their `seq`, and a
 * condition that narrows it. The caller still has to check that they contain the text.
 */
export interface SearchHits {
  readonly from: SQL;
  readonly where: SQL | undefined;
}

/** The substring index of a database. */
export interface SearchIndex {
  /**
   * Number of the newest rows to scan before using the index; 0 for none. Scanning first pays if the index does not return hits newest
   * first, or cannot narrow the search much.
   */
  scanFirst(...parts: readonly string[]): number;
  /**
   * Looks up the rows that contain one of these texts, across all workspaces. Null when one is too short for the index, so that only a
   * scan finds it.
   */
  hits(...parts: readonly string[]): Promise<SearchHits | null>;
}

/** The substring index of a searched table. Throws for a table that is not searched. */
export type FindSearchIndex = (table: PgTable) => SearchIndex;

/** Creates the substring indexes of all searched tables. */
export function createSearchIndexes(searched: readonly SearchedText[], create: (searched: SearchedText) => SearchIndex): FindSearchIndex {
  const indexes = new Map<PgTable, SearchIndex>(searched.map((one) => [one.table, create(one)]));
  return (table) => {
    const index = indexes.get(table);
    if (index === undefined) throw new Error("This table has no search index.");
    return index;
  };
}
