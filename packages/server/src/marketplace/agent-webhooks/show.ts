import type { Delivery, DeliveryAttempt, DeliveryDetail } from "@mailsvc/sdk/contract";
import { desc, eq } from "drizzle-orm";
import type { Reader, Tx } from "../../db/db.ts";
import { iso } from "../../lib/clock.ts";
import type { Tables } from "../../schema.ts";
import { HINTS } from "../../webhooks/attempt.ts";
import type { EventRow } from "../../webhooks/streams.ts";

type AttemptRow = Tables["deliveryAttempts"]["$inferSelect"];

// Earlier attempts shown; a plan has nine, and everything beyond was asked for by hand.
const SHOWN = 99;

/** An event as its builder sees it. */
export function showDelivery(row: EventRow): Delivery {
  return {
    id: row.id,
    type: row.type,
    activationId: row.activationId,
    runId: row.runId,
    sequence: row.sequence,
    timestamp: iso(row.at),
    state: row.state,
    attempts: row.attempts,
    nextAttemptAt: row.settledAt === null ? instant(row.dueAt) : null,
    settledAt: instant(row.settledAt),
    lastAttempt: lastOf(row),
  };
}

/** The same with its bytes and every attempt. */
export async function showDetail(q: Reader | Tx, row: EventRow): Promise<DeliveryDetail> {
  const { deliveryAttempts: a } = q.t;
  const earlier = await q.select().from(a).where(eq(a.eventId, row.id)).orderBy(desc(a.attempt), desc(a.id)).limit(SHOWN);
  const last = lastOf(row);
  return { ...showDelivery(row), body: row.body, log: [...earlier.reverse().map(showAttempt), ...(last ? [last] : [])] };
}

function instant(ms: number | null): string | null {
  return ms === null ? null : iso(ms);
}

function showAttempt({ attempt, at, ms, class: kind, httpStatus, message, answer }: Omit<AttemptRow, "id" | "eventId">): DeliveryAttempt {
  return {
    attempt,
    at: iso(at),
    ms,
    class: kind,
    httpStatus,
    message,
    hint: HINTS[kind],
    answer,
  };
}

function lastOf(row: EventRow): DeliveryAttempt | null {
  return row.lastAt === null || row.lastClass === null
    ? null
    : showAttempt({
        attempt: row.attempts,
        at: row.lastAt,
        ms: row.lastMs ?? 0,
        class: row.lastClass,
        httpStatus: row.lastStatus,
        message: row.lastError,
        answer: row.lastAnswer,
      });
}
