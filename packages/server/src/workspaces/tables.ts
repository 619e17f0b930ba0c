import type { ColumnTypes } from "../db/columns.ts";

export function workspaceTables(c: ColumnTypes) {
  return {
    workspaces: c.table("workspaces", {
      id: c.text("id").primaryKey(),
      name: c.text("name").notNull(),
      createdAt: c.instant("created_at").notNull(),
    }),
  };
}
