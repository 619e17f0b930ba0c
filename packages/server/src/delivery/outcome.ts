import type { EmailRow, Move } from "../emails/emails.ts";
import { isTestMail } from "../lib/ids.ts";
import { readSentAs } from "../lib/message-id.ts";
import type { Random } from "../lib/random.ts";
import { DAY, HOUR, MINUTE } from "../lib/units.ts";
import { hidePlacesOf } from "../mail/hide-places.ts";
import type { DeliveryError, DeliveryRecord, Receipt } from "../mail/mailer.ts";
import { listSimulatedReactions, type Reaction } from "../mail/simulator.ts";
import type { Withdrawal } from "./transform.ts";

/** The wait after each deferred attempt, ms: about two days in all, as mail servers do. */
export const RETRY_DELAYS = [MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 2 * HOUR, 4 * HOUR, 8 * HOUR, 16 * HOUR, 16 * HOUR] as const;

/** The wait of an email that was not handed over because delivery is paused. It is no attempt, so that a long pause fails no email. */
const PAUSED_DELAY = 5 * MINUTE;

/** For how long relays may take an email over from each other without counting, ms: as long as it is tried in all. */
const TAKE_OVERS_MS = 2 * DAY;

/** Outcome of an email: its next state, and what is stored with it. Nothing is stored if the email could not be moved. */
export interface EmailOutcome {
  readonly kind: "outcome";
  readonly move: Move;
  readonly record?: DeliveryRecord | undefined;
  readonly reactions?: readonly Reaction[];
  /** The mailbox does not exist: the address is suppressed. */
  readonly invalidRecipient?: true | undefined;
  /** It waits until its campaign is resumed. */
  readonly putBack?: true;
  /** Time of the next attempt, ms. */
  readonly retryAt?: number;
}

/** An attempt to deliver an email. */
export interface Attempt {
  /** The email as the attempt left it: `sending`, unless the mailer is transactional. */
  readonly email: EmailRow;
  /** Its number, from 1. */
  readonly attempt: number;
  /** The relay that had it; null if it was captured. */
  readonly relay: string | null;
  /** Time of its receipt, ms. */
  readonly at: number;
  /** Spreads the retries. */
  readonly random: Pick<Random, "fraction">;
  /** True if another relay takes the email over: the next attempt is due at once. */
  readonly takenOver?: boolean;
}

/**
 * Decides what a receipt means for an email.
 *
 * | receipt             | attempts are left | email becomes | also                                         |
 * | ------------------- | ----------------- | ------------- | -------------------------------------------- |
 * | sent                |                   | sent          | reactions of simulated people                |
 * | delivered           |                   | delivered     | the same, and the record of the delivery     |
 * | bounced             |                   | bounced       | the address is suppressed if it is invalid   |
 * | deferred            | yes               | deferred      | a retry                                      |
 * | deferred: paused    |                   | deferred      | a retry; it counts as no attempt             |
 * | deferred: another relay takes over |    | deferred      | a retry at once; it counts as no attempt     |
 * | unknown             | yes               | deferred      | a retry; the email is in doubt               |
 * | deferred, unknown   | no                | failed        | in doubt if unknown                          |
 *
 * An email whose relays were out of service in turn for two days is tried no longer than another one: then each attempt counts.
 *
 * Test mail suppresses no address.
 */
export function outcomeOfReceipt(told: Receipt, attempt: Attempt): EmailOutcome {
  const receipt = hidePlacesOf(told);
  switch (receipt.outcome) {
    case "sent":
    case "delivered":
      return acceptedOutcome(receipt, attempt);
    case "bounced":
      return {
        ...refusedOutcome("bounced", receipt.error, attempt),
        invalidRecipient: isTestMail(attempt.email.id) ? undefined : receipt.invalidRecipient,
      };
    case "deferred":
    case "unknown":
      return deferredOutcome(receipt, attempt);
  }
}

/** The end of an email that goes to nobody, because its address is suppressed. */
export function suppressedOutcome(email: EmailRow, now: number): EmailOutcome {
  const patch = { status: "suppressed" as const, inDoubt: email.inDoubt, nextAttemptAt: null, updatedAt: now };
  return { kind: "outcome", move: { email, patch, events: [{ type: "email.suppressed" }] } };
}

/** The end of an email that cannot be made. */
export function failedOutcome(email: EmailRow, message: string, now: number): EmailOutcome {
  const lastError: DeliveryError = { message, smtpCode: null, enhancedCode: null };
  const patch = { status: "failed" as const, inDoubt: email.inDoubt, nextAttemptAt: null, lastError, updatedAt: now };
  const data = { ...toBounceData(lastError, "PERMANENT"), attempts: email.attempts };
  return { kind: "outcome", move: { email, patch, events: [{ type: "email.failed", data }] } };
}

