import { and, inArray, isNotNull } from "drizzle-orm";
import type { AgentTx } from "../../deps.ts";

/**
 * Ends what activations had under way, `at` the moment they ended: runs and open approvals are cancelled, wakeups skipped,
 * events that wait are not sent any more, and no copy of the key is kept.
 */
export const endWork = async (tx: AgentTx, activationIds: readonly string[], at: number): Promise<void> => {
  const { runs, approvals, wakeups, agentEvents } = tx.t;
  const ids = [...activationIds];
  await tx
    .update(runs)
    .set({ status: "CANCELLED", finishedAt: at, deadlineAt: null, waitingFor: null, waitingOn: null })
    .where(and(inArray(runs.activationId, ids), inArray(runs.status, ["RUNNING", "WAITING"])));
  await tx
    .update(approvals)
    .set({ status: "CANCELLED" })
    .where(and(inArray(approvals.activationId, ids), inArray(approvals.status, ["PENDING"])));
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
};
