import type { ColumnTypes } from "../db/columns.ts";

export function workspaceTables(c: ColumnTypes) {
  return {
    workspaces: c.table("workspaces", {
      id: c.text("id").primaryKey(),
      name: c.text("name").notNull(),
      createdAt: c.instant("created_at").notNull(),
    }),
    /** Facts about this installation, by name. */
    meta: c.table("meta", {
      name: c.text("name").primaryKey(),
      value: c.text("value").notNull(),
    }),
  };
}
