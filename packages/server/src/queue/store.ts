import { and, eq, inArray, lte, ne, notInArray, type SQL, sql } from "drizzle-orm";
import type { Db, Schema, Tx } from "../db/db.ts";
import type { Addition, Claim, JobStore, LaneLimits, StoreEvents } from "./job-store.ts";
import { findNextDue, isJobId, toJobRow } from "./listing.ts";
import { isPaused } from "./pause.ts";
import { type ClaimedJob, JOB_LANES, type JobRow, type LaneJob, type WorkerRegistry } from "./queue.ts";
import { type JobState, PAYLOAD_WORKSPACE, READY } from "./tables.ts";

type JobsTable = Schema["jobs"];
/** A job that is added. */
export type NewJobRow = Omit<JobsTable["$inferSelect"], "id">;
type HeldRow = Pick<JobsTable["$inferSelect"], "id" | "claims" | "attempts" | "state">;

/** A claimed job, with what only the store knows of it. */
interface ClaimedRow extends LaneJob {
  readonly claims: number;
}

/** The columns of a job that no attempt holds any more. */
const LET_GO = { claimedBy: null, claimedAt: null } as const;

const WAITING: readonly JobState[] = ["ready", "unhandled"];

/**
 * Jobs in the table `jobs`. `store.sqlite.ts` and `store.pg.ts` hold the differences between the databases: the list of
 * processes, and the transactions in which jobs are claimed and jobs with keys are added.
 *
 * Claiming and ending are statements of our own, because a job's effect and its end are one transaction and time is the app's
 * clock.
 */
export abstract class TableJobStore<Database extends Db> implements JobStore {
  abstract readonly workers: WorkerRegistry | null;
  readonly lanes = JOB_LANES;
  abstract readonly maxClaimAhead: number;
  abstract readonly transactionsAtOnce: number;
  protected readonly db: Database;

  constructor(db: Database) {
    this.db = db;
  }

  abstract open(kinds: readonly string[], events: StoreEvents): Promise<void>;
  abstract close(): Promise<void>;
  abstract announce(): void;
  abstract writersIdle(): Promise<void>;
  /** Runs one statement in a transaction of its own, which sees what is committed when it begins. */
  protected abstract alone<T>(fn: (tx: Tx) => Promise<T>): Promise<T>;
  /** The process that claims a job, and the instant. */
  protected abstract readonly claimant: Pick<JobsTable["$inferSelect"], "claimedBy"> & { readonly claimedAt: SQL };
  /** Inserts jobs in this transaction, with `insertRows`, and keeps those waiting whose keys the others have. */
  protected abstract addRows(tx: Tx, rows: readonly NewJobRow[]): Promise<void>;

  tx<T>(fn: (tx: Tx) => Promise<T>): Promise<T> {
    return this.db.tx(fn);
  }

  isUnavailable(error: unknown): boolean {
    return this.db.isUnavailable(error);
  }

  isAway(error: unknown): boolean {
    return this.db.isAway(error);
  }

  add(tx: Tx, jobs: readonly Addition[]): Promise<void> {
    return this.addRows(tx, jobs.map(toNewRow));
  }

  async cancel(tx: Tx, kind: string, dedupeKey: string): Promise<void> {
    const { jobs } = tx.t;
    await tx.delete(jobs).where(and(eq(jobs.dedupeKey, dedupeKey), eq(jobs.kind, kind), inArray(jobs.state, [...WAITING])));
  }

  async cancelAllOf(tx: Tx, workspaceId: string, limit: number): Promise<number> {
    const { jobs } = tx.t;
    const own = tx
      .select({ id: jobs.id })
      .from(jobs)
      .where(and(sql`${PAYLOAD_WORKSPACE} = ${workspaceId}`, ne(jobs.state, "running")))
      .limit(limit);
    const cancelled = await tx
      .delete(jobs)
      .where(inArray(jobs.id, tx.sqlDialect.passingLocked(own)))
      .returning({ id: jobs.id });
    return cancelled.length;
  }

  async claim(now: number, limits: LaneLimits): Promise<Claim> {
    const rows = await this.alone((tx) => this.#claim(tx, now, limits));
    const jobs = rows
      .sort((a, b) => a.runAt - b.runAt || a.id - b.id)
      .map(({ id, attempts, lane, runAt: _, ...row }): ClaimedRow => {
        return { ...row, id: String(id), attempt: attempts, lane: JOB_LANES[lane] ?? "default" };
      });
    return { jobs, drained: JOB_LANES.filter((lane) => jobs.filter((job) => job.lane === lane).length < (limits[lane] ?? 0)) };
  }

  /** One statement for both lanes. */
  #claim(tx: Tx, now: number, { default: most = 0, background = 0 }: LaneLimits) {
    const { sqlDialect } = tx;
    return tx
      .prepared("claim_jobs", (q, t, arg) => {
        const { jobs } = t;
        const due = JOB_LANES.map((lane, index) => {
          const limit = lane === "background" ? sql`case when ${isPaused(t)} then 0 else ${arg(lane)} end` : arg(lane);
          return sqlDialect.passingLocked(
            q
              .select({ id: jobs.id })
              .from(jobs)
              .where(and(READY, sql`${jobs.lane} = ${sql.raw(String(index))}`, lte(jobs.runAt, arg("now"))))
              .orderBy(jobs.runAt)
              .limit(limit as ReturnType<typeof arg>),
          );
        });
        return q
          .update(jobs)
          .set({
            state: "running",
            attempts: sql`${jobs.attempts} + 1`,
            claims: sql`${jobs.claims} + 1`,
            claimedBy: sql`${arg("claimedBy")}`,
            claimedAt: this.claimant.claimedAt,
          })
          .where(sqlDialect.amongFound(jobs.id, due))
          .returning({
            id: jobs.id,
            kind: jobs.kind,
            payload: jobs.payload,
            attempts: jobs.attempts,
            maxAttempts: jobs.maxAttempts,
            interruptions: jobs.interruptions,
            claims: jobs.claims,
            lane: jobs.lane,
            runAt: jobs.runAt,
          });
      })
      .execute({ now, claimedBy: this.claimant.claimedBy, default: most, background });
  }

