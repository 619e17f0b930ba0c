import type { Reader, Tx } from "../db/db.ts";
import type { PgTx, PostgresDb } from "../db/postgres/database.ts";
import { QUEUE_SCHEMA } from "./graphile-schema.ts";
import type { ClaimedJob, JobFilter, JobRow } from "./queue.ts";
import type { JobState } from "./tables.ts";

/** A job as it is about to be added. */
export interface Addition {
  kind: string;
  /** JSON. */
  payload: string;
  runAt: number;
  maxAttempts: number;
  dedupeKey: string | null;
  createdAt: number;
}

const JOBS = `${QUEUE_SCHEMA}._private_jobs`;
const TASKS = `${QUEUE_SCHEMA}._private_tasks`;

const COLUMNS = `j.id::text as id, t.identifier as kind, j.payload, j.attempts::int as attempts, j.max_attempts::int as "maxAttempts",
  ${ms("j.run_at")} as "runAt", ${ms("j.created_at")} as "createdAt", j.last_error as "lastError",
  case when j.locked_at is not null then 'running' when j.attempts >= j.max_attempts then 'dead' else 'ready' end as state`;

const WHERE: Readonly<Record<JobState, string>> = {
  ready: "j.locked_at is null and j.attempts < j.max_attempts",
  running: "j.locked_at is not null",
  dead: "j.locked_at is null and j.attempts >= j.max_attempts",
};

// Only what is missing: a conflict would use up a number each time.
const ADD_KINDS = `insert into ${TASKS} (identifier) select k from unnest($1::text[]) k
  where not exists (select from ${TASKS} t where t.identifier = k) on conflict do nothing`;

// Rows of one insert carry their order along, so that ids follow it.
const ADD = `insert into ${JOBS} (task_id, payload, run_at, max_attempts, created_at, updated_at)
  select t.id, n.payload::json, ${at("n.run_at")}, n.max_attempts, ${at("n.created_at")}, ${at("n.created_at")}
  from unnest($1::text[], $2::text[], $3::float8[], $4::int2[], $5::float8[])
    with ordinality as n (kind, payload, run_at, max_attempts, created_at, place)
  join ${TASKS} t on t.identifier = n.kind order by n.place returning 1 as one`;

const ADD_KEYED = `insert into ${JOBS} (task_id, payload, run_at, max_attempts, key, created_at, updated_at)
  select t.id, $2::text::json, ${at("$3")}, $4::int2, $5, ${at("$6")}, ${at("$6")} from ${TASKS} t where t.identifier = $1
  on conflict (key) do nothing`;

const CLAIM = `with due as (
    select id from ${JOBS} where is_available and run_at <= ${at("$2")} order by priority, run_at limit $3 for update skip locked
  )
  update ${JOBS} j set attempts = attempts + 1, locked_by = $1, locked_at = now()
  from due, ${TASKS} t where j.id = due.id and t.id = j.task_id
  returning ${COLUMNS}`;

const HELD = "j.id = $1::bigint and j.locked_by = $2 and j.attempts = $3";

/** The work that one attempt holds. */
export type Hold = [id: string, worker: string, attempt: number];

/**
 * The tables of graphile-worker, as SQL. Jobs are inserted by one statement without NOTIFY, and not through `add_job`:
 * on two cores with 16 connections that was 3,160 against 1,010 transactions a second, since `add_job` announces each
 * job in its transaction, and commits that notify wait for each other, fsync included.
 */