// It names no error: that is in the log, and may be about other people.
const FAULT = "The server could not deliver it for a reason of its own, in 25 attempts. Its log has the errors.";

/** The end of an email whose attempts have failed by faults of ours, as often as they may. */
export function faultyOutcome(email: EmailRow, now: number): EmailOutcome {
  // It may have left before the fault.
  return failedOutcome({ ...email, inDoubt: email.inDoubt || email.status === "sending" }, FAULT, now);
}

/** An email of a campaign or an automation that is not handed over, by what keeps it back. */
export function withdrawnOutcome(email: EmailRow, withdrawal: Withdrawal, now: number): EmailOutcome {
  // A crash left it between hand-over and record: it may have arrived.
  const unsure = email.status === "sending";
  const patch = { inDoubt: email.inDoubt || unsure, nextAttemptAt: null, updatedAt: now };
  switch (withdrawal.to) {
    case "hold":
      return { kind: "outcome", move: { email, patch: { ...patch, status: unsure ? "deferred" : email.status } }, putBack: true };
    case "skipped":
      return { kind: "outcome", move: { email, patch: { ...patch, status: "skipped", skipReason: withdrawal.reason } } };
    case "cancelled":
      return { kind: "outcome", move: { email, patch: { ...patch, status: "cancelled" }, events: [{ type: "email.cancelled" }] } };
  }
}

function acceptedOutcome(
  receipt: Extract<Receipt, { outcome: "sent" | "delivered" }>,
  { email, attempt: attempts, relay, at }: Attempt,
): EmailOutcome {
  const { to, inDoubt } = email;
  const sent = { type: "email.sent" as const, data: { response: receipt.response, attempt: attempts, ...nameRelay(relay) } };
  const patch = { attempts, inDoubt, nextAttemptAt: null, updatedAt: at, status: receipt.outcome, lastError: null, sentAt: at };
  const sentAs = readSentAs(receipt.response);
  const reactions = listSimulatedReactions(to, relay === null);
  if (receipt.outcome === "sent")
    return { kind: "outcome", move: { email, patch: { ...patch, ...(sentAs && { sentAs }) }, events: [sent] }, reactions };
  return {
    kind: "outcome",
    move: { email, patch, events: [sent, { type: "email.delivered" }] },
    record: receipt.record,
    reactions,
  };
}

function refusedOutcome(status: "bounced" | "failed", error: DeliveryError, attempt: Attempt): EmailOutcome {
  const { email, attempt: attempts, relay, at } = attempt;
  const patch = { attempts, inDoubt: email.inDoubt, nextAttemptAt: null, updatedAt: at, status, lastError: error };
  const event =
    status === "bounced"
      ? { type: "email.bounced" as const, data: { ...toBounceData(error, "PERMANENT"), ...nameRelay(relay) } }
      : { type: "email.failed" as const, data: { ...toBounceData(error, "TRANSIENT"), attempts, ...nameRelay(relay) } };
  return { kind: "outcome", move: { email, patch, events: [event] } };
}

function deferredOutcome(
  { outcome, error, paused }: Extract<Receipt, { outcome: "deferred" | "unknown" }>,
  attempt: Attempt,
): EmailOutcome {
  const { email, attempt: attempts, relay, at, random, takenOver = false } = attempt;
  const inDoubt = email.inDoubt || outcome === "unknown";
  const uncounted = paused || (takenOver && at < (email.scheduledAt ?? email.createdAt) + TAKE_OVERS_MS);
  const delay = paused ? PAUSED_DELAY : takenOver && uncounted ? 0 : RETRY_DELAYS[attempts - 1];
  if (delay === undefined) {
    const failed = refusedOutcome("failed", error, attempt);
    return { ...failed, move: { ...failed.move, patch: { ...failed.move.patch, inDoubt } } };
  }
  const retryAt = takenOver ? at : at + Math.round(delay * (0.8 + 0.4 * random.fraction()));
  const counted = uncounted ? attempts - 1 : attempts;
  const patch = { attempts: counted, inDoubt, updatedAt: at, status: "deferred" as const, lastError: error, nextAttemptAt: retryAt };
  const data = { ...toBounceData(error, "TRANSIENT"), attempt: attempts, inDoubt, ...nameRelay(relay) };
  return { kind: "outcome", retryAt, move: { email, patch, events: [{ type: "email.deferred", data }] } };
}

function toBounceData({ message, smtpCode, enhancedCode }: DeliveryError, type: "PERMANENT" | "TRANSIENT"): Record<string, unknown> {
  return { type, smtpCode, enhancedCode, diagnostic: message };
}

/** The relay in the data of an event; captured mail had none. */
function nameRelay(relay: string | null): { relay?: string } {
  return relay === null ? {} : { relay };
}
