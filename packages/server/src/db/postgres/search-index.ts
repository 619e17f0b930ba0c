import { or, sql } from "drizzle-orm";
import type { Queries } from "../db.ts";
import type { SearchedText, SearchIndex } from "../search-index.ts";
import { rankTrigrams } from "../trigrams.ts";

// The rarest four rule out nearly everything.
const MAX_TRIGRAMS = 4;

// Takes a few ms. A text that is not among these is in fewer than one of 300 rows: the index has at most 3,000 hits per million.
const SCAN_FIRST = 6000;

/** A GIN index of trigrams returns all hits at once, unordered, so the newest rows are scanned first, which finds common texts. */
export function createSearchIndex(q: Pick<Queries, "select">, searched: SearchedText): SearchIndex {
  const findRarest = rankTrigrams(q, searched);
  const text = sql.identifier(searched.text.name);
  const toQuery = async (part: string): Promise<string> => {
    const trigrams = await findRarest(part, MAX_TRIGRAMS);
    return trigrams.length > 0 ? trigrams.map(lexeme).join(" & ") : `${lexeme(part)}:*`;
  };
  return {
    scanFirst: () => SCAN_FIRST,
    hits: async (...parts) => {
      const query = (await Promise.all(parts.map(async (part) => `(${await toQuery(part)})`))).join(" | ");
      const contain = or(...parts.map((part) => sql`strpos(${text}, ${part}::text) > 0`));
      return {
        // `offset 0` keeps the planner from walking the whole table in the hope of an early hit, and the inner order lets it stop
        // at the limit. The workspace is checked outside: in here the planner would choose the index of all its rows.
        from: sql`(select seq as rowid from ${searched.table} where contact_trigrams(${text}) @@ ${query}::tsquery and ${contain} order by seq desc offset 0) as hits`,
        where: undefined,
      };
    },
  };
}

function lexeme(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
}
