import type { AutoReplyReason, InboundDomain, MailAuthentication } from "@mailsvc/sdk/contract";
import { sql } from "drizzle-orm";
import type { ColumnTypes } from "../db/columns.ts";

/** Domains whose mail is taken. A query must repeat this text to use the index of them. */
export const IS_VERIFIED = sql`status = 'VERIFIED'`;

export function receivedTables(c: ColumnTypes) {
  return {
    received: received(c),
    receivedFiles: receivedFiles(c),
    receivedParts: receivedParts(c),
    inboundDomains: inboundDomains(c),
    receivedQuotas: receivedQuotas(c),
  };
}

export type ReceivedTables = ReturnType<typeof receivedTables>;

/** A mail that came in, for each address of a workspace that it came to. */
function received(c: ColumnTypes) {
  return c.table(
    "received",
    {
      id: c.text("id").primaryKey(),
      workspaceId: c.text("workspace_id").notNull(),
      threadId: c.text("thread_id").notNull(),
      /** The email it answers, and what that one knows. */
      emailId: c.text("email_id"),
      contactId: c.text("contact_id"),
      campaignId: c.text("campaign_id"),
      to: c.text("to_text").notNull(),
      toKey: c.text("to_key").notNull(),
      from: c.text("from_text"),
      /** The sender in the form addresses are compared in. */
      fromKey: c.text("from_key"),
      fromName: c.text("from_name"),
      subject: c.text("subject").notNull(),
      messageId: c.text("message_id"),
      /** A hash of its Message-ID, or of the whole mail if it has none. */
      messageKey: c.text("message_key").notNull(),
      /** A hash of what it says, which stays the same when it is delivered again on another way. */
      contentKey: c.text("content_key").notNull(),
      autoReply: c.text("auto_reply").$type<AutoReplyReason>(),
      /** The number of its rows in `received_files`. */
      files: c.int("files").notNull(),
      authentication: c.json<MailAuthentication>("authentication"),
      size: c.int("size").notNull(),
      truncated: c.flag("truncated").notNull(),
      receivedAt: c.instant("received_at").notNull(),
      /** The addresses that an answer goes to, one a line: see `splitAddresses`. Null if there is none. */
      replyTo: c.text("reply_to"),
      references: c.json<string[]>("reference_ids").notNull(),
      // The long ones last: SQLite reads a row from its begin to the last column that is asked for.
      headers: c.json<{ name: string; value: string }[]>("headers").notNull(),
      reply: c.text("reply_text").notNull(),
      text: c.text("text_body").notNull(),
      html: c.text("html"),
    },
    (t) => [
      // One row for a mail and an address, however often it is delivered; also finds the mail that another one names. Two mails may have
      // one Message-ID: nobody can keep a mail out by sending another one first.
      c.uniqueIndex("received_message").on(t.workspaceId, t.messageKey, t.toKey, t.contentKey),
      c.index("received_list").on(t.workspaceId, t.id),
      c.index("received_from").on(t.workspaceId, t.fromKey, t.id),
      c.index("received_to").on(t.workspaceId, t.toKey, t.id),
      c.index("received_thread").on(t.workspaceId, t.threadId, t.id),
      c.index("received_email").on(t.workspaceId, t.emailId, t.id),
    ],
  );
}

/** The files of a mail, numbered from 1. */
function receivedFiles(c: ColumnTypes) {
  return c.table(
    "received_files",
    {
      receivedId: c.text("received_id").notNull(),
      number: c.int("number").notNull(),
      filename: c.text("filename").notNull(),
      contentType: c.text("content_type").notNull(),
      contentId: c.text("content_id"),
      size: c.int("size").notNull(),
    },
    (t) => [c.primaryKey({ columns: [t.receivedId, t.number] })],
  );
}

/** The bytes of a mail (file 0) and of its files, in parts from 0: see `lib/parts.ts`. */
function receivedParts(c: ColumnTypes) {
  return c.table(
    "received_parts",
    {
      receivedId: c.text("received_id").notNull(),
      file: c.int("file").notNull(),
      part: c.int("part").notNull(),
      content: c.bytes("content").notNull(),
    },
    (t) => [c.primaryKey({ columns: [t.receivedId, t.file, t.part] })],
  );
}

/**
 * Amount of mail a workspace received on a day, in parts that add up. The day of a part is the last one on which it was counted
 * into.
 */
function receivedQuotas(c: ColumnTypes) {
  return c.table(
    "received_quotas",
    {
      workspaceId: c.text("workspace_id").notNull(),
      part: c.int("part").notNull(),
      /** Days since 1970 (UTC). */
      day: c.int("day").notNull(),
      mails: c.int("mails").notNull(),
      kilobytes: c.int("kilobytes").notNull(),
    },
    (t) => [c.primaryKey({ columns: [t.workspaceId, t.part] })],
  );
}

/** Domains of workspaces whose mail is received. Only one workspace can have a domain verified. */
function inboundDomains(c: ColumnTypes) {
  return c.table(
    "inbound_domains",
    {
      id: c.text("id").primaryKey(),
      workspaceId: c.text("workspace_id").notNull(),
      domain: c.text("domain").notNull(),
      status: c.text("status").$type<InboundDomain["status"]>().notNull(),
      /** The secret in the TXT record that proves control. */
      token: c.text("token").notNull(),
      lastError: c.text("last_error"),
      /** Time of the latest check of its record after it had been found; null in dev mode, which does not check. */
      checkedAt: c.instant("checked_at"),
      /** Time since which its record is missing; null while it is there. */
      failingSince: c.instant("failing_since"),
      createdAt: c.instant("created_at").notNull(),
      verifiedAt: c.instant("verified_at"),
    },
    (t) => [
      c.uniqueIndex("inbound_domains_domain").on(t.workspaceId, t.domain),
      c.uniqueIndex("inbound_domains_verified").on(t.domain).where(IS_VERIFIED),
      c.index("inbound_domains_list").on(t.workspaceId, t.id),
    ],
  );
}

declare module "../lib/ids.ts" {
  interface IdPrefixes {
    readonly rcv: "received";
    readonly ind: "inboundDomains";
  }
}
