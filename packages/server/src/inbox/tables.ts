import { sql } from "drizzle-orm";
import type { ColumnTypes } from "../db/columns.ts";

/** Mail of test keys. A query must repeat this text to use the index of it. */
export const OF_TEST_KEYS = sql`test`;

export function inboxTables(c: ColumnTypes) {
  return {
    /** Mail that was captured instead of sent: mail of test keys, and in dev mode all mail. */
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
        /** True for mail of a test key. */
        test: c.flag("test").notNull(),
      },
      (t) => [c.index("inbox_to").on(t.to), c.index("inbox_test").on(t.workspaceId, t.id).where(OF_TEST_KEYS)],
    ),
    /** The further parts of larger mails, from 1: see `parts.ts`. */
    inboxParts: c.table(
      "inbox_parts",
      { mailId: c.text("mail_id").notNull(), part: c.int("part").notNull(), hash: c.text("hash").notNull() },
      (t) => [c.primaryKey({ columns: [t.mailId, t.part] }), c.index("inbox_parts_hash").on(t.hash)],
    ),
    /** Content of these parts, by its SHA-256: the mails of all workspaces that contain the same file share it. */
    inboxBytes: c.table("inbox_bytes", { hash: c.text("hash").primaryKey(), bytes: c.bytes("bytes").notNull() }),
  };
}

export type InboxTables = ReturnType<typeof inboxTables>;

declare module "../lib/ids.ts" {
  interface IdPrefixes {
    readonly mail: "inbox";
  }
}
