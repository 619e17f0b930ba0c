import type { DeliveryAttempt } from "@mailsvc/sdk/contract";
import { desc, eq } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { iso } from "../lib/clock.ts";
import type { Tables } from "../schema.ts";
import { HINTS } from "./attempt.ts";
import type { EventRow } from "./streams.ts";

type AttemptRow = Tables["webhookAttempts"]["$inferSelect"];

// Earlier attempts that are shown. A schedule has nine at most; those beyond were made by hand.
const MAX_SHOWN = 99;

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
  return { attempt, at: iso(at), ms, class: kind, httpStatus, message, hint: HINTS[kind], answer };
}
