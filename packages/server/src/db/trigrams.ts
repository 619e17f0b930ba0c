import { inArray, max } from "drizzle-orm";
import type { Queries } from "./db.ts";
import type { SearchedText } from "./search-index.ts";

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
