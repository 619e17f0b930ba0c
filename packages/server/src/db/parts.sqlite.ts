import { gte, max, sql } from "drizzle-orm";
import type { Queries, Tx } from "./db.ts";
import { type Parts, trigramsOf } from "./parts.ts";
import type { Tables } from "./tables.ts";

// Trigrams that begin with a short part: beyond these it is so common that rows without it are rare.
const MAX_TERMS = 500;

// Rows looked at to learn which trigrams are common, and how many trigrams of a search are asked for. Each further one costs
// 0.1 ms, and after the three rarest there is hardly anything left to rule out.
const SAMPLE = 500;
const ASKED = 3;

const phrase = (trigram: string): string => `"${trigram.replaceAll('"', '""')}"`;

/** How often trigrams stand in a sample of all rows; taken anew when there are a quarter more or fewer than at the last time. */
const frequencies = (q: Pick<Queries, "select"> & Pick<Tx, "prepared">, { contacts: t }: Tables) => {
  let counts = new Map<string, number>();
  let taken = 0;
  return async (): Promise<ReadonlyMap<string, number>> => {
    const [row] = await q.select({ last: max(t.seq) }).from(t);
    const last = Number(row?.last ?? 0);
    if (Math.abs(last - taken) * 4 <= taken) return counts;
    counts = new Map();
    const next = q.prepared("sample_search_text", (build, { contacts }) =>
      build
        .select({ searchText: contacts.searchText })
        .from(contacts)
        .where(gte(contacts.seq, sql.placeholder("seq")))
        .orderBy(contacts.seq)
        .limit(1)
        .prepare("sample_search_text"),
    );
    for (let i = 0; i < SAMPLE; i += 1) {
      const [sampled] = await next.execute({ seq: Math.floor((last * i) / SAMPLE) });
      for (const trigram of trigramsOf(sampled?.searchText ?? "")) counts.set(trigram, (counts.get(trigram) ?? 0) + 1);
    }
    taken = last;
    return counts;
  };
};

/** FTS5 keeps rowids in order and reads them backwards, so hits come newest first, one by one. */
export const partsOf = (q: Pick<Queries, "select"> & Pick<Tx, "prepared">, tables: Tables): Parts => {
  const frequenciesNow = frequencies(q, tables);
  const matching = (expression: string) => ({
    from: sql`contacts_search as hits`,
    where: sql`hits.contacts_search match ${expression}`,
  });
  return {
    walksFirst: (part) => [...part].length < 3,
    hits: async (_workspaceId, part) => {
      const trigrams = trigramsOf(part);
      if (trigrams.length > 0) {
        const counts = trigrams.length > ASKED ? await frequenciesNow() : null;
        const rarest = trigrams.sort((a, b) => (counts?.get(a) ?? 0) - (counts?.get(b) ?? 0)).slice(0, ASKED);
        return matching(rarest.map(phrase).join(" AND "));
      }
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
};
