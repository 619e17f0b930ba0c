import type { EmailStatus, SkipReason } from "@mailsvc/sdk/contract";
import type { Tx } from "../db/db.ts";
import { type NewEvent, recordEvents } from "../events/events.ts";
import type { EmailDeps } from "./deps.ts";
import { type EmailPatch, type EmailRow, updateEmails } from "./store.ts";

/*
 * The states of an email. Rows: state. Columns: what happens. `–` leaves the state as it is.
 *
 * |            | claimed   | accepted  | delivered   | 4xx, lost  | no attempt | 5xx       | cancel      | address      | complaint    |
 * |            | (SMTP)    | (250)     | (capture)   | connection | left       |           |             | suppressed   |              |
 * | ---------- | --------- | --------- | ----------- | ---------- | ---------- | --------- | ----------- | ------------ | ------------ |
 * | queued     | sending   | –         | delivered   | deferred   | failed     | bounced   | cancelled   | suppressed   | –            |
 * | deferred   | sending   | –         | delivered   | deferred   | failed     | bounced   | cancelled   | suppressed   | –            |
 * | sending    | sending¹  | sent      | delivered²  | deferred³  | failed     | bounced   | –           | suppressed   | –            |
 * | sent       | –         | –         | –           | –          | –          | –         | –           | –            | complained   |
 * | delivered  | –         | –         | –           | –          | –          | –         | –           | –            | complained   |
 *
 * suppressed, bounced, complained, failed, skipped and cancelled are final. Only mail of campaigns and automations is skipped. Over SMTP an outcome is stored only for `sending`.
 *
 * Reports that come back later move `sent` and `delivered` on: see `inbound/apply.ts`.
 *
 * 1. After a crash: the email is in doubt and is sent again under the same Message-ID.
 * 2. A process that sent over SMTP died, and the next one captures mail.
 * 3. In doubt if the connection was lost after the whole message was written.
 */

/**
 * The states that an email can go to from each one: the table above with what `inbound/apply.ts` does, and mail of campaigns and
 * automations that is skipped.
 */
export const EMAIL_TRANSITIONS: Readonly<Record<EmailStatus, readonly EmailStatus[]>> = {
  queued: ["sending", "delivered", "deferred", "failed", "bounced", "cancelled", "suppressed", "skipped"],
  deferred: ["sending", "delivered", "failed", "bounced", "cancelled", "suppressed", "skipped"],
  sending: ["sent", "delivered", "deferred", "failed", "bounced", "suppressed"],
  sent: ["delivered", "bounced", "complained"],
  delivered: ["bounced", "complained"],
  bounced: [],
  complained: [],
  failed: [],
  suppressed: [],
  skipped: [],
  cancelled: [],
};

/** States in which an email can be cancelled. */
export const WAITING: readonly [EmailStatus, EmailStatus] = ["queued", "deferred"];

/** States in which an email is still to be delivered. */
export const OPEN: readonly [EmailStatus, EmailStatus, EmailStatus] = [...WAITING, "sending"];

/** What of an email its events name. */
type EventSubject = Pick<EmailRow, "workspaceId" | "id"> & Partial<Pick<EmailRow, "campaignId" | "contactId">>;

/** The event that an email was accepted. */
export function toQueuedEvent(email: EventSubject & Pick<EmailRow, "createdAt">): NewEvent {
  return { ...toSubject(email), type: "email.queued", at: email.createdAt };
}

/** A change of an email as it was read, with what is recorded if it takes place. */
export interface Move {
  readonly email: EmailRow;
  readonly patch: EmailPatch & { readonly status: EmailStatus };
  readonly events?: readonly Pick<NewEvent, "type" | "data">[];
}

/** A change of an email's status. `email` is the row as it was before. */
export interface StatusChange {
  readonly email: EmailRow;
  readonly from: EmailStatus;
  readonly to: EmailStatus;
  /** Why a mail of a campaign or an automation is skipped now. */
  readonly skipReason: SkipReason | null;
}

/** Reacts to changes of status, in the transaction that makes them. Changes to and from `sending` are among them. */
export type StatusListener = (tx: Tx, changes: readonly StatusChange[]) => Promise<void>;

/**
 * Moves emails to other states, all in one statement, records their events and tells the listeners. Tells for each whether it was
 * moved: not if its status or the number of its attempts has changed since it was read. No email may be among them twice. What
 * `along` writes, once it is known which were moved, is sent together with the events.
 *
 * An email that goes out at once leaves `queued` a few milliseconds after it was accepted, so its `email.queued` event is
 * written then: it would cost accepting it a third more. A scheduled email has the event from the start. A recipient of a campaign has
 * none: campaign.started says it for all of them.
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
    if (email.status === "queued" && email.scheduledAt === null && email.campaignId === null) events.push(toQueuedEvent(email));
    for (const { type, data = null } of own) events.push({ ...toSubject(email), type, at: patch.updatedAt, data });
    if (email.status !== patch.status) changes.push({ email, from: email.status, to: patch.status, skipReason: patch.skipReason ?? null });
  }
  await Promise.all([recordEvents(tx, deps, events), along?.(moved)]);
  if (changes.length > 0) for (const listener of deps.statusListeners) await listener(tx, changes);
  return moved;
}

/** Moves one email, as it was read, from one of the states in `from`; false if it is in another one or another process was faster. */
export async function transition(tx: Tx, deps: EmailDeps, from: readonly EmailStatus[], move: Move): Promise<boolean> {
  return from.includes(move.email.status) && (await moveEmails(tx, deps, [move]))[0] === true;
}

function toSubject({ workspaceId, id, campaignId = null, contactId = null }: EventSubject) {
  return { workspaceId, emailId: id, campaignId, contactId };
}
