import type { DeliveryAttempt, WebhookDelivery } from "@mailsvc/sdk/contract";
import { and, desc, eq, inArray } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { iso } from "../lib/clock.ts";
import { count, type Findings, joinSentences, type Moment, quote } from "../lib/explanation.ts";
import { explainAttempt } from "./attempt.ts";
import { type EventRow, isHead } from "./streams.ts";
import type { OutboxName, WebhookTables } from "./tables.ts";

type AttemptRow = WebhookTables["webhookAttempts"]["$inferSelect"];

// Earlier attempts that are shown. A schedule has nine at most; those beyond were made by hand.
const MAX_SHOWN = 99;

/** Place of an event in its stream, and its next attempt. */
export interface Turn {
  /** Null when no attempt is planned: it is settled, or its stream is held. */
  readonly nextAttemptAt: string | null;
  /** The event of its stream that goes first; null when there is none. */
  readonly waitsFor: string | null;
}

/** Loads the next attempts of events, in the order of the rows. */
export async function listTurns(q: Reader | Tx, outbox: OutboxName, rows: readonly EventRow[]): Promise<Turn[]> {
  const { [outbox]: e, webhookStreams: s } = q.t;
  const streamIds = [...new Set(rows.filter(({ settledAt }) => settledAt === null).map(({ streamId }) => streamId))];
  const heads =
    streamIds.length === 0
      ? []
      : await q
          .select({ id: e.id, streamId: e.streamId, sequence: e.sequence, dueAt: e.dueAt, held: s.held })
          .from(s)
          .innerJoin(e, eq(e.streamId, s.streamId))
          .where(and(inArray(s.streamId, streamIds), isHead(e, s)));
  const byStream = new Map(heads.map((head) => [head.streamId, head]));
  return rows.map((row) => {
    const head = byStream.get(row.streamId);
    if (row.settledAt !== null || !head || row.sequence < head.sequence || (head.held && !row.passesHold)) return NO_TURN;
    const dueAt = Math.max(row.dueAt ?? 0, head.dueAt ?? 0);
    return { nextAttemptAt: iso(dueAt), waitsFor: head.id === row.id ? null : head.id };
  });
}

const NO_TURN: Turn = { nextAttemptAt: null, waitsFor: null };

/** The last attempt to deliver an event; null before the first one. */
export function showLastAttempt(row: EventRow): DeliveryAttempt | null {
  if (row.lastAttempt === null || row.lastAt === null || row.lastClass === null) return null;
  return showAttempt({
    attempt: row.lastAttempt,
    at: row.lastAt,
    ms: row.lastMs ?? 0,
    class: row.lastClass,
    httpStatus: row.lastStatus,
    message: row.lastError,
    answer: row.lastAnswer,
  });
}

/** The latest 100 attempts to deliver an event, oldest first. */
export async function listAttempts(q: Reader | Tx, row: EventRow): Promise<DeliveryAttempt[]> {
  const { webhookAttempts: a } = q.t;
  const earlier = await q.select().from(a).where(eq(a.eventId, row.id)).orderBy(desc(a.attempt), desc(a.id)).limit(MAX_SHOWN);
  const last = showLastAttempt(row);
  return [...earlier.reverse().map(showAttempt), ...(last ? [last] : [])];
}

function showAttempt({ attempt, at, ms, class: kind, httpStatus, message, answer }: Omit<AttemptRow, "id" | "eventId">): DeliveryAttempt {
  return { attempt, at: iso(at), ms, class: kind, httpStatus, message, hint: explainAttempt({ class: kind, answer }), answer };
}

/** An event on its way to a webhook, of any kind of webhook. */
type Sent = Pick<WebhookDelivery, "state" | "attempts" | "nextAttemptAt" | "waitsFor" | "lastAttempt">;

/** The attempts to deliver an event, in words. */
export function describeAttempts(log: readonly DeliveryAttempt[]): Moment[] {
  return log.map(({ attempt, at, ms, class: outcome, httpStatus, message, hint, answer }) => ({
    at: Date.parse(at),
    what:
      outcome === "ok"
        ? `Attempt ${attempt} arrived: ${httpStatus} after ${ms} ms`
        : `Attempt ${attempt} failed after ${ms} ms: ${message ?? outcome}`,
    why: outcome === "ok" ? null : joinSentences(hint, answer && `The answer: ${quote(answer)}.`),
  }));
}

/** Explains the state of an event and its next step; `idle` is the reason nothing is sent there now, if there is one. */
export function explainDelivery(sent: Sent, idle: string | null): Pick<Findings, "summary" | "next"> {
  const { state, attempts, nextAttemptAt, waitsFor, lastAttempt } = sent;
  const last = lastAttempt === null || lastAttempt.class === "ok" ? null : joinSentences(lastAttempt.message, lastAttempt.hint);
  switch (state) {
    case "delivered":
      return { summary: `It arrived in attempt ${lastAttempt?.attempt ?? attempts}.` };
    case "dead":
      return { summary: joinSentences(`It was given up after ${count(attempts, "attempt")}.`, last) };
    case "superseded":
      return { summary: "It was not sent any more, because a newer event of the activation says more." };
    case "cancelled":
      return { summary: "It was not sent any more, because its activation had ended." };
    case "pending":
    case "queued":
      return {
        summary: joinSentences(
          attempts === 0 ? "It has not been sent yet." : `It has not arrived in ${count(attempts, "attempt")}.`,
          last,
          idle ?? (waitsFor === null ? null : `It waits for the delivery before it: ${waitsFor}.`),
        ),
        next: {
          at: nextAttemptAt === null ? null : Date.parse(nextAttemptAt),
          what: nextAttemptAt === null ? "Nothing is sent for now." : `Attempt ${attempts + 1}.`,
        },
      };
  }
}
