import type { Tx } from "../db/db.ts";
import type { EmailRow } from "../emails/emails.ts";

/** An email that its mailer cannot take now. It stays what it is, and is claimed again. */
export interface Postponed {
  readonly kind: "postponed";
  readonly email: EmailRow;
  /** Time from which it may be claimed again, ms. */
  readonly runAt: number;
}

/** An email that cannot be delivered, though it is as it was when it was claimed: its workspace was deleted, or its contents are gone. */
export interface Left {
  readonly kind: "left";
  readonly email: EmailRow;
}

/** A claimed email, the time from which it may be claimed again (ms), and the attempts that failed by a fault of ours. */
interface PutBack {
  readonly email: EmailRow;
  readonly runAt: number;
  readonly faults: number;
}

/**
 * Puts claimed emails back into the queue. One that was changed meanwhile keeps what it has: it was cancelled, got another instant, or its
 * claim was taken over.
 */
export async function putBack(tx: Tx, all: readonly PutBack[]): Promise<void> {
  if (all.length === 0) return;
  await tx.updateAll(
    tx.t.emails,
    all.map(({ email: { workspaceId, id, lane, scheduledAt, claimedBy }, runAt, faults }) => ({
      where: { workspaceId, id, lane, scheduledAt, claimedBy },
      set: { nextAttemptAt: runAt, faults, claimedBy: null },
    })),
  );
}

/** Takes emails out of the queue that are still as they were read. */
export async function leaveQueue(tx: Tx, all: readonly Left[]): Promise<void> {
  if (all.length === 0) return;
  await tx.updateAll(
    tx.t.emails,
    all.map(({ email: { workspaceId, id, status, attempts, scheduledAt, nextAttemptAt } }) => ({
      where: { workspaceId, id, status, attempts, scheduledAt, nextAttemptAt },
      set: { lane: null, claimedBy: null },
    })),
  );
}
