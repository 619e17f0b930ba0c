import type { EmailStatus } from "@mailsvc/sdk/contract";
import type { Kit } from "../db/postgres/columns.ts";
import type { DeliveryError } from "../mail/mailer.ts";

export function transactionalTables(k: Kit) {
  return {
    /** What a send says, once for all its recipients. */
    contents: k.table("contents", {
      // A number, since nobody outside ever names it: half the index work of a text key.
      id: k.counter("id"),
      workspaceId: k.text("workspace_id").notNull(),
      from: k.text("from_text").notNull(),
      replyTo: k.text("reply_to"),
      subject: k.text("subject").notNull(),
      html: k.text("html"),
      text: k.text("text_body"),
      headers: k.json<Record<string, string>>("headers").notNull(),
      tags: k.json<Record<string, string>>("tags").notNull(),
      /** How many rows of `attachments` belong to it. */
      attachments: k.int("attachments").notNull(),
      /** The contents whose attachments these are, where mails of one send say different things. */
      filesOf: k.reference("files_of"),
      /** The template it was made from, as `slug@version`. */
      template: k.text("template"),
    }),
    attachments: k.table(
      "attachments",
      {
        contentsId: k.reference("contents_id").notNull(),
        position: k.int("position").notNull(),
        filename: k.text("filename").notNull(),
        contentType: k.text("content_type").notNull(),
        contentId: k.text("content_id"),
        size: k.int("size").notNull(),
        content: k.bytes("content").notNull(),
      },
      (t) => [k.primaryKey({ columns: [t.contentsId, t.position] })],
    ),
    /** One message to one recipient, and where it stands. */
    emails: k.table(
      "emails",
      {
        workspaceId: k.text("workspace_id").notNull(),
        id: k.text("id").notNull(),
        contentsId: k.reference("contents_id").notNull(),
        to: k.text("to_text").notNull(),
        /** The recipient in the form addresses are compared in. */
        toKey: k.text("to_key").notNull(),
        status: k.text("status").$type<EmailStatus>().notNull(),
        attempts: k.int("attempts").notNull(),
        inDoubt: k.flag("in_doubt").notNull(),
        lastError: k.json<DeliveryError>("last_error"),
        createdAt: k.instant("created_at").notNull(),
        scheduledAt: k.instant("scheduled_at"),
        nextAttemptAt: k.instant("next_attempt_at"),
        sentAt: k.instant("sent_at"),
        updatedAt: k.instant("updated_at").notNull(),
      },
      // The key leads with the workspace, so that it serves the list (newest first) as well: one b-tree less to write on a
      // send. On SQLite the table is WITHOUT ROWID, which saves another one; drizzle cannot say so, its migration does.
      (t) => [k.primaryKey({ columns: [t.workspaceId, t.id] })],
    ),
  };
}
