import type { Event, EventType } from "@mailsvc/sdk/contract";
import { getContactRow, showContact } from "../contacts/contacts.ts";
import type { Reader, Tx } from "../db/db.ts";
import { buildMessageId, findMail } from "../emails/emails.ts";
import { ApiError } from "../lib/api-error.ts";
import { iso } from "../lib/clock.ts";
import { toPartUuid, withUuids } from "../lib/uuids.ts";
import { listListsOfContact } from "../lists/lists.ts";
import { getReceived } from "../received/received.ts";
import { getSuppression } from "../suppressions/suppressions.ts";
import { findTemplateBySlug } from "../templates/templates.ts";

/** Resend's types of events, and ours that each of them stands for; domains, topics and shared inboxes have none here. */
export const RESEND_EVENTS: Readonly<Record<string, readonly EventType[]>> = {
  "email.sent": ["email.sent"],
  // Scheduled mails only; Resend has no such event for mails that are sent at once.
  "email.scheduled": ["email.queued"],
  "email.delivered": ["email.delivered"],
  "email.delivery_delayed": ["email.deferred"],
  "email.complained": ["email.complained"],
  "email.bounced": ["email.bounced"],
  "email.opened": ["email.opened"],
  "email.clicked": ["email.clicked"],
  "email.received": ["email.received"],
  "email.failed": ["email.failed"],
  "email.suppressed": ["email.suppressed"],
  "contact.created": ["contact.created"],
  "contact.updated": ["contact.updated", "contact.subscribed", "contact.unsubscribed"],
  "contact.deleted": ["contact.deleted"],
  ...none("domain.created", "domain.updated", "domain.deleted"),
  ...none("contact.topics.updated", "topic.created", "topic.updated", "topic.deleted"),
  ...none("inbox.created", "inbox.updated", "inbox.deleted", "inbox.email.received", "inbox.email.sent"),
  ...none("inbox.thread.created", "inbox.thread.folder.updated", "inbox.thread.assigned", "inbox.thread.unassigned"),
  ...none("inbox.thread.labels.updated", "inbox.draft.created", "inbox.draft.updated", "inbox.draft.sent", "inbox.draft.deleted"),
  "suppression.added": ["suppression.added"],
  "suppression.removed": ["suppression.removed"],
};

const TYPES = new Map(Object.entries(RESEND_EVENTS).flatMap(([type, ours]) => ours.map((own) => [own as string, type] as const)));

/** Types of Resend for a subscription to these events. */
export function listResendTypes(events: readonly string[]): string[] {
  return [...new Set(events.flatMap((own) => TYPES.get(own) ?? []))];
}

/** An event as Resend sends it: type, time and data; null for one that Resend does not send. */
export async function composeForResend(q: Reader | Tx, workspaceId: string, event: Event): Promise<object | null> {
  const type = TYPES.get(event.type);
  if (type === undefined) return null;
  const data = await compose(q, workspaceId, event);
  return data && { type, created_at: event.at, data: withUuids(data) };
}

async function compose(q: Reader | Tx, workspaceId: string, event: Event): Promise<object | null> {
  if (event.type === "email.received") return composeReceived(q, workspaceId, event.data.receivedId);
  if (event.type.startsWith("email.")) return composeEmail(q, workspaceId, event);
  if (event.type === "suppression.added" || event.type === "suppression.removed")
    return composeSuppression(q, workspaceId, event.data.suppressionId, event.at);
  return composeContact(q, workspaceId, event.contactId ?? "");
}

