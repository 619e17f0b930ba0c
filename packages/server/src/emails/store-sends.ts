import { isTogether, listAddresses, type NamedRecipient, parseAnyMailbox, type SendResponse, toUnicodeDomain } from "@mailsvc/sdk/contract";
import type { Tx } from "../db/db.ts";
import { assumeEmailHeld } from "../db/held.ts";
import { type NewEvent, recordEvents } from "../events/events.ts";
import { toTestId } from "../lib/ids.ts";
import { type AcceptedSend, type MessageContent, SUPPRESSED } from "./accept.ts";
import { type DecodedAttachments, insertAttachments } from "./attachments.ts";
import type { EmailDeps } from "./deps.ts";
import { insertLabels } from "./labels.ts";
import { announceEmails, measureMessage } from "./schedule.ts";
import { toQueuedEvent } from "./states.ts";
import { insertContents, insertEmails, type NewContents, type NewEmail } from "./store.ts";
import { SINGLE } from "./tables.ts";

/** The rows of a send, and its answer. */
interface SendRows {
  readonly emails: readonly NewEmail[];
  readonly events: readonly NewEvent[];
  readonly response: SendResponse;
}

/**
 * Stores sends that were accepted: their contents, a row for each recipient, which is in the queue from then on, and their first events. Sends
 * that are stored together share statements, so that each of a batch costs a fraction of a single one. Answers in their order.
 */
export async function storeSends(tx: Tx, deps: EmailDeps, sends: readonly AcceptedSend[]): Promise<SendResponse[]> {
  const contentsIds = await insertMessages(tx, deps, sends);
  const stored = sends.map((send, i) => {
    const ids = contentsIds[i] as readonly number[];
    const rows = isTogether(send.request) ? buildTogether(deps, send, ids) : buildEach(deps, send, ids);
    const contents = { tags: send.request.tags ?? {}, template: toTemplateName(send), messageId: send.asIs?.messageId ?? null };
    return { ...rows, contents };
  });
  const inserted = await insertEmails(
    tx,
    stored.flatMap(({ emails }) => emails),
  );
  await insertLabels(tx, stored);
  const events = stored.flatMap((one) => one.events);
  if (events.length > 0) await recordEvents(tx, deps, events);
  await announceEmails(tx, deps, inserted);
  return stored.map(({ response }) => response);
}

/** The messages of a send, each once: one for all recipients, unless a template gives them different ones. */
function listMessages(send: AcceptedSend): readonly MessageContent[] {
  const { request, template } = send;
  if (template === undefined) return [request];
  // All recipients of one mail have the same message.
  const keys = isTogether(request) ? [...template.messages.keys()].slice(0, 1) : listAccepted(send).map(({ box }) => box.key);
  return [...new Set(keys.map((key) => messageFor(send, key)))];
}

function messageFor({ request, template }: AcceptedSend, key: string): MessageContent {
  return template?.messages.get(key) ?? request;
}

function listAccepted({ recipients, suppressed }: AcceptedSend): readonly NamedRecipient[] {
  return recipients.filter(({ box }) => !suppressed.has(box.key));
}

/** A message for each recipient. */
function buildEach(deps: EmailDeps, send: AcceptedSend, contentsIds: readonly number[]): SendRows {
  const { request, scheduledAt } = send;
  const idOf = new Map(listMessages(send).map((message, i) => [message, contentsIds[i] as number]));
  const build = buildEmails(deps, send);
  const emails = listAccepted(send).map((recipient) => {
    const message = messageFor(send, recipient.box.key);
    return build(recipient, idOf.get(message) as number, message);
  });
  const ids = emails.map(({ id }) => id);
  const response: SendResponse =
    typeof request.to === "string"
      ? { id: ids[0] as string, status: "queued" }
      : { ids, status: "queued", count: ids.length, ...listFailed(send) };
  return { emails, events: scheduledAt === null ? [] : emails.map(toQueuedEvent), response };
}

/** One mail to all recipients: a row for each, also for the suppressed ones. */
function buildTogether(deps: EmailDeps, send: AcceptedSend, contentsIds: readonly number[]): SendRows {
  const { workspaceId, recipients, suppressed, now, scheduledAt } = send;
  const build = buildEmails(deps, send);
  const [message = send.request] = listMessages(send);
  const rows = recipients.map((recipient) => build(recipient, contentsIds[0] as number, message));
  const mailId = rows[0]?.id as string;
  const emails = rows.map((row, i) => {
    const kind = recipients[i]?.kind ?? "to";
    const own = { ...row, mailId, kind: kind === "to" ? null : kind };
    const skipReason = send.optedOut?.has(row.toKey) ? ("left_list" as const) : null;
    return suppressed.has(row.toKey) ? { ...own, status: "suppressed" as const, skipReason, nextAttemptAt: null, lane: null } : own;
  });
  const [open, refused] = [emails.filter(({ toKey }) => !suppressed.has(toKey)), emails.filter(({ toKey }) => suppressed.has(toKey))];
  return {
    emails,
    events: [
      ...(scheduledAt === null ? [] : open.map(toQueuedEvent)),
      ...refused.map(({ id }) => ({ workspaceId, emailId: assumeEmailHeld(id), type: "email.suppressed" as const, at: now })),
    ],
    response: {
      id: mailId,
      status: "queued",
      recipients: emails.map(({ id, to, kind, toKey }) => ({
        id,
        email: to,
        kind: kind ?? "to",
        status: suppressed.has(toKey) ? "suppressed" : "queued",
      })),
      ...listFailed(send),
    },
  };
}

