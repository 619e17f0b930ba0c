import { EMAIL_STATES, EMAIL_STATUSES, type EmailStatus, type EventType, type SkipReason } from "@mailsvc/sdk/contract";
import type { Tx } from "../db/db.ts";
import { assumeEmailHeld } from "../db/held.ts";
import { type EmailEvent, type NewEvent, recordEvents } from "../events/events.ts";
import type { EmailDeps } from "./deps.ts";
import { type EmailPatch, type EmailRow, updateEmails } from "./store.ts";

/*
 * The states of an email and the ways between them are `EMAIL_STATES` of the contract. Events that move an email, and the code for them:
 *
 * | event                                                                  | code                                           |
 * | ---------------------------------------------------------------------- | ---------------------------------------------- |
 * | it is marked `sending` before it is handed over by SMTP                | `delivery/effects.ts`                          |
 * | its receipt comes                                                      | `delivery/outcome.ts`                          |
 * | its address is suppressed, it cannot be composed, or it is withdrawn   | the same                                       |
 * | the same after it was marked, before its hand-over: the mark is undone | `delivery/renew.ts`                            |
 * | its domain is held                                                     | `delivery/holds.ts`                            |
 * | it is cancelled, alone or with its campaign                            | `emails.ts`, `campaigns/control.ts`            |
 * | a report comes back later                                              | `inbound/apply.ts`, simulated: `delivery/react.ts` |
 *
 * Over SMTP an outcome is stored only for `sending`. Captured mail is never marked, so it goes on from `queued` or `deferred`. An email that
 * is `sending` without a job at work was left by a crash: it is in doubt, and sent again under the same Message-ID.
 */

/** States in which an email waits for its hand-over, and can be cancelled. */
export const WAITING: readonly EmailStatus[] = EMAIL_STATUSES.filter((status) => EMAIL_STATES[status].next.includes("sending"));

/** States in which an email is still to be delivered. */
export const OPEN: readonly EmailStatus[] = EMAIL_STATUSES.filter((status) => EMAIL_STATES[status].open);

/** The states that emails come to by events. No event says that one waits, is being handed over or was skipped. */
export const STATUS_OF_EVENT: Readonly<Partial<Record<EventType, EmailStatus>>> = {
  "email.sent": "sent",
  "email.delivered": "delivered",
  "email.bounced": "bounced",
  "email.complained": "complained",
  "email.failed": "failed",
  "email.cancelled": "cancelled",
  "email.suppressed": "suppressed",
};

/** Fields of an email that its events name. */
type EventSubject = Pick<EmailRow, "workspaceId" | "id"> & Partial<Pick<EmailRow, "campaignId" | "contactId">>;

/** The event that an email was accepted. */
export function toQueuedEvent(email: EventSubject & Pick<EmailRow, "createdAt">): NewEvent {
  return { ...toSubject(email), type: "email.queued", at: email.createdAt };
}

/** A change of an email as it was read, with what is recorded if it takes place. */
export interface Move {
  readonly email: EmailRow;
  readonly patch: EmailPatch & { readonly status: EmailStatus };
  readonly events?: readonly Pick<EmailEvent, "type" | "data" | "machine">[];
}

/** A change of an email's status. `email` is the row as it was before. */
export interface StatusChange {
  readonly email: EmailRow;
  readonly from: EmailStatus;
  readonly to: EmailStatus;
  /** Reason a mail of a campaign or an automation is skipped now. */
  readonly skipReason: SkipReason | null;
}

/** Is told of changes of status, in the transaction that makes them. Changes to and from `sending` are among them. */
export type StatusListener = (tx: Tx, changes: readonly StatusChange[]) => Promise<void>;

/**
 * Moves emails to other states, all in one statement, records their events and tells the listeners. Tells for each whether it was moved:
 * not if its status or the number of its attempts has changed since it was read. No email may be among them twice. `along` is called with
 * the moved emails; its writes are sent together with the events.
 *
 * An email that goes out at once gets its `email.queued` event with the first one after it, a few milliseconds after it was accepted: writing it
 * earlier would make accepting the email cost a third more, and writing it with the mark `sending` would give the email two numbers in the
 * stream where one run of numbers is enough. A scheduled email has the event from the start. A recipient of a campaign has none:
 * campaign.started covers all of them.
 */
export async function moveEmails(
  tx: Tx,
  deps: EmailDeps,
  moves: readonly Move[],
  along?: (moved: readonly boolean[]) => Promise<void>,
): Promise<boolean[]> {
  const moved = await updateEmails(tx, moves);
  const events: NewEvent[] = [];
  const changes: StatusChange[] = [];
  for (const [i, { email, patch, events: own = [] }] of moves.entries()) {
    if (!moved[i]) continue;
    if (patch.status !== "sending" && hasNoEvent(email)) events.push(toQueuedEvent(email));
    let { status } = email;
    for (const { type, data = null, machine = null } of own) {
      const next = STATUS_OF_EVENT[type];
      const was = email.campaignId !== null && next !== undefined ? status : null;
      events.push({ ...toSubject(email), type, at: patch.updatedAt, data, machine, was });
      status = next ?? status;
    }
    if (email.status !== patch.status) changes.push({ email, from: email.status, to: patch.status, skipReason: patch.skipReason ?? null });
  }
  await Promise.all([recordEvents(tx, deps, events), along?.(moved)]);
  if (changes.length > 0) for (const listener of deps.statusListeners) await listener(tx, changes);
  return moved;
}

/** True if no event of an email was recorded yet. An attempt that ends without success leaves its error. */
function hasNoEvent({ status, lastError, scheduledAt, campaignId }: EmailRow): boolean {
  if (scheduledAt !== null || campaignId !== null) return false;
  return status === "queued" || (status === "sending" && lastError === null);
}

/** Moves one email, as it was read, from one of the states in `from`; false if it is in another one or another process was faster. */
export async function transition(tx: Tx, deps: EmailDeps, from: readonly EmailStatus[], move: Move): Promise<boolean> {
  return from.includes(move.email.status) && (await moveEmails(tx, deps, [move]))[0] === true;
}

function toSubject({ workspaceId, id, campaignId = null, contactId = null }: EventSubject) {
  return { workspaceId, emailId: assumeEmailHeld(id), campaignId, contactId };
}