async function composeEmail(q: Reader | Tx, workspaceId: string, event: Event): Promise<object | null> {
  const mail = event.emailId === null ? null : await findMail(q, workspaceId, event.emailId);
  const [first] = mail?.emails ?? [];
  if (!mail || !first || (event.type === "email.queued" && first.scheduledAt === null)) return null;
  const { contents } = mail;
  return {
    email_id: event.emailId,
    message_id: buildMessageId(first, contents),
    ...(event.campaignId !== null && { broadcast_id: event.campaignId }),
    ...(contents.template !== null && (await describeTemplate(q, workspaceId, contents.template))),
    created_at: iso(first.createdAt),
    from: contents.from,
    to: event.recipient === null ? [first.to] : [event.recipient.email],
    subject: contents.subject,
    tags: event.tags,
    ...describeOutcome(event),
  };
}

/** The template of an email, which its contents name as `slug@version`; nothing once it was deleted. */
async function describeTemplate(q: Reader | Tx, workspaceId: string, template: string): Promise<object> {
  const row = await findTemplateBySlug(q, workspaceId, template.replace(/@\d+$/, ""));
  return row === null ? {} : { template_id: row.id };
}

/** Data of an event besides its email. */
function describeOutcome(event: Event): object {
  switch (event.type) {
    case "email.bounced":
      return {
        bounce: {
          message: event.data.diagnostic,
          type: event.data.type === "PERMANENT" ? "Permanent" : "Transient",
          subType: "General",
          diagnosticCode: [event.data.diagnostic],
        },
      };
    case "email.failed":
      return { failed: { reason: event.data.diagnostic } };
    case "email.suppressed":
      return { suppressed: { message: "This recipient is on the suppression list.", type: "OnAccountSuppressionList" } };
    case "email.clicked":
      return { click: { link: event.data.url ?? "", timestamp: event.at, userAgent: event.data.client ?? "", ipAddress: "" } };
    default:
      return {};
  }
}

async function composeReceived(q: Reader | Tx, workspaceId: string, id: string): Promise<object | null> {
  const mail = await orNull(getReceived(q, workspaceId, id));
  return (
    mail && {
      email_id: mail.id,
      created_at: mail.receivedAt,
      from: mail.from ?? "",
      to: [mail.to],
      cc: [],
      bcc: [],
      received_for: [mail.to],
      message_id: mail.messageId ?? "",
      subject: mail.subject,
      attachments: mail.attachments.map(({ number, filename, contentType, contentId }) => ({
        id: toPartUuid(mail.id, number),
        filename,
        content_type: contentType,
        content_disposition: contentId === null ? "attachment" : "inline",
        content_id: contentId,
      })),
    }
  );
}

/** A contact; of a deleted one only its id is known, because events hold no personal data. */
async function composeContact(q: Reader | Tx, workspaceId: string, id: string): Promise<object> {
  const row = await orNull(getContactRow(q, workspaceId, id));
  if (row === null) return { id };
  const lists = (await listListsOfContact(q, row.seq)).map((list) => list.id);
  const { email, firstName, lastName, status, createdAt, updatedAt } = showContact(row);
  return {
    id,
    audience_id: lists[0] ?? "",
    segment_ids: lists,
    created_at: createdAt,
    updated_at: updatedAt,
    email,
    first_name: firstName,
    last_name: lastName,
    unsubscribed: status !== "SUBSCRIBED",
  };
}

/** A suppression; of one that was removed only its id is known. */
async function composeSuppression(q: Reader | Tx, workspaceId: string, id: string, at: string): Promise<object> {
  const found = await orNull(getSuppression(q, workspaceId, id));
  if (found === null) return { id, created_at: at };
  const { email, reason, emailId, createdAt } = found;
  return { id, email, origin: reason === "unsubscribe" ? "manual" : reason, source_id: emailId, created_at: createdAt };
}

/** Null for what has been deleted since. */
async function orNull<T>(found: Promise<T>): Promise<T | null> {
  try {
    return await found;
  } catch (error) {
    if (error instanceof ApiError && error.code === "not_found") return null;
    throw error;
  }
}

function none(...types: readonly string[]): Record<string, readonly EventType[]> {
  return Object.fromEntries(types.map((type) => [type, []]));
}
