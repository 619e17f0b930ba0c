import { hash } from "node:crypto";
import { type Heartbeat, RUN_LIMITS, type Run, type StartedRun } from "@mailsvc/sdk/contract";
import { and, count, eq } from "drizzle-orm";
import type { Db } from "../../db/db.ts";
import { ApiError } from "../../lib/api-error.ts";
import { iso } from "../../lib/clock.ts";
import { isSameJson, toCanonicalJson } from "../../lib/json.ts";
import type { Queue } from "../../queue/queue.ts";
import { lockActivation } from "../activations/activations.ts";
import type { AgentDeps, AgentTx } from "../agent-access.ts";
import { scheduleSweep, WINDOW_MS } from "./clock.ts";
import { getActiveRunRow, getRunRow, isActive, lookUpRun, type RunKey, type RunRow, runEndedError, showRun, stillActive } from "./store.ts";
import { cancelWaits, findOpenWait } from "./waits.ts";

export { addCredits, getActiveRunRow, getRunRow, type RunRow } from "./store.ts";
export { endWait, suspendRun } from "./waits.ts";

/*
 * The states of a run. COMPLETED, FAILED and CANCELLED are final. Every change is one conditional update (`stillActive`), so
 * of two concurrent ones the first wins.
 *
 *   from               trigger                                                to
 *   (new)              startRun                                               RUNNING
 *   RUNNING            logRun: the heartbeat                                  RUNNING, with a whole window
 *   RUNNING, WAITING   suspendRun: a question or wakeup with suspendRun       WAITING, without a window
 *   WAITING            logRun                                                 RUNNING; the question stays open
 *   RUNNING, WAITING   logRun with waiting                                    WAITING for what is open; else RUNNING
 *   WAITING            endWait: answered, expired, cancelled, fired           RUNNING, or WAITING for what else is open
 *   RUNNING            cancelRunForBrand                                      RUNNING, cancelRequested
 *   WAITING            cancelRunForBrand                                      CANCELLED
 *   RUNNING, WAITING   cancelRunForBrand with force                           CANCELLED
 *   RUNNING, WAITING   endRun                                                 COMPLETED, FAILED (reported) or CANCELLED
 *   RUNNING            the end of its window (failOverdueRuns)                FAILED (heartbeat_timeout)
 *   RUNNING, WAITING   the end of its activation                              CANCELLED
 *
 * A run that ends cancels the questions and wakeups that suspend it, and a run that does not complete also its other open
 * questions (`cancelWaits`).
 */

interface RunRequest {
  runId?: string | undefined;
  title?: string | undefined;
  trigger?: NonNullable<Run["trigger"]> | undefined;
  parentRunId?: string | undefined;
  metadata?: Record<string, unknown> | undefined;
}

/** The agent that acts, and its brand's workspace. */
export interface Actor {
  readonly activationId: string;
  readonly workspaceId: string;
}

/**
 * Starts a run. A repeat of the request returns the run it started, with `created` false. Throws ApiError not_found for an
 * unknown parent, id_reused for a runId of another request, and limit_reached with too many active runs.
 */
export async function startRun(
  tx: AgentTx,
  deps: AgentDeps,
  actor: Actor,
  request: RunRequest,
): Promise<{ run: StartedRun; created: boolean }> {
  const { activationId, workspaceId } = actor;
  const overdue = deps.runClock.overdue();
  await lockActivation(tx, activationId);
  const requestHash = hashRequest(request);
  const id = deps.ids("run");
  const runId = request.runId ?? id;
  const known = await lookUpRun(tx, { activationId, runId });
  if (known) {
    if (known.requestHash === requestHash) return { run: showStarted(known, overdue), created: false };
    throw new ApiError("id_reused", `The run ${runId} was started with a different request.`, {
      details: [{ path: "runId", code: "run_id_conflict", message: "Use another runId, or omit it." }],
    });
  }
  if (request.parentRunId !== undefined) await getRunRow(tx, { activationId, runId: request.parentRunId }, overdue);
  await assertBelowRunLimit(tx, activationId, overdue);
  const now = deps.clock.now();
  const row: RunRow = {
    id,
    activationId,
    workspaceId,
    runId,
    requestHash,
    status: "RUNNING",
    title: request.title ?? null,
    trigger: request.trigger ?? null,
    parentRunId: request.parentRunId ?? null,
    metadata: request.metadata ?? null,
    startedAt: now,
    lastHeartbeatAt: now,
    deadlineAt: now + WINDOW_MS,
    waitingFor: null,
    waitingOn: null,
    finishedAt: null,
    progress: null,
    checkpoint: null,
    summary: null,
    output: null,
    error: null,
    metrics: null,
    failureReason: null,
    creditsConsumed: 0,
    cancelRequested: false,
    logSequence: 0,
  };
  await tx.insert(tx.t.runs).values(row);
  await scheduleSweep(tx, deps, now + WINDOW_MS);
  return { run: showStarted(row, overdue), created: true };
}

