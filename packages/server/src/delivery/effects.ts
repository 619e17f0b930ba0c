import type { Tx } from "../db/db.ts";
import { assumeEmailHeld } from "../db/held.ts";
import { type EmailRow, findEmailRows, labelSent, type Move, moveEmails, patchEmail } from "../emails/emails.ts";
import { recordDeliveries } from "../mail/mailer.ts";
import { suppress } from "../suppressions/suppressions.ts";
import { findLiving } from "../workspaces/workspaces.ts";
import type { DeliveryDeps } from "./deps.ts";
import { type Held, storeHeld } from "./holds.ts";
import { type Left, leaveQueue, type Postponed, putBack } from "./in-queue.ts";
import { type EmailOutcome, suppressedOutcome } from "./outcome.ts";
import { REACT_JOB } from "./react.ts";
import { listSuppressed } from "./suppressed.ts";
import type { PendingMail } from "./transform.ts";

/** An email that is about to be handed over by a mailer that is not transactional: it is to be `sending` first. */
export interface Mark {
  readonly kind: "mark";
  readonly mail: PendingMail;
  /** The email as it was moved; null if it was not, because it changed or its address was suppressed meanwhile. */
  marked: EmailRow | null;
  /** True if it was not moved because it is `sending` already. */
  isSending?: boolean;
}

/** Change to store for an email in delivery. */
export type Effect = Mark | EmailOutcome | Held | Postponed | Left;

/**
 * Stores marks, outcomes and holds: many emails with a statement for all of them. An email that was changed since it was read, by a
 * cancellation, a new time or another process, keeps what it is; its mark stays null and its outcome is dropped.
 */
export async function storeEffects(tx: Tx, deps: DeliveryDeps, effects: readonly Effect[]): Promise<void> {
  const moving = effects.filter((one) => one.kind === "mark" || one.kind === "outcome");
  if (moving.length < effects.length) await storeWaiting(tx, deps, effects);
  const steps = await planSteps(tx, deps, moving);
  for (const round of splitRepeats(steps)) await storeRound(tx, deps, round);
}

/** Stores what becomes of emails that are not moved to another state. */
async function storeWaiting(tx: Tx, deps: DeliveryDeps, effects: readonly Effect[]): Promise<void> {
  await storeHeld(
    tx,
    deps,
    effects.filter((one) => one.kind === "held"),
  );
  const postponed = effects.filter((one) => one.kind === "postponed");
  await putBack(
    tx,
    postponed.map(({ email, runAt }) => ({ email, runAt, faults: 0 })),
  );
  await leaveQueue(
    tx,
    effects.filter((one) => one.kind === "left"),
  );
}

/** A change of one email. */
interface Step {
  readonly move: Move;
  readonly mark?: Mark;
  readonly outcome?: EmailOutcome;
}

async function planSteps(tx: Tx, deps: DeliveryDeps, effects: readonly (Mark | EmailOutcome)[]): Promise<Step[]> {
  const marks = effects.filter((one) => one.kind === "mark");
  const mails = marks.map(({ mail }) => mail);
  const suppressed = await listSuppressed(tx, mails);
  const living = await findLiving(tx, [...new Set(mails.map(({ email }) => email.workspaceId))]);
  const now = deps.clock.now();
  return effects.flatMap((one) => {
    if (one.kind === "outcome") return { move: one.move, outcome: one };
    one.marked = null;
    one.isSending = false;
    // Its workspace was deleted since it was read.
    if (!living.has(one.mail.email.workspaceId)) return [];
    return suppressed.has(one.mail) ? { move: suppressedOutcome(one.mail.email, now).move } : { move: toSending(one.mail, now), mark: one };
  });
}

async function storeRound(tx: Tx, deps: DeliveryDeps, round: readonly Step[]): Promise<void> {
  const moves = round.map(({ move }) => move);
  const stored: EmailOutcome[] = [];
  const moved = await moveEmails(tx, deps, moves, async (movedNow) => {
    stored.push(...round.flatMap(({ outcome }, i) => (movedNow[i] && outcome) || []));
    await storeRecords(tx, stored);
  });
  const missed: Mark[] = [];
  for (const [i, { move, mark }] of round.entries()) {
    if (mark && moved[i]) mark.marked = patchEmail(move.email, move.patch);
    else if (mark) missed.push(mark);
  }
  await findSending(tx, missed);
  await reportErased(
    tx,
    deps,
    round.flatMap(({ move }, i) => (moved[i] ? [] : move.email)),
  );
  await storeConsequences(tx, deps, stored);
}

