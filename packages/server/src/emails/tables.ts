import type { EmailStatus, RecipientKind, SkipReason, Tracking } from "@mailsvc/sdk/contract";
import { sql } from "drizzle-orm";
import type { ColumnTypes } from "../db/columns.ts";
import type { DeliveryError } from "../mail/mailer.ts";

/** Rows in doubt. A query must repeat this text to use the index of them. */
export const IN_DOUBT = sql`in_doubt`;

/** The lanes of emails that are to be delivered, as they are stored: single mail goes first. */
export const SINGLE = 1 as const;
export const BULK = 2 as const;

/** Emails that are to be delivered and that no process has claimed. A query must repeat this text to use the index of them. */
export const IN_QUEUE = sql`lane is not null and claimed_by is null`;

/** Emails that a process has claimed. A query must repeat this text to use the index of them. */
export const CLAIMED = sql`claimed_by is not null`;

/** Emails queued for a time that the sender chose. A query must repeat this text to use the index of them. */
export const SCHEDULED = sql`scheduled_at is not null and status = 'queued' and campaign_id is null`;

/** Emails of campaigns. A query must repeat this text to use the indexes of them. */
export const OF_CAMPAIGN = sql`campaign_id is not null`;

/** Recipients of campaigns that wait to be released. A query must repeat this text to use the index of them. */
export const WAITING_IN_CAMPAIGN = sql`campaign_id is not null and next_attempt_at is null and status in ('queued', 'deferred')`;

/** Recipients of mails to several. A query must repeat this text to use the index of them. */
export const OF_MAIL = sql`mail_id is not null`;

/** To and Cc headers of a mail to several recipients: addresses with or without names, as they were given. */
export interface Addressees {
  readonly to: readonly string[];
  readonly cc: readonly string[];
  /** The number of recipients of the same submitted message that were refused one by one; absent for none. */
  readonly refused?: number;
}

export function emailTables(c: ColumnTypes) {
  return {
    contents: contents(c),
    attachments: attachments(c),
    attachmentParts: attachmentParts(c),
    emails: emails(c),
    emailLabels: emailLabels(c),
  };
}

export type EmailTables = ReturnType<typeof emailTables>;

/** The contents of a send, stored once for all its recipients. */
function contents(c: ColumnTypes) {
  return c.table("contents", {
    // A number, because it is internal: half the index work of a text key.
    id: c.counter("id"),
    workspaceId: c.text("workspace_id").notNull(),
    from: c.text("from_text").notNull(),
    replyTo: c.json<string | string[]>("reply_to"),
    subject: c.text("subject").notNull(),
    html: c.text("html"),
    text: c.text("text_body"),
    headers: c.json<Record<string, string>>("headers").notNull(),
    tags: c.json<Record<string, string>>("tags").notNull(),
    /** The number of its rows in `attachments`. */
    attachments: c.int("attachments").notNull(),
    /** The contents that own the attachments, if one send has several contents. */
    filesOf: c.reference("files_of"),
    /** The template it was rendered from, as `slug@version`. */
    template: c.text("template"),
    /** The automation that sent it. */
    automationId: c.text("automation_id"),
    /** True if it may go to people who unsubscribed. */
    bypassUnsubscribe: c.flag("bypass_unsubscribe").notNull().default(false),
    /** Tracking of opens and clicks; null for none. */
    tracking: c.json<Tracking>("tracking"),
    /** The trace of the send, as a traceparent; null without one. */
    traceparent: c.text("traceparent"),
    /** Recipients in the headers of one mail to several of them; null if each recipient gets a mail of their own. */
    addressees: c.json<Addressees>("addressees"),
    /** The conversation it continues; null for a mail that begins one. */
    threadId: c.text("thread_id"),
    /** True if the message goes out as it came in: it is the only row in `attachments`, and html and text are null. */
    asIs: c.flag("as_is"),
    /** The Message-ID that a message which goes out as it came in has of its own. */
    messageId: c.text("message_id"),
  });
}

function attachments(c: ColumnTypes) {
  return c.table(
    "attachments",
    {
      contentsId: c.reference("contents_id").notNull(),
      position: c.int("position").notNull(),
      filename: c.text("filename").notNull(),
      contentType: c.text("content_type").notNull(),
      contentId: c.text("content_id"),
      size: c.int("size").notNull(),
      /** All of a small file; of a larger one the first part. */
      content: c.bytes("content").notNull(),
    },
    (t) => [c.primaryKey({ columns: [t.contentsId, t.position] })],
  );
}

/** The further parts of larger attachments, from 1: see `lib/parts.ts`. */
function attachmentParts(c: ColumnTypes) {
  return c.table(
    "attachment_parts",
    {
      contentsId: c.reference("contents_id").notNull(),
      position: c.int("position").notNull(),
      part: c.int("part").notNull(),
      content: c.bytes("content").notNull(),
    },
    (t) => [c.primaryKey({ columns: [t.contentsId, t.position, t.part] })],
  );
}

