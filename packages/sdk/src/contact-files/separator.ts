import type { ColumnResolver } from "./columns.ts";
import { parseFirstRecord } from "./csv.ts";

const SEPARATORS = [",", ";", "\t", "|"];

/** A first line such as `sep=;`, which Excel reads and writes. */
export const SEPARATOR_LINE = /^sep=(.)(?:\r\n|\n|\r)/i;

/** Picks the separator that gives the header an email column; otherwise the one that gives the most columns. */
export function detectSeparator(head: string, resolver: ColumnResolver): string {
  const rated = SEPARATORS.map((separator) => {
    const cells = parseFirstRecord(head, separator);
    const email = cells.some((name, i) => {
      const target = resolver.resolve(name, i);
      return target.to === "field" && target.field === "email";
    });
    return { separator, score: (email ? 10_000 : 0) + cells.length };
  });
  return rated.reduce((best, next) => (next.score > best.score ? next : best)).separator;
}
