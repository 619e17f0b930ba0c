import {
  addressKey,
  type Email,
  type EmailDetail,
  type EmailFilterStatus,
  type EmailReaction,
  type EmailStatus,
  type Page,
  type SendResponse,
} from "@mailsvc/sdk/contract";
import { and, eq, sql } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { assumeEmailHeld, type HeldEmailId } from "../db/held.ts";
import { type PageInput, paginateById } from "../db/pagination.ts";
import { recordEvents } from "../events/events.ts";
import { ApiError, notFound } from "../lib/api-error.ts";
import { iso } from "../lib/clock.ts";
import { firstIdAt, toTestId } from "../lib/ids.ts";
import { toAutomationLabel, toLabelOfTag, toTemplateLabel, toThreadLabel } from "../lib/message-id.ts";
import { acceptSend, type NewSend } from "./accept.ts";
import type { EmailDeps, MessageReading } from "./deps.ts";
import { listExamined } from "./examine.ts";
import { announceEmails, parseScheduledAt } from "./schedule.ts";
import { showDetails, showEmail, showHistories } from "./show.ts";
import { moveEmails, WAITING } from "./states.ts";
import {
  chooseEmails,
  countEmails,
  type EmailPatch,
  type EmailRow,
  type FullMail,
  findEmails,
  findMail,
  type ListedMail,
  patchEmail,
  selectEmails,
  selectNewestEmails,
  updateEmails,
} from "./store.ts";
import { storeSends } from "./store-sends.ts";

export { type AcceptedSend, acceptSend } from "./accept.ts";
export { type DecodedAttachments, decodeAttachments, findAttachments, getMessage } from "./attachments.ts";
export { selectOfCampaign } from "./examine.ts";
export type { RenderedMail } from "./hooks.ts";
export { deleteLabels, findMailByMessageId, joinThread, labelSent } from "./labels.ts";
export { assertReceives } from "./reply-to.ts";
export { requeueEmail, requeueRows } from "./requeue.ts";
export { announceEmails, DELIVER_JOB, readDeliveryJob, sizeOfLarge, toDeliveryJob } from "./schedule.ts";
export { sendRendered } from "./send-rendered.ts";
export { buildMessageId } from "./show.ts";
export { type Move, moveEmails, OPEN, STATUS_OF_EVENT, type StatusChange, type StatusListener, transition, WAITING } from "./states.ts";
export {
  type ContentsRow,
  countInDoubt,
  countStatus,
  type EmailRow,
  type FullEmail,
  findContents,
  findEmail,
  findEmailById,
  findEmailRows,
  findMail,
  findRecipientById,
  findTraces,
  insertContents,
  insertEmails,
  listIdsTo,
  patchEmail,
} from "./store.ts";
export { storeSends } from "./store-sends.ts";
export { BULK, CLAIMED, IN_QUEUE, OF_CAMPAIGN, SINGLE, WAITING_IN_CAMPAIGN } from "./tables.ts";
export { acceptPrepared, prepareTemplateSend } from "./template-send.ts";
export { deleteEmails, type EmailCopy, eraseAddressee, findEmailCopies, findLastEnded, selectIdsTo } from "./to-person.ts";
export { deleteUnusedContents } from "./unused-contents.ts";

/** One mail with its content and history, by its id or that of one of its recipients. Throws ApiError not_found or rate_limited. */
export async function getEmail(read: Reader, deps: MessageReading, workspaceId: string, id: string): Promise<EmailDetail> {
  const [detail] = await showDetails(read, deps, [await getMail(read, workspaceId, id)]);
  return detail as EmailDetail;
}

/** The same, but mail that is rendered for each recipient as it reads with the contact's present fields. */
export async function getReadableEmail(read: Reader, deps: ReadableDeps, workspaceId: string, id: string): Promise<EmailDetail> {
  const [detail] = await showReadable(read, deps, [await getMail(read, workspaceId, id)]);
  return detail as EmailDetail;
}

/** Mails with their contents as their recipients read them. */
async function showReadable(read: Reader, deps: ReadableDeps, mails: readonly FullMail[]): Promise<EmailDetail[]> {
  const details: EmailDetail[] = [];
  for (const [i, detail] of (await showDetails(read, deps, mails)).entries()) {
    const first = mails[i]?.emails[0];
    const isTemplate = first !== undefined && first.campaignId !== null;
    details.push({ ...detail, ...(isTemplate && (await deps.renderHooks.renderMail(read, first))) });
  }
  return details;
}

type ReadableDeps = Pick<EmailDeps, "renderHooks" | "readMessage">;

