import { SEND_LIMITS } from "@mailsvc/sdk/contract";
import type { Tx } from "../db/db.ts";
import { invalid } from "../lib/api-error.ts";
import { DAY } from "../lib/units.ts";
import type { Lane, NewJob } from "../queue/queue.ts";
import type { EmailDeps } from "./deps.ts";

/** The kinds of this feature's jobs: deliver an email, and deliver many. */
export const DELIVER_JOB = "email.deliver";
export const DELIVER_MANY_JOB = "email.deliverMany";

/** The instant of a `scheduledAt`, ms; null without one. Throws ApiError validation_error if it is past or too far ahead. */
export function parseScheduledAt(scheduledAt: string | undefined, now: number): number | null {
  if (scheduledAt === undefined) return null;
  const at = Date.parse(scheduledAt);
  if (at <= now)
    throw invalid("scheduledAt", "in_the_past", `scheduledAt must be in the future. The server's time is ${new Date(now).toISOString()}.`);
  if (at > now + SEND_LIMITS.scheduleDays * DAY)
    throw invalid("scheduledAt", "too_far", `scheduledAt must be at most ${SEND_LIMITS.scheduleDays} days ahead.`);
  return at;
}

// Smaller emails are delivered without counting their bytes: a batch of them is composed and stored in a few ms.
const LARGE_BYTES = 16 * 1024;
// More than the attempts of an email, which the email counts itself: these are failures of ours.
const MAX_ATTEMPTS = 25;

/** Emails in one job of bulk mail. */
export const EMAILS_PER_JOB = 64;

/** The size of a message in bytes, roughly: a character counts as one. */
export function measureMessage(
  { html, text }: { html?: string | null | undefined; text?: string | null | undefined },
  files: readonly { size: number }[],
): number {
  return files.reduce((sum, { size }) => sum + size, (html?.length ?? 0) + (text?.length ?? 0));
}

/**
 * The job that delivers an email, at once or at `scheduledAt`. An email that is rescheduled and scheduled back must not be
 * delivered by two jobs of the same instant, so the instant is the job's key. An unscheduled email cannot be rescheduled.
 */
export function buildDeliveryJob(
  { workspaceId, emailId, bytes }: { workspaceId: string; emailId: string; bytes: number },
  scheduledAt: number | null,
  now: number,
): NewJob {
  return {
    kind: DELIVER_JOB,
    // The size is part of the job, so that it is known before a large message is read into memory.
    payload: { workspaceId, emailId, ...(bytes > LARGE_BYTES && { bytes }) },
    runAt: scheduledAt ?? now,
    maxAttempts: MAX_ATTEMPTS,
    lane: "mail",
    ...(scheduledAt !== null && { dedupeKey: deliveryKey(emailId, scheduledAt) }),
  };
}

/** The job that delivers one mail to several recipients, given the rows of those who get it. */
export function buildMailJob(
  { workspaceId, mailId, emailIds, bytes }: { workspaceId: string; mailId: string; emailIds: readonly string[]; bytes: number },
  scheduledAt: number | null,
  now: number,
): NewJob {
  return {
    kind: DELIVER_MANY_JOB,
    payload: { workspaceId, emailIds, ...(bytes > LARGE_BYTES && { bytes }) },
    runAt: scheduledAt ?? now,
    maxAttempts: MAX_ATTEMPTS,
    lane: "mail",
    ...(scheduledAt !== null && { dedupeKey: deliveryKey(mailId, scheduledAt) }),
  };
}

/**
 * Removes the job of a scheduled mail, which would stay until its date. A job that already runs finds the email changed and does nothing.
 */
export async function cancelScheduledJob(
  tx: Tx,
  { queue }: Pick<EmailDeps, "queue">,
  { id, mailId, scheduledAt }: { id: string; mailId: string | null; scheduledAt: number | null },
): Promise<void> {
  if (scheduledAt === null) return;
  if (mailId === null) await queue.cancel(tx, DELIVER_JOB, deliveryKey(id, scheduledAt));
  else await queue.cancel(tx, DELIVER_MANY_JOB, deliveryKey(mailId, scheduledAt));
}

/** The dedupe key of the job that delivers an email, or a mail to several recipients, at an instant (ms). */
function deliveryKey(id: string, scheduledAt: number): string {
  return `${DELIVER_JOB}:${id}:${scheduledAt}`;
}

/** The job that delivers one of several emails of a job again, in the lane of that, at an instant (ms). */
export function buildRetryJob(
  { workspaceId, emailId, bytes }: { workspaceId: string; emailId: string; bytes: number },
  runAt: number,
  lane: Lane,
): NewJob {
  const payload = { workspaceId, emailId, ...(bytes > LARGE_BYTES && { bytes }) };
  return { kind: DELIVER_JOB, payload, runAt, maxAttempts: MAX_ATTEMPTS, lane };
}

/** Emails to be delivered as bulk mail, which waits for all single mails. */
interface BulkMail {
  readonly workspaceId: string;
  readonly emailIds: readonly string[];
  /** The size of the largest message, from `measureMessage`. */
  readonly bytes: number;
  /** Not before this instant, ms; at once when absent. */
  readonly runAt?: number;
}

/**
 * Schedules the delivery of emails that are stored already, in the transaction that stores them or later. A job stands for some
 * dozens of them, so a million emails are some thousands of jobs. Emails that are no longer `queued` or `deferred` by then, or
 * whose `nextAttemptAt` lies in the future, are left alone.
 */
export async function scheduleEmails(
  tx: Tx,
  deps: Pick<EmailDeps, "queue">,
  { workspaceId, emailIds, bytes, runAt }: BulkMail,
): Promise<void> {
  for (let i = 0; i < emailIds.length; i += EMAILS_PER_JOB)
    await deps.queue.enqueue(tx, {
      kind: DELIVER_MANY_JOB,
      payload: { workspaceId, emailIds: emailIds.slice(i, i + EMAILS_PER_JOB), ...(bytes > LARGE_BYTES && { bytes }) },
      ...(runAt !== undefined && { runAt }),
      maxAttempts: MAX_ATTEMPTS,
      lane: "bulk",
    });
}

/** Returns the emails that a delivery job of either kind names. */
export function readDeliveryJob({ workspaceId, emailId, emailIds, bytes }: Readonly<Record<string, unknown>>) {
  return {
    workspaceId: String(workspaceId),
    emailIds: Array.isArray(emailIds) ? emailIds.map(String) : [String(emailId)],
    /** True if the job is about one email, and is repeated with it. */
    single: !Array.isArray(emailIds),
    /** The size of a large message. */
    bytes: bytes === undefined ? undefined : Number(bytes),
  };
}
