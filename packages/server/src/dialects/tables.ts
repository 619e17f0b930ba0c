import type { ColumnTypes } from "../db/columns.ts";

/** Types of the fields of an event, as Resend has them. */
export const EVENT_FIELD_TYPES = ["string", "number", "boolean", "date"] as const;
export type EventFieldType = (typeof EVENT_FIELD_TYPES)[number];

export function dialectTables(c: ColumnTypes) {
  return {
    /** Events that programs of Resend define, with the types of their fields. */
    eventDefinitions: c.table(
      "event_definitions",
      {
        id: c.text("id").notNull(),
        workspaceId: c.text("workspace_id").notNull(),
        name: c.text("name").notNull(),
        /** Null for one whose fields may be anything. */
        schema: c.json<Readonly<Record<string, EventFieldType>> | null>("schema"),
        createdAt: c.instant("created_at").notNull(),
        updatedAt: c.instant("updated_at"),
      },
      (t) => [c.primaryKey({ columns: [t.id] }), c.uniqueIndex("event_definitions_name").on(t.workspaceId, t.name)],
    ),
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

declare module "../lib/ids.ts" {
  interface IdPrefixes {
    readonly prop: "contactProperties";
    readonly evd: "eventDefinitions";
  }
}
