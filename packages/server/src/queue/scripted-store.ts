import type { Claim, LaneLimits, StoreEvents, WorkerStore } from "./job-store.ts";
import { type ClaimedJob, LANES, type Lane, type LaneJob } from "./queue.ts";

/** A claimed job as tests of the parts of the worker need it. */
export function claimedJob(id: string, lane: Lane = "default"): LaneJob {
  return { id, kind: "work", payload: {}, attempt: 1, interruptions: 0, maxAttempts: 10, lane };
}

/** A store in memory that records what the worker asks of it. It has no transactions: the laws of the queue are about those. */
export class ScriptedStore implements WorkerStore {
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
    for (const lane of LANES) {
      const own = this.due.filter((job) => job.lane === lane);
      jobs.push(...own.slice(0, limits[lane]));
      if (own.length < limits[lane]) drained.push(lane);
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

  async endAll(jobs: readonly ClaimedJob[]): Promise<void> {
    this.#throwNext();
    this.ended.push(...jobs.map(({ id }) => id));
  }

  async fail(job: ClaimedJob, runAt: number, lastError: string): Promise<void> {
    this.#throwNext();
    this.failed.push(`${job.id} at ${runAt}: ${lastError}`);
  }

  async next(): Promise<{ at: number; kind: string } | null> {
    return this.nextDue;
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

  tx(): Promise<never> {
    return Promise.reject(new Error("This store has no transactions."));
  }

  end(): Promise<never> {
    return this.tx();
  }

  endMany(): Promise<never> {
    return this.tx();
  }

  #throwNext(): void {
    const error = this.errors.shift();
    if (error) throw error;
  }
}
