import { type Mailbox, parseAddress, parseMailbox, type SendRequest, type SendResponse } from "@mailsvc/sdk/contract";
import type { z } from "zod";
import type { Tx } from "../db/db.ts";
import { ApiError } from "../lib/api-error.ts";
import { toTestId } from "../lib/test-mail.ts";
import { assertVerified } from "../senders/senders.ts";
import { findSuppressed } from "../suppressions/suppressions.ts";
import { type DecodedAttachments, insertAttachments } from "./attachments.ts";
import type { EmailDeps } from "./deps.ts";
import { buildDeliveryJob, measureMessage, parseScheduledAt } from "./schedule.ts";
import { recordQueued } from "./states.ts";
import { insertContents, insertEmails, type NewContents } from "./store.ts";

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

const SUPPRESSED = "This recipient is on the suppression list.";

/**
 * Queues one message for each recipient, with its first event and the job that will deliver it: all rows of one
 * transaction (docs/emails.md#sending). Throws ApiError sender_not_verified, recipient_suppressed or validation_error.
 */
export async function send(
  request: Request,
  tx: Tx,
  deps: EmailDeps,
  { workspaceId, test }: Origin,
  files: DecodedAttachments,
  template?: RenderedTemplate,
): Promise<SendResponse> {
  const now = deps.clock.now();
  const scheduledAt = parseScheduledAt(request.scheduledAt, now);
  await assertVerified(tx, deps, workspaceId, parseMailbox(request.from));
  const batch = typeof request.to !== "string";
  const boxes = (typeof request.to === "string" ? [request.to] : request.to).map(parseAddress);
  const keys = boxes.map((b) => b.key);
  const suppressed = await findSuppressed(tx, workspaceId, keys, request);
  const failed = listRefused(boxes, suppressed);
  if (failed.length === boxes.length) {
    const details = failed.map(({ to, code, message }) => ({
      path: batch ? `to[${boxes.findIndex((b) => b.address === to)}]` : "to",
      code,
      message: `${to}: ${message}`,
    }));
    throw new ApiError("recipient_suppressed", batch ? "Every recipient is on the suppression list." : SUPPRESSED, { details });
  }

  // One row for all recipients, unless a template gives them different messages.
  const accepted = boxes.filter(({ key }) => !suppressed.has(key));
  const messageOf = (key: string): MessageContent => template?.messages.get(key) ?? request;
  const messages = template ? [...new Set(accepted.map(({ key }) => messageOf(key)))] : [request];
  const traceparent = deps.tracing?.current() ?? null;
  const contentsIds = await insertMessages(tx, messages, files, (message, filesOf) =>
    toContents(request, message, workspaceId, template, files.length, filesOf, traceparent),
  );
  const idOf = new Map(messages.map((message, i) => [message, contentsIds[i] as number]));
  const unlisted = scheduledAt === null && deps.overloaded() ? true : null;
  const emails = accepted.map(({ address, key }) => ({
    workspaceId,
    id: test ? toTestId(deps.ids("em")) : deps.ids("em"),
    contentsId: idOf.get(messageOf(key)) as number,
    to: address,
    toKey: key,
    createdAt: now,
    scheduledAt,
    nextAttemptAt: scheduledAt ?? now,
    unlisted,
    contactId: template?.contactId ?? null,
  }));
  await insertEmails(tx, emails);
  for (const { id, toKey } of emails) {
    if (scheduledAt !== null) await recordQueued(tx, deps, { workspaceId, id, createdAt: now });
    const bytes = measureMessage(messageOf(toKey), files);
    await deps.queue.enqueue(tx, buildDeliveryJob({ workspaceId, emailId: id, bytes }, scheduledAt, now));
  }
  const ids = emails.map(({ id }) => id);
  if (!batch) return { id: ids[0] as string, status: "queued" };
  return { ids, status: "queued", count: ids.length, ...(failed.length > 0 && { failed }) };
}

/** The recipients that were left out, as the answer lists them. */
function listRefused(boxes: readonly Mailbox[], suppressed: ReadonlySet<string>) {
  return boxes
    .filter((b) => suppressed.has(b.key))
    .map((b) => ({ to: b.address, code: "recipient_suppressed" as const, message: SUPPRESSED }));
}

function toContents(
  request: Request,
  { subject, html = null, text = null }: MessageContent,
  workspaceId: string,
  template: RenderedTemplate | undefined,
  attachments: number,
  first: number | null,
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
    attachments,
    filesOf: attachments === 0 ? null : first,
    template: template?.name ?? null,
    bypassUnsubscribe: request.bypassUnsubscribe ?? false,
    tracking: request.tracking ?? null,
    traceparent,
  };
}

/** Inserts contents for each message and returns their ids. The first of them owns the files. */
async function insertMessages(
  tx: Tx,
  messages: readonly MessageContent[],
  files: DecodedAttachments,
  build: (message: MessageContent, filesOf: number | null) => NewContents,
): Promise<number[]> {
  if (files.length === 0)
    return insertContents(
      tx,
      messages.map((message) => build(message, null)),
    );
  const [first, ...others] = messages;
  const [owner] = await insertContents(tx, [build(first as MessageContent, null)]);
  await insertAttachments(tx, owner as number, files);
  const rows = others.map((message) => build(message, owner as number));
  return [owner as number, ...(await insertContents(tx, rows))];
}
