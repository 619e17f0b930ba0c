import type { Page, Run, RunDetail, RunLogEntry, RunStatus } from "@mailsvc/sdk/contract";
import { and, desc, eq, gt, gte, lt, lte, or, type SQL, sql } from "drizzle-orm";
import type { Reader } from "../../db/db.ts";
import { findRows } from "../../db/find.ts";
import { countRows, listPage, type PageInput, paginateBySeq } from "../../db/pagination.ts";
import { ApiError } from "../../lib/api-error.ts";
import { iso } from "../../lib/clock.ts";
import type { AgentQuery, AgentTables, AgentTx } from "../agent-access.ts";
import type { RunTables } from "./tables.ts";

export type RunRow = RunTables["runs"]["$inferSelect"];

/** Names a run: its agent's id for it is unique within an activation. */
export interface RunKey {
  activationId: string;
  runId: string;
}

/** The run as stored; undefined when there is none. */
export async function lookUpRun(q: AgentQuery, { activationId, runId }: RunKey): Promise<RunRow | undefined> {
  const [row] = await findRows(q, q.t.runs, { activationId, runId });
  return row;
}

/** The run as it counts now: past its deadline it has FAILED, even when the sweep has not stored that yet. */
function effectiveRun(row: RunRow, overdue: number): RunRow {
  return row.status === "RUNNING" && row.deadlineAt !== null && row.deadlineAt <= overdue
    ? { ...row, status: "FAILED", failureReason: "heartbeat_timeout", finishedAt: row.deadlineAt, deadlineAt: null }
    : row;
}

/** The run as it counts now. Throws ApiError not_found. */
export async function getRunRow(q: AgentQuery, name: RunKey, overdue: number): Promise<RunRow> {
  const row = await lookUpRun(q, name);
  if (!row) throw new ApiError("not_found", `Run ${JSON.stringify(name.runId.slice(0, 100))} not found in this activation.`);
  return effectiveRun(row, overdue);
}

/** Adds to the credits that a run has consumed; a negative amount takes back. */
export async function addCredits(tx: AgentTx, { activationId, runId }: RunKey, amount: number): Promise<void> {
  const { runs } = tx.t;
  await tx
    .update(runs)
    .set({ creditsConsumed: sql`${runs.creditsConsumed} + ${amount}` })
    .where(and(eq(runs.activationId, activationId), eq(runs.runId, runId)));
}

export function isActive({ status }: Pick<RunRow, "status">): boolean {
  return status === "RUNNING" || status === "WAITING";
}

/**
 * Condition for runs that have not ended. Every update that changes a state has it, so of two concurrent ones the first wins.
 */
export function stillActive({ runs }: Pick<AgentTables, "runs">, overdue: number): SQL | undefined {
  return or(eq(runs.status, "WAITING"), and(eq(runs.status, "RUNNING"), gt(runs.deadlineAt, overdue)));
}

/** The 409 for a call that needs an active run. */
export function runEndedError({ runId, status, failureReason }: RunRow): ApiError {
  const why = failureReason === null ? "" : ` (${failureReason})`;
  return new ApiError("invalid_state", `The run ${runId} has ended: it is ${status}${why}.`, {
    details: [{ path: "runId", code: "run_not_active", message: "The run must be RUNNING or WAITING." }],
    hint: "Start a new run.",
  });
}

/** A run that is RUNNING or WAITING. Throws ApiError not_found or invalid_state. */
export async function getActiveRunRow(q: AgentQuery, name: RunKey, overdue: number): Promise<RunRow> {
  const row = await getRunRow(q, name, overdue);
  if (!isActive(row)) throw runEndedError(row);
  return row;
}

/** A run as the API answers it. */
export function showRun(stored: RunRow, overdue: number): Run {
  const row = effectiveRun(stored, overdue);
  return {
    runId: row.runId,
    activationId: row.activationId,
    status: row.status,
    title: row.title,
    trigger: row.trigger,
    parentRunId: row.parentRunId,
    startedAt: iso(row.startedAt),
    lastHeartbeatAt: iso(row.lastHeartbeatAt),
    deadlineAt: instant(row.deadlineAt),
    finishedAt: instant(row.finishedAt),
    waitingFor: row.waitingFor,
    progress: row.progress,
    summary: row.summary,
    output: row.output,
    error: row.error,
    failureReason: row.failureReason,
    metrics: row.metrics,
    metadata: row.metadata,
    creditsConsumed: row.creditsConsumed,
    cancelRequested: row.cancelRequested,
  };
}

export function showRunDetail(row: RunRow, overdue: number): RunDetail {
  return { ...showRun(row, overdue), checkpoint: row.checkpoint };
}

function showRunLog({ level, message, data, at, agentAt }: RunTables["runLogs"]["$inferSelect"]): RunLogEntry {
  return {
    level,
    message,
    data,
    at: iso(at),
    agentAt: instant(agentAt),
  };
}

function instant(ms: number | null): string | null {
  return ms === null ? null : iso(ms);
}

interface RunFilter extends PageInput {
  status?: RunStatus | undefined;
  since?: string | undefined;
}

/** The runs of an activation, newest first. */
export function listRuns(read: Reader<AgentTables>, activationId: string, overdue: number, input: RunFilter): Promise<Page<Run>> {
  const { runs } = read.t;
  const where = and(
    eq(runs.activationId, activationId),
    whereStatus(read.t, input.status, overdue),
    input.since === undefined ? undefined : gte(runs.startedAt, Date.parse(input.since)),
  );
  return listPage(read, input, { table: runs, where, toItem: (row) => showRun(row, overdue) });
}

/** The log entries of a run, newest first. Throws ApiError not_found. */
export async function listRunLogs(
  read: Reader<AgentTables>,
  name: RunKey,
  input: PageInput & { level?: RunLogEntry["level"] | undefined },
): Promise<Page<RunLogEntry>> {
  const run = await getRunRow(read, name, 0);
  const { runLogs } = read.t;
  const where = and(eq(runLogs.run, run.id), input.level === undefined ? undefined : eq(runLogs.level, input.level));
  return paginateBySeq(
    input,
    async ({ below, limit, offset }) => {
      const rows = await read
        .select()
        .from(runLogs)
        .where(and(where, lt(runLogs.id, below)))
        .orderBy(desc(runLogs.id))
        .limit(limit)
        .offset(offset);
      return rows.map((row) => ({ seq: row.id, row }));
    },
    () => countRows(read, runLogs, where),
    ({ row }) => showRunLog(row),
  );
}

/** Condition for runs in a state as it counts now. */
function whereStatus({ runs }: AgentTables, status: RunStatus | undefined, overdue: number): SQL | undefined {
  if (status === undefined) return undefined;
  if (status === "RUNNING") return and(eq(runs.status, "RUNNING"), gt(runs.deadlineAt, overdue));
  if (status === "FAILED") return or(eq(runs.status, "FAILED"), and(eq(runs.status, "RUNNING"), lte(runs.deadlineAt, overdue)));
  return eq(runs.status, status);
}
