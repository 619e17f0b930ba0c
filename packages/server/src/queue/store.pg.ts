import type { Reader, Tx } from "../db/db.ts";
import type { PostgresDb } from "../db/postgres/database.ts";
import type { PgTx } from "../db/postgres/transactions.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { Random } from "../lib/random.ts";
import { Heartbeat, type HeartbeatTimes } from "./heartbeat.pg.ts";
import { JobInserts } from "./job-inserts.pg.ts";
import type { Addition, Claim, JobStore, LaneLimits, StoreEvents } from "./job-store.ts";
import { countUnhandled, findJob, isJobId, listJobs, raw, readStats } from "./listing.pg.ts";
import {
  type ClaimedJob,
  type JobFilter,
  type JobList,
  type JobRow,
  LANES,
  type PlannedJobs,
  type QueueStats,
  type WorkerRegistry,
} from "./queue.ts";
import { JOB_STATES, JOB_WORKSPACE, UNHANDLED } from "./schema.pg.ts";
import { ADVANCE, at, CLAIM, type ClaimedRow, COLUMNS, END_ALL, HELD, JOBS, NEXT, SET_UNKNOWN_ASIDE, TASKS } from "./statements.pg.ts";

export interface PostgresStoreOptions extends HeartbeatTimes {
  db: PostgresDb;
  clock: Clock;
  random: Random;
  log: Log;
}

/** The job as one attempt holds it. */
type Held = [id: string, worker: string, attempt: number, interruptions: number, claimedAt: number];

/** A claimed job, with what only this store knows of it. */
type PgClaimedJob = ClaimedJob & Pick<ClaimedRow, "claimedAt">;

/**
 * Jobs in the tables of graphile-worker, for any number of server processes. graphile-worker's own loop ends a job in a
 * transaction of its own after the task has returned, and knows only the time of the database. Here effect and end are one
 * transaction and time is the app's clock, so claiming and ending are our statements.
 *
 * Jobs are inserted by one statement without NOTIFY, and not through `add_job`: on two cores with 16 connections that was 3,160
 * against 1,010 transactions a second, because `add_job` announces each job in its transaction, and commits that notify wait for
 * each other, fsync included. bench/postgres compares both loops in one run.
 */
export class PostgresJobStore implements JobStore {
  readonly maxClaimAhead = 512;
  /** A quarter of the pool. */
  readonly transactionsAtOnce = 4;
  readonly #db: PostgresDb;
  readonly #heartbeat: Heartbeat;
  readonly #inserts: JobInserts;

  constructor({ db, clock, random, log, beatMs, deadMs }: PostgresStoreOptions) {
    this.#db = db;
    this.#inserts = new JobInserts(db);
    const makeName = (): string => `mailsvc_${Buffer.from(random.bytes(9)).toString("hex")}_${process.pid}`;
    this.#heartbeat = new Heartbeat({ db, real: clock.real, log, makeName, beatMs, deadMs });
  }

  get workers(): WorkerRegistry {
    return this.#heartbeat;
  }

  tx<T>(fn: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#db.tx(fn);
  }

  isUnavailable(error: unknown): boolean {
    return this.#db.isUnavailable(error);
  }

  isAway(error: unknown): boolean {
    return this.#db.isAway(error);
  }

  announce(): void {
    this.#heartbeat.announce();
  }

  async writersIdle(): Promise<void> {}

  async open(kinds: readonly string[], events: StoreEvents): Promise<void> {
    await this.#inserts.addKinds(kinds);
    await this.#db.read.raw(SET_UNKNOWN_ASIDE, [kinds]);
    await this.#heartbeat.open(kinds, events);
  }

  close(): Promise<void> {
    return this.#heartbeat.close();
  }

  async add(tx: Tx, jobs: readonly Addition[]): Promise<void> {
    for (const job of jobs) this.#inserts.add(tx as PgTx, job);
  }

  async cancel(tx: Tx, kind: string, dedupeKey: string): Promise<void> {
    await raw(tx)(
      `delete from ${JOBS} j using ${TASKS} t where j.key = $2 and t.id = j.task_id and t.identifier = $1 and j.is_available`,
      [kind, dedupeKey],
      "cancel_job",
    );
  }

  async cancelAllOf(tx: Tx, workspaceId: string, limit: number): Promise<number> {
    const rows = await raw(tx)<{ one: number }>(
      `delete from ${JOBS} where id in
         (select j.id from ${JOBS} j where ${JOB_WORKSPACE} = $1 and j.locked_at is null limit $2 for update skip locked) returning 1 as one`,
      [workspaceId, limit],
      "cancel_jobs_of_workspace",
    );
    return rows.length;
  }

  async advance(tx: Tx, { kind, runAt, field, values }: PlannedJobs, now: number): Promise<void> {
    await raw(tx)(ADVANCE, [kind, LANES.map((_, lane) => lane), runAt, field, values, now], "advance_jobs");
  }

