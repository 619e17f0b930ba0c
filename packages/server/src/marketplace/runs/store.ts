import { and, eq, gt, or, type SQL, sql } from "drizzle-orm";
import type { Reader } from "../../db/db.ts";
import type { AgentTx } from "../../deps.ts";
import { ApiError } from "../../lib/api-error.ts";
import type { AgentTables } from "../../schema.ts";

/** Reads of committed rows, or those of a transaction. */
export type Query = Reader<AgentTables> | AgentTx;

export type RunRow = AgentTables["runs"]["$inferSelect"];

const ph = sql.placeholder;

/** Whose run it is, and how its agent calls it. */
export interface RunKey {
  activationId: string;
  runId: string;
}

/** A run by its agent's name for it; undefined when there is none. */
export async function lookUpRun(q: Query, { activationId, runId }: RunKey): Promise<RunRow | undefined> {
  const [row] = await q
    .prepared("run_of", (build, { runs }) =>
      build
        .select()
        .from(runs)
        .where(and(eq(runs.activationId, ph("activationId")), eq(runs.runId, ph("runId"))))
        .prepare("run_of"),
    )
    .execute({ activationId, runId });
  return row;
}

/** The row as it counts now: past its deadline a run has failed, whether or not that was noted yet. */
export function effectiveRun(row: RunRow, overdue: number): RunRow {
  return row.status === "RUNNING" && row.deadlineAt !== null && row.deadlineAt <= overdue
    ? { ...row, status: "FAILED", failureReason: "heartbeat_timeout", finishedAt: row.deadlineAt, deadlineAt: null }
    : row;
}

/** A run that is there, as it counts now. Throws ApiError not_found. */
export async function findRun(q: Query, name: RunKey, overdue: number): Promise<RunRow> {
  const row = await lookUpRun(q, name);
  if (!row) throw new ApiError("not_found", `There is no run ${JSON.stringify(name.runId.slice(0, 100))} of this activation.`);
  return effectiveRun(row, overdue);
}

export function isActive({ status }: Pick<RunRow, "status">): boolean {
  return status === "RUNNING" || status === "WAITING";
}

/** True of rows of runs that have not ended: what decides between two that end one at the same time. */
export function stillActive({ runs }: Pick<AgentTables, "runs">, overdue: number): SQL | undefined {
  return or(eq(runs.status, "WAITING"), and(eq(runs.status, "RUNNING"), gt(runs.deadlineAt, overdue)));
}

/** 409 for a run that has ended. */
export function runEndedError({ runId, status, failureReason }: RunRow): ApiError {
  const why = failureReason === null ? "" : ` (${failureReason})`;
  return new ApiError("invalid_state", `The run ${runId} is ${status}${why}: it has ended.`, {
    details: [{ path: "runId", code: "run_not_active", message: "Only a run that is RUNNING or WAITING can do this." }],
    hint: "Start a new run.",
  });
}

/** A run that has not ended. Throws ApiError not_found or invalid_state. */
export async function findActiveRun(q: Query, name: RunKey, overdue: number): Promise<RunRow> {
  const row = await findRun(q, name, overdue);
  if (!isActive(row)) throw runEndedError(row);
  return row;
}
