import { inArray, max } from "drizzle-orm";
import type { Queries } from "./db.ts";
import type { Tables } from "./tables.ts";

// Rows looked at to learn which trigrams are common.
const SAMPLE = 500;
// Spreads them evenly, and in step with nothing: what was imported in turns would otherwise be met at the same turn each time.
const GOLDEN = (Math.sqrt(5) - 1) / 2;

/** The pieces of three characters a text is made of. */
export function trigramsOf(text: string): string[] {
  const characters = [...text];
  return [...new Set(characters.slice(2).map((_, i) => characters.slice(i, i + 3).join("")))];
}

/** The `n` trigrams of a part that are likely the rarest; none for a part of one or two characters. */
export type Rarest = (part: string, n: number) => Promise<string[]>;

/**
 * Tells trigrams of `contacts` by how often they stand in a sample of all rows. It is taken when first needed, and anew when
 * there are a quarter more or fewer rows than at the last time.
 */
export function rarestOf(q: Pick<Queries, "select">, { contacts: t }: Tables): Rarest {
  let counts = new Map<string, number>();
  let taken = 0;
  const refresh = async (): Promise<void> => {
    const [row] = await q.select({ last: max(t.seq) }).from(t);
    const last = Number(row?.last ?? 0);
    if (Math.abs(last - taken) * 4 <= taken) return;
    const spread = Array.from({ length: SAMPLE }, (_, i) => Math.ceil(last * (((i + 1) * GOLDEN) % 1)));
    const rows = await q
      .select({ searchText: t.searchText })
      .from(t)
      .where(inArray(t.seq, [...new Set(spread)]));
    counts = new Map();
    for (const { searchText } of rows) for (const trigram of trigramsOf(searchText)) counts.set(trigram, (counts.get(trigram) ?? 0) + 1);
    taken = last;
  };
  return async (part, n) => {
    const trigrams = trigramsOf(part);
    if (trigrams.length <= n) return trigrams;
    await refresh();
    return trigrams.sort((a, b) => (counts.get(a) ?? 0) - (counts.get(b) ?? 0)).slice(0, n);
  };
}
