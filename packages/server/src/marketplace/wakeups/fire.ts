import { and, asc, eq, inArray, lt, ne } from "drizzle-orm";
import { findRows } from "../../db/find.ts";
import { iso } from "../../lib/clock.ts";
import type { JobHandler } from "../../queue/queue.ts";
import type { DeleteOld } from "../../retention/retention.ts";
import { getActivation, isOrphaned, lockActivation } from "../activations/activations.ts";
import type { AgentDeps, AgentTx } from "../agent-access.ts";
import { emit } from "../agent-webhooks/agent-webhooks.ts";
import { endWait } from "../runs/runs.ts";
import type { WakeupTables } from "./tables.ts";
import type { WakeupDeps } from "./wakeups.ts";

/** Fires a wakeup that is due. */
const FIRE_JOB = "agent.wakeup.fire";

type DueWakeup = Pick<WakeupTables["wakeups"]["$inferSelect"], "id" | "workspaceId">;

export function wakeupJobs(deps: WakeupDeps): Readonly<Record<string, JobHandler>> {
  return { [FIRE_JOB]: fireWakeup(deps) };
}

/** Schedules the job that fires a wakeup at an instant (ms). */
export async function scheduleFire(tx: AgentTx, deps: AgentDeps, { id, workspaceId }: DueWakeup, at: number): Promise<void> {
  await deps.queue.enqueue(tx, { kind: FIRE_JOB, payload: { workspaceId, wakeupId: id }, runAt: at, dedupeKey: `${FIRE_JOB}:${id}` });
}

/** Schedules all wakeups of a resumed activation again; those that fell due during the pause were held. */
export async function fireHeldWakeups(tx: AgentTx, deps: AgentDeps, activationId: string): Promise<void> {
  const { wakeups: w } = tx.t;
  const scheduled = await tx
    .select({ id: w.id, workspaceId: w.workspaceId, fireAt: w.fireAt })
    .from(w)
    .where(and(eq(w.activationId, activationId), eq(w.status, "SCHEDULED")))
    .orderBy(asc(w.fireAt));
  const now = deps.clock.now();
  for (const wakeup of scheduled) await scheduleFire(tx, deps, wakeup, Math.max(wakeup.fireAt, now));
}

/** Skips the scheduled wakeups of activations that have ended. */
export async function skipWakeups(tx: AgentTx, activationIds: readonly string[]): Promise<void> {
  const { wakeups: w } = tx.t;
  await tx
    .update(w)
    .set({ status: "SKIPPED", scheduled: null })
    .where(and(inArray(w.activationId, [...activationIds]), eq(w.status, "SCHEDULED")));
}

/** Fires a wakeup of an active activation. That of a paused one stays SCHEDULED until the activation resumes or ends. */
function fireWakeup(deps: WakeupDeps): JobHandler {
  return async ({ payload }) => {
    const { wakeupId } = payload as { wakeupId: string };
    const { wakeups } = deps.db.read.t;
    const [found] = await findRows(deps.db.read, wakeups, { id: wakeupId });
    if (found?.status !== "SCHEDULED") return {};
    // The clock was set back since the job was scheduled.
    if (deps.clock.now() < found.fireAt) return { again: found.fireAt };
    return {
      commit: async (tx) => {
        const { activationId, workspaceId, runId, fireAt, reason, payload: data } = found;
        // A concurrent pause or resume comes entirely before or after this.
        await lockActivation(tx, activationId);
        const activated = await getActivation(tx, workspaceId, activationId);
        if (activated.activation.status !== "active" || isOrphaned(activated, deps.clock.now())) return;
        const { wakeups: w } = tx.t;
        const fired = await tx
          .update(w)
          .set({ status: "FIRED", scheduled: null, firedAt: deps.clock.now() })
          .where(and(eq(w.id, wakeupId), eq(w.status, "SCHEDULED")))
          .returning({ id: w.id });
        if (fired.length === 0) return;
        await emit(tx, deps, activationId, {
          type: "agent.wakeup",
          at: fireAt,
          runId,
          fields: { wakeupId, reason, payload: data, scheduledFor: iso(fireAt) },
        });
        if (runId !== null) await endWait(tx, deps, { activationId, runId }, wakeupId);
      },
    };
  };
}

/** Deletes wakeups that ended long ago. */
export const deleteOldWakeups: DeleteOld = async (tx, keys, before) => {
  const { wakeups: w } = tx.t;
  await tx.delete(w).where(and(inArray(w.id, keys.map(String)), lt(w.fireAt, before), ne(w.status, "SCHEDULED")));
  return undefined;
};