  release(jobs: readonly ClaimedJob[]): Promise<void> {
    return this.#putBack(jobs, "ready");
  }

  setAside(jobs: readonly ClaimedJob[]): Promise<void> {
    return this.#putBack(jobs, "unhandled");
  }

  async end(tx: Tx, job: ClaimedJob, again: number | undefined): Promise<boolean> {
    if (again === undefined) return (await tx.deleteAll(tx.t.jobs, [toHeld(job)]))[0] === true;
    const set = { ...LET_GO, state: "ready" as const, runAt: again, attempts: job.attempt - 1, interruptions: 0 };
    return (await tx.updateAll(tx.t.jobs, [{ where: toHeld(job), set }]))[0] === true;
  }

  async endMany(tx: Tx, attempts: readonly ClaimedJob[]): Promise<ReadonlySet<ClaimedJob>> {
    const held = await tx.deleteAll(tx.t.jobs, attempts.map(toHeld));
    return new Set(attempts.filter((_, i) => held[i]));
  }

  async fail(job: ClaimedJob, runAt: number, error: string | null): Promise<void> {
    if (error === null) return void (await this.tx((tx) => this.end(tx, job, runAt)));
    const state: JobState = job.attempt >= job.maxAttempts ? "dead" : "ready";
    // Postgres cannot store U+0000 in a text.
    const lastError = error.replaceAll("\0", "\uFFFD");
    const set = { ...LET_GO, state, runAt, lastError, interruptions: 0 };
    await this.alone((tx) => tx.updateAll(tx.t.jobs, [{ where: toHeld(job), set }]));
  }

  next(after: number): Promise<{ at: number; kind: string } | null> {
    return findNextDue(this.db.read, after);
  }

  async revive(tx: Tx, id: string, now: number): Promise<JobRow | null> {
    const { jobs } = tx.t;
    if (!isJobId(id)) return null;
    const [revived] = await tx
      .update(jobs)
      .set({ state: "ready", attempts: 0, interruptions: 0, runAt: now })
      .where(and(eq(jobs.id, Number(id)), eq(jobs.state, "dead")))
      .returning();
    return revived ? toJobRow(revived) : null;
  }

  /** Makes ready jobs unhandled whose kind is none of `kinds`. */
  protected async setUnknownAside(tx: Tx, kinds: readonly string[]): Promise<void> {
    const { jobs } = tx.t;
    await tx
      .update(jobs)
      .set({ state: "unhandled" })
      .where(and(READY, notInArray(jobs.kind, [...kinds])));
  }

  /** Inserts jobs in their order, those with keys last, and returns the keys with which others wait. */
  protected async insertRows(tx: Tx, rows: readonly NewJobRow[]): Promise<string[]> {
    const keyless = rows.filter(({ dedupeKey }) => dedupeKey === null);
    if (keyless.length > 0) await tx.insertAll(tx.t.jobs, keyless, { newKeys: true });
    const taken: string[] = [];
    for (const row of rows) if (row.dedupeKey !== null && !(await this.#insertKeyed(tx, row))) taken.push(row.dedupeKey);
    return taken;
  }

  /** Adds a job if none with its key waits. Returns whether it was added. */
  async #insertKeyed(tx: Tx, row: NewJobRow): Promise<boolean> {
    // A running job may have missed what happened since, and a dead one will not run: neither keeps its key.
    await tx
      .prepared("free_job_key", (q, { jobs }, arg) =>
        q
          .update(jobs)
          .set({ dedupeKey: null })
          .where(and(eq(jobs.dedupeKey, arg("key")), notInArray(jobs.state, [...WAITING]))),
      )
      .execute({ key: row.dedupeKey });
    const added = await tx.insert(tx.t.jobs).values(row).onConflictDoNothing().returning({ id: tx.t.jobs.id });
    return added.length > 0;
  }

  /** Undoes the claims of jobs whose attempt has not begun. */
  async #putBack(jobs: readonly ClaimedJob[], state: JobState): Promise<void> {
    const changes = jobs.map((job) => ({ where: toHeld(job), set: { ...LET_GO, state, attempts: job.attempt - 1 } }));
    await this.alone((tx) => tx.updateAll(tx.t.jobs, changes));
  }
}

/** The row of a job as this attempt holds it: an attempt that has lost its job finds none. */
function toHeld(job: ClaimedJob): HeldRow {
  return { id: Number(job.id), claims: (job as ClaimedRow).claims, attempts: job.attempt, state: "running" };
}

function toNewRow(job: Addition): NewJobRow {
  const lane = JOB_LANES.indexOf(job.lane);
  return { ...job, ...LET_GO, lane, state: "ready", attempts: 0, claims: 0, interruptions: 0, lastError: null };
}
