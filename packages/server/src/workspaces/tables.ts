import type { Kit } from "../db/postgres/columns.ts";

export function workspaceTables(k: Kit) {
  return {
    workspaces: k.table("workspaces", {
      id: k.text("id").primaryKey(),
      name: k.text("name").notNull(),
      createdAt: k.instant("created_at").notNull(),
    }),
    /** Facts about this installation, by name. */
    meta: k.table("meta", {
      name: k.text("name").primaryKey(),
      value: k.text("value").notNull(),
    }),
  };
}
