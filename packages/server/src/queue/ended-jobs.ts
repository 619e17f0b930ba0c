import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { WorkerStore } from "./job-store.ts";
import type { ClaimedJob } from "./queue.ts";

export interface EndedJobsOptions {
  readonly store: Pick<WorkerStore, "endAll">;
  readonly clock: Pick<Clock, "real">;
  readonly log: Log;
  readonly isStopping: () => boolean;
  /** Called when none is left. */
  readonly idle: () => void;
  /** When the database cannot delete them, it is asked again after this long. */
  readonly retryMs: number;
}

/** Jobs that ended without an effect: one statement deletes all that ended while the one before was on its way. */
export class EndedJobs {
  readonly #options: EndedJobsOptions;
  #waiting: ClaimedJob[] = [];
  #deleting: readonly ClaimedJob[] = [];
  #isRunning = false;

  constructor(options: EndedJobsOptions) {
    this.#options = options;
  }

  /** Those that are still stored. */
  get jobs(): readonly ClaimedJob[] {
    return [...this.#waiting, ...this.#deleting];
  }

  add(job: ClaimedJob): void {
    this.#waiting.push(job);
    if (this.#isRunning) return;
    this.#isRunning = true;
    queueMicrotask(() => void this.#run());
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      this.#deleting = this.#waiting;
      this.#waiting = [];
      await this.#delete(this.#deleting);
      this.#deleting = [];
    }
    this.#isRunning = false;
    this.#options.idle();
  }

  /** A queue that is stopping tries once and may leave them behind: they run once more, since jobs run at least once. */
  async #delete(jobs: readonly ClaimedJob[]): Promise<void> {
    const { store, clock, log, isStopping, retryMs } = this.#options;
    do {
      try {
        return await store.endAll(jobs);
      } catch (error) {
        log.error("jobs that are done could not be deleted; retrying in a second", { jobs: jobs.length, error: String(error) });
        await clock.real.sleep(retryMs);
      }
    } while (!isStopping());
  }
}
