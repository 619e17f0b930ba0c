import { sql } from "drizzle-orm";
import type { Kit } from "../db/postgres/columns.ts";

export function eventTables(k: Kit) {
  return {
    /** Everything that happened, in order. The sequence is the key; ids are derived from it. */
    events: k.table(
      "events",
      {
        sequence: k.counter("sequence"),
        workspaceId: k.text("workspace_id").notNull(),
        type: k.text("type").notNull(),
        emailId: k.text("email_id"),
        contactId: k.text("contact_id"),
        at: k.instant("at").notNull(),
        data: k.json<Record<string, unknown>>("data"),
      },
      (t) => [
        k.index("events_email").on(t.emailId),
        // Most events are of emails: what they lack is not worth an entry.
        k.index("events_contact").on(t.contactId).where(sql`contact_id is not null`),
      ],
    ),
  };
}
