import { and, asc, eq, gt, gte, inArray, ne, notInArray, type SQL, sql } from "drizzle-orm";
import type { Arg, Queries, Reader, Tx } from "../db/db.ts";
import type { SqliteDb } from "../db/sqlite/database.ts";
import { type ClaimedRow, SqliteClaims } from "./claims.sqlite.ts";
import type { Addition, Claim, JobStore, LaneLimits } from "./job-store.ts";
import { isJobId, type JobsTable, SqliteJobListing, toJobRow } from "./listing.sqlite.ts";
import {
  type ClaimedJob,
  INTERRUPTED,
  type JobFilter,
  type JobList,
  type JobRow,
  LANES,
  MAX_INTERRUPTIONS,
  type PlannedJobs,
  type QueueStats,
} from "./queue.ts";
import { type JobState, PAYLOAD_WORKSPACE } from "./tables.ts";

/** Jobs in the SQLite file of a single process: there is no other worker to tell or to take over from. */
export class SqliteJobStore implements JobStore {
  readonly workers = null;
  /** Claiming costs little without a round trip. */
  readonly maxClaimAhead = 0;
  /** There is one writer. */
  readonly transactionsAtOnce = 1;
  readonly #db: SqliteDb;
  readonly #jobs: JobsTable;
  readonly #claims: SqliteClaims;
  readonly #listing: SqliteJobListing;

