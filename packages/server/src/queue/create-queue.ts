import type { Tx } from "../db/db.ts";
import type { JobStore, WorkSource } from "./job-store.ts";
import { countUnhandled, findJob, listJobs, readStats } from "./listing.ts";
import { deletePause, readPause, writePause } from "./pause.ts";
import type { Lane, Queue, StoredWork } from "./queue.ts";
import { Worker, type WorkerOptions } from "./worker.ts";

const MAX_ATTEMPTS = 10;

/**
 * The queue: a store of jobs and other sources of work, each with the worker that works it off. A job of the store goes these ways:
 *
 * | job is   | trigger                                  | becomes                                   |
 * | -------- | ---------------------------------------- | ----------------------------------------- |
 * | (none)   | `enqueue` commits                        | ready                                     |
 * | ready    | claimed at or after `runAt`              | running, attempts + 1                     |
 * | ready    | no handler knows its kind: at the start, | unhandled                                 |
 * |          | or claimed                               |                                           |
 * | unhandled| a build that knows its kind starts       | ready                                     |
 * | ready    | `cancel`                                 | (none)                                    |
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
export function createQueue(store: JobStore, options: WorkerOptions, sources: readonly WorkSource[] = []): Queue {
  const { clock } = options;
  const worker = new Worker(store, {
    ...options,
    isBulkDue: () => others.some((one) => !one.worker.isDrained("bulk")),
    // Other processes announce what they add for all work.
    heard: () => {
      for (const one of others) one.worker.wake();
    },
  });
  const drained = (lane: Lane): void => {
    if (lane === "bulk") worker.added(new Set(["background"]), clock.now());
  };
  const others = sources.map((source) => ({ source, worker: new Worker(source, { ...options, drained }) }));
  const workers = [worker, ...others.map((one) => one.worker)];
  const wakeAll = (): void => {
    for (const one of workers) one.wake();
    store.announce();
  };
  const begins = new StoredBegins();
  return {
    workers: store.workers,
    enqueue: async (tx, ...jobs) => {
      if (jobs.length === 0) return;
      const createdAt = clock.now();
      const added = jobs.map(
        ({ kind, payload, runAt = createdAt, maxAttempts = MAX_ATTEMPTS, dedupeKey = null, lane = "default" as const }) => {
          return { kind, payload, runAt, maxAttempts, dedupeKey, createdAt, lane };
        },
      );
      const areDue = added.every(({ runAt }) => runAt <= createdAt);
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
    announce: async (tx, work) => {
      const found = others.find(({ source }) => source.lanes.includes(work.lane));
      if (!found || (found.source.beginsStored && (await begins.plan(tx, found.worker, work)))) return;
      tx.afterCommit(() => {
        if (work.dueAt <= clock.now()) found.worker.added(new Set([work.lane]), work.dueAt);
        else found.worker.wake();
        store.announce();
      });
    },
    start: async (handlers, concurrency) => {
      for (const one of workers) await one.start(handlers, concurrency);
    },
    // The first worker ends what shows that this process is alive.
    stop: () => worker.stop(Promise.all(others.map((one) => one.worker.stop()))),
    isStopping: () => worker.isStopping,
    idle: async () => {
      const countBegun = (): number => workers.reduce((sum, { begun }) => sum + begun, 0);
      let before: number;
      // Each may have made work for the others.
      do {
        before = countBegun();
        await store.writersIdle();
        for (const one of workers) await one.idle();
      } while (countBegun() !== before);
    },
    refresh: () => {
      for (const one of workers) one.wake();
    },
    pause: (tx, reason) => writePause(tx, { at: clock.now(), reason }),
    resume: async (tx) => {
      tx.afterCommit(wakeAll);
      await deletePause(tx);
    },
    readPause,
    list: listJobs,
    readStats: async (read) => {
      const stats = await readStats(read);
      const found = await Promise.all(sources.map((source) => source.readStats(read)));
      return found.reduce(
        ({ jobs, oldestDueAt }, { waiting, running, dueAt }) => ({
          jobs: { ...jobs, ready: jobs.ready + waiting, running: jobs.running + running },
          oldestDueAt: oldestDueAt === null ? dueAt : Math.min(oldestDueAt, dueAt ?? oldestDueAt),
        }),
        stats,
      );
    },
    countUnhandled,
    get: findJob,
    retry: async (tx, id) => {
      const revived = await store.revive(tx, id, clock.now());
      if (revived) tx.afterCommit(wakeAll);
      return revived;
    },
  };
}

/** Work that begins as soon as it is stored, which saves a claim. */
class StoredBegins {
  /** Transactions that have stored such work. It takes no room before the commit, so a second time it might be too much. */
  readonly #planned = new WeakSet<Tx>();

  /** Lets work begin after the commit of this transaction, if there is room for it. Returns whether there is. */
  async plan(tx: Tx, worker: Worker, { jobs = [] }: StoredWork): Promise<boolean> {
    if (jobs.length === 0 || this.#planned.has(tx) || !worker.hasRoomFor(jobs) || (await readPause(tx)) !== null) return false;
    this.#planned.add(tx);
    tx.afterCommit(() => worker.begin(jobs));
    return true;
  }
}
