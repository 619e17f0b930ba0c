import type { Reader, Tx } from "../db/db.ts";
import type { JobState } from "./tables.ts";

/** Work to be done later, at least once. */
export interface NewJob {
  /** Which handler runs it, e.g. `email.deliver`. */
  kind: string;
  payload: Record<string, unknown>;
  /** Not before this instant (ms); at once when absent. */
  runAt?: number;
  /** While a job with this key waits, another one is not added. */
  dedupeKey?: string;
  /** Attempts that may throw before the job is dead; 10 when absent. */
  maxAttempts?: number;
}

/** A job as its handler sees it. */
export interface ClaimedJob {
  readonly id: string;
  readonly kind: string;
  readonly payload: Record<string, unknown>;
  /** 1 on the first attempt. */
  readonly attempt: number;
  readonly maxAttempts: number;
}

/** How an attempt ended. `commit` runs in the transaction that ends the job, so effect and end are one. */
export interface Outcome {
  commit?: (tx: Tx) => Promise<void>;
  /** Run the job again at this instant, as part of its plan: no failure is counted. */
  again?: number;
}

/**
 * Runs one attempt, outside any transaction, and says what to commit. Throwing means a failure of ours: the job backs
 * off, and after its last attempt it is kept as dead.
 */
export type JobHandler = (job: ClaimedJob) => Promise<Outcome>;

export interface JobRow {
  id: string;
  kind: string;
  state: JobState;
  payload: Record<string, unknown>;
  attempts: number;
  maxAttempts: number;
  runAt: number;
  lastError: string | null;
  createdAt: number;
}

export interface JobFilter {
  /** Only jobs whose payload names this workspace. */
  workspaceId?: string | undefined;
  state?: JobState | undefined;
  limit: number;
  offset: number;
}

/** The server processes that work from one database, by the names under which they take work. */
export interface WorkerRegistry {
  /** This process's. Each start of its queue gives it another one; empty before the first. */
  readonly name: string;
  /** All that live, as far as can be told: one that died counts for some seconds more. */
  liveWorkers(): Promise<string[]>;
  /** Calls `fn`, the last one given, whenever this process has found out that another one died. */
  onDeath(fn: () => void): void;
}

/** The port both queues implement; `queue.laws.ts` is the suite they pass. */
export interface Queue {
  /** Null where this process is the only one. */
  readonly workers: WorkerRegistry | null;
  /** Adds a job in the caller's transaction: it exists if and only if that commits. */
  enqueue(tx: Tx, job: NewJob): Promise<void>;
  /** Starts running jobs with these handlers, `concurrency` at a time. */
  start(handlers: Readonly<Record<string, JobHandler>>, concurrency: number): Promise<void>;
  /** Takes no further jobs, and waits for those that run. */
  stop(): Promise<void>;
  /** Waits until nothing runs and nothing is due at the present instant. */
  idle(): Promise<void>;
  /** Looks at the table again, after it was changed from outside (a restored snapshot). */
  refresh(): void;
  list(read: Reader, filter: JobFilter): Promise<{ rows: JobRow[]; total: number }>;
  /** Gives a dead job a fresh set of attempts; null when there is none with this id, or it is not dead. */
  retry(tx: Tx, id: string): Promise<JobRow | null>;
  get(read: Reader, id: string): Promise<JobRow | null>;
}

// 1 s, 2 s, 4 s … up to an hour.
const FIRST_DELAY = 1000;
const MAX_DELAY = 3_600_000;

/** How long to wait after the n-th failed attempt, in ms: doubling, with 20 % of jitter so that failures do not march in step. */
export function backoff(attempt: number, fraction: number): number {
  return Math.round(Math.min(FIRST_DELAY * 2 ** (attempt - 1), MAX_DELAY) * (0.8 + 0.4 * fraction));
}
