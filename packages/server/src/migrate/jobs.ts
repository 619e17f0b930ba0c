import type { Shape } from "../db/copy/shapes.ts";
import { RowSum, type Value } from "../db/copy/sum.ts";
import type { PostgresDb } from "../db/postgres/database.ts";
import type { PgTx } from "../db/postgres/transactions.ts";
import { QUEUE_SCHEMA, UNHANDLED } from "../queue/schema.pg.ts";

/** The jobs table of SQLite. The state is not copied: a job that ran when the last process ended is ready again, and a dead one has no attempt left. */
export const JOBS: Shape = {
  table: "jobs",
  columns: [
    number("id"),
    text("kind"),
    { name: "payload", type: "json", nullable: false },
    number("run_at"),
    number("attempts"),
    number("max_attempts"),
    text("dedupe_key", true),
    text("last_error", true),
    number("created_at"),
    number("lane"),
  ],
  key: ["id"],
  counter: null,
};

// The largest value of both columns on Postgres. A job that repeats as planned may have counted further; its remaining attempts are kept.
const MOST = 32_767;

/** Adds jobs to the tables of graphile-worker, under their own numbers, so that a chunk that is inserted twice is noticed. */
export async function insertJobs(tx: PgTx, rows: readonly Value[][]): Promise<void> {
  const fitting = rows.map(fitAttempts);
  await tx.raw(`insert into ${QUEUE_SCHEMA}._private_tasks (identifier) select distinct unnest($1::text[]) on conflict do nothing`, [
    fitting.map((row) => row[1]),
  ]);
  const types = ["bigint", "text", "text", "float8", "int2", "int2", "text", "text", "float8", "int2"];
  await tx.raw(
    `insert into ${QUEUE_SCHEMA}._private_jobs
       (id, task_id, payload, run_at, attempts, max_attempts, key, last_error, created_at, updated_at, priority)
     overriding system value
     select v.id, t.id, v.payload::json, to_timestamp(v.run_at / 1000), v.attempts, v.max, v.key, v.error,
       to_timestamp(v.created / 1000), to_timestamp(v.created / 1000), v.lane
     from unnest(${types.map((type, i) => `$${i + 1}::${type}[]`).join(", ")})
       as v (id, kind, payload, run_at, attempts, max, key, error, created, lane)
     join ${QUEUE_SCHEMA}._private_tasks t on t.identifier = v.kind`,
    types.map((_, i) => fitting.map((row) => row[i])),
  );
}

/** Adds a job of the source in the form it will have in the target. */
export function addJob(sum: RowSum, row: readonly Value[]): void {
  sum.add(fitAttempts(row));
}

/** Sums up all jobs. */
export async function sumJobs(db: PostgresDb): Promise<RowSum> {
  const sum = new RowSum();
  for await (const rows of readJobs(db.read)) for (const row of rows) sum.add(row);
  return sum;
}

/** Reads all jobs, a thousand at a time, with the columns of `JOBS`. */
export async function* readJobs({ raw }: Pick<PgTx, "raw">): AsyncGenerator<Value[][]> {
  let after = 0;
  for (;;) {
    const rows = await raw<Record<string, Value>>(
      `select j.id::float8 as id, t.identifier as kind, j.payload::text as payload, (extract(epoch from j.run_at) * 1000)::float8 as run_at,
         j.attempts, j.max_attempts as max, j.key, j.last_error as error, (extract(epoch from j.created_at) * 1000)::float8 as created,
         j.priority % ${UNHANDLED} as lane
       from ${QUEUE_SCHEMA}._private_jobs j join ${QUEUE_SCHEMA}._private_tasks t on t.id = j.task_id
       where j.id > $1 order by j.id limit 1000`,
      [after],
    );
    const last = rows.at(-1);
    if (!last) return;
    yield rows.map((r) => [r.id, r.kind, r.payload, r.run_at, r.attempts, r.max, r.key, r.error, r.created, r.lane].map((v) => v ?? null));
    after = Number(last.id);
  }
}

/** Numbers new jobs after the copied ones. */
export function setJobCounter(db: PostgresDb): Promise<unknown> {
  return db.read.raw(
    `select setval(pg_get_serial_sequence('${QUEUE_SCHEMA}._private_jobs', 'id'),
       coalesce((select max(id) from ${QUEUE_SCHEMA}._private_jobs), 0) + 1, false)`,
  );
}

function text(name: string, nullable = false) {
  return { name, type: "text", nullable };
}

function number(name: string) {
  return { name, type: "bigint", nullable: false };
}

function fitAttempts(row: readonly Value[]): Value[] {
  const [id, kind, payload, runAt, attempts, most, ...rest] = row;
  const left = Number(most) - Number(attempts);
  const used = Math.min(Number(attempts), Math.max(0, MOST - left));
  return [id ?? null, kind ?? null, payload ?? null, runAt ?? null, used, Math.min(used + left, MOST), ...rest];
}
