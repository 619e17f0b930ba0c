import type { Reader, Tx } from "../db/db.ts";
import type { Total } from "../db/pagination.ts";
import type { PgTx, PostgresDb } from "../db/postgres/database.ts";
import type { BulkInsert } from "../db/postgres/insert.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { Random } from "../lib/random.ts";
import { Heartbeat, type HeartbeatTimes } from "./heartbeat.pg.ts";
import type { Addition, JobStore, StoreEvents } from "./job-store.ts";
import { PAUSE_ROW, PAUSED_LANES } from "./pause.ts";
import { type ClaimedJob, type JobFilter, type JobList, type JobRow, LANES, type Lane, type QueueStats } from "./queue.ts";
import { JOB_INTERRUPTIONS, JOB_NEWEST, JOB_STATES, JOB_WORKSPACE, QUEUE_SCHEMA } from "./schema.pg.ts";
import type { JobState } from "./tables.ts";

export interface PostgresStoreOptions extends HeartbeatTimes {
  db: PostgresDb;
  clock: Clock;
  random: Random;
  log: Log;
}

// The largest value of the column.
const MOST_ATTEMPTS = 32_767;
// Rows counted for a list or a metric, at most.
const MAX_COUNTED = 10_000;

const STATES: readonly JobState[] = ["ready", "running", "dead"];

const JOBS = `${QUEUE_SCHEMA}._private_jobs`;
const TASKS = `${QUEUE_SCHEMA}._private_tasks`;

const COLUMNS = `j.id::text as id, t.identifier as kind, j.payload, j.attempts::int as attempts, j.max_attempts::int as "maxAttempts",
  ${ms("j.run_at")} as "runAt", ${ms("j.created_at")} as "createdAt", j.last_error as "lastError",
  case when j.locked_at is not null then 'running' when j.attempts >= j.max_attempts then 'dead' else 'ready' end as state`;

// Inserts only what is missing, because a conflict would use up a number each time.
const ADD_KINDS = `insert into ${TASKS} (identifier) select k from unnest($1::text[]) k
  where not exists (select from ${TASKS} t where t.identifier = k) on conflict do nothing`;

/** A job without a key as a row of `ADD`. */
function toRow(j: Addition): unknown[] {
  return [j.kind, JSON.stringify(j.payload), j.runAt, Math.min(j.maxAttempts, MOST_ATTEMPTS), j.createdAt, LANES.indexOf(j.lane)];
}

// Rows carry their position, so that ids follow the order of insertion. A kind that is not in the table of tasks is an error.
function makeAdd(failed: () => void): BulkInsert {
  return {
    name: "add_jobs",
    types: ["text[]", "text[]", "float8[]", "int2[]", "float8[]", "int2[]"],
    build: (arrays) => `insert into ${JOBS} (task_id, payload, run_at, max_attempts, created_at, updated_at, priority)
      select (select t.id from ${TASKS} t where t.identifier = n.kind), n.payload::json, ${at("n.run_at")}, n.max_attempts,
        ${at("n.created_at")}, ${at("n.created_at")}, n.lane
      from unnest(${arrays}) with ordinality as n (kind, payload, run_at, max_attempts, created_at, lane, position)
      order by n.position`,
    failed,
  };
}

const ADD_KEYED = `insert into ${JOBS} (task_id, payload, run_at, max_attempts, key, created_at, updated_at, priority)
  select t.id, $2::text::json, ${at("$3")}, $4::int2, $5, ${at("$6")}, ${at("$6")}, $7::int2 from ${TASKS} t where t.identifier = $1
  on conflict (key) do nothing`;