/** The recipients who get nothing, as an answer lists them; nothing if there are none. */
function listFailed({ recipients, suppressed }: AcceptedSend) {
  const refused = recipients.filter(({ box }) => suppressed.has(box.key));
  if (refused.length === 0) return {};
  return { failed: refused.map(({ box }) => ({ to: box.address, code: "recipient_suppressed" as const, message: SUPPRESSED })) };
}

/** Builds the rows of recipients that wait for their delivery. */
function buildEmails(deps: EmailDeps, { workspaceId, test, files, now, scheduledAt }: AcceptedSend) {
  return ({ box }: NamedRecipient, contentsId: number, message: MessageContent) =>
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
      lane: SINGLE,
      bytes: measureMessage(message, files),
      contactId: null,
    }) satisfies NewEmail;
}

/** A message of a send, which is stored once for all its recipients. */
interface NewMessage {
  readonly send: AcceptedSend;
  readonly contents: NewContents;
}

/** Inserts contents for each message of each send, and returns their ids in order. The first message with a set of files owns them. */
async function insertMessages(tx: Tx, deps: EmailDeps, sends: readonly AcceptedSend[]): Promise<(readonly number[])[]> {
  const traceparent = deps.tracing?.current() ?? null;
  const messages = sends.map((send) => listMessages(send).map((message) => ({ send, contents: toContents(send, message, traceparent) })));
  const owners = new Map<DecodedAttachments, NewMessage>();
  for (const message of messages.flat())
    if (message.send.files.length > 0 && !owners.has(message.send.files)) owners.set(message.send.files, message);
  const [sharing, others] = partition(messages.flat(), (message) => (owners.get(message.send.files) ?? message) !== message);
  const ids = new Map<NewMessage, number>();
  const insert = async (some: readonly NewMessage[]): Promise<void> => {
    if (some.length === 0) return;
    const rows = some.map((message) => ({ ...message.contents, filesOf: ids.get(owners.get(message.send.files) ?? message) ?? null }));
    for (const [i, id] of (await insertContents(tx, rows)).entries()) ids.set(some[i] as NewMessage, id);
  };
  await insert(others);
  await insertAttachments(
    tx,
    [...owners].map(([files, owner]) => ({ files, contentsId: ids.get(owner) as number })),
  );
  await insert(sharing);
  return messages.map((ofSend) => ofSend.map((message) => ids.get(message) as number));
}

function partition<T>(all: readonly T[], isFirst: (one: T) => boolean): [first: T[], second: T[]] {
  return [all.filter(isFirst), all.filter((one) => !isFirst(one))];
}

/** The version of the template, as it is stored. */
function toTemplateName({ template }: AcceptedSend): string | null {
  return template ? `${template.slug}@${template.version}` : null;
}

function toContents(send: AcceptedSend, { subject, html = null, text = null }: MessageContent, traceparent: string | null): NewContents {
  const { request, workspaceId, files, asIs, refused = 0 } = send;
  return {
    workspaceId,
    from: spellFrom(request.from),
    replyTo: request.replyTo ?? null,
    subject,
    html,
    text,
    headers: request.headers ?? {},
    tags: request.tags ?? {},
    attachments: files.length,
    template: toTemplateName(send),
    bypassUnsubscribe: request.bypassUnsubscribe ?? false,
    tracking: request.tracking ?? null,
    traceparent,
    addressees: isTogether(request)
      ? { to: [...listAddresses(request.to)], cc: [...listAddresses(request.cc)], ...(refused > 0 && { refused }) }
      : null,
    ...(asIs && { asIs: true, messageId: asIs.messageId }),
  };
}

// The usual forms: an address alone, or behind a name.
const USUAL_FROM = /^(?:[^<>@"]*[^<>@"\s] <[\w.+-]+@[\w.-]+>|[\w.+-]+@[\w.-]+)$/;

/** From as it is stored: as it was written, but for blanks and needless quotes in and around the address, which a filter would not find. */
function spellFrom(from: string): string {
  if (USUAL_FROM.test(from)) return from;
  const { local, domain } = parseAnyMailbox(from);
  // A quoted local part may have brackets, too.
  const trimmed = from.trim();
  const name = trimmed.endsWith(">") ? trimmed.slice(0, trimmed.lastIndexOf("<")).trim() : "";
  const address = `${local}@${from.includes("xn--") ? domain : toUnicodeDomain(domain)}`;
  return name === "" ? address : `${name} <${address}>`;
}
