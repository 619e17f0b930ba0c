import type { ColumnTypes } from "../db/columns.ts";

export function counterTables(c: ColumnTypes) {
  return {
    /** Counters, each split into parts that add up, so that writers rarely wait for the same row. */
    counters: c.table(
      "tallies",
      {
        /** The id of the list or segment that is counted. */
        owner: c.text("owner").notNull(),
        kind: c.text("kind").notNull(),
        part: c.int("part").notNull(),
        count: c.int("count").notNull(),
      },
      (t) => [c.primaryKey({ columns: [t.owner, t.kind, t.part] })],
    ),
  };
}

export type CounterTables = ReturnType<typeof counterTables>;
