import type { Reader, Tx } from "../db/db.ts";
import type { Total } from "../db/pagination.ts";
import type { Pause } from "./pause.ts";
import type { JobState } from "./tables.ts";

/**
 * The lanes of jobs. Those of `background` make bulk mail: they run while none is due, so that one campaign does not hold up the mail of
 * others, and not while sending is paused. A job is stored with the index of its lane.
 */
export const JOB_LANES = ["default", "background"] as const;

/**
 * The lanes of work. Each has its own slots, so that mail that waits for a slow server does not hold up other work, and bulk mail does not
 * hold up single mails. Emails wait in a table of their own.
 */
export type Lane = (typeof JOB_LANES)[number] | "mail" | "bulk";

/**
 * A job is dead after this many interruptions in a row: attempts that the process did not survive. They are counted apart from failed
 * attempts, because a process that dies interrupts every job it had claimed; only a job that itself ends the process gets this far.
 */
export const MAX_INTERRUPTIONS = 100;
/** The last error of such a job. */
export const INTERRUPTED = `The process died in each of the last ${MAX_INTERRUPTIONS} attempts.`;

/** Attempts of a job that hands over a mail of the service itself, such as an invitation: they last for about a day. */
export const ATTEMPTS_OF_OWN_MAIL = 35;

/** Work to be done later, at least once. */
export interface NewJob {
  /** Selects the handler, e.g. `email.deliver`. */
  kind: string;
  payload: Record<string, unknown>;
  /** Not before this instant (ms); at once when absent. */
  runAt?: number;
  /** While a job with this key is ready, another one is not added. */
  dedupeKey?: string;
  /** Attempts that may throw before the job is dead; 10 when absent. */
  maxAttempts?: number;
  /** `default` when absent. */
  lane?: (typeof JOB_LANES)[number];
}

/** A job as its handler sees it. */
export interface ClaimedJob {
  readonly id: string;
  readonly kind: string;
  readonly payload: Record<string, unknown>;
  /** 1 on the first attempt. Interrupted attempts are not counted. */
  readonly attempt: number;
  /** Attempts directly before this one that the process did not survive. */
  readonly interruptions: number;
  readonly maxAttempts: number;
}

/** A claimed job, and the lane it came in. */
export interface LaneJob extends ClaimedJob {
  readonly lane: Lane;
}

/** The result of an attempt. `commit` runs in the transaction that ends the job, so that effect and end are one. */
export interface Outcome {
  commit?: (tx: Tx) => Promise<void>;
  /** Runs the job again at this instant (ms), as planned: no failure is counted. */
  again?: number;
}

/**
 * Runs one attempt, outside any transaction, and returns what to commit. Throwing means that the attempt failed: the job backs
 * off, and after its last attempt it is kept as dead.
 */
export type JobHandler = (job: ClaimedJob) => Promise<Outcome>;

/** The result of a job that a batch handler ran, or of a part of it. */
export type BatchOutcome<Effect> =
  | {
      /** Written by the handler's `commit`, in the transaction that ends the job. */
      readonly effect?: Effect | undefined;
      /** Runs the job again at this instant (ms), as planned: no failure is counted. */
      readonly again?: number | undefined;
      /** True if the job goes on: only the effect is committed. */
      readonly more?: boolean | undefined;
      /** About how much the effect writes, if that is much: large effects do not share a transaction with many others. */
      readonly bytes?: number | undefined;
    }
  /** The attempt failed, as if a single handler had thrown. */
  | { readonly error: unknown };

/**
 * Stores an outcome, and resolves once it is durable. Outcomes of one turn of the event loop share a transaction; one that cannot
 * be stored fails its own job only. Rejects for an outcome with `more` that cannot be stored; the job then still runs.
 */
export type Settle<Effect> = (job: ClaimedJob, outcome: BatchOutcome<Effect>) => Promise<void>;

/** Runs many jobs at a time, and settles each one when it is done. */
export interface BatchHandler<Effect = unknown> {
  /** Returns the number of further jobs of a lane that it takes now. Asked before each claim. */
  freeSlots(lane: Lane): number;
  /** Begins one attempt of each job. Each must be settled once without `more`. Must not throw. */
  run(jobs: readonly LaneJob[], settle: Settle<Effect>): void;
  /** Writes the effects of jobs that settled together. When it throws, it is called again for each effect alone. */
  commit(tx: Tx, effects: readonly Effect[]): Promise<void>;
  /** The effect that ends a job whose last attempt has failed. Without it the job is dead. */
  giveUp?(job: ClaimedJob): Effect;
}

