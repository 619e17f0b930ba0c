import { SEND_LIMITS } from "@mailsvc/sdk/contract";
import type { Tx } from "../db/db.ts";
import { invalid } from "../lib/api-error.ts";
import { DAY } from "../lib/units.ts";
import type { Lane, LaneJob } from "../queue/queue.ts";
import type { EmailDeps } from "./deps.ts";
import type { EmailRow } from "./store.ts";
import { BULK } from "./tables.ts";

/** The kind of the jobs that deliver emails. They are in no table: an email is one while it is claimed. */
export const DELIVER_JOB = "email.deliver";

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

/** The size of a message in bytes, roughly: a character counts as one. 0 for one that is not large. */
export function measureMessage(
  { html, text }: { html?: string | null | undefined; text?: string | null | undefined },
  files: readonly { size: number }[],
): number {
  return sizeOfLarge(files.reduce((sum, { size }) => sum + size, (html?.length ?? 0) + (text?.length ?? 0)));
}

/** The size of a message as its email tells it: 0 for one that is not large. */
export function sizeOfLarge(bytes: number): number {
  return bytes > LARGE_BYTES ? bytes : 0;
}

/** An email as the queue runs it. */
export function toDeliveryJob(email: EmailRow): LaneJob {
  const lane = laneOf(email);
  return {
    id: email.id,
    kind: DELIVER_JOB,
    payload: { email },
    attempt: email.faults + 1,
    interruptions: 0,
    maxAttempts: MAX_ATTEMPTS,
    lane,
  };
}

/** The email of a job, as it was when it was claimed. */
export function readDeliveryJob({ payload }: Pick<LaneJob, "payload">): EmailRow {
  return payload.email as EmailRow;
}

/** Tells the queue of emails that this transaction has put into it. */
export async function announceEmails(
  tx: Tx,
  { queue, clock }: Pick<EmailDeps, "queue" | "clock">,
  emails: readonly EmailRow[],
): Promise<void> {
  const waiting = emails.filter(({ lane }) => lane !== null);
  for (const [lane, own] of Map.groupBy(waiting, laneOf)) {
    const dueAt = own.reduce((last, { nextAttemptAt }) => Math.max(last, nextAttemptAt ?? 0), 0);
    await queue.announce(tx, { lane, dueAt, ...(dueAt <= clock.now() && { jobs: own.map(toDeliveryJob) }) });
  }
}

function laneOf({ lane }: EmailRow): Lane {
  return lane === BULK ? "bulk" : "mail";
}
