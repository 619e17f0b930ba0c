import { sql } from "drizzle-orm";
import type { ColumnTypes } from "../db/columns.ts";

export function eventTables(c: ColumnTypes) {
  return {
    /** The log of events, in order. The sequence is the key; ids are derived from it. */
    events: c.table(
      "events",
      {
        sequence: c.counter("sequence"),
        workspaceId: c.text("workspace_id").notNull(),
        type: c.text("type").notNull(),
        emailId: c.text("email_id"),
        contactId: c.text("contact_id"),
        at: c.instant("at").notNull(),
        data: c.json<Record<string, unknown>>("data"),
      },
      (t) => [
        c.index("events_email").on(t.emailId),
        // Most events are about emails and have no contact, so they get no entry.
        c.index("events_contact").on(t.contactId).where(sql`contact_id is not null`),
      ],
    ),
  };
}