// The priority of a job in graphile-worker's tables is its lane. `$3` holds the limit of each lane. An array of ids, because for a
// join Postgres would rather read the whole table.
const CLAIM = `with ${LANES.map(
  (_, lane) => `lane${lane} as (
    select id from ${JOBS} where is_available and priority = ${lane} and run_at <= ${at("$2")} order by run_at limit ${limitOf(lane)} for update skip locked
  )`,
).join(", ")}, due as (${LANES.map((_, lane) => `select id from lane${lane}`).join(" union all ")})
  update ${JOBS} j set attempts = attempts + 1, locked_by = $1, locked_at = now()
  from ${TASKS} t where j.id = any (array(select id from due)) and t.id = j.task_id
  returning j.id::text as id, t.identifier as kind, j.payload, j.attempts::int as attempts, j.max_attempts::int as "maxAttempts",
    ${ms("j.run_at")} as "runAt", j.priority::int as lane, ${JOB_INTERRUPTIONS} as interruptions`;

// Names the lanes, because the index of instants has them before the instants.
const ADVANCE = `update ${JOBS} j set run_at = ${at("$6")} from ${TASKS} t
  where j.is_available and j.priority = any ($2::int2[]) and j.run_at = any (array(select ${at("n")} from unnest($3::float8[]) n))
    and t.id = j.task_id and t.identifier = $1 and j.payload ->> $4 = any ($5::text[])`;

const NEXT = `select at, kind from (${LANES.map(
  (_, lane) => `(select ${ms("j.run_at")} as at, t.identifier as kind from ${JOBS} j join ${TASKS} t on t.id = j.task_id
    where j.is_available and j.priority = ${lane} and j.run_at > ${at("$1")} order by j.run_at limit 1)`,
).join(" union all ")}) as first order by at limit 1`;

const OLDEST = `select ${ms("min(at)")} as at from (${LANES.map(
  (_, lane) => `(select j.run_at as at from ${JOBS} j where j.is_available and j.priority = ${lane} order by j.run_at limit 1)`,
).join(" union all ")}) as first`;

const HELD = `j.id = $1::bigint and j.locked_by = $2 and j.attempts = $3 and ${JOB_INTERRUPTIONS} = $4`;

const END_ALL = `delete from ${JOBS} j using unnest($1::bigint[], $2::int2[], $3::int2[]) with ordinality n (id, attempt, interruptions, position)
  where j.id = n.id and j.attempts = n.attempt and ${JOB_INTERRUPTIONS} = n.interruptions and j.locked_by = $4`;

/** A row of `CLAIM`. */
type Claimed = Pick<JobRow, "id" | "kind" | "payload" | "attempts" | "maxAttempts" | "runAt"> & { lane: number; interruptions: number };

/** The job as one attempt holds it. */
type Held = [id: string, worker: string, attempt: number, interruptions: number];

/**
 * Jobs in the tables of graphile-worker, for any number of server processes. graphile-worker's own loop ends a job in a
 * transaction of its own after the task has returned, and knows only the time of the database. Here effect and end are one
 * transaction and time is the app's clock, so claiming and ending are our statements.
 *
 * Jobs are inserted by one statement without NOTIFY, and not through `add_job`: on two cores with 16 connections that was 3,160
 * against 1,010 transactions a second, because `add_job` announces each job in its transaction, and commits that notify wait for
 * each other, fsync included. bench/postgres compares both loops in one run.
 */
