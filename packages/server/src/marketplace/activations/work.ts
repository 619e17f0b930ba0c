import { and, eq, inArray, isNotNull, lte } from "drizzle-orm";
import type { AgentDeps, AgentTx } from "../../deps.ts";
import { failOverdueRuns } from "../runs/sweep.ts";

/**
 * Ends what activations had under way, `at` the moment they ended: runs and open approvals are cancelled, wakeups skipped,
 * events that wait are not sent any more, and no copy of the key is kept.
 */
export async function endWork(tx: AgentTx, deps: AgentDeps, activationIds: readonly string[], at: number): Promise<void> {
  const { runs, approvals, wakeups, agentEvents } = tx.t;
  const ids = [...activationIds];
  await failOverdue(tx, deps, ids);
  await tx
    .update(runs)
    .set({ status: "CANCELLED", finishedAt: at, deadlineAt: null, waitingFor: null, waitingOn: null })
    .where(and(inArray(runs.activationId, ids), inArray(runs.status, ["RUNNING", "WAITING"])));
  const open = and(inArray(approvals.activationId, ids), inArray(approvals.status, ["PENDING"]));
  // As with runs: what had expired before stays so. Nobody is told any more.
  await tx
    .update(approvals)
    .set({ status: "EXPIRED", decision: "expired", answeredAt: approvals.expiresAt })
    .where(and(open, lte(approvals.expiresAt, at)));
  await tx.update(approvals).set({ status: "CANCELLED" }).where(open);
  await tx
    .update(wakeups)
    .set({ status: "SKIPPED", scheduled: null })
    .where(and(inArray(wakeups.activationId, ids), inArray(wakeups.status, ["SCHEDULED"])));
  await tx
    .update(agentEvents)
    .set({ state: "cancelled", dueAt: null, settledAt: at })
    .where(and(inArray(agentEvents.activationId, ids), inArray(agentEvents.state, ["pending", "queued"])));
  await tx
    .update(agentEvents)
    .set({ sealed: null })
    .where(and(inArray(agentEvents.activationId, ids), isNotNull(agentEvents.sealed)));
}

/** Runs that had failed before they were cancelled stay so, whether or not that was noted yet. */
async function failOverdue(tx: AgentTx, deps: AgentDeps, activationIds: readonly string[]): Promise<void> {
  const { runs } = tx.t;
  const overdue = deps.runClock.overdue();
  const rows = await tx
    .select({ id: runs.id })
    .from(runs)
    .where(and(inArray(runs.activationId, [...activationIds]), eq(runs.status, "RUNNING"), lte(runs.deadlineAt, overdue)));
  const ids = rows.map(({ id }) => id);
  await failOverdueRuns(tx, deps, ids, overdue);
}
