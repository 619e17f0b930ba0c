import { type EventType, parseMailbox } from "@mailsvc/sdk/contract";
import type { Tx } from "../db/db.ts";
import type { Deps } from "../deps.ts";
import { recordEvents } from "../events/events.ts";
import { createByteBudget } from "../lib/byte-budget.ts";
import { yieldToEventLoop } from "../lib/turn.ts";
import type { DeliveryError, OutgoingMail, Receipt } from "../mail/mailer.ts";
import { listSimulatedReactions } from "../mail/simulator.ts";
import type { JobHandler, Outcome } from "../queue/queue.ts";
import { findSuppressed, suppress } from "../suppressions/suppressions.ts";
import { buildMessageId } from "./emails.ts";
import { REACT_JOB } from "./schedule.ts";
import { OPEN, transition } from "./states.ts";
import { type EmailRow, type FromStates, type FullEmail, findAttachments, findEmail } from "./store.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** The wait after each deferred attempt, ms: about two days in all, as mail servers do. */
export const RETRY_DELAYS = [MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 2 * HOUR, 4 * HOUR, 8 * HOUR, 16 * HOUR, 16 * HOUR] as const;

// Large messages in memory at the same time: composing one takes a few times its size.
const MEMORY_BYTES = 16 * 1024 * 1024;

/** Delivers an email. Large ones take turns, so that a batch of them neither fills the memory nor blocks the event loop. */
export function deliverEmail(deps: Deps): JobHandler {
  const attempt = attemptDelivery(deps);
  const budget = createByteBudget(MEMORY_BYTES);
  return async (job) => {
    if (job.payload.bytes === undefined) return attempt(job);
    const release = await budget.take(Number(job.payload.bytes));
    try {
      await yieldToEventLoop();
      const outcome = await attempt(job);
      const { commit } = outcome;
      if (commit === undefined) release();
      // The composed message stays in memory until it is stored.
      else outcome.commit = (tx) => commit(tx).finally(release);
      return outcome;
    } catch (error) {
      release();
      throw error;
    }
  };
}

/** Makes one attempt to deliver an email. Its outcome moves the state of the email: see the table in `states.ts`. */
function attemptDelivery(deps: Deps): JobHandler {
  return async ({ payload }): Promise<Outcome> => {
    const { db, clock, mailer } = deps;
    const full = await findEmail(db.read, String(payload.workspaceId), String(payload.emailId));
    if (!full || !OPEN.includes(full.email.status)) return {};
    let { email } = full;
    // The email was rescheduled; its new instant has a job of its own.
    if ((email.nextAttemptAt ?? 0) > clock.now()) return {};

    const recordOwnEvent: RecordEvent = (tx, type, data) =>
      recordEvents(tx, deps, [{ workspaceId: email.workspaceId, type, emailId: email.id, at: clock.now(), ...(data && { data }) }]);

    // Checked when it was accepted, and again now, because the address may have bounced since.
    if ((await findSuppressed(db.read, deps, email.workspaceId, [email.toKey], full.contents)).size > 0)
      return {
        commit: async (tx) => {
          if (await transition(tx, deps, email, OPEN, { status: "suppressed", nextAttemptAt: null, updatedAt: clock.now() }))
            await recordOwnEvent(tx, "email.suppressed");
        },
      };

    const attempt = email.attempts + 1;
    // If it is `sending`, a process died between the hand-over and storing its outcome, so the message may or may not have
    // arrived. It is marked as in doubt and sent again under the same Message-ID, by which receivers can recognise the copy:
    // a password reset that comes twice is better than one that never comes.
    const inDoubt = email.inDoubt || email.status === "sending";
    if (!mailer.transactional) {
      const claimed = await db.tx((tx) =>
        transition(tx, deps, email, OPEN, { status: "sending", inDoubt, attempts: attempt, updatedAt: clock.now() }),
      );
      if (!claimed) return {};
      email = { ...email, status: "sending", attempts: attempt };
    }
    const receipt = await mailer.send(await toOutgoingMail(full, deps, attempt));
    return toOutcome(receipt, { ...email, inDoubt }, attempt, deps, recordOwnEvent);
  };
}

type RecordEvent = (tx: Tx, type: EventType, data?: Record<string, unknown>) => Promise<void>;

/** Acts as a simulated recipient some time after delivery: opens, clicks or complains. */
export function reactToEmail(deps: Deps): JobHandler {
  return async ({ payload }) => ({
    commit: async (tx) => {
      const full = await findEmail(tx, String(payload.workspaceId), String(payload.emailId));
      if (!full) return;
      const { email } = full;
      const type = payload.type as EventType;
      const at = deps.clock.now();
      if (type === "email.complained") {
        if (!(await transition(tx, deps, email, ["sent", "delivered"], { status: "complained", updatedAt: at }))) return;
        await suppressRecipient(tx, deps, email, "complaint");
      }
      await recordEvents(tx, deps, [{ workspaceId: email.workspaceId, type, emailId: email.id, at, data: { simulated: true } }]);
      const about = { workspaceId: email.workspaceId, email: email.toKey };
      if (type === "email.opened") await deps.audience.emailEngaged(tx, deps, { ...about, openedAt: at });
      if (type === "email.clicked") await deps.audience.emailEngaged(tx, deps, { ...about, clickedAt: at });
    },
  });
}

