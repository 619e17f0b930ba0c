import { and, asc, eq, inArray, lt, lte, notExists } from "drizzle-orm";
import { iso } from "../../lib/clock.ts";
import type { JobHandler } from "../../queue/queue.ts";
import type { DeleteOld } from "../../retention/retention.ts";
import { lockActivations } from "../activations/activations.ts";
import type { AgentDeps, AgentQuery, AgentTables, AgentTx } from "../agent-access.ts";
import { emitEach } from "../agent-webhooks/agent-webhooks.ts";
import { SWEEP_JOB, scheduleSweep } from "./clock.ts";
import type { RunDeps } from "./runs.ts";
import { cancelWaits } from "./waits.ts";

// Runs failed in one transaction: about 20 ms of work on SQLite, during which other writers wait.
const CHUNK = 100;
// Delay before the next check while deadlines are being moved after lost time.
const RECHECK_MS = 1000;

export function runJobs(deps: RunDeps): Readonly<Record<string, JobHandler>> {
  return { [SWEEP_JOB]: sweepRuns(deps) };
}

/** Ids of runs past their deadline, earliest first. */
async function listOverdueRuns(q: AgentQuery, overdue: number, limit: number = CHUNK): Promise<string[]> {
  const { runs } = q.t;
  const rows = await q.select({ id: runs.id }).from(runs).where(isOverdue(q.t, overdue)).orderBy(asc(runs.deadlineAt)).limit(limit);
  return rows.map(({ id }) => id);
}

/**
 * Fails those of these runs whose deadline has passed, and emits run_force_failed once for each. The event's time is the
 * deadline, however late the sweep runs.
 */
async function failOverdueRuns(tx: AgentTx, deps: AgentDeps, ids: readonly string[], overdue: number): Promise<void> {
  if (ids.length === 0) return;
  const { runs } = tx.t;
  const owners = await tx
    .selectDistinct({ id: runs.activationId })
    .from(runs)
    .where(inArray(runs.id, [...ids]));
  await lockActivations(
    tx,
    owners.map(({ id }) => id),
  );
  const failed = await tx
    .update(runs)
    .set({ status: "FAILED", failureReason: "heartbeat_timeout", finishedAt: runs.deadlineAt, deadlineAt: null })
    .where(and(inArray(runs.id, [...ids]), isOverdue(tx.t, overdue)))
    .returning({
      id: runs.id,
      activationId: runs.activationId,
      runId: runs.runId,
      status: runs.status,
      at: runs.finishedAt,
      lastHeartbeatAt: runs.lastHeartbeatAt,
    });
  const inOrder = failed.sort((a, b) => (a.at ?? 0) - (b.at ?? 0) || (a.id < b.id ? -1 : 1));
  await cancelWaits(tx, inOrder, deps.clock.now());
  await emitEach(
    tx,
    deps,
    inOrder.map(({ activationId, runId, at, lastHeartbeatAt }) => ({
      activationId,
      event: {
        type: "run_force_failed",
        at: at ?? deps.clock.now(),
        runId,
        fields: { lastHeartbeatAt: iso(lastHeartbeatAt) },
      },
    })),
  );
}

/** Cancels the runs of activations that end `at` this instant (ms). Runs past their deadline have failed and stay so. */
export async function cancelRuns(tx: AgentTx, deps: AgentDeps, activationIds: readonly string[], at: number): Promise<void> {
  const { runs } = tx.t;
  const ofActivations = inArray(runs.activationId, [...activationIds]);
  const overdue = deps.runClock.overdue();
  const failed = await tx
    .select({ id: runs.id })
    .from(runs)
    .where(and(ofActivations, isOverdue(tx.t, overdue)));
  await failOverdueRuns(
    tx,
    deps,
    failed.map(({ id }) => id),
    overdue,
  );
  await tx
    .update(runs)
    .set({ status: "CANCELLED", finishedAt: at, deadlineAt: null, waitingFor: null, waitingOn: null })
    .where(and(ofActivations, inArray(runs.status, ["RUNNING", "WAITING"])));
}

/** Schedules a sweep for the next deadline, if there is one. */
export async function scheduleNextSweep(tx: AgentTx, deps: AgentDeps): Promise<void> {
  const { runs } = tx.t;
  const [next] = await tx
    .select({ at: runs.deadlineAt })
    .from(runs)
    .where(eq(runs.status, "RUNNING"))
    .orderBy(asc(runs.status), asc(runs.deadlineAt))
    .limit(1);
  if (!next) return;
  const now = deps.clock.now();
  const overdue = deps.runClock.overdue();
  const at = next.at ?? now;
  await scheduleSweep(tx, deps, at > now ? at : at <= overdue ? now : now + RECHECK_MS);
}

/** Fails one chunk of overdue runs, in one transaction with the job for the next. */
function sweepRuns(deps: RunDeps): JobHandler {
  return async () => {
    const overdue = deps.runClock.overdue();
    const ids = await listOverdueRuns(deps.db.read, overdue);
    return {
      commit: async (tx) => {
        await failOverdueRuns(tx, deps, ids, overdue);
        await scheduleNextSweep(tx, deps);
      },
    };
  };
}

function isOverdue({ runs }: Pick<AgentTables, "runs">, overdue: number) {
  return and(eq(runs.status, "RUNNING"), lte(runs.deadlineAt, overdue));
}

/** Deletes old logs of runs that have ended. */
export const deleteOldLogs: DeleteOld = async (tx, keys, before) => {
  const { runLogs: l, runs: r } = tx.t;
  const active = tx
    .select({ id: r.id })
    .from(r)
    .where(and(eq(r.id, l.run), inArray(r.status, ["RUNNING", "WAITING"])));
  await tx.delete(l).where(and(inArray(l.id, keys.map(Number)), lt(l.at, before), notExists(active)));
  return undefined;
};

/** Deletes runs that ended long ago. Their logs are gone already, since those are never kept longer. */
export const deleteOldRuns: DeleteOld = async (tx, keys, before) => {
  const { runs: r } = tx.t;
  await tx.delete(r).where(and(inArray(r.id, keys.map(String)), lt(r.finishedAt, before)));
  return undefined;
};