export function postgresJobStore({ db, clock, random, log, beatMs, deadMs }: PostgresStoreOptions): JobStore {
  /** Kinds known to be in the table of tasks, whose rows are deleted only together with everything else. */
  const kinds = new Set<string>();
  /** What each open transaction adds. */
  const additions = new WeakMap<Tx, Addition[]>();
  let died = (): void => {};
  let events: StoreEvents = { wake: () => {}, held: () => [] };

  const heartbeat = new Heartbeat({
    db,
    real: clock.real,
    log,
    makeName: () => `mailsvc_${Buffer.from(random.bytes(9)).toString("hex")}_${process.pid}`,
    held: () => events.held(),
    wake: () => events.wake(),
    died: () => died(),
    beatMs,
    deadMs,
  });

  const held = (job: ClaimedJob): Held => [job.id, heartbeat.name, job.attempt, job.interruptions];
  const heldAll = (jobs: readonly ClaimedJob[]) => [
    jobs.map((j) => j.id),
    jobs.map((j) => j.attempt),
    jobs.map((j) => j.interruptions),
    heartbeat.name,
  ];

  // The tables of the queue may have been emptied meanwhile.
  const add = makeAdd(() => kinds.clear());

  /** Adds jobs whose kinds may be missing in the table of tasks, and jobs with keys. */
  const insert = async (tx: PgTx, jobs: readonly Addition[]): Promise<void> => {
    const wanted = [...new Set(jobs.map((j) => j.kind))];
    await tx.raw(ADD_KINDS, [wanted], "add_job_kinds");
    tx.afterCommit(() => {
      for (const kind of wanted) kinds.add(kind);
    });
    for (const j of jobs) {
      if (j.dedupeKey === null) {
        tx.defer(add, toRow(j));
        continue;
      }
      // A running job may have missed what happened since, and a dead one will not run: neither keeps its key.
      await tx.raw(`update ${JOBS} set key = null where key = $1 and is_available is not true`, [j.dedupeKey], "free_job_key");
      const values = [j.kind, JSON.stringify(j.payload), j.runAt, Math.min(j.maxAttempts, MOST_ATTEMPTS), j.dedupeKey, j.createdAt];
      await tx.raw(ADD_KEYED, [...values, LANES.indexOf(j.lane)], "add_keyed_job");
    }
  };

  return {
    workers: {
      get name() {
        return heartbeat.name;
      },
      liveWorkers: async () => (await db.read.raw<{ name: string }>("select name from workers")).map(({ name }) => name),
      onDeath: (fn) => {
        died = fn;
      },
    },
    maxClaimAhead: 512,
    // A quarter of the pool.
    transactionsAtOnce: 4,
    isUnavailable: db.isUnavailable,
    tx: db.tx,
    announce: () => heartbeat.announce(),
    writersIdle: async () => {},
    open: async (wanted, listener) => {
      events = listener;
      await db.read.raw(ADD_KINDS, [wanted]);
      kinds.clear();
      for (const kind of wanted) kinds.add(kind);
      await heartbeat.open();
    },
    close: () => heartbeat.close(),

    add: async (tx, job) => {
      // One statement for all jobs of a transaction, or of a group of transactions: a batch of 50 recipients has 50.
      if (job.dedupeKey === null && kinds.has(job.kind)) {
        (tx as PgTx).defer(add, toRow(job));
        return;
      }
      const list = additions.get(tx);
      if (list) {
        list.push(job);
        return;
      }
      const added = [job];
      additions.set(tx, added);
      (tx as PgTx).beforeCommit("jobs", () => insert(tx as PgTx, added));
    },

    cancel: async (tx, kind, dedupeKey) => {
      await raw(tx)(
        `delete from ${JOBS} j using ${TASKS} t where j.key = $2 and t.id = j.task_id and t.identifier = $1 and ${JOB_STATES.ready}`,
        [kind, dedupeKey],
        "cancel_job",
      );
    },

    advance: async (tx, { kind, runAt, field, values }, now) => {
      await raw(tx)(ADVANCE, [kind, LANES.map((_, lane) => lane), runAt, field, values, now], "advance_jobs");
    },

    omit: async (tx, job, list, values) => {
      await raw(tx)(
        `update ${JOBS} j set payload = jsonb_set(j.payload::jsonb, array[$5::text], (j.payload::jsonb -> $5::text) - $6::text[])::json where ${HELD}`,
        [...held(job), list, values],
        "omit_from_job",
      );
    },

    // `skip locked` gives each job to one worker.
    claim: async (now, limits) => {
      const rows = await db.read.raw<Claimed & Record<string, unknown>>(
        CLAIM,
        [heartbeat.name, now, LANES.map((lane) => limits[lane])],
        "claim_jobs",
      );
      const jobs = rows
        .sort((a, b) => a.runAt - b.runAt || Number(a.id) - Number(b.id))
        .map(({ id, kind, payload, attempts, interruptions, maxAttempts, lane }) => ({
          id,
          kind,
          payload,
          attempt: attempts,
          interruptions,
          maxAttempts,
          lane: LANES[lane] ?? "default",
        }));
      return { jobs, drained: LANES.filter((lane) => jobs.filter((job) => job.lane === lane).length < limits[lane]) };
    },

    release: async (jobs) => {
      await db.read.raw(
        `update ${JOBS} set attempts = attempts - 1, locked_by = null, locked_at = null where id = any($1::bigint[]) and locked_by = $2`,
        [jobs.map((j) => j.id), heartbeat.name],
      );
    },

    end: async (tx, job, again) => {
      const rows =
        again === undefined
          ? await raw(tx)(`delete from ${JOBS} j where ${HELD} returning 1 as one`, held(job), "end_job")
          : await raw(tx)(
              `update ${JOBS} j set attempts = attempts - 1, run_at = ${at("$5")}, locked_by = null, locked_at = null, flags = null
               where ${HELD} returning 1 as one`,
              [...held(job), again],
              "job_again",
            );
      return rows.length > 0;
    },

    endMany: async (tx, jobs) => {
      if (jobs.length === 0) return new Set();
      const rows = await raw(tx)<{ position: number }>(`${END_ALL} returning n.position::int as position`, heldAll(jobs), "end_many");
      return new Set(rows.map(({ position }) => jobs[position - 1] as ClaimedJob));
    },

    endAll: async (jobs) => {
      await db.read.raw(END_ALL, heldAll(jobs), "end_jobs");
    },

    fail: async (job, runAt, lastError) => {
      await db.read.raw(
        `update ${JOBS} j set run_at = ${at("$5")}, last_error = $6, locked_by = null, locked_at = null, flags = null where ${HELD}`,
        // Postgres cannot store U+0000 in a text.
        [...held(job), runAt, lastError.replaceAll("\0", "\uFFFD")],
        "fail_job",
      );
    },

    next: async (now) => {
      const [row] = await db.read.raw<{ at: number; kind: string }>(NEXT, [now], "next_job");
      return row ?? null;
    },

    list: (read, filter) => listJobs(read, filter),

    readStats,

    get: async (read, id) => {
      if (!isId(id)) return null;
      const [row] = await raw(read)<JobRow & Record<string, unknown>>(
        `select ${COLUMNS} from ${JOBS} j join ${TASKS} t on t.id = j.task_id where j.id = $1::bigint`,
        [id],
      );
      return row ?? null;
    },

    revive: async (tx, id, now) => {
      if (!isId(id)) return null;
      const [row] = await raw(tx)<JobRow & Record<string, unknown>>(
        `update ${JOBS} j set attempts = 0, flags = null, run_at = ${at("$2")} from ${TASKS} t
         where j.id = $1::bigint and t.id = j.task_id and ${JOB_STATES.dead} returning ${COLUMNS}`,
        [id, now],
      );
      return row ?? null;
    },
  };
}

