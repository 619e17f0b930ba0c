import type { Email, EmailDetail, EmailFilterStatus, Page } from "@mailsvc/sdk/contract";
import { parseAddress, parseMailbox } from "@mailsvc/sdk/contract";
import type { Reader, Tx } from "../db/db.ts";
import { type PageInput, paginateById } from "../db/pagination.ts";
import { listEventsOfEmails, recordEvents, toEventId } from "../events/events.ts";
import { ApiError, notFound } from "../lib/api-error.ts";
import { iso } from "../lib/clock.ts";
import { isTestMail } from "../lib/test-mail.ts";
import type { EmailDeps } from "./deps.ts";
import { buildDeliveryJob, DELIVER_JOB, deliveryKey, measureMessage, parseScheduledAt } from "./schedule.ts";
import { transition, WAITING } from "./states.ts";
import {
  chooseEmails,
  countEmails,
  type EmailRow,
  type FullEmail,
  findEmail,
  findEmails,
  type ListedEmail,
  listAttachmentInfo,
  measureAttachments,
  selectEmails,
  selectNewestEmails,
  updateEmails,
} from "./store.ts";

export { findAttachments } from "./attachments.ts";
export type { Engagement, EngagementHooks } from "./hooks.ts";
export { buildRetryJob, DELIVER_JOB, DELIVER_MANY_JOB, EMAILS_PER_JOB, readDeliveryJob, scheduleEmails } from "./schedule.ts";
export { type Origin, send } from "./send.ts";
export { sendRendered } from "./send-rendered.ts";
export { type Move, moveEmails, OPEN, type StatusChange, transition } from "./states.ts";
export {
  type ContentsRow,
  countInDoubt,
  countStatus,
  type EmailRow,
  findContents,
  findEmail,
  findEmailById,
  findEmailRows,
  findTraces,
  insertContents,
  isTest,
  isTo,
  listIdsTo,
  updateEmails,
} from "./store.ts";
export { OF_CAMPAIGN, WAITING_IN_CAMPAIGN } from "./tables.ts";

/** The Message-ID of an email. It is made of its id and its sender's domain, so it is the same at every attempt and after a restart. */
export function buildMessageId(id: string, from: string): string {
  return `<${id}@${parseMailbox(from).domain}>`;
}

/** One email with its content and history. Throws ApiError not_found. */
export async function getEmail(read: Reader, workspaceId: string, id: string): Promise<EmailDetail> {
  const [detail] = await toDetails(read, [await getFullEmail(read, workspaceId, id)]);
  return detail as EmailDetail;
}

/** Emails with their content and history, newest first; those that do not exist are left out. */
export async function getEmails(read: Reader, workspaceId: string, ids: readonly string[]): Promise<EmailDetail[]> {
  return ids.length === 0 ? [] : toDetails(read, await findEmails(read, workspaceId, ids));
}

interface EmailQuery extends PageInput {
  test: boolean;
  status?: EmailFilterStatus | undefined;
  to?: string | undefined;
  inDoubt?: boolean | undefined;
}

export async function listEmails(
  read: Reader,
  { clock }: Pick<EmailDeps, "clock">,
  workspaceId: string,
  { to, status, inDoubt, test, ...page }: EmailQuery,
): Promise<Page<Email>> {
  const toKey = to === undefined ? undefined : parseAddress(to).key;
  const ofStatus = status === "scheduled" ? { scheduledAfter: clock.now() } : { status };
  const chosen = await chooseEmails(read, workspaceId, { ...ofStatus, test, inDoubt, toKey });
  return paginateById<ListedEmail & { id: string }, Email>(
    page,
    (slice) => selectEmails(read, workspaceId, chosen, slice),
    () => countEmails(read, chosen),
    toEmail,
  );
}

/** The newest emails of all workspaces, at most `limit`; for the page of dev mode. */
export async function listRecentEmails(read: Reader, limit: number): Promise<(Email & { workspaceId: string })[]> {
  const rows = await selectNewestEmails(read, limit);
  return rows.map((row) => ({ ...toEmail(row), workspaceId: row.email.workspaceId }));
}

/** Cancels an email that waits. Cancelling twice is harmless. Throws ApiError not_found or invalid_state. */
export async function cancelEmail(tx: Tx, deps: EmailDeps, workspaceId: string, id: string): Promise<Email> {
  const full = await getFullEmail(tx, workspaceId, id);
  if (full.email.status === "cancelled") return toEmail(full);
  const patch = { status: "cancelled" as const, nextAttemptAt: null, updatedAt: deps.clock.now() };
  const move = { email: full.email, patch, events: [{ type: "email.cancelled" as const }] };
  if (!(await transition(tx, deps, WAITING, move))) throw invalidState(full.email, "cancelled");
  await cancelScheduledJob(tx, deps, full);
  return toEmail({ ...full, email: { ...full.email, ...patch } });
}

