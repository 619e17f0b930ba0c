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
        /** All of a small mail; of a larger one the first part. */
        raw: c.bytes("raw").notNull(),
        receivedAt: c.instant("received_at").notNull(),
      },
      (t) => [c.index("inbox_to").on(t.to)],
    ),
    /** The further parts of larger mails, from 1: see `lib/parts.ts`. */
    inboxParts: c.table(
      "inbox_parts",
      { mailId: c.text("mail_id").notNull(), part: c.int("part").notNull(), raw: c.bytes("raw").notNull() },
      (t) => [c.primaryKey({ columns: [t.mailId, t.part] })],
    ),
  };
}

export type InboxTables = ReturnType<typeof inboxTables>;