async function readStats(read: Reader | Tx): Promise<QueueStats> {
  const count = async (state: JobState): Promise<number> => (await countJobs(read, [JOB_STATES[state]], [])).total;
  const [row] = await raw(read)<{ at: number | null }>(OLDEST, []);
  return {
    jobs: { ready: await count("ready"), running: await count("running"), dead: await count("dead") },
    oldestDueAt: row?.at ?? null,
  };
}

async function listJobs(read: Reader, { workspaceId, state, below, limit, offset }: JobFilter): Promise<JobList> {
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

/** The limit of a lane: none of its jobs is claimed while it is paused. */
function limitOf(lane: number): string {
  const limit = `($3::int[])[${lane + 1}]`;
  if (!PAUSED_LANES.includes(LANES[lane] as Lane)) return limit;
  return `case when exists (select from meta where name = '${PAUSE_ROW}') then 0 else ${limit} end`;
}

function isId(id: string): boolean {
  return /^\d{1,18}$/.test(id);
}

function ms(column: string): string {
  // Not `extract`, which calculates with decimals: for two instants that was a seventh of a claim.
  return `round(date_part('epoch', ${column}) * 1000)`;
}

function at(parameter: string): string {
  return `to_timestamp(${parameter}::float8 / 1000)`;
}

function raw(q: Tx | Reader): PgTx["raw"] {
  return (q as PgTx).raw;
}