/** Mails with the subjects that their recipients read. */
async function withSubjects<Mail extends ListedMail>(
  read: Reader,
  { renderHooks }: Pick<EmailDeps, "renderHooks">,
  mails: readonly Mail[],
): Promise<Mail[]> {
  const ofCampaigns = mails.flatMap(({ emails }) => emails.filter(({ campaignId }) => campaignId !== null));
  if (ofCampaigns.length === 0) return [...mails];
  const subjects = await renderHooks.renderSubjects(read, ofCampaigns);
  return mails.map((mail) => {
    const subject = subjects.get(mail.emails[0]?.id ?? "");
    return subject === undefined ? mail : { ...mail, contents: { ...mail.contents, subject } };
  });
}

/** One mail with its history, as `getEmail` finds it. Throws ApiError not_found. */
export async function getEmailHistory(read: Reader, workspaceId: string, id: string): Promise<Email & Pick<EmailDetail, "events">> {
  const mail = await getMail(read, workspaceId, id);
  const [events = []] = await showHistories(read, [mail]);
  return { ...showEmail(mail), events };
}

/**
 * Returns emails by id, each as its one recipient got it, with content and history, newest first; unknown ids are left out. Other
 * recipients of the same mail are not named. Throws ApiError rate_limited.
 */
export async function getReceivedEmails(
  read: Reader,
  deps: ReadableDeps,
  workspaceId: string,
  ids: readonly string[],
): Promise<EmailDetail[]> {
  return ids.length === 0 ? [] : showReadable(read, deps, await findEmails(read, workspaceId, ids));
}

interface EmailQuery extends PageInput {
  test: boolean;
  status?: EmailFilterStatus | undefined;
  to?: string | undefined;
  inDoubt?: boolean | undefined;
  reaction?: EmailReaction | undefined;
  from?: string | undefined;
  subject?: string | undefined;
  /** A tag as `name=value`. */
  tag?: string | undefined;
  /** The slug of the template. */
  template?: string | undefined;
  campaign?: string | undefined;
  automation?: string | undefined;
  /** The conversation that an email continues. */
  thread?: string | undefined;
  since?: string | undefined;
  until?: string | undefined;
}

/** Mails of a workspace, newest first. With filters beyond status, recipient and doubt a page may be short, or empty, and there be more. */
export async function listEmails(
  read: Reader,
  deps: Pick<EmailDeps, "clock" | "renderHooks">,
  workspaceId: string,
  { to, status, inDoubt, test, ...query }: EmailQuery,
): Promise<Page<Email>> {
  const { reaction, from, subject, tag, template, campaign, automation, thread, since, until, ...page } = query;
  const toKey = to === undefined ? undefined : addressKey(to);
  const ofStatus = status === "scheduled" ? { scheduledAfter: deps.clock.now() } : { status };
  const filter = { ...ofStatus, test, inDoubt, toKey };
  const readable = <Mail extends ListedMail>(mails: readonly Mail[]) => withSubjects(read, deps, mails);
  if ([reaction, from, subject, tag, template, campaign, automation, thread, since, until].some((one) => one !== undefined)) {
    const examined = {
      ...filter,
      since: since === undefined ? undefined : firstIdSince(since, test),
      before: until === undefined ? undefined : firstIdSince(until, test),
      labels: [
        ...(thread === undefined ? [] : [toThreadLabel(thread)]),
        ...(tag === undefined ? [] : [toLabelOfTag(tag)]),
        ...(automation === undefined ? [] : [toAutomationLabel(automation)]),
        ...(template === undefined ? [] : [toTemplateLabel(template)]),
      ],
      campaignId: campaign,
      reaction,
      from: from === undefined ? undefined : addressKey(from),
      subject,
    };
    return listExamined(read, workspaceId, examined, page, readable);
  }
  const chosen = await chooseEmails(read, workspaceId, filter);
  return paginateById<ListedMail & { id: string }, Email>(
    page,
    async (slice) => readable(await selectEmails(read, workspaceId, chosen, slice)),
    () => countEmails(read, chosen),
    showEmail,
  );
}

/** The least id that an email accepted at an instant can have. */
function firstIdSince(instant: string, test: boolean): string {
  const id = firstIdAt("em", Math.max(0, Date.parse(instant)));
  return test ? toTestId(id) : id;
}

/** The newest mails of all workspaces, at most `limit`; for the page of dev mode. */
export async function listRecentEmails(read: Reader, limit: number): Promise<(Email & { workspaceId: string })[]> {
  const mails = await selectNewestEmails(read, limit);
  return mails.map((mail) => ({ ...showEmail(mail), workspaceId: mail.emails[0]?.workspaceId ?? "" }));
}

