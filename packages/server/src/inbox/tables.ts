import type { Kit } from "../db/postgres/columns.ts";

export function inboxTables(k: Kit) {
  return {
    /** Mail the capture mailer took instead of sending it. */
    inbox: k.table(
      "inbox",
      {
        id: k.text("id").primaryKey(),
        emailId: k.text("email_id"),
        workspaceId: k.text("workspace_id"),
        to: k.text("to_text").notNull(),
        from: k.text("from_text").notNull(),
        subject: k.text("subject").notNull(),
        size: k.int("size").notNull(),
        raw: k.bytes("raw").notNull(),
        receivedAt: k.instant("received_at").notNull(),
      },
      (t) => [k.index("inbox_to").on(t.to)],
    ),
  };
}
