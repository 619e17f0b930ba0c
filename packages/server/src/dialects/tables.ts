import type { ColumnTypes } from "../db/columns.ts";

export function dialectTables(c: ColumnTypes) {
  return {
    /** What programs of Resend declare of their contacts' properties, which are custom fields. */
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
