import { sql } from "drizzle-orm";
import type { Queries } from "../db.ts";
import type { Parts } from "../dialect.ts";
import type { Tables } from "../tables.ts";
import { rarestOf } from "../trigrams.ts";

// After the rarest few there is hardly anything left to rule out.
const ASKED = 4;

// What stands in fewer than one of 300 rows is not found among these; the index then has 3,000 hits of a million at most. Some ms.
const READ_FIRST = 6000;

/** A GIN index of trigrams gives all hits at once, in no order: the newest rows are read first, which finds what is common. */
export function partsOf(q: Pick<Queries, "select">, tables: Tables): Parts {
  const rarest = rarestOf(q, tables);
  return {
    readFirst: () => READ_FIRST,
    hits: async (part) => {
      const trigrams = await rarest(part, ASKED);
      const query = trigrams.length > 0 ? trigrams.map(lexeme).join(" & ") : `${lexeme(part)}:*`;
      return {
        // The fence keeps the planner from walking through all contacts in the hope of an early hit, and the order within lets it
        // stop as soon as there are enough. The workspace is looked at outside: here it would bring in an index of all its contacts.
        from: sql`(select seq as rowid from contacts where contact_trigrams(search_text) @@ ${query}::tsquery and strpos(search_text, ${part}::text) > 0 order by seq desc offset 0) as hits`,
        where: undefined,
      };
    },
  };
}

function lexeme(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
}
