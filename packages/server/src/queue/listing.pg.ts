import type { Reader, Tx } from "../db/db.ts";
import type { Total } from "../db/pagination.ts";
import type { PgTx } from "../db/postgres/transactions.ts";
import type { JobFilter, JobList, JobRow, QueueStats } from "./queue.ts";
import { JOB_NEWEST, JOB_STATES, JOB_WORKSPACE } from "./schema.pg.ts";
import { COLUMNS, JOBS, OLDEST, TASKS } from "./statements.pg.ts";
import type { JobState } from "./tables.ts";

// Rows counted for a list or a metric, at most.
const MAX_COUNTED = 10_000;

const STATES: readonly JobState[] = ["ready", "running", "dead", "unhandled"];

/** Counts the jobs of all workspaces. */
export async function readStats(read: Reader | Tx): Promise<QueueStats> {
  const count = async (state: JobState): Promise<number> => (await countJobs(read, [JOB_STATES[state]], [])).total;
  const [row] = await raw(read)<{ at: number | null }>(OLDEST, []);
  return {
    jobs: { ready: await count("ready"), running: await count("running"), dead: await count("dead"), unhandled: await count("unhandled") },
    oldestDueAt: row?.at ?? null,
  };
}

/** Jobs of kinds that this build does not know, by kind. */
export async function countUnhandled(read: Reader | Tx): Promise<Record<string, number>> {
  const rows = await raw(read)<{ kind: string; n: number }>(
    `select t.identifier as kind, count(*)::float8 as n
     from (select j.task_id from ${JOBS} j where ${JOB_STATES.unhandled} limit ${MAX_COUNTED}) as found join ${TASKS} t on t.id = found.task_id
     group by t.identifier`,
    [],
  );
  return Object.fromEntries(rows.map(({ kind, n }) => [kind, n]));
}

/** A page of jobs, the latest first. */
export async function listJobs(read: Reader, { workspaceId, state, below, limit, offset }: JobFilter): Promise<JobList> {
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  // The jobs of a workspace have an index for each state.
  const inWorkspace = workspaceId === undefined ? undefined : `${JOB_WORKSPACE} = ${bind(workspaceId)}::text`;
  const states = state ? [state] : inWorkspace ? STATES : [];
  const conditions = states.map((one) => [JOB_STATES[one], inWorkspace].filter(Boolean).join(" and "));
  const branches = conditions.length === 0 ? ["true"] : conditions;
  const order = inWorkspace ? JOB_NEWEST : "j.id desc";
  // In the order of the index, so that it is used: without it Postgres may read the whole table.
  const total = await countJobs(read, inWorkspace ? branches.map((where) => `${where} order by ${order}`) : branches, [...values]);
  const older = below === undefined ? "" : inWorkspace ? ` and ${JOB_NEWEST} > -${bind(below)}::bigint` : ` and j.id < ${bind(below)}`;
  const [limited, skipped] = [bind(limit), bind(offset)];
  const ids = branches
    .map((where) => `(select j.id from ${JOBS} j where ${where}${older} order by ${order} limit ${limited}::int + ${skipped}::int)`)
    .join(" union all ");
  const page = `select id from (${ids}) as found order by id desc limit ${limited} offset ${skipped}`;
  const rows = await raw(read)<JobRow & Record<string, unknown>>(
    `select ${COLUMNS} from ${JOBS} j join ${TASKS} t on t.id = j.task_id where j.id = any (array(${page})) order by j.id desc`,
    values,
  );
  return { rows, ...total };
}

/** Counts jobs that satisfy one of these conditions, of which no job satisfies two. */
async function countJobs(read: Reader, conditions: readonly string[], values: unknown[]): Promise<Total> {
  const found = conditions.map((where) => `(select 1 from ${JOBS} j where ${where} limit ${MAX_COUNTED + 1})`).join(" union all ");
  const [row] = await raw(read)<{ n: number }>(
    `select count(*)::float8 as n from (select from (${found}) as each limit ${MAX_COUNTED + 1}) as counted`,
    values,
  );
  const n = row?.n ?? 0;
  return { total: Math.min(n, MAX_COUNTED), isMinimum: n > MAX_COUNTED };
}

/** Null when there is no job with this id. */
export async function findJob(read: Reader, id: string): Promise<JobRow | null> {
  if (!isJobId(id)) return null;
  const [row] = await raw(read)<JobRow & Record<string, unknown>>(
    `select ${COLUMNS} from ${JOBS} j join ${TASKS} t on t.id = j.task_id where j.id = $1::bigint`,
    [id],
  );
  return row ?? null;
}

/** Whether a text can be the id of a job. */
export function isJobId(id: string): boolean {
  return /^\d{1,18}$/.test(id);
}

/** The raw queries of a transaction or reader, which is always one of Postgres here. */
export function raw(q: Tx | Reader): PgTx["raw"] {
  return (q as PgTx).raw;
}
