import { getTableName, sql } from "drizzle-orm";
import type { Queries } from "../db.ts";
import type { SearchedTable, SearchIndex } from "../search-index.ts";
import { rankTrigrams } from "../trigrams.ts";

// Trigrams that start with a short text: with more of them the text is so common that few rows lack it.
const MAX_TERMS = 500;

// Each further trigram costs 0.1 ms, and the three rarest rule out nearly everything.
const MAX_TRIGRAMS = 3;

// Takes half a millisecond.
const SCAN_FIRST = 2000;

/** An FTS5 index with trigrams. It keeps rowids in order and reads them backwards, so hits come newest first, one by one. */
export function createSearchIndex(q: Pick<Queries, "select">, table: SearchedTable): SearchIndex {
  const findRarest = rankTrigrams(q, table);
  const name = getTableName(table);
  const matching = (expression: string) => ({
    from: sql`${sql.identifier(`${name}_search`)} as hits`,
    where: sql`hits.${sql.identifier(`${name}_search`)} match ${expression}`,
  });
  return {
    scanFirst: (part) => ([...part].length < 3 ? SCAN_FIRST : 0),
    hits: async (part) => {
      const trigrams = await findRarest(part, MAX_TRIGRAMS);
      if (trigrams.length > 0) return matching(trigrams.map(phrase).join(" AND "));
      // A text shorter than three characters is the prefix of some trigrams.
      const terms = await q
        .select({ term: sql<string>`term` })
        .from(sql`${sql.identifier(`${name}_trigrams`)}`)
        .where(sql`term >= ${part} and term < ${`${part}\u{10ffff}`}`)
        .limit(MAX_TERMS + 1);
      if (terms.length > MAX_TERMS) return null;
      return terms.length === 0
        ? { from: sql`(select 1 as rowid) as hits`, where: sql`false` }
        : matching(terms.map((t) => phrase(t.term)).join(" OR "));
    },
  };
}

function phrase(trigram: string): string {
  return `"${trigram.replaceAll('"', '""')}"`;
}
