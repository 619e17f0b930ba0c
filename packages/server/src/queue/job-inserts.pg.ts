import type { Tx } from "../db/db.ts";
import type { PostgresDb } from "../db/postgres/database.ts";
import type { BulkInsert } from "../db/postgres/insert.ts";
import type { PgTx } from "../db/postgres/transactions.ts";
import type { Addition } from "./job-store.ts";
import { LANES } from "./queue.ts";
import { ADD_KINDS, at, JOBS, TASKS } from "./statements.pg.ts";

// The largest value of the column.
const MOST_ATTEMPTS = 32_767;

const ADD_KEYED = `insert into ${JOBS} (task_id, payload, run_at, max_attempts, key, created_at, updated_at, priority)
  select t.id, $2::text::json, ${at("$3")}, $4::int2, $5, ${at("$6")}, ${at("$6")}, $7::int2 from ${TASKS} t where t.identifier = $1
  on conflict (key) do nothing returning 1`;

// Until the transaction has committed nobody claims the job that has the key. A claim under way is waited for, and the transaction runs again:
// the job that it adds is not lost. Of several transactions with the key none waits for another.
const KEEP_WAITING = `select from ${JOBS} where key = $1 for key share`;

/**
 * Adds jobs to the tables of graphile-worker: one statement for all jobs of a transaction, or of a group of transactions, since a
 * batch of 50 recipients has 50. A kind that is not known to be in the table of tasks is added there first.
 */
export class JobInserts {
  readonly #db: PostgresDb;
  /** Kinds known to be in the table of tasks, whose rows are deleted only together with everything else. */
  readonly #kinds = new Set<string>();
  /** What each open transaction adds at its end. */
  readonly #additions = new WeakMap<Tx, Addition[]>();
  /** The tables of the queue may have been emptied meanwhile. */
  readonly #insert = buildInsert(() => this.#kinds.clear());

  constructor(db: PostgresDb) {
    this.#db = db;
  }

  /** Adds kinds to the table of tasks, and forgets the others. */
  async addKinds(kinds: readonly string[]): Promise<void> {
    await this.#db.read.raw(ADD_KINDS, [kinds]);
    this.#kinds.clear();
    for (const kind of kinds) this.#kinds.add(kind);
  }

  add(tx: PgTx, job: Addition): void {
    if (job.dedupeKey === null && this.#kinds.has(job.kind)) {
      tx.defer(this.#insert, toRow(job));
      return;
    }
    const added = this.#additions.get(tx);
    if (added) {
      added.push(job);
      return;
    }
    const first = [job];
    this.#additions.set(tx, first);
    tx.beforeCommit("jobs", () => this.#insertAll(tx, first));
  }

  /** Adds jobs whose kinds may be missing in the table of tasks, and jobs with keys. */
  async #insertAll(tx: PgTx, jobs: readonly Addition[]): Promise<void> {
    const kinds = [...new Set(jobs.map(({ kind }) => kind))];
    await tx.raw(ADD_KINDS, [kinds], "add_job_kinds");
    tx.afterCommit(() => {
      for (const kind of kinds) this.#kinds.add(kind);
    });
    for (const job of jobs) {
      if (job.dedupeKey === null) tx.defer(this.#insert, toRow(job));
      else await this.#insertKeyed(tx, job, job.dedupeKey);
    }
  }

  async #insertKeyed(tx: PgTx, j: Addition, key: string): Promise<void> {
    // A running job may have missed what happened since, and a dead one will not run: neither keeps its key.
    await tx.raw(`update ${JOBS} set key = null where key = $1 and is_available is not true`, [key], "free_job_key");
    const values = [j.kind, JSON.stringify(j.payload), j.runAt, Math.min(j.maxAttempts, MOST_ATTEMPTS), key, j.createdAt];
    const added = await tx.raw(ADD_KEYED, [...values, LANES.indexOf(j.lane)], "add_keyed_job");
    if (added.length === 0) await tx.raw(KEEP_WAITING, [key], "keep_keyed_job");
  }
}

/** A job without a key as a row of the insert. */
function toRow(j: Addition): unknown[] {
  return [j.kind, JSON.stringify(j.payload), j.runAt, Math.min(j.maxAttempts, MOST_ATTEMPTS), j.createdAt, LANES.indexOf(j.lane)];
}

// Rows carry their position, so that ids follow the order of insertion. A kind that is not in the table of tasks is an error.
function buildInsert(failed: () => void): BulkInsert {
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
