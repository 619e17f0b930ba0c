import { inArray, max, type SQL } from "drizzle-orm";
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import type { Queries } from "./db.ts";

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

// Rows sampled to learn which trigrams are common.
const SAMPLE = 500;
// Spreads the sample evenly without a period: rows that were imported in rotation would otherwise be met at the same position.
const GOLDEN = (Math.sqrt(5) - 1) / 2;

/** Splits a text into its distinct trigrams. */
function trigramsOf(text: string): string[] {
  const characters = [...text];
  return [...new Set(characters.slice(2).map((_, i) => characters.slice(i, i + 3).join("")))];
}

/** Finds the `n` trigrams of a text that are probably the rarest; none for a text of one or two characters. */
type FindRarest = (part: string, n: number) => Promise<string[]>;

/**
 * Ranks trigrams by how often they occur in a sample of all rows. The sample is taken on first use, and again when the table
 * has grown or shrunk by a quarter.
 */
export function rankTrigrams(q: Pick<Queries, "select">, { table: t, text }: SearchedText): FindRarest {
  let counts = new Map<string, number>();
  let sampledAt = 0;
  const refresh = async (): Promise<void> => {
    const [row] = await q.select({ last: max(t.seq) }).from(t);
    const last = Number(row?.last ?? 0);
    if (Math.abs(last - sampledAt) * 4 <= sampledAt) return;
    const spread = Array.from({ length: SAMPLE }, (_, i) => Math.ceil(last * (((i + 1) * GOLDEN) % 1)));
    const rows = await q
      .select({ text })
      .from(t)
      .where(inArray(t.seq, [...new Set(spread)]));
    counts = new Map();
    for (const row of rows) for (const trigram of trigramsOf(String(row.text))) counts.set(trigram, (counts.get(trigram) ?? 0) + 1);
    sampledAt = last;
  };
  return async (part, n) => {
    const trigrams = trigramsOf(part);
    if (trigrams.length <= n) return trigrams;
    await refresh();
    return trigrams.sort((a, b) => (counts.get(a) ?? 0) - (counts.get(b) ?? 0)).slice(0, n);
  };
}