/** Moves a scheduled email to another instant. Throws ApiError not_found, invalid_state or validation_error. */
export async function rescheduleEmail(tx: Tx, deps: EmailDeps, workspaceId: string, id: string, scheduledAt: string): Promise<Email> {
  const full = await getFullEmail(tx, workspaceId, id);
  const at = parseScheduledAt(scheduledAt, deps.clock.now()) as number;
  const patch = { scheduledAt: at, nextAttemptAt: at, updatedAt: deps.clock.now() };
  if (full.email.scheduledAt === null) throw new ApiError("invalid_state", "This email was not scheduled, so it cannot be rescheduled.");
  if (full.email.status !== "queued" || !(await updateEmails(tx, [{ email: full.email, patch }]))[0])
    throw invalidState(full.email, "rescheduled");
  const files = full.contents.attachments > 0 ? await measureAttachments(tx, full.contents) : [];
  await cancelScheduledJob(tx, deps, full);
  await deps.queue.enqueue(
    tx,
    buildDeliveryJob({ workspaceId, emailId: id, bytes: measureMessage(full.contents, files) }, at, patch.updatedAt),
  );
  await recordEvents(tx, deps, [
    { workspaceId, type: "email.rescheduled", emailId: id, at: patch.updatedAt, data: { scheduledAt: iso(at) } },
  ]);
  return toEmail({ ...full, email: { ...full.email, ...patch } });
}

/** Removes the job of a scheduled email, which would stay until its date. A job that runs already finds the email changed and does nothing. */
async function cancelScheduledJob(tx: Tx, deps: EmailDeps, { email }: FullEmail): Promise<void> {
  if (email.scheduledAt !== null) await deps.queue.cancel(tx, DELIVER_JOB, deliveryKey(email.id, email.scheduledAt));
}

function instant(ms: number | null): string | null {
  return ms === null ? null : iso(ms);
}

/** `order-shipped@3`: the template and its version. */
function parseTemplate(name: string | null): Email["template"] {
  if (name === null) return null;
  const at = name.lastIndexOf("@");
  return { slug: name.slice(0, at), version: Number(name.slice(at + 1)) };
}

function toEmail({ email, contents }: ListedEmail): Email {
  return {
    id: email.id,
    status: email.status,
    to: email.to,
    from: contents.from,
    subject: contents.subject,
    test: isTestMail(email.id),
    tags: contents.tags,
    template: parseTemplate(contents.template),
    campaignId: email.campaignId,
    contactId: email.contactId,
    messageId: buildMessageId(email.id, contents.from),
    attempts: email.attempts,
    inDoubt: email.inDoubt,
    lastError: email.lastError,
    createdAt: iso(email.createdAt),
    scheduledAt: instant(email.scheduledAt),
    nextAttemptAt: instant(email.nextAttemptAt),
    sentAt: instant(email.sentAt),
    updatedAt: iso(email.updatedAt),
  };
}

async function toDetails(read: Reader, full: readonly FullEmail[]): Promise<EmailDetail[]> {
  const ids = full.map(({ email }) => email.id);
  const events = Map.groupBy(await listEventsOfEmails(read, ids), (event) => event.emailId);
  const files = await listAttachmentInfo(
    read,
    full.map(({ contents }) => contents),
  );
  return full.map(({ email, contents }) => ({
    ...toEmail({ email, contents }),
    replyTo: contents.replyTo,
    html: contents.html,
    text: contents.text,
    headers: contents.headers,
    attachments: (files.get(contents.filesOf ?? contents.id) ?? []).map(({ filename, contentType, contentId, size }) => ({
      filename,
      contentType,
      contentId,
      size,
    })),
    events: (events.get(email.id) ?? []).map((e) => ({
      id: toEventId(e.sequence),
      type: e.type as EmailDetail["events"][number]["type"],
      at: iso(e.at),
      data: e.data ?? {},
    })),
  }));
}

async function getFullEmail(q: Tx | Reader, workspaceId: string, id: string): Promise<FullEmail> {
  const found = await findEmail(q, workspaceId, id);
  if (!found) throw notFound("email", id);
  return found;
}

function invalidState(email: EmailRow, what: string): ApiError {
  return new ApiError("invalid_state", `This email is ${email.status}. Only ${WAITING.join(" and ")} emails can be ${what}.`);
}
