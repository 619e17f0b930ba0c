import type { EventType } from "@mailsvc/sdk/contract";
import type { Engagement } from "../contacts/contacts.ts";
import type { Reader, Tx } from "../db/db.ts";
import type { Deps } from "../deps.ts";
import { buildRetryJob, type EmailRow, type Move, moveEmails, OPEN } from "../emails/emails.ts";
import { type DeliveryError, type DeliveryRecord, type Receipt, recordDeliveries } from "../mail/mailer.ts";
import { listSimulatedReactions, type Reaction } from "../mail/simulator.ts";
import type { ClaimedJob } from "../queue/queue.ts";
import { findSuppressed, suppress } from "../suppressions/suppressions.ts";
import { type Held, storeHeld } from "./holds.ts";
import { REACT_JOB } from "./react.ts";
import { leaveSharedJobs } from "./shared-jobs.ts";
import type { PendingMail, Withdrawal } from "./transform.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** The wait after each deferred attempt, ms: about two days in all, as mail servers do. */
export const RETRY_DELAYS = [MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 2 * HOUR, 4 * HOUR, 8 * HOUR, 16 * HOUR, 16 * HOUR] as const;

/** What one attempt leaves behind, all of it only if the email could be moved. */
export interface Delivery {
  readonly move: Move;
  readonly record?: DeliveryRecord | undefined;
  readonly engagement?: Engagement;
  readonly reactions?: readonly Reaction[];
  /** The mailbox does not exist: the address is suppressed. */
  readonly invalidRecipient?: true | undefined;
  /** When to try again, ms. */
  readonly retryAt?: number;
  /** The job that the email shares with others: a retry needs a job of its own. */
  readonly sharedJob?: ClaimedJob;
}

/** An email that is about to be handed over by a mailer that is not transactional: it is to be `sending` first. */
export interface Mark {
  readonly mail: PendingMail;
  /** The email as it was moved; null if it was not, because it changed or its address was suppressed meanwhile. */
  marked: EmailRow | null;
}

/** What a job of emails leaves to be stored. */
export type Effect = Mark | Delivery | Held;

/** Stores marks and what attempts left behind: many emails with a statement for all of them. */
export async function storeDeliveries(tx: Tx, deps: Deps, effects: readonly Effect[]): Promise<void> {
  await storeHeld(tx, deps, effects.filter(isHeld));
  const all = effects.filter((one): one is Mark | Delivery => !isHeld(one));
  const marks = all.filter(isMark);
  const suppressed = await listSuppressed(
    tx,
    marks.map(({ mail }) => mail),
  );
  const now = deps.clock.now();
  const steps = all.map((one): Step => {
    if (!isMark(one)) return { move: one.move, delivery: one };
    one.marked = null;
    const { email } = one.mail;
    return suppressed.has(one.mail) ? { move: toSuppressed(email, now) } : { move: toSending(one.mail, now), mark: one };
  });
  for (const round of splitRepeats(steps)) {
    const done: Delivery[] = [];
    const moved = await moveEmails(
      tx,
      deps,
      round.map(({ move }) => move),
      async (moved) => {
        done.push(...round.flatMap(({ delivery }, i) => (moved[i] && delivery) || []));
        await recordEffects(tx, deps, done);
      },
    );
    for (const [i, { move, mark }] of round.entries()) if (mark && moved[i]) mark.marked = { ...move.email, ...move.patch, unlisted: null };
    for (const delivery of done) await storeConsequences(tx, deps, delivery);
    const open = done.filter(({ move }) => OPEN.includes(move.patch.status));
    await leaveSharedJobs(
      tx,
      deps,
      open.map(({ move, sharedJob }) => ({ emailId: move.email.id, sharedJob })),
    );
  }
}

async function recordEffects(tx: Tx, deps: Deps, done: readonly Delivery[]): Promise<void> {
  const records = done.flatMap(({ record }) => record ?? []);
  const engagements = done.flatMap(({ engagement }) => engagement ?? []);
  await Promise.all([recordDeliveries(tx, records), deps.audience.emailsEngaged(tx, deps, engagements)]);
}

interface Step {
  readonly move: Move;
  readonly mark?: Mark;
  readonly delivery?: Delivery;
}

function isHeld(one: Effect): one is Held {
  return "held" in one;
}

function isMark(one: Mark | Delivery): one is Mark {
  return "mail" in one;
}

/**
 * An email that is in doubt, because a process died between its hand-over and storing the outcome, is sent again under the same
 * Message-ID, by which receivers can recognise the copy: a password reset that comes twice is better than one that never comes.
 */
function toSending({ email, attempt }: PendingMail, now: number): Move {
  return { email, patch: { status: "sending", inDoubt: email.inDoubt, attempts: attempt, updatedAt: now } };
}

/** The emails whose address was suppressed since they were accepted, because it may have bounced or unsubscribed. */
export async function listSuppressed(q: Reader | Tx, mails: readonly PendingMail[]): Promise<ReadonlySet<PendingMail>> {
  const refused = new Set<PendingMail>();
  const groups = Map.groupBy(mails, ({ email, contents }) => `${email.workspaceId} ${contents.bypassUnsubscribe}`);
  for (const group of groups.values()) {
    const [{ email, contents }] = group as [PendingMail];
    const addresses = group.map((mail) => mail.email.toKey);
    const suppressed = await findSuppressed(q, email.workspaceId, addresses, contents);
    if (suppressed.size > 0) for (const mail of group) if (suppressed.has(mail.email.toKey)) refused.add(mail);
  }
  return refused;
}

