import { PAUSE_ROW, PAUSED_LANES } from "./pause.ts";
import { type JobRow, LANES, type Lane } from "./queue.ts";
import { JOB_INTERRUPTIONS, JOB_STATES, QUEUE_SCHEMA, UNHANDLED } from "./schema.pg.ts";

// The statements of the queue on the tables of graphile-worker. The priority of a job there is its lane.

export const JOBS = `${QUEUE_SCHEMA}._private_jobs`;
export const TASKS = `${QUEUE_SCHEMA}._private_tasks`;

/**
 * When a job `j` was claimed, to the microsecond. An attempt whose job runs again by its plan has the number of the next one, by the
 * same worker: this tells them apart when an outcome is stored once more because the answer to its commit was lost.
 */
const CLAIMED_AT = "date_part('epoch', j.locked_at)";

/** The columns of a `JobRow`, of a job `j` and its task `t`. */
export const COLUMNS = `j.id::text as id, t.identifier as kind, j.payload, j.attempts::int as attempts, j.max_attempts::int as "maxAttempts",
  ${ms("j.run_at")} as "runAt", ${ms("j.created_at")} as "createdAt", j.last_error as "lastError",
  case when j.locked_at is not null then 'running' when j.attempts >= j.max_attempts then 'dead'
    when j.priority >= ${UNHANDLED} then 'unhandled' else 'ready' end as state`;

/** Adds kinds `$1`. Inserts only what is missing, because a conflict would use up a number each time. */
export const ADD_KINDS = `insert into ${TASKS} (identifier) select k from unnest($1::text[]) k
  where not exists (select from ${TASKS} t where t.identifier = k) on conflict do nothing`;

/**
 * Claims for the worker `$1` what is due at `$2`; `$3` holds the limit of each lane. `skip locked` gives each job to one worker. The ids
 * are an array, because for a join Postgres would rather read the whole table.
 */
export const CLAIM = `with ${LANES.map(
  (_, lane) => `lane${lane} as (
    select id from ${JOBS} where is_available and priority = ${lane} and run_at <= ${at("$2")} order by run_at limit ${limitOf(lane)} for update skip locked
  )`,
).join(", ")}, due as (${LANES.map((_, lane) => `select id from lane${lane}`).join(" union all ")})
  update ${JOBS} j set attempts = attempts + 1, locked_by = $1, locked_at = now()
  from ${TASKS} t where j.id = any (array(select id from due)) and t.id = j.task_id
  returning j.id::text as id, t.identifier as kind, j.payload, j.attempts::int as attempts, j.max_attempts::int as "maxAttempts",
    ${ms("j.run_at")} as "runAt", j.priority::int as lane, ${JOB_INTERRUPTIONS} as interruptions, ${CLAIMED_AT} as "claimedAt"`;

/** Makes ready jobs unhandled whose kind is none of `$1`. */
export const SET_UNKNOWN_ASIDE = `update ${JOBS} j set priority = j.priority + ${UNHANDLED} from ${TASKS} t
  where t.id = j.task_id and t.identifier <> all ($1::text[]) and ${JOB_STATES.ready}`;

/** Makes unhandled jobs ready whose kind is one of `$1`. */
export const BRING_BACK = `update ${JOBS} j set priority = j.priority - ${UNHANDLED} from ${TASKS} t
  where t.id = j.task_id and t.identifier = any ($1::text[]) and ${JOB_STATES.unhandled}`;

/** Makes planned jobs due at `$6`. Names the lanes, because the index of instants has them before the instants. */
export const ADVANCE = `update ${JOBS} j set run_at = ${at("$6")} from ${TASKS} t
  where j.is_available and j.priority = any ($2::int2[]) and j.run_at = any (array(select ${at("n")} from unnest($3::float8[]) n))
    and t.id = j.task_id and t.identifier = $1 and j.payload ->> $4 = any ($5::text[])`;

/** The first job that is due after `$1`. */
export const NEXT = `select at, kind from (${LANES.map(
  (_, lane) => `(select ${ms("j.run_at")} as at, t.identifier as kind from ${JOBS} j join ${TASKS} t on t.id = j.task_id
    where j.is_available and j.priority = ${lane} and j.run_at > ${at("$1")} order by j.run_at limit 1)`,
).join(" union all ")}) as first order by at limit 1`;

/** When the job that has waited longest was due. */
export const OLDEST = `select ${ms("min(at)")} as at from (${LANES.map(
  (_, lane) => `(select j.run_at as at from ${JOBS} j where j.is_available and j.priority = ${lane} order by j.run_at limit 1)`,
).join(" union all ")}) as first`;

/** The condition of a job `j` that an attempt holds: its id, its worker, its number, its interruptions, and when it was claimed. */
export const HELD = `j.id = $1::bigint and j.locked_by = $2 and j.attempts = $3 and ${JOB_INTERRUPTIONS} = $4 and ${CLAIMED_AT} = $5::float8`;

/** Ends the jobs that attempts hold: ids, numbers, interruptions, when they were claimed, and the worker. */
export const END_ALL = `delete from ${JOBS} j
  using unnest($1::bigint[], $2::int2[], $3::int2[], $4::float8[]) with ordinality n (id, attempt, interruptions, claimed_at, position)
  where j.id = n.id and j.attempts = n.attempt and ${JOB_INTERRUPTIONS} = n.interruptions and ${CLAIMED_AT} = n.claimed_at and j.locked_by = $5`;

/** A row of `CLAIM`. */
export type ClaimedRow = Pick<JobRow, "id" | "kind" | "payload" | "attempts" | "maxAttempts" | "runAt"> & {
  lane: number;
  interruptions: number;
  claimedAt: number;
};

/** Milliseconds of a column. Not by `extract`, which calculates with decimals: for two instants that was a seventh of a claim. */
function ms(column: string): string {
  return `round(date_part('epoch', ${column}) * 1000)`;
}

/** The instant of a parameter in ms. */
export function at(parameter: string): string {
  return `to_timestamp(${parameter}::float8 / 1000)`;
}

/** The limit of a lane: none of its jobs is claimed while it is paused. */
function limitOf(lane: number): string {
  const limit = `($3::int[])[${lane + 1}]`;
  if (!PAUSED_LANES.includes(LANES[lane] as Lane)) return limit;
  return `case when exists (select from meta where name = '${PAUSE_ROW}') then 0 else ${limit} end`;
}
