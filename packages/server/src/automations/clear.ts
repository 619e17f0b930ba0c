import { eq, inArray } from "drizzle-orm";
import { deleteCounters } from "../counters/counters.ts";
import type { JobHandler } from "../queue/queue.ts";
import type { AutomationDeps } from "./automations.ts";
import { deleteStepCounts } from "./step-counts.ts";

/** Job kind: deletes the entries of a deleted automation. */
export const CLEAR_ENTRIES_JOB = "automations.clear";

// Entries deleted in one transaction.
const CHUNK = 500;

/** Deletes the entries of a deleted automation in chunks, then its definitions and numbers. */
export function clearEntries(deps: AutomationDeps): JobHandler {
  return async ({ payload }) => {
    const automationId = String(payload.automationId);
    const { automationEntries: t } = deps.db.read.t;
    const rows = await deps.db.read.select({ id: t.id }).from(t).where(eq(t.automationId, automationId)).limit(CHUNK);
    const ids = rows.map(({ id }) => id);
    return {
      ...(ids.length === CHUNK && { again: deps.clock.now() }),
      commit: async (tx) => {
        const {
          automations: a,
          automationVersions: v,
          automationContacts: c,
          automationEntries: e,
          automationMoves: m,
          automationRevenue: r,
        } = tx.t;
        if (ids.length > 0) {
          await tx.delete(m).where(inArray(m.entryId, ids));
          await tx.delete(e).where(inArray(e.id, ids));
        }
        if (ids.length === CHUNK) return;
        await tx.delete(c).where(eq(c.automationId, automationId));
        await tx.delete(v).where(eq(v.automationId, automationId));
        await tx.delete(r).where(eq(r.automationId, automationId));
        await deleteCounters(tx, automationId);
        await deleteStepCounts(tx, automationId);
        await tx.delete(a).where(eq(a.id, automationId));
      },
    };
  };
}
