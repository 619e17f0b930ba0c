import {
  isTogether,
  listAddresses,
  listRecipients,
  type NamedRecipient,
  parseMailbox,
  type SendRequest,
  type SendResponse,
} from "@mailsvc/sdk/contract";
import type { z } from "zod";
import type { Tx } from "../db/db.ts";
import { recordEvents } from "../events/events.ts";
import { ApiError } from "../lib/api-error.ts";
import { toTestId } from "../lib/test-mail.ts";
import { assertVerified } from "../senders/senders.ts";
import { findSuppressed } from "../suppressions/suppressions.ts";
import { type DecodedAttachments, insertAttachments } from "./attachments.ts";
import type { EmailDeps } from "./deps.ts";
import { insertLabels } from "./labels.ts";
import { assertReceives } from "./reply-to.ts";
import { buildDeliveryJob, buildMailJob, measureMessage, parseScheduledAt } from "./schedule.ts";
import { recordQueued } from "./states.ts";
import { insertContents, insertEmails, type NewContents, type NewEmail } from "./store.ts";

type Request = z.output<typeof SendRequest>;

/** The workspace that sends, and whether with a test key: the mail is then captured instead of sent. */
export interface Origin {
  readonly workspaceId: string;
  readonly test: boolean;
}

/** Subject and bodies of a message. */
export interface MessageContent {
  readonly subject: string;
  readonly html?: string | null | undefined;
  readonly text?: string | null | undefined;
}

/** A rendered template: its messages by the key of their recipient, and its name as `slug@version`. */
interface RenderedTemplate {
  readonly messages: ReadonlyMap<string, MessageContent>;
  readonly name: string;
  /** The contact it was rendered for. */
  readonly contactId?: string;
}

/** A message that goes out as it came in: it is the only file of its send. */
export interface AsIs {
  /** The Message-ID it has of its own. */
  readonly messageId: string | null;
  /** True if its sender need not be verified. */
  readonly anySender: boolean;
}

/** A send that was checked, and what its rows have in common. */
interface AcceptedSend extends Origin {
  readonly request: Request;
  readonly files: DecodedAttachments;
  readonly template: RenderedTemplate | undefined;
  readonly asIs: AsIs | undefined;
  /** All recipients, each once. */
  readonly recipients: readonly NamedRecipient[];
  /** The keys of those that get nothing; never all of them. */
  readonly suppressed: ReadonlySet<string>;
  readonly now: number;
  readonly scheduledAt: number | null;
}

const SUPPRESSED = "This recipient is on the suppression list.";

/**
 * Queues one message for each recipient, or one mail to all of them, with their first events and the jobs that will deliver it: all rows
 * of one transaction (docs/emails.md#sending). Throws ApiError sender_not_verified, recipient_suppressed or validation_error.
 */
export async function send(
  request: Request,
  tx: Tx,
  deps: EmailDeps,
  { workspaceId, test }: Origin,
  files: DecodedAttachments,
  template?: RenderedTemplate,
  asIs?: AsIs,
): Promise<SendResponse> {
  const now = deps.clock.now();
  const scheduledAt = parseScheduledAt(request.scheduledAt, now);
  if (!asIs?.anySender) await assertVerified(tx, deps, workspaceId, parseMailbox(request.from));
  assertReceives(deps, request.replyTo);
  const recipients = listRecipients(request);
  const keys = recipients.map(({ box }) => box.key);
  const suppressed = await findSuppressed(tx, workspaceId, keys, request);
  const refused = recipients.filter(({ box }) => suppressed.has(box.key));
  if (refused.length === recipients.length) throw refuseAll(refused);
  const accepted: AcceptedSend = { request, workspaceId, test, files, template, asIs, recipients, suppressed, now, scheduledAt };
  const failed = refused.map(({ box }) => ({ to: box.address, code: "recipient_suppressed" as const, message: SUPPRESSED }));
  if (isTogether(request)) return { ...(await sendTogether(tx, deps, accepted)), ...(failed.length > 0 && { failed }) };
  const ids = await sendToEach(tx, deps, accepted);
  if (typeof request.to === "string") return { id: ids[0] as string, status: "queued" };
  return { ids, status: "queued", count: ids.length, ...(failed.length > 0 && { failed }) };
}

/** Queues a message for each recipient, and returns their ids. */
async function sendToEach(tx: Tx, deps: EmailDeps, send: AcceptedSend): Promise<string[]> {
  const { request, workspaceId, files, template, suppressed, now, scheduledAt } = send;
  const accepted = send.recipients.filter(({ box }) => !suppressed.has(box.key));
  // One row for all recipients, unless a template gives them different messages.
  const messageOf = (key: string): MessageContent => template?.messages.get(key) ?? request;
  const messages = template ? [...new Set(accepted.map(({ box }) => messageOf(box.key)))] : [request];
  const contentsIds = await insertMessages(tx, deps, send, messages);
  const idOf = new Map(messages.map((message, i) => [message, contentsIds[i] as number]));
  const build = buildEmails(deps, send);
  const emails = accepted.map((recipient) => build(recipient, idOf.get(messageOf(recipient.box.key)) as number));
  await insertEmails(tx, emails);
  await insertLabels(tx, emails, { tags: request.tags ?? {}, template: template?.name ?? null });
  for (const { id, toKey } of emails) {
    if (scheduledAt !== null) await recordQueued(tx, deps, { workspaceId, id, createdAt: now });
    const bytes = measureMessage(messageOf(toKey), files);
    await deps.queue.enqueue(tx, buildDeliveryJob({ workspaceId, emailId: id, bytes }, scheduledAt, now));
  }
  return emails.map(({ id }) => id);
}

