import type { Reader, Tx } from "../db/db.ts";
import type { ClaimedJob, JOB_LANES, JobRow, Lane, LaneJob, WorkerRegistry } from "./queue.ts";

/** Database operations of a worker: claiming and ending its jobs. Work in a table of its own is made into jobs when it is claimed. */
export interface WorkerStore {
  /** The lanes of its jobs, from first to last. */
  readonly lanes: readonly Lane[];
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
  /**
   * Ends a job, or schedules it again at `again`. False when another worker has taken it from this attempt. Where the effects of batch
   * handlers end their jobs themselves, nothing is left to be done.
   */
  end(tx: Tx, job: ClaimedJob, again: number | undefined): Promise<boolean>;
  /** Ends jobs, and returns the attempts that still held theirs. Two attempts of one job may be among them. */
  endMany(tx: Tx, attempts: readonly ClaimedJob[]): Promise<ReadonlySet<ClaimedJob>>;
  /** Puts a job back after a failure, to run at `runAt`; after its last attempt it is dead. Without an error the attempt is not counted. */
  fail(job: ClaimedJob, runAt: number, lastError: string | null): Promise<void>;
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
  cancel(tx: Tx, kind: string, dedupeKey: string): Promise<void>;
  cancelAllOf(tx: Tx, workspaceId: string, limit: number): Promise<number>;
  /** Waits for the transactions that are under way, as far as they delay what can be claimed. */
  writersIdle(): Promise<void>;
  /** Tells the other processes that there may be work. */
  announce(): void;
  revive(tx: Tx, id: string, now: number): Promise<JobRow | null>;
}

/** Work that is stored in a table of its own, and run by a worker of its own. */
export interface WorkSource extends WorkerStore {
  /** True if this process may begin what it has just stored without a claim, because there is no other process. */
  readonly beginsStored: boolean;
  /** Counts the work that waits and that is under way, each up to 10,000, and the first instant at which some is due, ms. */
  readStats(read: Reader | Tx): Promise<{ waiting: number; running: number; dueAt: number | null }>;
}

/** Number of jobs to claim, by lane. */
export type LaneLimits = Readonly<Partial<Record<Lane, number>>>;

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
  readonly lane: (typeof JOB_LANES)[number];
}

/** Callbacks of an open store. */
export interface StoreEvents {
  /** There may be work. */
  wake(): void;
  /** The jobs this process holds. */
  held(): ClaimedJob[];
}