function showStarted(row: RunRow, overdue: number): StartedRun {
  return { ...showRun(row, overdue), logSequence: row.logSequence };
}

interface RunLog {
  runId: string;
  entries: readonly { level: "debug" | "info" | "warn" | "error"; message: string; data?: unknown; at?: string | undefined }[];
  progress?: NonNullable<Run["progress"]> | undefined;
  checkpoint?: unknown;
  seq?: number | undefined;
  waiting: boolean;
}

/**
 * Stores log entries, progress and a checkpoint. Every call is a heartbeat and makes a WAITING run RUNNING; with `waiting`, the run is
 * WAITING for what it asked for that is still open. A call whose `seq` is not higher than the last one is a repeat: it counts as
 * heartbeat only. Throws ApiError not_found, or invalid_state for a run that has ended.
 */
export async function logRun(tx: AgentTx, deps: AgentDeps, activationId: string, log: RunLog): Promise<Heartbeat> {
  const now = deps.clock.now();
  const overdue = deps.runClock.overdue();
  // An answer that comes at the same time must not find the run RUNNING, and leave it WAITING for what is answered.
  if (log.waiting) await lockActivation(tx, activationId);
  const row = await getActiveRunRow(tx, { activationId, runId: log.runId }, overdue);
  const isNew = log.seq === undefined || log.seq > row.logSequence;
  const wait = log.waiting ? await findOpenWait(tx, row, now) : null;
  const deadlineAt = wait?.deadlineAt ?? now + WINDOW_MS;
  const status = wait === null ? "RUNNING" : "WAITING";
  const { runs, runLogs } = tx.t;
  const alive = await tx
    .update(runs)
    .set({
      status,
      lastHeartbeatAt: now,
      deadlineAt,
      waitingFor: wait?.waitingFor ?? null,
      waitingOn: wait?.waitingOn ?? null,
      ...(isNew && log.progress !== undefined && { progress: log.progress }),
      ...(isNew && log.checkpoint !== undefined && { checkpoint: log.checkpoint }),
      ...(isNew && log.seq !== undefined && { logSequence: log.seq }),
    })
    .where(and(eq(runs.id, row.id), stillActive(tx.t, overdue)))
    .returning({ id: runs.id });
  if (alive.length === 0) throw runEndedError(row);
  if (row.status === "WAITING" && wait === null) await scheduleSweep(tx, deps, deadlineAt);
  const entries = isNew ? log.entries : [];
  await tx.insertAll(
    runLogs,
    entries.map(({ level, message, data, at }) => ({
      run: row.id,
      level,
      message,
      data: data ?? null,
      at: now,
      agentAt: at === undefined ? null : Date.parse(at),
    })),
  );
  return {
    runId: row.runId,
    status,
    lastHeartbeatAt: iso(now),
    deadlineAt: iso(deadlineAt),
    heartbeatIntervalSeconds: RUN_LIMITS.heartbeatSeconds,
    accepted: entries.length,
    cancelRequested: row.cancelRequested,
  };
}

type RunResult = Partial<Pick<RunRow, "summary" | "output" | "error" | "metrics" | "cancelRequested">>;

/** Report of an agent at the end of a run. */
interface RunEnd {
  summary?: string | undefined;
  output?: unknown;
  error?: NonNullable<Run["error"]> | undefined;
  metrics?: Record<string, number> | undefined;
}

/**
 * Ends a run. A repeat with the same result returns the ended run. Throws ApiError not_found, or invalid_state for a run that
 * ended in another state or with another result.
 */