/** Queues one mail to all recipients: a row for each, also for the suppressed ones, and one job. */
async function sendTogether(tx: Tx, deps: EmailDeps, send: AcceptedSend): Promise<Extract<SendResponse, { recipients: unknown }>> {
  const { request, workspaceId, files, template, recipients, suppressed, now, scheduledAt } = send;
  // All recipients of a mail have the same message.
  const message = template?.messages.values().next().value ?? request;
  const [contentsId] = await insertMessages(tx, deps, send, [message]);
  const build = buildEmails(deps, send);
  const rows = recipients.map((recipient) => build(recipient, contentsId as number));
  const mailId = rows[0]?.id as string;
  const emails = rows.map((row, i) => {
    const kind = recipients[i]?.kind ?? "to";
    const own = { ...row, mailId, kind: kind === "to" ? null : kind };
    return suppressed.has(row.toKey) ? { ...own, status: "suppressed" as const, nextAttemptAt: null, unlisted: null } : own;
  });
  await insertEmails(tx, emails);
  await insertLabels(tx, emails, { tags: request.tags ?? {}, template: template?.name ?? null });
  const open = emails.filter(({ toKey }) => !suppressed.has(toKey));
  if (scheduledAt !== null) for (const { id } of open) await recordQueued(tx, deps, { workspaceId, id, createdAt: now });
  const refused = emails.filter(({ toKey }) => suppressed.has(toKey));
  await recordEvents(
    tx,
    deps,
    refused.map(({ id }) => ({ workspaceId, emailId: id, type: "email.suppressed", at: now })),
  );
  const emailIds = open.map(({ id }) => id);
  await deps.queue.enqueue(tx, buildMailJob({ workspaceId, mailId, emailIds, bytes: measureMessage(message, files) }, scheduledAt, now));
  return {
    id: mailId,
    status: "queued",
    recipients: emails.map(({ id, to, kind, toKey }) => ({
      id,
      email: to,
      kind: kind ?? "to",
      status: suppressed.has(toKey) ? "suppressed" : "queued",
    })),
  };
}

function refuseAll(refused: readonly NamedRecipient[]): ApiError {
  const message = refused.length === 1 && refused[0]?.path === "to" ? SUPPRESSED : "Every recipient is on the suppression list.";
  const details = refused.map(({ path, box }) => ({ path, code: "recipient_suppressed", message: `${box.address}: ${SUPPRESSED}` }));
  return new ApiError("recipient_suppressed", message, { details });
}

/** Builds the rows of recipients that wait for their delivery. */
function buildEmails(deps: EmailDeps, { workspaceId, test, template, now, scheduledAt }: AcceptedSend) {
  const unlisted = scheduledAt === null && deps.overloaded() ? true : null;
  return ({ box }: NamedRecipient, contentsId: number) =>
    ({
      workspaceId,
      id: test ? toTestId(deps.ids("em")) : deps.ids("em"),
      contentsId,
      to: box.address,
      toKey: box.key,
      name: box.name || null,
      createdAt: now,
      scheduledAt,
      nextAttemptAt: scheduledAt ?? now,
      unlisted,
      contactId: template?.contactId ?? null,
    }) satisfies NewEmail;
}

/** Inserts contents for each message and returns their ids. The first of them owns the files. */
async function insertMessages(tx: Tx, deps: EmailDeps, send: AcceptedSend, messages: readonly MessageContent[]): Promise<number[]> {
  const traceparent = deps.tracing?.current() ?? null;
  const build = (message: MessageContent, filesOf: number | null) => toContents(send, message, filesOf, traceparent);
  if (send.files.length === 0)
    return insertContents(
      tx,
      messages.map((message) => build(message, null)),
    );
  const [first, ...others] = messages;
  const [owner] = await insertContents(tx, [build(first as MessageContent, null)]);
  await insertAttachments(tx, owner as number, send.files);
  const rows = others.map((message) => build(message, owner as number));
  return [owner as number, ...(await insertContents(tx, rows))];
}

function toContents(
  { request, workspaceId, template, files, asIs }: AcceptedSend,
  { subject, html = null, text = null }: MessageContent,
  filesOf: number | null,
  traceparent: string | null,
): NewContents {
  return {
    workspaceId,
    from: request.from,
    replyTo: request.replyTo ?? null,
    subject,
    html,
    text,
    headers: request.headers ?? {},
    tags: request.tags ?? {},
    attachments: files.length,
    filesOf,
    template: template?.name ?? null,
    bypassUnsubscribe: request.bypassUnsubscribe ?? false,
    tracking: request.tracking ?? null,
    traceparent,
    addressees: isTogether(request) ? { to: [...listAddresses(request.to)], cc: [...listAddresses(request.cc)] } : null,
    ...(asIs && { asIs: true, messageId: asIs.messageId }),
  };
}
