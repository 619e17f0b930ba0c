import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import { Lease } from "./lease.ts";
import type { BatchHandler, BatchOutcome, ClaimedJob, JobHandler, JobHandlers, Lane, LaneJob, Outcome } from "./queue.ts";
import type { Settlement, Settling } from "./settling.ts";

// Outcomes of single jobs that may wait to be stored while further jobs run: as many as share a transaction. With none, 32 jobs at a
// time that write a row were half as many a second on Postgres.
const MAX_UNSTORED = 256;

interface AttemptsOptions {
  readonly real: Clock["real"];
  readonly log: Log;
  readonly settling: Settling;
  /** Called when a slot may be free, or when nothing runs any more. */
  readonly slotFreed: () => void;
}

/**
 * The attempts that run in this process. One of a single handler takes a slot:
 *
 * | attempt                  | takes a slot                              |
 * | ------------------------ | ----------------------------------------- |
 * | runs                     | yes                                       |
 * | its outcome is stored    | no, up to 256 of them                     |
 * | has ended                | no                                        |
 * | is one of a batch handler| no: the handler tells what it takes       |
 */
export class Attempts {
  readonly #options: AttemptsOptions;
  /** Their jobs. */
  readonly #running = new Set<ClaimedJob>();
  #handlers: JobHandlers = {};
  #batchHandlers: readonly BatchHandler[] = [];
  /** Attempts of single handlers, and how many of them only wait for their outcome to be stored. */
  #single = 0;
  #unstored = 0;
  #begun = 0;

  constructor(options: AttemptsOptions) {
    this.#options = options;
  }

  /** Sets the handlers of the jobs that begin from now on. */
  use(handlers: JobHandlers): void {
    this.#handlers = handlers;
    this.#batchHandlers = [...new Set(Object.values(handlers).filter(isBatchHandler))];
  }

  get size(): number {
    return this.#running.size;
  }

  /** Their jobs. */
  get jobs(): Iterable<ClaimedJob> {
    return this.#running;
  }

  /** Number of attempts that have begun so far. */
  get begun(): number {
    return this.#begun;
  }

  /** Slots that attempts of single handlers take. */
  get slotsTaken(): number {
    return this.#single - Math.min(this.#unstored, MAX_UNSTORED);
  }

  /** Free slots of a lane in the batch handlers; null when there is no batch handler. */
  get batchSlots(): ((lane: Lane) => number) | null {
    const handlers = this.#batchHandlers;
    return handlers.length === 0 ? null : (lane) => Math.max(...handlers.map((handler) => handler.freeSlots(lane)));
  }

  /** True if jobs of this kind are run by a batch handler. */
  runsInBatches(kind: string): boolean {
    return isBatchHandler(this.#handlers[kind]);
  }

  /** Begins an attempt of each job, those of a batch handler together. Each has a handler. */
  begin(jobs: readonly LaneJob[]): void {
    this.#begun += jobs.length;
    const batches = new Map<BatchHandler, LaneJob[]>();
    for (const job of jobs) {
      const handler = this.#handlers[job.kind];
      if (!handler) throw new Error(`There is no handler for jobs of kind ${job.kind}.`);
      if (!isBatchHandler(handler)) void this.#runSingle(handler, job);
      else if (!batches.get(handler)?.push(job)) batches.set(handler, [job]);
    }
    for (const [handler, batch] of batches) this.#runBatch(handler, batch);
  }

  async #runSingle(handler: JobHandler, job: ClaimedJob): Promise<void> {
    const { settling } = this.#options;
    this.#running.add(job);
    this.#single += 1;
    try {
      await this.#store({ job, ...(await this.#runUnderLease(handler, job)) });
    } catch (error) {
      await settling.fail(job, error);
    } finally {
      this.#single -= 1;
      this.#remove(job);
    }
  }

  async #runUnderLease(handler: JobHandler, job: ClaimedJob): Promise<Outcome> {
    let lease: Lease | undefined;
    const expired = new Promise<never>((_, reject) => {
      lease = new Lease(this.#options.real, reject);
    });
    try {
      return await Promise.race([handler(job), expired]);
    } finally {
      lease?.end();
    }
  }

