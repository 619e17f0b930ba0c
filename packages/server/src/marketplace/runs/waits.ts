import { and, desc, eq, gt, inArray, isNotNull } from "drizzle-orm";
import type { AgentDeps, AgentTx } from "../agent-access.ts";
import { scheduleSweep, WINDOW_MS } from "./clock.ts";
import { lookUpRun, type RunKey, type RunRow, runEndedError, stillActive } from "./store.ts";

/** Wait of a run: for an open approval until it expires, or for a wakeup until it fires. */
interface Wait {
  readonly waitingFor: "approval" | "wakeup";
  readonly waitingOn: string;
  readonly deadlineAt: number;
}

/** Makes an active run WAITING: it needs no heartbeat until the wait ends. Throws ApiError invalid_state for a run that has ended. */
export async function suspendRun(tx: AgentTx, deps: AgentDeps, row: RunRow, wait: Wait): Promise<void> {
  const { runs } = tx.t;
  const waiting = await tx
    .update(runs)
    .set({ status: "WAITING", ...wait })
    .where(and(eq(runs.id, row.id), stillActive(tx.t, deps.runClock.overdue())))
    .returning({ id: runs.id });
  if (waiting.length === 0) throw runEndedError(row);
}

/**
 * Ends a run's wait for an approval or wakeup that is over. If something else it asked for is still open, the run waits for
 * that; otherwise it is RUNNING with a whole window.
 */
export async function endWait(tx: AgentTx, deps: AgentDeps, name: RunKey, on: string): Promise<void> {
  const row = await lookUpRun(tx, name);
  if (row?.status !== "WAITING" || row.waitingOn !== on) return;
  const now = deps.clock.now();
  const { runs } = tx.t;
  const next = await findOpenWait(tx, name, now);
  const change = next ?? {
    status: "RUNNING" as const,
    waitingFor: null,
    waitingOn: null,
    lastHeartbeatAt: now,
    deadlineAt: now + WINDOW_MS,
  };
  await tx
    .update(runs)
    .set(change)
    .where(and(eq(runs.id, row.id), eq(runs.status, "WAITING")));
  if (next === null) await scheduleSweep(tx, deps, now + WINDOW_MS);
}

/**
 * Cancels the open questions and wakeups that suspend these runs, which have ended: no run is left to get the answer. The open
 * questions of a run that did not complete are cancelled too, also with `suspendRun: false`; a run that completes leaves those
 * open, so that the answer can start another run.
 */
export async function cancelWaits(tx: AgentTx, ended: readonly (RunKey & Pick<RunRow, "status">)[], now: number): Promise<void> {
  const { approvals: p, wakeups: w } = tx.t;
  const statuses = new Map(ended.map(({ activationId, runId, status }) => [`${activationId} ${runId}`, status]));
  const ids = [...new Set(ended.map(({ activationId }) => activationId))];
  const statusOfRun = (row: { activationId: string; runId: string | null }) => statuses.get(`${row.activationId} ${row.runId}`);
  const asked = await tx
    .select({ id: p.messageId, activationId: p.activationId, runId: p.runId, suspendRun: p.suspendRun })
    .from(p)
    .where(and(inArray(p.activationId, ids), eq(p.status, "PENDING"), isNotNull(p.runId), gt(p.expiresAt, now)));
  const questions = asked
    .filter((row) => {
      const status = statusOfRun(row);
      return status !== undefined && (row.suspendRun || status !== "COMPLETED");
    })
    .map(({ id }) => id);
  if (questions.length > 0) await tx.update(p).set({ status: "CANCELLED" }).where(inArray(p.messageId, questions));
  const scheduled = await tx
    .select({ id: w.id, activationId: w.activationId, runId: w.runId })
    .from(w)
    .where(and(inArray(w.activationId, ids), eq(w.status, "SCHEDULED"), eq(w.suspendRun, true)));
  const alarms = scheduled.filter((row) => statusOfRun(row) !== undefined).map(({ id }) => id);
  if (alarms.length > 0) await tx.update(w).set({ status: "CANCELLED", scheduled: null }).where(inArray(w.id, alarms));
}

/** The newest open approval or wakeup that suspends a run. `now` is in ms. */
export async function findOpenWait(tx: AgentTx, { activationId, runId }: RunKey, now: number): Promise<Wait | null> {
  const { approvals: p, wakeups: w } = tx.t;
  const [approval] = await tx
    .select({ waitingOn: p.messageId, deadlineAt: p.expiresAt })
    .from(p)
    .where(and(eq(p.activationId, activationId), eq(p.status, "PENDING"), eq(p.runId, runId), eq(p.suspendRun, true), gt(p.expiresAt, now)))
    .orderBy(desc(p.messageId))
    .limit(1);
  if (approval) return { waitingFor: "approval", ...approval };
  const [wakeup] = await tx
    .select({ waitingOn: w.id, deadlineAt: w.fireAt })
    .from(w)
    .where(and(eq(w.activationId, activationId), eq(w.status, "SCHEDULED"), eq(w.runId, runId), eq(w.suspendRun, true)))
    .orderBy(desc(w.id))
    .limit(1);
  return wakeup ? { waitingFor: "wakeup", ...wakeup } : null;
}
