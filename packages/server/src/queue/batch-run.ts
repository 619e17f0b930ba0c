import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import { Lease } from "./lease.ts";
import type { BatchHandler, BatchOutcome, ClaimedJob, LaneJob } from "./queue.ts";
import type { Settling } from "./settling.ts";

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
