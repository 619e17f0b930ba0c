import type { ColumnTypes } from "../db/columns.ts";

export function installationTables(c: ColumnTypes) {
  return {
    /** Facts about this installation, by name. */
    meta: c.table("meta", {
      name: c.text("name").primaryKey(),
      value: c.text("value").notNull(),
    }),
  };
}