/** Reports the emails that were not moved because they are gone: the person was erased since they were read. */
async function reportErased(tx: Tx, { deliveryHooks }: DeliveryDeps, emails: readonly EmailRow[]): Promise<void> {
  for (const [workspaceId, own] of Map.groupBy(emails, (email) => email.workspaceId)) {
    const rows = await findEmailRows(
      tx,
      workspaceId,
      own.map(({ id }) => id),
    );
    const left = new Set(rows.map(({ id }) => id));
    const gone = own.filter(({ id }) => !left.has(id));
    if (gone.length > 0) await deliveryHooks.erased(tx, gone);
  }
}

/**
 * Looks up which emails are `sending` although their marks moved nothing: an earlier commit of the same mark may have succeeded
 * although its answer was lost, or another process has taken the email over.
 */
async function findSending(tx: Tx, marks: readonly Mark[]): Promise<void> {
  for (const [workspaceId, own] of Map.groupBy(marks, ({ mail }) => mail.email.workspaceId)) {
    const rows = await findEmailRows(
      tx,
      workspaceId,
      own.map(({ mail }) => mail.email.id),
    );
    const sending = new Set(rows.filter(({ status }) => status === "sending").map(({ id }) => id));
    for (const mark of own) mark.isSending = sending.has(mark.mail.email.id);
  }
}

async function storeRecords(tx: Tx, outcomes: readonly EmailOutcome[]): Promise<void> {
  const records = outcomes.flatMap(({ record }) => record ?? []);
  await labelSent(
    tx,
    outcomes.map(({ move: { email, patch } }) => ({ ...email, newName: patch.sentAs })),
  );
  await recordDeliveries(tx, records);
}

/**
 * An email that is in doubt, because a process died between its hand-over and storing the outcome, is sent again under the same
 * Message-ID, by which receivers can recognise the copy: a password reset that comes twice is better than one that never comes.
 */
function toSending({ email, attempt, choice }: PendingMail, now: number): Move {
  const relay = choice?.relay ?? null;
  return { email, patch: { status: "sending", inDoubt: email.inDoubt, attempts: attempt, relay, updatedAt: now } };
}

/** Splits steps so that no email occurs twice in a round: after its lease has expired, two attempts may end together. */
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

/**
 * Stores what follows from outcomes beyond the emails themselves; few have consequences.
 *
 * | outcome                                | consequence                                                       |
 * | -------------------------------------- | ----------------------------------------------------------------- |
 * | the mailbox does not exist             | the address is suppressed                                         |
 * | a simulated recipient reacts           | a job for each reaction                                           |
 * | skipped                                | its campaign counts it                                            |
 * | put back                               | its campaign releases it again, at once if it was resumed         |
 */
async function storeConsequences(tx: Tx, deps: DeliveryDeps, outcomes: readonly EmailOutcome[]): Promise<void> {
  for (const outcome of outcomes) await storeConsequencesOf(tx, deps, outcome);
  const putBack = outcomes.flatMap(({ move, putBack: isBack }) => (isBack ? move.email : []));
  if (putBack.length > 0) await deps.deliveryHooks.putBack(tx, putBack);
  const skipped = outcomes.flatMap(({ move: { email, patch } }) => {
    const { campaignId, variant } = email;
    return campaignId !== null && patch.skipReason ? { campaignId, variant, reason: patch.skipReason } : [];
  });
  if (skipped.length > 0) await deps.deliveryHooks.skipped(tx, skipped);
}

async function storeConsequencesOf(tx: Tx, deps: DeliveryDeps, outcome: EmailOutcome): Promise<void> {
  const { move, reactions = [], invalidRecipient } = outcome;
  const { workspaceId, id, toKey } = move.email;
  if (invalidRecipient)
    await suppress(tx, deps, workspaceId, { email: toKey, reason: "bounce", scope: "all", source: "bounce", emailId: assumeEmailHeld(id) });
  for (const { type, afterMs } of reactions) {
    const payload = { workspaceId, emailId: id, type };
    await deps.queue.enqueue(tx, { kind: REACT_JOB, payload, runAt: move.patch.updatedAt + afterMs });
  }
}
