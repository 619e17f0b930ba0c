import { Logger, runMigrations } from "graphile-worker";
import type { PgPool } from "../db/postgres/pool.ts";

/** The schema of the queue's tables: our own, so that an application in the same database may use graphile-worker too. */
export const QUEUE_SCHEMA = "mailsvc_jobs";

/** The priority of a job is its lane, and this much more while it is unhandled, so that no claim meets it. */
export const UNHANDLED = 100;

/** Conditions of jobs `j` by state. A query must repeat these texts to use the indexes of them. */
export const JOB_STATES = {
  ready: `j.is_available and j.priority < ${UNHANDLED}`,
  running: "j.locked_at is not null",
  dead: "j.locked_at is null and j.attempts >= j.max_attempts",
  unhandled: `j.is_available and j.priority >= ${UNHANDLED}`,
} as const;

/** The attempts of a job `j` in a row that the process did not survive. graphile-worker has no column for them; flags are null otherwise. */
export const JOB_INTERRUPTIONS = "coalesce((j.flags ->> 'interruptions')::int, 0)";

/** The workspace that the payload of a job `j` names. */
export const JOB_WORKSPACE = "j.payload ->> 'workspaceId'";

/**
 * The order of lists: the newest job `j` first. In the order of `id` Postgres would rather walk down the ids of all workspaces, and
 * with the workspace as a part of the order it would parse each payload: to count 10,000 jobs took 20 ms.
 */
export const JOB_NEWEST = "(-j.id)";

// For the lists of a workspace and for metrics. graphile-worker has an index only for claiming. There is one for each state, so that a
// claim writes one entry: another one, in an index of all states, was a quarter of what a claim costs.
const INDEXES: Readonly<Record<string, string>> = {
  mailsvc_ready_newest: JOB_STATES.ready,
  mailsvc_running_newest: JOB_STATES.running,
  mailsvc_dead_newest: JOB_STATES.dead,
  mailsvc_unhandled_newest: JOB_STATES.unhandled,
};

const silent = new Logger(() => () => {});

/** Brings the tables of the queue up to date. */
export async function migrateQueue(pgPool: PgPool): Promise<void> {
  await runMigrations({ pgPool, schema: QUEUE_SCHEMA, logger: silent });
  const { rows } = await pgPool.query<{ name: string }>("select indexname as name from pg_indexes where schemaname = $1", [QUEUE_SCHEMA]);
  const existing = new Set(rows.map(({ name }) => name));
  for (const [name, where] of Object.entries(INDEXES)) {
    if (existing.has(name)) continue;
    const on = `create index ${name} on ${QUEUE_SCHEMA}._private_jobs ((${JOB_WORKSPACE}), ${JOB_NEWEST}) where ${where}`;
    await pgPool.query(on.replaceAll("j.", ""));
  }
}
