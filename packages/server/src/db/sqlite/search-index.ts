import { getTableName, sql } from "drizzle-orm";
import type { Queries } from "../db.ts";
import type { SearchedText, SearchIndex } from "../search-index.ts";
import { rankTrigrams } from "../trigrams.ts";

// Trigrams that start with a short text: with more of them the text is so common that few rows lack it.
const MAX_TERMS = 500;

// Each further trigram costs 0.1 ms, and the three rarest rule out nearly everything.
const MAX_TRIGRAMS = 3;

// Takes half a millisecond.
const SCAN_FIRST = 2000;

/** An FTS5 index with trigrams. It keeps rowids in order and reads them backwards, so hits come newest first, one by one. */
export function createSearchIndex(q: Pick<Queries, "select">, searched: SearchedText): SearchIndex {
  const findRarest = rankTrigrams(q, searched);
  const name = getTableName(searched.table);
  /** Expression that matches the rows with a text; null if only a scan finds them. */
  const toExpression = async (part: string): Promise<string | null> => {
    const trigrams = await findRarest(part, MAX_TRIGRAMS);
    if (trigrams.length > 0) return trigrams.map(phrase).join(" AND ");
    // A text shorter than three characters is the prefix of some trigrams.
    const terms = await q
      .select({ term: sql<string>`term` })
      .from(sql`${sql.identifier(`${name}_trigrams`)}`)
      .where(sql`term >= ${part} and term < ${`${part}\u{10ffff}`}`)
      .limit(MAX_TERMS + 1);
    return terms.length > MAX_TERMS ? null : terms.map((t) => phrase(t.term)).join(" OR ");
  };
  return {
    scanFirst: (...parts) => (parts.some((part) => [...part].length < 3) ? SCAN_FIRST : 0),
    hits: async (...parts) => {
      const expressions: string[] = [];
      for (const part of parts) {
        const expression = await toExpression(part);
        if (expression === null) return null;
        if (expression !== "") expressions.push(`(${expression})`);
      }
      if (expressions.length === 0) return { from: sql`(select 1 as rowid) as hits`, where: sql`false` };
      return {
        from: sql`${sql.identifier(`${name}_search`)} as hits`,
        where: sql`hits.${sql.identifier(`${name}_search`)} match ${expressions.join(" OR ")}`,
      };
    },
  };
}

function phrase(trigram: string): string {
  return `"${trigram.replaceAll('"', '""')}"`;
}