/** Decides what a receipt means for an email. `email` is as the attempt left it: `sending`, unless the mailer is transactional. */
export function toDelivery(receipt: Receipt, email: EmailRow, attempt: number, deps: Pick<Deps, "clock" | "random">): Delivery {
  const now = deps.clock.now();
  const ended = { attempts: attempt, inDoubt: email.inDoubt, nextAttemptAt: null, updatedAt: now };

  if (receipt.outcome === "sent" || receipt.outcome === "delivered") {
    const delivered = receipt.outcome === "delivered";
    return {
      move: {
        email,
        patch: { ...ended, status: receipt.outcome, lastError: null, sentAt: now },
        events: [
          { type: "email.sent", data: { response: receipt.response, attempt } },
          ...(delivered ? [{ type: "email.delivered" as const }] : []),
        ],
      },
      ...(delivered && receipt.record && { record: receipt.record }),
      engagement: { workspaceId: email.workspaceId, email: email.toKey, sentAt: now, ...(delivered && { deliveredAt: now }) },
      reactions: listSimulatedReactions(email.to),
    };
  }

  const { error } = receipt;
  const failed = (status: "bounced" | "failed", type: EventType, data: Record<string, unknown>): Move => ({
    email,
    patch: { ...ended, status, lastError: error },
    events: [{ type, data }],
  });
  if (receipt.outcome === "bounced")
    return { move: failed("bounced", "email.bounced", toBounceData(error, "PERMANENT")), invalidRecipient: receipt.invalidRecipient };

  const delay = RETRY_DELAYS[attempt - 1];
  const inDoubt = email.inDoubt || receipt.outcome === "unknown";
  const data = toBounceData(error, "TRANSIENT");
  if (delay === undefined) {
    const move = failed("failed", "email.failed", { ...data, attempts: attempt });
    return { move: { ...move, patch: { ...move.patch, inDoubt } } };
  }
  const retryAt = now + Math.round(delay * (0.8 + 0.4 * deps.random.fraction()));
  return {
    retryAt,
    move: {
      email,
      patch: { ...ended, inDoubt, status: "deferred", lastError: error, nextAttemptAt: retryAt },
      events: [{ type: "email.deferred", data: { ...data, attempt, inDoubt } }],
    },
  };
}

/** The end of an email that goes to nobody. */
export function toSuppressed(email: EmailRow, now: number): Move {
  return {
    email,
    patch: { status: "suppressed", inDoubt: email.inDoubt, nextAttemptAt: null, updatedAt: now },
    events: [{ type: "email.suppressed" }],
  };
}

/** The end of an email that cannot be made. */
export function toFailed(email: EmailRow, message: string, now: number): Move {
  const lastError: DeliveryError = { message, smtpCode: null, enhancedCode: null };
  return {
    email,
    patch: { status: "failed", inDoubt: email.inDoubt, nextAttemptAt: null, lastError, updatedAt: now },
    events: [{ type: "email.failed", data: { ...toBounceData(lastError, "PERMANENT"), attempts: email.attempts } }],
  };
}

/** An email of a campaign that is not handed over, by what keeps it back. */
export function toWithdrawn(email: EmailRow, withdrawal: Withdrawal, now: number): Move {
  // A crash left it between hand-over and record: it may have arrived.
  const unsure = email.status === "sending";
  const patch = { inDoubt: email.inDoubt || unsure, nextAttemptAt: null, updatedAt: now };
  if (withdrawal.to === "hold") return { email, patch: { ...patch, status: unsure ? "deferred" : email.status } };
  if (withdrawal.to === "skipped") return { email, patch: { ...patch, status: "skipped", skipReason: withdrawal.reason } };
  return { email, patch: { ...patch, status: "cancelled" }, events: [{ type: "email.cancelled" }] };
}

// Few emails have consequences.
async function storeConsequences(tx: Tx, deps: Deps, delivery: Delivery): Promise<void> {
  const { move, reactions = [], invalidRecipient, retryAt, sharedJob } = delivery;
  const { workspaceId, id, toKey } = move.email;
  if (invalidRecipient)
    await suppress(tx, deps, workspaceId, { email: toKey, reason: "bounce", scope: "all", source: "bounce", emailId: id });
  for (const { type, afterMs } of reactions)
    await deps.queue.enqueue(tx, {
      kind: REACT_JOB,
      payload: { workspaceId, emailId: id, type },
      runAt: move.patch.updatedAt + afterMs,
    });
  if (sharedJob && retryAt !== undefined) await deps.queue.enqueue(tx, buildRetryJob({ workspaceId, emailId: id }, retryAt));
}

/** Splits steps so that no email occurs twice in a round: after a crash two jobs may have attempted the same one. */
function splitRepeats(steps: readonly Step[]): Step[][] {
  const rounds: { ids: Set<string>; steps: Step[] }[] = [];
  for (const step of steps) {
    const { id } = step.move.email;
    let round = rounds.find(({ ids }) => !ids.has(id));
    if (!round) {
      round = { ids: new Set(), steps: [] };
      rounds.push(round);
    }
    round.ids.add(id);
    round.steps.push(step);
  }
  return rounds.map((round) => round.steps);
}

function toBounceData({ message, smtpCode, enhancedCode }: DeliveryError, type: "PERMANENT" | "TRANSIENT"): Record<string, unknown> {
  return { type, smtpCode, enhancedCode, diagnostic: message };
}
