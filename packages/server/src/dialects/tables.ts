import type { ColumnTypes } from "../db/columns.ts";

export function dialectTables(c: ColumnTypes) {
  return {
    /** Properties of contacts that programs of Resend declare. They are custom fields here. */
    contactProperties: c.table(
      "contact_properties",
      {
        id: c.text("id").notNull(),
        workspaceId: c.text("workspace_id").notNull(),
        key: c.text("key").notNull(),
        type: c.text("type").$type<"string" | "number">().notNull(),
        /** As JSON; null for none. */
        fallback: c.text("fallback"),
        createdAt: c.instant("created_at").notNull(),
      },
      (t) => [c.primaryKey({ columns: [t.id] }), c.uniqueIndex("contact_properties_key").on(t.workspaceId, t.key)],
    ),
  };
}

export type DialectTables = ReturnType<typeof dialectTables>;