  constructor(db: SqliteDb, jobs: JobsTable) {
    this.#db = db;
    this.#jobs = jobs;
    this.#claims = new SqliteClaims(db, jobs);
    this.#listing = new SqliteJobListing(jobs);
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

  announce(): void {}

  writersIdle(): Promise<void> {
    return this.#db.writer.idle();
  }

  /** This process holds the lock of the folder, so the process that claimed the jobs that run is dead. */
  open(kinds: readonly string[]): Promise<void> {
    const jobs = this.#jobs;
    return this.#db.tx(async (tx) => {
      const orphaned = eq(jobs.state, "running");
      const interrupted = { lockedUntil: null, interruptions: sql`${jobs.interruptions} + 1` };
      await tx
        .update(jobs)
        .set({ ...interrupted, state: "dead", attempts: jobs.maxAttempts, lastError: INTERRUPTED })
        .where(and(orphaned, gte(jobs.interruptions, MAX_INTERRUPTIONS - 1)));
      await tx
        .update(jobs)
        .set({ ...interrupted, state: "ready", attempts: sql`${jobs.attempts} - 1` })
        .where(orphaned);
      await tx
        .update(jobs)
        .set({ state: "unhandled" })
        .where(and(eq(jobs.state, "ready"), notInArray(jobs.kind, [...kinds])));
      await tx
        .update(jobs)
        .set({ state: "ready" })
        .where(and(eq(jobs.state, "unhandled"), inArray(jobs.kind, [...kinds])));
    });
  }

  async close(): Promise<void> {}

  async add(tx: Tx, jobs: readonly Addition[]): Promise<void> {
    const rows = jobs.map((job) => ({ ...job, lane: LANES.indexOf(job.lane), state: "ready" as const, attempts: 0, interruptions: 0 }));
    if (rows.every(({ dedupeKey }) => dedupeKey === null)) await tx.insertAll(this.#jobs, rows);
    else for (const row of rows) await tx.prepared("enqueue_keyed", (q, _, arg) => this.#insertKeyed(q, arg)).execute(row);
  }

  async cancel(tx: Tx, kind: string, dedupeKey: string): Promise<void> {
    const jobs = this.#jobs;
    await tx.delete(jobs).where(and(eq(jobs.dedupeKey, dedupeKey), eq(jobs.kind, kind), inArray(jobs.state, ["ready", "unhandled"])));
  }

  async cancelAllOf(tx: Tx, workspaceId: string, limit: number): Promise<number> {
    const jobs = this.#jobs;
    const own = tx
      .select({ id: jobs.id })
      .from(jobs)
      .where(and(sql`${PAYLOAD_WORKSPACE} = ${workspaceId}`, ne(jobs.state, "running")))
      .limit(limit);
    return (await tx.delete(jobs).where(inArray(jobs.id, own)).returning({ id: jobs.id })).length;
  }

  async advance(tx: Tx, { kind, runAt, field, values }: PlannedJobs, now: number): Promise<void> {
    const jobs = this.#jobs;
    // Names the lanes, because the index of instants has them before the instants.
    const planned = and(eq(jobs.state, "ready"), inArray(jobs.lane, [...LANES.keys()]), inArray(jobs.runAt, [...runAt]));
    const named = inArray(sql`${jobs.payload} ->> ${field}`, [...values]);
    await tx
      .update(jobs)
      .set({ runAt: now })
      .where(and(planned, eq(jobs.kind, kind), named));
  }

  async omit(tx: Tx, job: ClaimedJob, list: string, values: readonly string[]): Promise<string[]> {
    const { payload } = this.#jobs;
    const [before] = await tx.select({ payload }).from(this.#jobs).where(this.#heldBy(job));
    const listed = before ? (before.payload[list] as readonly string[]) : [];
    const path = `$.${list}`;
    const kept = sql`select json_group_array(value) from json_each(${payload}, ${path}) where ${notInArray(sql`value`, [...values])}`;
    await tx
      .update(this.#jobs)
      .set({ payload: sql`json_set(${payload}, ${path}, json((${kept})))` })
      .where(this.#heldBy(job));
    return values.filter((value) => listed.includes(value));
  }

  claim(now: number, limits: LaneLimits): Promise<Claim> {
    return this.#claims.claim(now, limits);
  }

  release(jobs: readonly ClaimedJob[]): Promise<void> {
    return this.#putBack(jobs, "ready");
  }

  setAside(jobs: readonly ClaimedJob[]): Promise<void> {
    return this.#putBack(jobs, "unhandled");
  }

  async end(tx: Tx, job: ClaimedJob, again: number | undefined): Promise<boolean> {
    if (again === undefined) return this.#deleteHeld(tx, job);
    const { id, maxAttempts } = this.#jobs;
    const dedupeKey = await this.#restoreKey(tx, job);
    const changed = await tx
      .update(this.#jobs)
      .set({ state: "ready", runAt: again, maxAttempts: sql`${maxAttempts} + 1`, interruptions: 0, lockedUntil: null, dedupeKey })
      .where(this.#heldBy(job))
      .returning({ id });
    return changed.length > 0;
  }

  async endMany(tx: Tx, attempts: readonly ClaimedJob[]): Promise<ReadonlySet<ClaimedJob>> {
    const held = new Set<ClaimedJob>();
    for (const job of attempts) if (this.#deleteHeld(tx, job)) held.add(job);
    return held;
  }

  fail(job: ClaimedJob, runAt: number, lastError: string): Promise<void> {
    return this.#db.tx(async (tx) => {
      const isDead = job.attempt >= job.maxAttempts;
      const dedupeKey = isDead ? null : await this.#restoreKey(tx, job);
      await tx
        .update(this.#jobs)
        .set({ state: isDead ? "dead" : "ready", runAt, lockedUntil: null, dedupeKey, lastError, interruptions: 0 })
        .where(this.#heldBy(job));
    });
  }

  async next(after: number): Promise<{ at: number; kind: string } | null> {
    const jobs = this.#jobs;
    let first: { at: number; kind: string } | null = null;
    for (const lane of LANES.keys()) {
      const [next] = await this.#db.read
        .prepared("next_due", (q, _, arg) =>
          q
            .select({ at: jobs.runAt, kind: jobs.kind })
            .from(jobs)
            .where(and(eq(jobs.state, "ready"), eq(jobs.lane, arg("lane")), gt(jobs.runAt, arg("after"))))
            .orderBy(asc(jobs.runAt))
            .limit(1),
        )
        .execute({ after, lane });
      if (next && (first === null || next.at < first.at)) first = next;
    }
    return first;
  }

  list(read: Reader, filter: JobFilter): Promise<JobList> {
    return this.#listing.list(read, filter);
  }

  readStats(read: Reader | Tx): Promise<QueueStats> {
    return this.#listing.readStats(read);
  }

  countUnhandled(read: Reader | Tx): Promise<Record<string, number>> {
    return this.#listing.countUnhandled(read);
  }

  get(read: Reader, id: string): Promise<JobRow | null> {
    return this.#listing.get(read, id);
  }

  async revive(tx: Tx, id: string, now: number): Promise<JobRow | null> {
    const jobs = this.#jobs;
    if (!isJobId(id)) return null;
    const [revived] = await tx
      .update(jobs)
      .set({ state: "ready", attempts: 0, interruptions: 0, runAt: now })
      .where(and(eq(jobs.id, Number(id)), eq(jobs.state, "dead")))
      .returning();
    return revived ? toJobRow(revived) : null;
  }

  #insertKeyed(q: Queries, arg: Arg) {
    const row = {
      kind: arg("kind"),
      payload: arg("payload"),
      state: "ready" as const,
      runAt: arg("runAt"),
      attempts: 0,
      maxAttempts: arg("maxAttempts"),
      dedupeKey: arg("dedupeKey"),
      createdAt: arg("createdAt"),
      lane: arg("lane"),
    };
    return q.insert(this.#jobs).values(row).onConflictDoNothing();
  }

  /** Undoes the claims of jobs whose attempt has not begun. */
  #putBack(jobs: readonly ClaimedJob[], state: JobState): Promise<void> {
    return this.#db.tx(async (tx) => {
      for (const job of jobs)
        await tx
          .update(this.#jobs)
          .set({ state, attempts: job.attempt - 1, lockedUntil: null, dedupeKey: await this.#restoreKey(tx, job) })
          .where(this.#heldBy(job));
    });
  }

  /** The job as this attempt holds it: an attempt that has lost its job matches no row. */
  #heldBy(job: ClaimedJob): SQL | undefined {
    const { id, attempts, interruptions, state } = this.#jobs;
    return and(eq(id, Number(job.id)), eq(attempts, job.attempt), eq(interruptions, job.interruptions), eq(state, "running"));
  }

  /** The key a job gets back when it is ready again: its own, unless another job has taken it meanwhile. */
  async #restoreKey(tx: Tx, job: ClaimedJob): Promise<string | null> {
    const { dedupeKey } = job as ClaimedRow;
    return dedupeKey === null || (await tx.$count(this.#jobs, eq(this.#jobs.dedupeKey, dedupeKey))) > 0 ? null : dedupeKey;
  }

  /** Deletes a job that this attempt holds. The count of changed rows costs half of returning one. */
  #deleteHeld(tx: Tx, job: ClaimedJob): boolean {
    const { id, attempts, interruptions, state } = this.#jobs;
    const deleted = tx
      .prepared("end_job", (q, _, arg) =>
        q
          .delete(this.#jobs)
          .where(and(eq(id, arg("id")), eq(attempts, arg("attempt")), eq(interruptions, arg("interruptions")), eq(state, "running"))),
      )
      .execute({ id: Number(job.id), attempt: job.attempt, interruptions: job.interruptions });
    return (deleted as unknown as { changes: number }).changes > 0;
  }
}
