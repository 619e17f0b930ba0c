import type { EmailStatus } from "@mailsvc/sdk/contract";
import type { Tx } from "../db/db.ts";
import { record } from "../events/events.ts";
import { type EmailPatch, type EmailRow, type From, moveEmail } from "./store.ts";

/** States from which a message may still be taken back. */
export const WAITING: readonly [EmailStatus, EmailStatus] = ["queued", "deferred"];

/** States in which a hand-over may be under way or still to come. */
export const OPEN: readonly [EmailStatus, EmailStatus, EmailStatus] = [...WAITING, "sending"];

/** Notes that a message was accepted. */
export function noteQueued(tx: Tx, { workspaceId, id, createdAt }: Pick<EmailRow, "workspaceId" | "id" | "createdAt">): Promise<void> {
  return record(tx, { workspaceId, type: "email.queued", emailId: id, at: createdAt });
}

/**
 * Moves a message on from one of the states in `from`, as `email` was read; false when somebody else was faster.
 *
 * A message that goes at once is first handed over some milliseconds after it was accepted, so its `email.queued` is
 * written with that, when it leaves the queue: a third of what accepting it would cost otherwise. One that waits for
 * its hour has the event from the start.
 */
export async function transition(tx: Tx, email: EmailRow, from: From, patch: EmailPatch & { status: EmailStatus }): Promise<boolean> {
  if (!(await moveEmail(tx, email, from, patch))) return false;
  if (email.status === "queued" && email.scheduledAt === null) await noteQueued(tx, email);
  return true;
}
