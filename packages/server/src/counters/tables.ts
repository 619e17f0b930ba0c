import type { Kit } from "../db/postgres/columns.ts";

export function tallyTables(k: Kit) {
  return {
    /** How many there are of something, in parts that add up, so that writers seldom meet on one row. */
    tallies: k.table(
      "tallies",
      {
        /** Whose: the id of a list or a segment. */
        owner: k.text("owner").notNull(),
        kind: k.text("kind").notNull(),
        part: k.int("part").notNull(),
        count: k.int("count").notNull(),
      },
      (t) => [k.primaryKey({ columns: [t.owner, t.kind, t.part] })],
    ),
  };
}
