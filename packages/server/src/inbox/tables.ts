import type { ColumnTypes } from "../db/columns.ts";

export function inboxTables(c: ColumnTypes) {
  return {
    /** Mail that was captured instead of sent. */
    inbox: c.table(
      "inbox",
      {
        id: c.text("id").primaryKey(),
        emailId: c.text("email_id"),
        workspaceId: c.text("workspace_id"),
        to: c.text("to_text").notNull(),
        from: c.text("from_text").notNull(),
        subject: c.text("subject").notNull(),
        size: c.int("size").notNull(),
        raw: c.bytes("raw").notNull(),
        receivedAt: c.instant("received_at").notNull(),
      },
      (t) => [c.index("inbox_to").on(t.to)],
    ),
  };
}
