import type { Tx } from "../src/db/db.ts";
import type { Claim, LaneLimits, StoreEvents, WorkerStore } from "../src/queue/job-store.ts";
import type { ClaimedJob, Lane, LaneJob } from "../src/queue/queue.ts";

/** A claimed job as tests of the parts of the worker need it. */
export function claimedJob(id: string, lane: Lane = "default"): LaneJob {
  return { id, kind: "work", payload: {}, attempt: 1, interruptions: 0, maxAttempts: 10, lane };
}

/** A store in memory that records the worker's calls. Its transactions only run their work: the laws of the queue cover transactions. */
export class ScriptedStore implements WorkerStore {
  readonly lanes: readonly Lane[] = ["default", "background", "mail", "bulk"];
  readonly transactionsAtOnce = 1;
  maxClaimAhead = 0;
  /** Jobs that are due. */
  due: LaneJob[] = [];
  /** The limits of each claim. */
  readonly claims: LaneLimits[] = [];
  readonly released: string[] = [];
  readonly setAsides: string[] = [];
  readonly ended: string[] = [];
  readonly failed: string[] = [];
  isOpen = false;
  /** Calls of `next` so far. */
  nextAsked = 0;
  nextDue: { at: number; kind: string } | null = null;
  /** Thrown by what is asked next, as often as it is there. */
  readonly errors: Error[] = [];
  /** Holds the answers to claims back while it is not settled. */
  gate: Promise<void> = Promise.resolve();
  events: StoreEvents | null = null;

  async claim(_now: number, limits: LaneLimits): Promise<Claim> {
    this.claims.push(limits);
    this.#throwNext();
    const jobs: LaneJob[] = [];
    const drained: Lane[] = [];
    for (const lane of this.lanes) {
      const own = this.due.filter((job) => job.lane === lane);
      const limit = limits[lane] ?? 0;
      jobs.push(...own.slice(0, limit));
      if (own.length < limit) drained.push(lane);
    }
    this.due = this.due.filter((job) => !jobs.includes(job));
    await this.gate;
    return { jobs, drained };
  }

  async release(jobs: readonly ClaimedJob[]): Promise<void> {
    this.released.push(...jobs.map(({ id }) => id));
  }

  async setAside(jobs: readonly ClaimedJob[]): Promise<void> {
    this.setAsides.push(...jobs.map(({ id }) => id));
  }

  async fail(job: ClaimedJob, runAt: number, lastError: string | null): Promise<void> {
    this.#throwNext();
    this.failed.push(`${job.id} at ${runAt}: ${lastError}`);
  }

  async next(after: number): Promise<{ at: number; kind: string } | null> {
    this.nextAsked += 1;
    return this.nextDue && this.nextDue.at > after ? this.nextDue : null;
  }

  async open(_kinds: readonly string[], events: StoreEvents): Promise<void> {
    this.isOpen = true;
    this.events = events;
  }

  async close(): Promise<void> {
    this.isOpen = false;
  }

  isUnavailable(): boolean {
    return false;
  }

  isAway(): boolean {
    return false;
  }

  async tx<T>(fn: (tx: Tx) => Promise<T>): Promise<T> {
    this.#throwNext();
    return fn({ afterCommit: (hook: () => void) => hook() } as Tx);
  }

  async end(_tx: Tx, { id }: ClaimedJob): Promise<boolean> {
    this.ended.push(id);
    return true;
  }

  async endMany(tx: Tx, jobs: readonly ClaimedJob[]): Promise<ReadonlySet<ClaimedJob>> {
    for (const job of jobs) await this.end(tx, job);
    return new Set(jobs);
  }

  #throwNext(): void {
    const error = this.errors.shift();
    if (error) throw error;
  }
}