  /** Stores an outcome, while the next job runs in the slot that is free now. */
  async #store(settlement: Settlement): Promise<void> {
    const { settling, slotFreed } = this.#options;
    this.#unstored += 1;
    const stored = settling.store(settlement);
    slotFreed();
    try {
      await stored;
    } finally {
      this.#unstored -= 1;
    }
  }

  #runBatch(handler: BatchHandler, jobs: readonly LaneJob[]): void {
    for (const job of jobs) this.#running.add(job);
    new BatchRun(handler, { ...this.#options, ended: (job) => this.#remove(job) }).begin(jobs);
  }

  #remove(job: ClaimedJob): void {
    this.#running.delete(job);
    this.#options.slotFreed();
  }
}

function isBatchHandler(handler: JobHandler | BatchHandler | undefined): handler is BatchHandler {
  return typeof handler === "object";
}

interface BatchRunOptions {
  readonly real: Clock["real"];
  readonly log: Log;
  readonly settling: Pick<Settling, "store" | "fail" | "isLast" | "logFailure">;
  /** Called when the handler may have a slot that is free. */
  readonly slotFreed: () => void;
  /** Called when the outcome of a job is stored. */
  readonly ended: (job: ClaimedJob) => void;
}

/**
 * Jobs that one batch handler runs together. The attempt of each is
 *
 * | attempt | trigger                          | becomes                                                |
 * | ------- | -------------------------------- | ------------------------------------------------------ |
 * | running | settles with `more`              | running; its lease begins again and the part is stored |
 * | running | settles                          | settled: its outcome is being stored                   |
 * | running | its lease expires                | settled: as if it had failed                           |
 * | running | fails for the last time          | settled with the effect of giving it up, if it has one |
 * | settled | the outcome is stored            | ended                                                  |
 * | settled | the outcome cannot be stored     | settled: as if it had failed                           |
 * | settled | settles                          | settled: the second outcome is dropped, with a warning |
 */
export class BatchRun {
  readonly #handler: BatchHandler;
  readonly #options: BatchRunOptions;
  /** Leases of running attempts. */
  readonly #leases = new Map<ClaimedJob, Lease>();

  constructor(handler: BatchHandler, options: BatchRunOptions) {
    this.#handler = handler;
    this.#options = options;
  }

  begin(jobs: readonly LaneJob[]): void {
    for (const job of jobs) this.#leases.set(job, new Lease(this.#options.real, (error) => void this.#settle(job, { error })));
    this.#handler.run(jobs, (job, outcome) => this.#settle(job, outcome));
  }

  async #settle(job: ClaimedJob, outcome: BatchOutcome<unknown>): Promise<void> {
    const lease = this.#leases.get(job);
    if (!lease) {
      this.#options.log.warn("a job settled after its lease had expired; its effect is not committed", { job: job.id, kind: job.kind });
      return;
    }
    if (!("error" in outcome) && outcome.more) {
      // It is alive.
      lease.renew();
      return this.#store(job, outcome).finally(this.#options.slotFreed);
    }
    lease.end();
    this.#leases.delete(job);
    this.#options.slotFreed();
    await this.#end(job, outcome);
    this.#options.ended(job);
  }

  async #end(job: ClaimedJob, outcome: BatchOutcome<unknown>): Promise<void> {
    if ("error" in outcome) return this.#fail(job, outcome.error);
    try {
      await this.#store(job, outcome);
    } catch (error) {
      await this.#fail(job, error);
    }
  }

  async #fail(job: ClaimedJob, error: unknown): Promise<void> {
    const { settling } = this.#options;
    if (this.#handler.giveUp === undefined || !settling.isLast(job, error)) return settling.fail(job, error);
    settling.logFailure(job, error);
    try {
      await this.#store(job, { effect: this.#handler.giveUp(job) });
    } catch (trouble) {
      await settling.fail(job, trouble);
    }
  }

  #store(job: ClaimedJob, { again, more, bytes, effect }: Exclude<BatchOutcome<unknown>, { error: unknown }>): Promise<void> {
    const shared = effect === undefined ? undefined : { handler: this.#handler, effect };
    return this.#options.settling.store({ job, again, more, bytes, shared });
  }
}
