import type { Tx } from "../db/db.ts";
import type { ClaimedJob, JobRow, Lane, LaneJob, PlannedJobs, WorkerRegistry } from "./queue.ts";

/** Database operations of the worker: claiming and ending jobs. */
export interface WorkerStore {
  /** Jobs that may be claimed before a slot is free, at most. Claiming is then one statement for hundreds of short jobs. */
  readonly maxClaimAhead: number;
  /** Transactions that store outcomes of single handlers at the same time, at most. */
  readonly transactionsAtOnce: number;
  /** Claims jobs that are due, up to a limit per lane. Each job goes to one worker. */
  claim(now: number, limits: LaneLimits): Promise<Claim>;
  /** Undoes claims whose attempt has not begun. */
  release(jobs: readonly ClaimedJob[]): Promise<void>;
  /** Puts back claimed jobs whose attempt has not begun because their kind is unknown: they are `unhandled`. */
  setAside(jobs: readonly ClaimedJob[]): Promise<void>;
  /** Ends a job, or schedules it again at `again`. False when another worker has taken it from this attempt. */
  end(tx: Tx, job: ClaimedJob, again: number | undefined): Promise<boolean>;
  /** Ends jobs, and returns the attempts that still held theirs. Two attempts of one job may be among them. */
  endMany(tx: Tx, attempts: readonly ClaimedJob[]): Promise<ReadonlySet<ClaimedJob>>;
  /** Puts a job back after a failure, to run at `runAt`; after its last attempt it is dead. */
  fail(job: ClaimedJob, runAt: number, lastError: string): Promise<void>;
  /** The instant and kind of the first ready job that is due after an instant (ms). */
  next(after: number): Promise<{ at: number; kind: string } | null>;
  /** Runs a transaction. */
  tx<T>(fn: (tx: Tx) => Promise<T>): Promise<T>;
  /** True when an error means that the database cannot work at the moment. */
  isUnavailable(error: unknown): boolean;
  /** True when it says nothing about the job: the database is away, full, or refuses its user. */
  isAway(error: unknown): boolean;
  /**
   * Begins to call `events`, and takes over what dead processes left behind: their attempts are not counted as failures, and a job
   * with `MAX_INTERRUPTIONS` of them in a row is dead. An attempt that ends, whatever its outcome, sets this count to 0.
   * Ready jobs whose kind is none of `kinds` become unhandled, and unhandled ones whose kind is known are ready again.
   */
  open(kinds: readonly string[], events: StoreEvents): Promise<void>;
  close(): Promise<void>;
}

/** Jobs in a database: for the worker, and for those that add, change and list them. */
export interface JobStore extends WorkerStore {
  readonly workers: WorkerRegistry | null;
  /** Adds jobs, in their order; a keyed one only if no job with its key waits. */
  add(tx: Tx, jobs: readonly Addition[]): Promise<void>;
  /**
   * Adds jobs without keys as claimed by this process, and returns them as a claim does: they may begin after the commit. Null where a
   * claim is a statement without a transaction, which costs less than to know the ids of jobs as they are added.
   */
  readonly addClaimed: ((tx: Tx, jobs: readonly Addition[]) => Promise<LaneJob[]>) | null;
  cancel(tx: Tx, kind: string, dedupeKey: string): Promise<void>;
  cancelAllOf(tx: Tx, workspaceId: string, limit: number): Promise<number>;
  /** Moves ready jobs to the instant `now`. */
  advance(tx: Tx, jobs: PlannedJobs, now: number): Promise<void>;
  /** Takes values out of a list in the payload of a job, if this attempt still holds it. Returns those that were in it. */
  omit(tx: Tx, job: ClaimedJob, list: string, values: readonly string[]): Promise<string[]>;
  /** Waits for the transactions that are under way, as far as they delay what can be claimed. */
  writersIdle(): Promise<void>;
  /** Tells the other processes that there may be work. */
  announce(): void;
  revive(tx: Tx, id: string, now: number): Promise<JobRow | null>;
}

/** Number of jobs to claim, by lane. */
export type LaneLimits = Readonly<Record<Lane, number>>;

/** Claimed jobs, and the lanes in which no others are due. */
export interface Claim {
  readonly jobs: readonly LaneJob[];
  readonly drained: readonly Lane[];
}

/** A job as it is stored. */
export interface Addition {
  readonly kind: string;
  readonly payload: Record<string, unknown>;
  readonly runAt: number;
  readonly maxAttempts: number;
  readonly dedupeKey: string | null;
  readonly createdAt: number;
  readonly lane: Lane;
}

/** Callbacks of an open store. */
export interface StoreEvents {
  /** There may be work. */
  wake(): void;
  /** The ids of the jobs this process holds. */
  held(): string[];
}
