import type { JobStore } from "./job-store.ts";
import { countUnhandled, findJob, listJobs, readStats } from "./listing.ts";
import { deletePause, readPause, writePause } from "./pause.ts";
import type { Queue } from "./queue.ts";
import { Worker, type WorkerOptions } from "./worker.ts";

const MAX_ATTEMPTS = 10;

/**
 * The queue: a store of jobs, and the worker that works them off.
 *
 * | job is   | trigger                                  | becomes                                   |
 * | -------- | ---------------------------------------- | ----------------------------------------- |
 * | (none)   | `enqueue` commits                        | ready                                     |
 * | ready    | claimed at or after `runAt`              | running, attempts + 1                     |
 * | ready    | no handler knows its kind: at the start, | unhandled                                 |
 * |          | or claimed                               |                                           |
 * | unhandled| a build that knows its kind starts       | ready                                     |
 * | ready    | `cancel`                                 | (none)                                    |
 * | ready    | `runNow`                                 | ready, due at once                        |
 * | running  | handler returns, or settles the job      | (none), in the transaction of its effect  |
 * | running  | the same with `again`                    | ready at that instant, attempt not counted|
 * | running  | handler throws, attempts are left        | ready after a backoff                     |
 * | running  | handler throws in the last attempt       | dead                                      |
 * | running  | 10 minutes pass (real time)              | as if the handler had thrown              |
 * | running  | the process dies                         | ready, attempt not counted                |
 * | running  | the same for the 100th time in a row     | dead                                      |
 * | running  | the queue stops before the attempt began | ready, attempt not counted                |
 * | dead     | `retry`                                  | ready with no attempts                    |
 *
 * `cancel` and keys treat an unhandled job as one that is ready.
 */
export function createQueue(store: JobStore, options: WorkerOptions): Queue {
  const { clock } = options;
  const worker = new Worker(store, options);
  const wakeAll = (): void => {
    worker.wake();
    store.announce();
  };
  return {
    workers: store.workers,
    enqueue: async (tx, ...jobs) => {
      const createdAt = clock.now();
      tx.afterCommit(wakeAll);
      await store.add(
        tx,
        jobs.map(({ kind, payload, runAt = createdAt, maxAttempts = MAX_ATTEMPTS, dedupeKey = null, lane = "default" }) => {
          return { kind, payload, runAt, maxAttempts, dedupeKey, createdAt, lane };
        }),
      );
    },
    cancel: (tx, kind, dedupeKey) => store.cancel(tx, kind, dedupeKey),
    cancelAllOf: (tx, workspaceId, limit) => store.cancelAllOf(tx, workspaceId, limit),
    omit: (tx, job, list, values) => store.omit(tx, job, list, values),
    runNow: async (tx, jobs) => {
      tx.afterCommit(wakeAll);
      await store.advance(tx, jobs, clock.now());
    },
    start: (handlers, concurrency) => worker.start(handlers, concurrency),
    stop: () => worker.stop(),
    isStopping: () => worker.isStopping,
    idle: async () => {
      await store.writersIdle();
      await worker.idle();
    },
    refresh: () => worker.wake(),
    pause: (tx, reason) => writePause(tx, { at: clock.now(), reason }),
    resume: async (tx) => {
      tx.afterCommit(wakeAll);
      await deletePause(tx);
    },
    readPause,
    list: listJobs,
    readStats,
    countUnhandled,
    get: findJob,
    retry: async (tx, id) => {
      const revived = await store.revive(tx, id, clock.now());
      if (revived) tx.afterCommit(wakeAll);
      return revived;
    },
  };
}