export async function endRun(
  tx: AgentTx,
  deps: AgentDeps,
  name: RunKey,
  status: "COMPLETED" | "FAILED" | "CANCELLED",
  { summary, output, error, metrics }: RunEnd = {},
): Promise<Run> {
  const row = await getRunRow(tx, name, deps.runClock.overdue());
  if (row.status === status) assertSameResult(row, { summary, output, error, metrics });
  return finish(tx, deps, row, status, {
    summary: summary ?? null,
    output: output ?? null,
    error: error ?? null,
    metrics: metrics ?? null,
  });
}

/**
 * Cancels a run for the brand. A RUNNING one is asked to stop, unless `force`; a WAITING one ends at once. Throws ApiError
 * not_found, or invalid_state for a run that ended in another state.
 */
export async function cancelRunForBrand(tx: AgentTx, deps: AgentDeps, name: RunKey, force: boolean): Promise<Run> {
  const overdue = deps.runClock.overdue();
  const row = await getRunRow(tx, name, overdue);
  if (force || row.status !== "RUNNING") return finish(tx, deps, row, "CANCELLED", { cancelRequested: true });
  const { runs } = tx.t;
  const [asked] = await tx
    .update(runs)
    .set({ cancelRequested: true })
    .where(and(eq(runs.id, row.id), stillActive(tx.t, overdue)))
    .returning();
  if (!asked) throw runEndedError(row);
  return showRun(asked, overdue);
}

function hashRequest({ title, trigger, parentRunId, metadata }: RunRequest): string {
  return hash("sha256", toCanonicalJson([title ?? null, trigger ?? null, parentRunId ?? null, metadata ?? null]), "hex");
}

/**
 * Throws ApiError invalid_state when a repeated end reports something else than the run's stored result, which would be lost.
 * Fields that the repeat leaves out are not compared.
 */
function assertSameResult(row: RunRow, repeat: RunEnd): void {
  const differing = (["summary", "output", "error", "metrics"] as const).filter(
    (field) => repeat[field] !== undefined && !isSameJson(repeat[field], row[field]),
  );
  if (differing.length === 0) return;
  throw new ApiError("invalid_state", `The run ${row.runId} is ${row.status} already, with another ${differing.join(", ")}.`, {
    details: differing.map((path) => ({ path, code: "different_result", message: "The first result counts." })),
    hint: "Read the run to see its result.",
  });
}

/** Throws ApiError limit_reached when the activation has as many active runs as it may have. */
async function assertBelowRunLimit(tx: AgentTx, activationId: string, overdue: number): Promise<void> {
  const { runs } = tx.t;
  const [found] = await tx
    .select({ n: count() })
    .from(runs)
    .where(and(eq(runs.activationId, activationId), stillActive(tx.t, overdue)));
  if ((found?.n ?? 0) < RUN_LIMITS.active) return;
  throw new ApiError("limit_reached", `This activation has ${RUN_LIMITS.active} runs that are RUNNING or WAITING, which is the limit.`, {
    details: [{ path: "", code: "too_many_active_runs", message: `At most ${RUN_LIMITS.active} runs can be active.` }],
    hint: "Complete or cancel one of them first.",
  });
}

async function finish(
  tx: AgentTx,
  deps: AgentDeps,
  row: RunRow,
  status: "COMPLETED" | "FAILED" | "CANCELLED",
  also: RunResult,
): Promise<Run> {
  const overdue = deps.runClock.overdue();
  // After a heartbeat timeout the agent has reported nothing yet: answering its report with 200 would lose it.
  if (row.status === status && row.failureReason !== "heartbeat_timeout") return showRun(row, overdue);
  if (!isActive(row)) throw runEndedError(row);
  await lockActivation(tx, row.activationId);
  const { runs } = tx.t;
  const [ended] = await tx
    .update(runs)
    .set({
      ...also,
      status,
      failureReason: status === "FAILED" ? "reported" : null,
      finishedAt: deps.clock.now(),
      deadlineAt: null,
      waitingFor: null,
      waitingOn: null,
    })
    .where(and(eq(runs.id, row.id), stillActive(tx.t, overdue)))
    .returning();
  if (!ended) throw runEndedError(row);
  await cancelWaits(tx, [ended], deps.clock.now());
  return showRun(ended, overdue);
}

export interface RunDeps extends AgentDeps {
  readonly db: Db;
  readonly queue: Queue;
}