/** Cancels a mail for all recipients who wait for it. Cancelling twice is harmless. Throws ApiError not_found or invalid_state. */
export async function cancelEmail(tx: Tx, deps: EmailDeps, workspaceId: string, id: string): Promise<Email> {
  const mail = await getMail(tx, workspaceId, id);
  const waiting = mail.emails.filter(({ status }) => WAITING.includes(status));
  if (waiting.length === 0 && mail.emails.some(({ status }) => status === "cancelled")) return showEmail(mail);
  const patch = { status: "cancelled" as const, nextAttemptAt: null, updatedAt: deps.clock.now() };
  const moves = waiting.map((email) => ({ email, patch, events: [{ type: "email.cancelled" as const }] }));
  const moved = await moveEmails(tx, deps, moves);
  const cancelled = waiting.filter((_, i) => moved[i]);
  if (cancelled[0] === undefined) throw invalidState(mail, WAITING, "cancelled");
  return showEmail(patchMail(mail, cancelled, patch));
}

/** Moves a scheduled mail to another instant. Throws ApiError not_found, invalid_state or validation_error. */
export async function rescheduleEmail(tx: Tx, deps: EmailDeps, workspaceId: string, id: string, scheduledAt: string): Promise<Email> {
  const mail = await getMail(tx, workspaceId, id);
  const at = parseScheduledAt(scheduledAt, deps.clock.now()) as number;
  const patch = { scheduledAt: at, nextAttemptAt: at, updatedAt: deps.clock.now() };
  if (mail.emails.some((email) => email.scheduledAt === null))
    throw new ApiError("invalid_state", "This email was not scheduled, so it cannot be rescheduled.");
  const queued = mail.emails.filter(({ status }) => status === "queued");
  const updated = await updateEmails(
    tx,
    queued.map((email) => ({ email, patch })),
  );
  if (queued.length === 0 || !updated.every(Boolean)) throw invalidState(mail, ["queued"], "rescheduled");
  const rescheduled = queued.map((email) => patchEmail(email, patch));
  await announceEmails(tx, deps, rescheduled);
  await recordEvents(
    tx,
    deps,
    rescheduled.map(({ id: emailId }) => ({
      workspaceId,
      type: "email.rescheduled" as const,
      emailId: assumeEmailHeld(emailId),
      at: patch.updatedAt,
      data: { scheduledAt: iso(at) },
    })),
  );
  return showEmail(patchMail(mail, queued, patch));
}

/** A mail after some of its recipients were changed. */
function patchMail({ emails, contents }: FullMail, changed: readonly EmailRow[], patch: EmailPatch): FullMail {
  return { emails: emails.map((email) => (changed.includes(email) ? patchEmail(email, patch) : email)), contents };
}

async function getMail(q: Tx | Reader, workspaceId: string, id: string): Promise<FullMail> {
  const found = await findMail(q, workspaceId, id);
  if (!found) throw notFound("email", id);
  return found;
}

function invalidState(mail: FullMail, from: readonly EmailStatus[], what: string): ApiError {
  return new ApiError("invalid_state", `This email is ${showEmail(mail).status}. Only ${from.join(" and ")} emails can be ${what}.`);
}

/**
 * Holds an email that was read in this transaction and is not changed by it, so that rows about it may be inserted: an erasure that
 * deletes it at the same time collides with this transaction, and the later of both runs again. On Postgres this is an UPDATE that changes
 * nothing.
 */
export async function holdEmail(tx: Tx, { workspaceId, id }: { readonly workspaceId: string; readonly id: string }): Promise<HeldEmailId> {
  await tx
    .prepared("hold_email", (q, { emails: t }, arg) =>
      q
        .update(t)
        .set({ inDoubt: sql`${t.inDoubt}` })
        .where(and(tx.sqlDialect.concurrent, eq(t.workspaceId, arg("workspaceId")), eq(t.id, arg("id")))),
    )
    .execute({ workspaceId, id });
  return assumeEmailHeld(id);
}

/**
 * Queues one message for each recipient, or one mail to all of them, with their first events and the jobs that will deliver it: all rows
 * of one transaction (docs/emails.md#sending). Throws ApiError sender_not_verified, recipient_suppressed or validation_error.
 */
export async function send(tx: Tx, deps: EmailDeps, send: NewSend): Promise<SendResponse> {
  const [response] = await storeSends(tx, deps, [await acceptSend(tx, deps, send)]);
  return response as SendResponse;
}
