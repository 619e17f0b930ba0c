import type { Tx } from "../db/db.ts";
import { type EmailRow, scheduleEmails } from "../emails/emails.ts";
import type { ClaimedJob } from "../queue/queue.ts";
import type { DeliveryDeps } from "./deps.ts";
import { leaveSharedJobs } from "./shared-jobs.ts";

/** An email that its mailer cannot take now. It stays what it is, and its job runs again. */
export interface Postponed {
  readonly kind: "postponed";
  readonly email: EmailRow;
  /** Time at which its job is to run again, ms. */
  readonly runAt: number;
  /** The size of a large message. */
  readonly bytes: number;
  /** The job that the email shares with others: it gets another one. */
  readonly sharedJob?: ClaimedJob;
}

/** Gives emails that leave the jobs they share new ones, those of one instant together. An email with its own job keeps that. */
export async function storePostponed(tx: Tx, deps: Pick<DeliveryDeps, "queue">, all: readonly Postponed[]): Promise<void> {
  const sharing = all.filter(({ sharedJob }) => sharedJob !== undefined);
  if (sharing.length === 0) return;
  const left = await leaveSharedJobs(
    tx,
    deps,
    sharing.map(({ email: { id: emailId }, sharedJob }) => ({ emailId, sharedJob })),
  );
  const leaving = sharing.filter(({ email }) => left.has(email.id));
  for (const [workspaceId, own] of Map.groupBy(leaving, ({ email }) => email.workspaceId))
    for (const [runAt, together] of Map.groupBy(own, (one) => one.runAt)) {
      const emailIds = together.map(({ email }) => email.id);
      await scheduleEmails(tx, deps, { workspaceId, emailIds, bytes: Math.max(...together.map(({ bytes }) => bytes)), runAt });
    }
}
