import type { Tx } from "../db/db.ts";
import type { Addition, JobStore } from "./job-store.ts";
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
 * | (none)   | the same, on SQLite, of mail that has a  | running, attempts 1                       |
 * |          | slot, while none waits before it         |                                           |
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
  /** Transactions that have added jobs as claimed. These take no room before the commit, so a second time they might be too many. */
  const claiming = new WeakSet<Tx>();
  /** Adds jobs as claimed if they may begin at once, which saves the commit and the writes of a claim. Returns whether it did. */
  const addClaimed = async (tx: Tx, jobs: readonly Addition[]): Promise<boolean> => {
    if (store.addClaimed === null || claiming.has(tx) || jobs.some(({ dedupeKey }) => dedupeKey !== null)) return false;
    if (!worker.hasRoomFor(jobs) || (await readPause(tx)) !== null) return false;
    claiming.add(tx);
    const claimed = await store.addClaimed(tx, jobs);
    tx.afterCommit(() => worker.begin(claimed));
    return true;
  };
  return {
    workers: store.workers,
    enqueue: async (tx, ...jobs) => {
      if (jobs.length === 0) return;
      const createdAt = clock.now();
      const added = jobs.map(({ kind, payload, runAt = createdAt, maxAttempts = MAX_ATTEMPTS, dedupeKey = null, lane = "default" }) => {
        return { kind, payload, runAt, maxAttempts, dedupeKey, createdAt, lane };
      });
      const areDue = added.every(({ runAt }) => runAt <= createdAt);
      if (areDue && (await addClaimed(tx, added))) return;
      tx.afterCommit(() => {
        // A job that is due has nothing to do with the timer of those that are not; but where other processes add jobs, it is a chance to
        // learn of theirs.
        if (areDue && store.workers === null) worker.added(new Set(added.map(({ lane }) => lane)), createdAt);
        else worker.wake();
        store.announce();
      });
      await store.add(tx, added);
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