/**
 * One email to one recipient, and its state: see `states.ts`. A mail to several recipients is several rows that share their contents;
 * its id is that of the first one.
 */
function emails(c: ColumnTypes) {
  return c.table(
    "emails",
    {
      workspaceId: c.text("workspace_id").notNull(),
      id: c.text("id").notNull(),
      contentsId: c.reference("contents_id").notNull(),
      to: c.text("to_text").notNull(),
      /** The recipient in the form addresses are compared in. */
      toKey: c.text("to_key").notNull(),
      /** The name of the recipient; null without one. */
      name: c.text("to_name"),
      /** The mail, if it goes to several recipients; null for a mail to this one alone. */
      mailId: c.text("mail_id"),
      /** The header that names the recipient; null for `to`. */
      kind: c.text("kind").$type<RecipientKind>(),
      status: c.text("status").$type<EmailStatus>().notNull(),
      attempts: c.int("attempts").notNull(),
      inDoubt: c.flag("in_doubt").notNull(),
      lastError: c.json<DeliveryError>("last_error"),
      createdAt: c.instant("created_at").notNull(),
      scheduledAt: c.instant("scheduled_at"),
      /** The instant from which it may be claimed, if it has a lane. */
      nextAttemptAt: c.instant("next_attempt_at"),
      /** `SINGLE` or `BULK` until it has ended; null from then on, and while it waits for its campaign or a held domain. */
      lane: c.int("lane").$type<typeof SINGLE | typeof BULK>(),
      /** The claim of a server process; null if it has none, and on SQLite, where the one process knows what it has claimed. */
      claimedBy: c.text("claimed_by"),
      /** Attempts in a row that failed by a fault of the server. */
      faults: c.int("faults").notNull(),
      /** The size of a large message, which is known before it is read into memory; otherwise 0. */
      bytes: c.int("bytes").notNull(),
      sentAt: c.instant("sent_at"),
      updatedAt: c.instant("updated_at").notNull(),
      /** The campaign whose recipient this is, and the contact. */
      campaignId: c.text("campaign_id"),
      contactId: c.text("contact_id"),
      /** The variant of an A/B test that the recipient gets; null outside of tests, and until the winner is known. */
      variant: c.text("variant"),
      /** Reason a mail of a campaign or an automation was skipped. */
      skipReason: c.text("skip_reason").$type<SkipReason>(),
      /** The relay that had the last attempt; null before the first one, and for captured mail. */
      relay: c.text("relay"),
      /** The Message-ID under which the next mail server sent it on, if it told one of its own. */
      sentAs: c.text("sent_as"),
    },
    // The key starts with the workspace, so that it serves the list (newest first) too: a send writes one b-tree less. On
    // SQLite the table is WITHOUT ROWID, which saves another one; drizzle cannot express that, its migration does.
    (t) => [
      c.primaryKey({ columns: [t.workspaceId, t.id] }),
      // One for each filter of the list: without them a filter that few of a million emails match reads all of them.
      // That of statuses holds `mailId` too, because SQLite would read each row to check it.
      c.index("emails_status").on(t.workspaceId, t.status, t.id, t.mailId),
      // Of mail that has ended neither has an entry.
      c.index("emails_queue").on(t.lane, t.nextAttemptAt, t.id).where(IN_QUEUE),
      c.index("emails_claimed").on(t.claimedBy).where(CLAIMED),
      c.index("emails_to").on(t.workspaceId, t.toKey, t.id),
      c.index("emails_mail").on(t.workspaceId, t.mailId, t.id).where(OF_MAIL),
      c.index("emails_in_doubt").on(t.workspaceId, t.inDoubt, t.id).where(IN_DOUBT),
      c.index("emails_scheduled").on(t.workspaceId, t.id, t.scheduledAt).where(SCHEDULED),
      // Mail of campaigns only, so that other sends pay nothing for these indexes. An address is in a campaign once, because the
      // transactions that add recipients change the campaign and so run one after the other.
      c.index("emails_campaign_address").on(t.campaignId, t.toKey).where(OF_CAMPAIGN),
      c.index("emails_campaign_status").on(t.campaignId, t.status, t.id).where(OF_CAMPAIGN),
      c.index("emails_campaign_waiting").on(t.campaignId, t.variant, t.scheduledAt, t.id).where(WAITING_IN_CAMPAIGN),
    ],
  );
}

/** Labels by which lists find emails besides their own columns: see `labels.ts`. Newest last, as ids sort by time. */
function emailLabels(c: ColumnTypes) {
  return c.table(
    "email_labels",
    {
      workspaceId: c.text("workspace_id").notNull(),
      label: c.text("label").notNull(),
      emailId: c.text("email_id").notNull(),
    },
    (t) => [c.primaryKey({ columns: [t.workspaceId, t.label, t.emailId] })],
  );
}

declare module "../lib/ids.ts" {
  interface IdPrefixes {
    readonly em: "emails";
  }
}
