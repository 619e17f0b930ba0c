import type { ColumnTypes } from "../db/columns.ts";

export function counterTables(c: ColumnTypes) {
  return {
    /** How many there are of something, in parts that add up, so that writers seldom meet on one row. */
    counters: c.table(
      "tallies",
      {
        /** Whose: the id of a list or a segment. */
        owner: c.text("owner").notNull(),
        kind: c.text("kind").notNull(),
        part: c.int("part").notNull(),
        count: c.int("count").notNull(),
      },
      (t) => [c.primaryKey({ columns: [t.owner, t.kind, t.part] })],
    ),
  };
}
