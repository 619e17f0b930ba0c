import type { Page, Run, RunLogEntry, RunStatus } from "@mailsvc/sdk/contract";
import { and, desc, eq, gt, gte, lt, lte, or, type SQL } from "drizzle-orm";
import type { Reader } from "../../db/db.ts";
import { countRows, listPage, type PageInput, paginateBySeq } from "../../db/pagination.ts";
import type { AgentTables } from "../agent-access.ts";
import { getRunRow, type RunKey, showRun, showRunLog } from "./store.ts";

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
