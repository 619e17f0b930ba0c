import { SEND_LIMITS } from "@mailsvc/sdk/contract";
import { invalid } from "../lib/api-error.ts";
import type { NewJob } from "../queue/queue.ts";

/** The kinds of this feature's jobs: deliver an email, and act as a simulated recipient. */
export const DELIVER_JOB = "email.deliver";
export const REACT_JOB = "email.react";

const DAY = 86_400_000;

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

// Smaller emails are delivered without counting their bytes.
const LARGE_BYTES = 64 * 1024;

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
    // More than the attempts of an email, which the email counts itself: these are failures of ours.
    maxAttempts: 25,
    ...(scheduledAt !== null && { dedupeKey: deliveryKey(emailId, scheduledAt) }),
  };
}

/** The dedupe key of the job that delivers an email at an instant (ms). */
export function deliveryKey(emailId: string, scheduledAt: number): string {
  return `${DELIVER_JOB}:${emailId}:${scheduledAt}`;
}