export type JobHandlers = Readonly<Record<string, JobHandler | BatchHandler>>;

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
  /** Only jobs with a smaller id. */
  below?: number | undefined;
  limit: number;
  offset: number;
}

/** A page of jobs, the latest first, and how many there are in all pages. */
export interface JobList extends Total {
  readonly rows: JobRow[];
}

/** Work that is stored in a table of its own, such as emails. */
export interface StoredWork {
  readonly lane: Lane;
  /** The instant at which it is due, ms: the last one of several. */
  readonly dueAt: number;
  /** The same as jobs, if it is due and was stored just now: it may begin without a claim. */
  readonly jobs?: readonly LaneJob[];
}

/** Amount of work in the queue, for monitoring. */
export interface QueueStats {
  /** Jobs by state, each counted up to 10,000, and emails: those that wait are `ready`, those in delivery `running`. */
  readonly jobs: Readonly<Record<JobState, number>>;
  /** Due time of the work that has waited longest, ms; null if none waits. In the future while none is due. */
  readonly oldestDueAt: number | null;
}

/** The server processes that share one database, by the names under which they claim jobs. */
export interface WorkerRegistry {
  /** The name of this process. Each start of its queue gives it a new one; empty before the first. */
  readonly name: string;
  /** Number of live processes, this one included, as of the last heartbeat. */
  readonly live: number;
  /** The processes that are alive. One that died is included for some seconds more. */
  liveWorkers(): Promise<string[]>;
  /** Sets the callback that runs when this process finds that another one has died. */
  onDeath(fn: () => void): void;
  /** Sets the callback that takes over what dead processes had claimed in other tables. It runs after each heartbeat. */
  onBeat(fn: () => Promise<void>): void;
}

/** The queue as features see it. `queue.laws.ts` is the suite that it passes on both databases. */
export interface Queue {
  /** Null where this process is the only one. */
  readonly workers: WorkerRegistry | null;
  /** Adds jobs in the caller's transaction, in their order: they exist if and only if that commits. */
  enqueue(tx: Tx, ...jobs: readonly NewJob[]): Promise<void>;
  /** Removes the jobs of a kind that are ready and have this key; those that run or are dead stay. */
  cancel(tx: Tx, kind: string, dedupeKey: string): Promise<void>;
  /** Removes some of the jobs whose payload names a workspace, except those that run. Returns how many. */
  cancelAllOf(tx: Tx, workspaceId: string, limit: number): Promise<number>;
  /** Tells that this transaction stores work in a table of its own, or makes it due. */
  announce(tx: Tx, work: StoredWork): Promise<void>;
  /** Starts running jobs with these handlers: `concurrency` single ones at a time, and as many as the batch handlers have slots for. */
  start(handlers: JobHandlers, concurrency: number): Promise<void>;
  /** Claims no further jobs, and waits for those that run. */
  stop(): Promise<void>;
  /** True from the call of `stop` until the next start: what waits for something that may take long gives up. */
  isStopping(): boolean;
  /** Waits until nothing runs and nothing is due at the present instant. */
  idle(): Promise<void>;
  /** Looks for due jobs, after the table was changed from outside (a restored snapshot). */
  refresh(): void;
  /** Stops all mail and what makes bulk mail, on all processes and until `resume`. What is under way goes on. */
  pause(tx: Tx, reason: string | null): Promise<void>;
  resume(tx: Tx): Promise<void>;
  /** The pause that stands; null when there is none. */
  readPause(q: Tx | Reader): Promise<Pause | null>;
  list(read: Reader, filter: JobFilter): Promise<JobList>;
  /** Counts the jobs of all workspaces, for monitoring. */
  readStats(read: Reader | Tx): Promise<QueueStats>;
  /** Gives a dead job a fresh set of attempts; null when there is no dead job with this id. */
  retry(tx: Tx, id: string): Promise<JobRow | null>;
  /**
   * Counts the jobs that wait for a build that knows their kind, by kind: jobs of a newer version after a downgrade, or of a kind
   * that was renamed. Stops at 10,000 jobs.
   */
  countUnhandled(read: Reader | Tx): Promise<Record<string, number>>;
  get(read: Reader, id: string): Promise<JobRow | null>;
}