export function graphileStore(db: PostgresDb) {
  /** Kinds that are known to be there: rows of their table are never deleted, except with everything else. */
  const kinds = new Set<string>();
  return {
    /** Makes the names of kinds known, so that adding a job need not. */
    register: async (wanted: readonly string[]): Promise<void> => {
      await db.read.raw(ADD_KINDS, [wanted]);
      kinds.clear();
      for (const kind of wanted) kinds.add(kind);
    },

    add: async (tx: Tx, jobs: readonly Addition[]): Promise<void> => {
      const query = raw(tx);
      // Jobs with a key are few: their kinds are made sure of each time, since of them it is no fault when no row is added.
      const unknown = [...new Set(jobs.filter((j) => j.dedupeKey !== null || !kinds.has(j.kind)).map((j) => j.kind))];
      // Not noted as known: this transaction may yet be rolled back.
      if (unknown.length > 0) await query(ADD_KINDS, [unknown], "add_job_kinds");
      const plain = jobs.filter((j) => j.dedupeKey === null);
      if (plain.length > 0) {
        const added = await query(
          ADD,
          [
            plain.map((j) => j.kind),
            plain.map((j) => j.payload),
            plain.map((j) => j.runAt),
            plain.map((j) => j.maxAttempts),
            plain.map((j) => j.createdAt),
          ],
          "add_jobs",
        );
        if (added.length < plain.length) {
          kinds.clear();
          throw new Error("The tables of the queue were emptied meanwhile; the next try goes through.");
        }
      }
      for (const j of jobs) {
        if (j.dedupeKey === null) continue;
        // A job that runs may have missed what happened since, and a dead one waits for nobody: their key is free.
        await query(`update ${JOBS} set key = null where key = $1 and is_available is not true`, [j.dedupeKey], "free_job_key");
        await query(ADD_KEYED, [j.kind, j.payload, j.runAt, j.maxAttempts, j.dedupeKey, j.createdAt], "add_keyed_job");
      }
    },

    /** Locks up to `limit` jobs that are due; `skip locked` gives each job to one worker. */
    claim: async (worker: string, now: number, limit: number): Promise<(ClaimedJob & { runAt: number })[]> => {
      const rows = await db.read.raw<JobRow & Record<string, unknown>>(CLAIM, [worker, now, limit], "claim_jobs");
      return rows
        .map(({ id, kind, payload, attempts, maxAttempts, runAt }) => ({ id, kind, payload, attempt: attempts, maxAttempts, runAt }))
        .sort((a, b) => a.runAt - b.runAt || Number(a.id) - Number(b.id));
    },

    /** Puts back jobs whose attempt has not begun. */
    unclaim: (worker: string, ids: readonly string[]) =>
      db.read.raw(
        `update ${JOBS} set attempts = attempts - 1, locked_by = null, locked_at = null where id = any($1::bigint[]) and locked_by = $2`,
        [ids, worker],
      ),

    /** Ends jobs that have no effect to commit, many at once. */
    endAll: (worker: string, jobs: readonly ClaimedJob[]) =>
      db.read.raw(
        `delete from ${JOBS} j using unnest($1::bigint[], $2::int2[]) n (id, attempt)
       where j.id = n.id and j.attempts = n.attempt and j.locked_by = $3`,
        [jobs.map((j) => j.id), jobs.map((j) => j.attempt), worker],
        "end_jobs",
      ),

    /** Ends a job in the transaction of its effect. False when it was taken from this attempt. */
    end: async (tx: Tx, hold: Hold): Promise<boolean> =>
      (await raw(tx)(`delete from ${JOBS} j where ${HELD} returning 1 as one`, hold, "end_job")).length > 0,

    /** Lets a job run again at an instant, its attempt uncounted. */
    again: async (tx: Tx, hold: Hold, runAt: number): Promise<boolean> =>
      (
        await raw(tx)(
          `update ${JOBS} j set attempts = attempts - 1, run_at = ${at("$4")}, locked_by = null, locked_at = null where ${HELD} returning 1 as one`,
          [...hold, runAt],
          "job_again",
        )
      ).length > 0,

    fail: (hold: Hold, runAt: number, lastError: string) =>
      db.read.raw(
        `update ${JOBS} j set run_at = ${at("$4")}, last_error = $5, locked_by = null, locked_at = null where ${HELD}`,
        [...hold, runAt, lastError],
        "fail_job",
      ),

    /** The instant and kind of the next job that is not due yet. */
    next: async (now: number): Promise<{ at: number; kind: string } | null> => {
      const [row] = await db.read.raw<{ at: number; kind: string }>(
        `select ${ms("j.run_at")} as at, t.identifier as kind from ${JOBS} j join ${TASKS} t on t.id = j.task_id
       where j.is_available and j.priority = 0 and j.run_at > ${at("$1")} order by j.run_at limit 1`,
        [now],
        "next_job",
      );
      return row ?? null;
    },

    list: async (read: Reader, { workspaceId, state, limit, offset }: JobFilter): Promise<{ rows: JobRow[]; total: number }> => {
      const from = `from ${JOBS} j join ${TASKS} t on t.id = j.task_id
      where ($1::text is null or j.payload ->> 'workspaceId' = $1) and ${state ? WHERE[state] : "true"}`;
      const rows = await raw(read)<JobRow & Record<string, unknown>>(`select ${COLUMNS} ${from} order by j.id desc limit $2 offset $3`, [
        workspaceId ?? null,
        limit,
        offset,
      ]);
      const [count] = await raw(read)<{ total: number }>(`select count(*)::float8 as total ${from}`, [workspaceId ?? null]);
      return { rows, total: count?.total ?? 0 };
    },

    /** The names of processes that have not been found dead. */
    liveWorkers: async (): Promise<string[]> => (await db.read.raw<{ name: string }>("select name from workers")).map(({ name }) => name),

    get: async (read: Reader, id: string): Promise<JobRow | null> => {
      const [row] = await raw(read)<JobRow & Record<string, unknown>>(
        `select ${COLUMNS} from ${JOBS} j join ${TASKS} t on t.id = j.task_id where j.id = $1::bigint`,
        [id],
      );
      return row ?? null;
    },

    revive: async (tx: Tx, id: string, now: number): Promise<JobRow | null> => {
      const [row] = await raw(tx)<JobRow & Record<string, unknown>>(
        `update ${JOBS} j set attempts = 0, run_at = ${at("$2")} from ${TASKS} t
       where j.id = $1::bigint and t.id = j.task_id and ${WHERE.dead} returning ${COLUMNS}`,
        [id, now],
      );
      return row ?? null;
    },
  };
}

export type GraphileStore = ReturnType<typeof graphileStore>;

function ms(column: string): string {
  return `(extract(epoch from ${column}) * 1000)::float8`;
}

function at(parameter: string): string {
  return `to_timestamp(${parameter}::float8 / 1000)`;
}

function raw(q: Tx | Reader): PgTx["raw"] {
  return (q as PgTx).raw;
}
