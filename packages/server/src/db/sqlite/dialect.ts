import { sql } from "drizzle-orm";
import type { Queries } from "../db.ts";
import type { Parts } from "../dialect.ts";
import type { Tables } from "../tables.ts";
import { rarestOf } from "../trigrams.ts";

// Trigrams that begin with a short part: beyond these it is so common that rows without it are rare.
const MAX_TERMS = 500;

// Each further trigram costs 0.1 ms, and after the three rarest there is hardly anything left to rule out.
const ASKED = 3;

// Half a millisecond.
const READ_FIRST = 2000;

/** FTS5 keeps rowids in order and reads them backwards, so hits come newest first, one by one. */
export function partsOf(q: Pick<Queries, "select">, tables: Tables): Parts {
  const rarest = rarestOf(q, tables);
  const matching = (expression: string) => ({
    from: sql`contacts_search as hits`,
    where: sql`hits.contacts_search match ${expression}`,
  });
  return {
    readFirst: (part) => ([...part].length < 3 ? READ_FIRST : 0),
    hits: async (part) => {
      const trigrams = await rarest(part, ASKED);
      if (trigrams.length > 0) return matching(trigrams.map(phrase).join(" AND "));
      // Every character is followed by two more: a short part is the beginning of some trigrams.
      const terms = await q
        .select({ term: sql<string>`term` })
        .from(sql`contacts_trigrams`)
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
