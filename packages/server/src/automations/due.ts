import { and, asc, eq, isNull, lte } from "drizzle-orm";
import type { Reader } from "../db/db.ts";
import { MINUTE } from "../lib/units.ts";
import type { NewJob } from "../queue/queue.ts";
import type { EntryRow } from "./entries.ts";
import type { AutomationRow } from "./store.ts";
import { INSIDE } from "./tables.ts";

/** Job kind: takes the next steps of all entries of an automation that are due. */
export const RUN_JOB = "automations.run";

// A wait of this length or more ends with a full second, so that entries that wait side by side go on together.
const ROUNDED_MS = MINUTE;

/** Returns the end of a wait that begins now, ms. */
export function endOfWait(now: number, waitMs: number): number {
  const end = now + waitMs;
  return waitMs < ROUNDED_MS ? end : end - (end % 1000);
}

/**
 * The job that takes the next steps of the entries that are due at an instant (ms). The entries are the queue: the job only says when
 * to look at them. Whatever makes an entry due enqueues one, in its own transaction, and one for many entries is enough.
 */
export function buildRunJob({ workspaceId, id }: Pick<AutomationRow, "workspaceId" | "id">, dueAt: number, now: number): NewJob {
  return { kind: RUN_JOB, payload: { workspaceId, automationId: id }, ...(dueAt > now && { runAt: dueAt }) };
}

/** Some entries of an automation that are due, in the order in which they became so; none unless it is ACTIVE. */
export function findDue(
  read: Reader,
  automationId: string,
  now: number,
  limit: number,
): Promise<Pick<EntryRow, "id" | "version" | "failures">[]> {
  const { automationEntries: e, automations: a } = read.t;
  const isActive = read
    .select({ id: a.id })
    .from(a)
    .where(and(eq(a.id, automationId), eq(a.status, "ACTIVE"), isNull(a.deletedAt)));
  return Promise.resolve(
    read
      .select({ id: e.id, version: e.version, failures: e.failures })
      .from(e)
      .where(and(INSIDE, eq(e.automationId, isActive), lte(e.dueAt, now)))
      .orderBy(asc(e.dueAt), asc(e.id))
      .limit(limit),
  );
}