async function toOutgoingMail({ email, contents }: FullEmail, deps: Deps, attempt: number): Promise<OutgoingMail> {
  const files = contents.attachments > 0 ? await findAttachments(deps.db.read, contents) : [];
  return {
    envelopeFrom: parseMailbox(contents.from).address,
    envelopeTo: email.to,
    messageId: buildMessageId(email.id, contents.from),
    from: contents.from,
    to: email.to,
    replyTo: contents.replyTo,
    subject: contents.subject,
    html: contents.html,
    text: contents.text,
    headers: contents.headers,
    attachments: files,
    // The date of the first attempt, because every attempt sends the same bytes.
    date: email.scheduledAt ?? email.createdAt,
    attempt,
    origin: { workspaceId: email.workspaceId, emailId: email.id },
  };
}

function toOutcome(receipt: Receipt, email: EmailRow, attempt: number, deps: Deps, recordOwnEvent: RecordEvent): Outcome {
  const { clock, mailer } = deps;
  const now = clock.now();
  // A transactional mailer claims nothing, so the email may have been cancelled meanwhile. It may also be `sending`, left so
  // by a process that delivered over SMTP and died before this one began to capture.
  const from: FromStates = mailer.transactional ? OPEN : ["sending"];
  const ended = { attempts: attempt, inDoubt: email.inDoubt, nextAttemptAt: null, updatedAt: now };

  if (receipt.outcome === "sent" || receipt.outcome === "delivered")
    return {
      commit: async (tx) => {
        if (!(await transition(tx, deps, email, from, { ...ended, status: receipt.outcome, lastError: null, sentAt: now }))) return;
        await recordOwnEvent(tx, "email.sent", { response: receipt.response, attempt });
        if (receipt.outcome === "delivered") {
          await receipt.record?.(tx);
          await recordOwnEvent(tx, "email.delivered");
        }
        await deps.audience.emailEngaged(tx, deps, {
          workspaceId: email.workspaceId,
          email: email.toKey,
          sentAt: now,
          ...(receipt.outcome === "delivered" && { deliveredAt: now }),
        });
        for (const { type, afterMs } of listSimulatedReactions(email.to))
          await deps.queue.enqueue(tx, {
            kind: REACT_JOB,
            payload: { workspaceId: email.workspaceId, emailId: email.id, type },
            runAt: now + afterMs,
          });
      },
    };

  const { error } = receipt;
  if (receipt.outcome === "bounced")
    return {
      commit: async (tx) => {
        if (!(await transition(tx, deps, email, from, { ...ended, status: "bounced", lastError: error }))) return;
        await recordOwnEvent(tx, "email.bounced", toBounceData(error, "PERMANENT"));
        if (receipt.invalidRecipient) await suppressRecipient(tx, deps, email, "bounce");
      },
    };

  const delay = RETRY_DELAYS[attempt - 1];
  const unsure = email.inDoubt || receipt.outcome === "unknown";
  if (delay === undefined)
    return {
      commit: async (tx) => {
        if (await transition(tx, deps, email, from, { ...ended, inDoubt: unsure, status: "failed", lastError: error }))
          await recordOwnEvent(tx, "email.failed", { ...toBounceData(error, "TRANSIENT"), attempts: attempt });
      },
    };
  const next = now + Math.round(delay * (0.8 + 0.4 * deps.random.fraction()));
  return {
    again: next,
    commit: async (tx) => {
      if (await transition(tx, deps, email, from, { ...ended, inDoubt: unsure, status: "deferred", lastError: error, nextAttemptAt: next }))
        await recordOwnEvent(tx, "email.deferred", { ...toBounceData(error, "TRANSIENT"), attempt, inDoubt: unsure });
    },
  };
}

/** Suppresses the recipient and sets the status of their contact. */
async function suppressRecipient(tx: Tx, deps: Deps, { workspaceId, toKey, id }: EmailRow, reason: "bounce" | "complaint"): Promise<void> {
  await suppress(tx, deps, workspaceId, { email: toKey, reason, scope: "all", source: reason, emailId: id });
}

function toBounceData({ message, smtpCode, enhancedCode }: DeliveryError, type: "PERMANENT" | "TRANSIENT"): Record<string, unknown> {
  return {
    type,
    smtpCode,
    enhancedCode,
    diagnostic: message,
  };
}