  async omit(tx: Tx, job: ClaimedJob, list: string, values: readonly string[]): Promise<string[]> {
    const [row] = await raw(tx)<{ listed: readonly string[] }>(
      `with held as (select j.id, j.payload::jsonb as payload from ${JOBS} j where ${HELD} for update)
       update ${JOBS} j set payload = jsonb_set(held.payload, array[$6::text], (held.payload -> $6::text) - $7::text[])::json
       from held where j.id = held.id returning held.payload -> $6::text as listed`,
      [...this.#held(job), list, values],
      "omit_from_job",
    );
    return values.filter((value) => row?.listed.includes(value));
  }

  async claim(now: number, limits: LaneLimits): Promise<Claim> {
    const rows = await this.#db.read.raw<ClaimedRow & Record<string, unknown>>(
      CLAIM,
      [this.#heartbeat.name, now, LANES.map((lane) => limits[lane])],
      "claim_jobs",
    );
    const jobs = rows
      .sort((a, b) => a.runAt - b.runAt || Number(a.id) - Number(b.id))
      .map(({ attempts, lane, runAt: _, ...row }) => ({ ...row, attempt: attempts, lane: LANES[lane] ?? "default" }));
    return { jobs, drained: LANES.filter((lane) => jobs.filter((job) => job.lane === lane).length < limits[lane]) };
  }

  async release(jobs: readonly ClaimedJob[]): Promise<void> {
    await this.#db.read.raw(
      `update ${JOBS} set attempts = attempts - 1, locked_by = null, locked_at = null where id = any($1::bigint[]) and locked_by = $2`,
      [jobs.map((j) => j.id), this.#heartbeat.name],
    );
  }

  async setAside(jobs: readonly ClaimedJob[]): Promise<void> {
    await this.#db.read.raw(
      `update ${JOBS} set attempts = attempts - 1, locked_by = null, locked_at = null, priority = priority + ${UNHANDLED}
       where id = any($1::bigint[]) and locked_by = $2`,
      [jobs.map((j) => j.id), this.#heartbeat.name],
    );
  }

  async end(tx: Tx, job: ClaimedJob, again: number | undefined): Promise<boolean> {
    const rows =
      again === undefined
        ? await raw(tx)(`delete from ${JOBS} j where ${HELD} returning 1 as one`, this.#held(job), "end_job")
        : await raw(tx)(
            `update ${JOBS} j set attempts = attempts - 1, run_at = ${at("$6")}, locked_by = null, locked_at = null, flags = null
             where ${HELD} returning 1 as one`,
            [...this.#held(job), again],
            "job_again",
          );
    return rows.length > 0;
  }

  async endMany(tx: Tx, jobs: readonly ClaimedJob[]): Promise<ReadonlySet<ClaimedJob>> {
    if (jobs.length === 0) return new Set();
    const rows = await raw(tx)<{ position: number }>(`${END_ALL} returning n.position::int as position`, this.#heldAll(jobs), "end_many");
    return new Set(rows.map(({ position }) => jobs[position - 1] as ClaimedJob));
  }

  async fail(job: ClaimedJob, runAt: number, lastError: string): Promise<void> {
    await this.#db.read.raw(
      `update ${JOBS} j set run_at = ${at("$6")}, last_error = $7, locked_by = null, locked_at = null, flags = null where ${HELD}`,
      // Postgres cannot store U+0000 in a text.
      [...this.#held(job), runAt, lastError.replaceAll("\0", "\uFFFD")],
      "fail_job",
    );
  }

  async next(after: number): Promise<{ at: number; kind: string } | null> {
    const [row] = await this.#db.read.raw<{ at: number; kind: string }>(NEXT, [after], "next_job");
    return row ?? null;
  }

  list(read: Reader, filter: JobFilter): Promise<JobList> {
    return listJobs(read, filter);
  }

  readStats(read: Reader | Tx): Promise<QueueStats> {
    return readStats(read);
  }

  countUnhandled(read: Reader | Tx): Promise<Record<string, number>> {
    return countUnhandled(read);
  }

  get(read: Reader, id: string): Promise<JobRow | null> {
    return findJob(read, id);
  }

  async revive(tx: Tx, id: string, now: number): Promise<JobRow | null> {
    if (!isJobId(id)) return null;
    const [row] = await raw(tx)<JobRow & Record<string, unknown>>(
      `update ${JOBS} j set attempts = 0, flags = null, run_at = ${at("$2")} from ${TASKS} t
       where j.id = $1::bigint and t.id = j.task_id and ${JOB_STATES.dead} returning ${COLUMNS}`,
      [id, now],
    );
    return row ?? null;
  }

  #held(job: ClaimedJob): Held {
    return [job.id, this.#heartbeat.name, job.attempt, job.interruptions, (job as PgClaimedJob).claimedAt];
  }

  #heldAll(jobs: readonly ClaimedJob[]): unknown[] {
    const held = jobs.map((job) => this.#held(job));
    return [held.map(([id]) => id), ...[2, 3, 4].map((column) => held.map((one) => one[column])), this.#heartbeat.name];
  }
}
