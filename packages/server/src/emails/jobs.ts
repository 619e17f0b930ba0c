import type { NewJob } from "../queue/queue.ts";

/** Kinds of jobs of this feature. */
export const DELIVER_JOB = "email.deliver";
export const REACT_JOB = "email.react";

/**
 * The job that delivers an email: at once, or at its hour. An email that is moved to another hour and back must not be
 * handed over by two jobs of the same hour, so the hour is the key of the job; emails that go at once cannot be moved.
 */
export function deliveryOf(workspaceId: string, emailId: string, scheduledAt: number | null, now: number): NewJob {
  return {
    kind: DELIVER_JOB,
    payload: { workspaceId, emailId },
    runAt: scheduledAt ?? now,
    // More than the attempts of an email: those are counted by the email itself, these are failures of ours.
    maxAttempts: 25,
    ...(scheduledAt !== null && { dedupeKey: `${DELIVER_JOB}:${emailId}:${scheduledAt}` }),
  };
}
