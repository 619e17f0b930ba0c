import type { SQL } from "drizzle-orm";
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";

/** The table that is searched: `seq` numbers its rows, `searchText` holds what can be found. */
export type SearchedTable = PgTable & { readonly seq: PgColumn; readonly searchText: PgColumn };

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
   * How many of the newest rows to scan before using the index; 0 for none. Scanning first pays where the index does not
   * return hits newest first, or cannot narrow the search much.
   */
  scanFirst(part: string): number;
  /** Looks a text up, across all workspaces. Null when the text is too short for the index, so that only a scan finds it. */
  hits(part: string): Promise<SearchHits | null>;
}
