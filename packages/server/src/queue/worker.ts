import type { Reader, Tx } from "../db/db.ts";
import type { Clock, Timer } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { Random } from "../lib/random.ts";
import type { ClaimedJob, JobFilter, JobHandler, JobList, JobRow, NewJob, Outcome, Queue, QueueStats, WorkerRegistry } from "./queue.ts";

/** What the worker needs of a database: where jobs are stored, claimed and ended. */
export interface JobStore {
  readonly workers: WorkerRegistry | null;
  /** Jobs that may be claimed before a slot is free, at most. Claiming is then one statement for hundreds of short jobs. */
  readonly maxPrefetch: number;
  /**
   * How long to rest between batches while requests wait, as a multiple of the time the batch took. For a database in this
   * process, whose work would delay the requests.
   */
  readonly restRatio: number;
  /** Adds a job. `batch` allows it to share a row with others of the same commit. */
  add(tx: Tx, job: Addition, batch: boolean): Promise<void>;
  cancel(tx: Tx, kind: string, dedupeKey: string): Promise<void>;
  /** Claims up to `limit` jobs that are due. Each job goes to one worker. */
  claim(now: number, limit: number): Promise<ClaimedJob[]>;
  /** Undoes claims whose attempt has not begun. */
  release(jobs: readonly ClaimedJob[]): Promise<void>;
  /** Ends a job, or schedules it again at `again`. False when another worker has taken it from this attempt. */
  end(tx: Tx, job: ClaimedJob, again: number | undefined): Promise<boolean>;
  /** Ends jobs that have no effect to commit. */
  endAll(jobs: readonly ClaimedJob[]): Promise<void>;
  /** Puts a job back after a failure, to run at `runAt`; after its last attempt it is dead. */
  fail(job: ClaimedJob, runAt: number, lastError: string): Promise<void>;
  /** The instant and kind of the next job that is not due yet. */
  next(now: number): Promise<{ at: number; kind: string } | null>;
  /** Runs a transaction. */
  tx<T>(fn: (tx: Tx) => Promise<T>): Promise<T>;
  /** True when an error means that the database cannot work at the moment. */
  isUnavailable(error: unknown): boolean;
  /** Takes over what dead processes left behind, and begins to call `events`. */
  open(kinds: readonly string[], events: StoreEvents): Promise<void>;
  close(): Promise<void>;
  /** Waits for the transactions that are under way, as far as they delay what can be claimed. */
  writersIdle(): Promise<void>;
  /** Tells the other processes that there may be work. */
  announce(): void;
  list(read: Reader, filter: JobFilter): Promise<JobList>;
  readStats(read: Reader): Promise<QueueStats>;
  get(read: Reader, id: string): Promise<JobRow | null>;
  revive(tx: Tx, id: string, now: number): Promise<JobRow | null>;
}

/** A job as it is stored. */
export interface Addition {
  readonly kind: string;
  readonly payload: Record<string, unknown>;
  readonly runAt: number;
  readonly maxAttempts: number;
  readonly dedupeKey: string | null;
  readonly createdAt: number;
}

/** What a store calls, and asks, while it is open. */
export interface StoreEvents {
  /** There may be work. */
  wake(): void;
  /** The ids of the jobs this process holds. */
  held(): string[];
}

export interface QueueOptions {
  clock: Clock;
  random: Random;
  log: Log;
  /** True while requests are waiting: accepting comes before delivering, so few jobs then run at a time. */
  overloaded?: () => boolean;
}

const MAX_ATTEMPTS = 10;
// A handler that has not returned after this long (real time) has lost its job; what it commits later is refused.
const LEASE_MS = 10 * 60_000;
// Jobs run at a time while requests are waiting.
const OVERLOADED_CONCURRENCY = 4;
// The longest rest between two batches while requests are waiting.
const MAX_REST_MS = 200;
// When the database cannot work, it is asked again after this long (real time).
const RETRY_MS = 1000;
// How long a queue that is being stopped keeps trying to store outcomes.
const STOP_MS = 3000;
// Jobs claimed for free slots in one statement. More would only lengthen the turn of the event loop.
const MAX_CLAIM = 32;
// A prefetch that is used up faster than this may be larger the next time; one that lasts longer gets smaller, so that no
// process sits on work that another one could do.
const PREFETCH_LASTS_MS = 50;
// 1 s, 2 s, 4 s … up to an hour.
const FIRST_DELAY_MS = 1000;
const MAX_DELAY_MS = 3_600_000;

/**
 * The queue: a store of jobs and the one loop that works them off. The loop is woken by the commit that adds a job, by a timer
 * for the next job that falls due and, where there are several processes, by their announcements. It does not poll.
 *
 * | job is   | trigger                                  | becomes                                   |
 * | -------- | ---------------------------------------- | ----------------------------------------- |
 * | (none)   | `enqueue` commits                        | ready                                     |
 * | ready    | claimed at or after `runAt`              | running, attempts + 1                     |
 * | ready    | `cancel`                                 | (none)                                    |
 * | running  | handler returns                          | (none), in the transaction of its effect  |
 * | running  | handler returns `again`                  | ready at that instant, attempt not counted|
 * | running  | handler throws, attempts are left        | ready after a backoff                     |
 * | running  | handler throws in the last attempt       | dead                                      |
 * | running  | 10 minutes pass (real time)              | as if the handler had thrown              |
 * | running  | the process dies                         | ready, or dead after the last attempt     |
 * | running  | the queue stops before the attempt began | ready, attempt not counted                |
 * | dead     | `retry`                                  | ready with no attempts                    |
 */
export function createQueue(store: JobStore, { clock, random, log, overloaded = () => false }: QueueOptions): Queue {
  const running = new Map<string, Promise<void>>();
  /** Claimed, waiting for a slot. */
  const prefetched: ClaimedJob[] = [];
  /** Ended without an effect, waiting to be deleted together. */
  let ended: ClaimedJob[] = [];
  /** Being deleted. */
  let ending: readonly ClaimedJob[] = [];
  let handlers: Readonly<Record<string, JobHandler>> = {};
  let concurrency = 0;
  let started = false;
  let timer: Timer | null = null;
  let polling = false;
  let pollAgain = false;
  let prefetch = 0;
  let claimedAt = 0;
  const idleWaiters: (() => void)[] = [];

  const freeSlots = (): number => (overloaded() ? Math.min(OVERLOADED_CONCURRENCY, concurrency) : concurrency) - running.size;

  const settleIdle = (): void => {
    if (running.size > 0 || polling || prefetched.length > 0 || ended.length > 0 || ending.length > 0) return;
    for (const done of idleWaiters.splice(0)) done();
  };

  const untilIdle = (): Promise<void> =>
    new Promise((done) => {
      idleWaiters.push(done);
      settleIdle();
    });

  /** Commits the end of a job together with its effect. */
  const commitOnce = (job: ClaimedJob, outcome: Outcome): Promise<void> =>
    store.tx(async (tx) => {
      // First the end: an attempt that has lost its job writes nothing, and nobody can claim the job meanwhile.
      if (!(await store.end(tx, job, outcome.again)))
        throw new Error(`Job ${job.id} (${job.kind}) was taken from this attempt; its effect is not committed.`);
      await outcome.commit?.(tx);
      if (outcome.again !== undefined) tx.afterCommit(poll);
    });

  /**
   * Tries until the database can take the outcome: only this process knows what the attempt did outside, such as a mail that
   * was accepted. A commit whose answer was lost is not repeated, because the job is gone then.
   */
  const commit = async (job: ClaimedJob, outcome: Outcome): Promise<void> => {
    let until = clock.real.now() + LEASE_MS;
    for (;;) {
      try {
        return await commitOnce(job, outcome);
      } catch (error) {
        if (!store.isUnavailable(error) || clock.real.now() > until) throw error;
        // `stop` waits for this, and a database that stays away must not delay it for long.
        if (!started) until = Math.min(until, clock.real.now() + STOP_MS);
        log.warn("the outcome of a job cannot be stored; retrying in a second", { job: job.id, error: String(error) });
        await clock.real.sleep(RETRY_MS);
      }
    }
  };

  /** Records a failure. Tries until the database can take it or the queue stops; then the next start puts the job back. */
  const fail = async (job: ClaimedJob, error: unknown): Promise<void> => {
    const lastError = (error instanceof Error ? `${error.name}: ${error.message}` : String(error)).slice(0, 500);
    log.warn("job failed", {
      job: job.id,
      kind: job.kind,
      attempt: job.attempt,
      dead: job.attempt >= job.maxAttempts,
      error: lastError,
    });
    for (let tries = 0; tries === 0 || started; tries += 1) {
      try {
        return await store.fail(job, clock.now() + backoff(job.attempt, random.fraction()), lastError);
      } catch (trouble) {
        log.error("a failed job could not be put back; retrying in a second", { job: job.id, error: String(trouble) });
        await clock.real.sleep(RETRY_MS);
      }
    }
  };

  /** Deletes ended jobs: one statement for all that ended while the one before was on its way. */
  const deleteEnded = async (): Promise<void> => {
    while (ended.length > 0) {
      ending = ended;
      ended = [];
      for (let tries = 0; ending.length > 0 && (tries === 0 || started); tries += 1) {
        try {
          await store.endAll(ending);
          ending = [];
        } catch (error) {
          log.error("jobs that are done could not be deleted; retrying in a second", { jobs: ending.length, error: String(error) });
          await clock.real.sleep(RETRY_MS);
        }
      }
      // A queue that is stopping leaves them behind: they run once more, since jobs run at least once.
      ending = [];
    }
    settleIdle();
  };

  const attempt = async (job: ClaimedJob): Promise<void> => {
    let lease: Timer | undefined;
    try {
      const handler = handlers[job.kind];
      if (!handler) throw new Error(`There is no handler for jobs of kind ${job.kind}.`);
      const expired = new Promise<never>((_, reject) => {
        lease = clock.real.after(LEASE_MS, () => reject(new Error("The attempt took longer than its lease of 10 minutes.")));
      });
      const outcome = await Promise.race([handler(job), expired]);
      if (outcome.commit || outcome.again !== undefined) await commit(job, outcome);
      else {
        ended.push(job);
        if (ending.length === 0 && ended.length === 1) void Promise.resolve().then(deleteEnded);
      }
    } catch (error) {
      await fail(job, error);
    } finally {
      lease?.cancel();
    }
  };

  const begin = (job: ClaimedJob): Promise<void> => {
    const work = attempt(job).finally(() => {
      // SQLite gives the id of a deleted job to the next one, which may have begun already.
      if (running.get(job.id) === work) running.delete(job.id);
      beginPrefetched();
      if (prefetched.length === 0) poll();
      settleIdle();
    });
    running.set(job.id, work);
    return work;
  };

  const beginPrefetched = (): void => {
    while (started && freeSlots() > 0) {
      const job = prefetched.shift();
      if (!job) return;
      void begin(job);
    }
  };

  /** How many jobs to claim beyond the free slots. */
  const nextPrefetch = (): number => {
    const now = clock.real.now();
    const usedUpQuickly = now - claimedAt < PREFETCH_LASTS_MS;
    claimedAt = now;
    prefetch = usedUpQuickly ? Math.min(prefetch * 2 + 8, store.maxPrefetch) : Math.floor(prefetch / 2);
    return overloaded() ? 0 : prefetch;
  };

  /** Claims a batch and begins it. True when there may be more. */
  const claim = async (slots: number): Promise<boolean> => {
    const wanted = Math.min(slots, MAX_CLAIM) + nextPrefetch();
    const claimed = await store.claim(clock.now(), wanted);
    const unbegun: ClaimedJob[] = [];
    for (const job of claimed) {
      if (started && freeSlots() > 0) void begin(job);
      // A process that dies must not use up the last attempt of a job that it had not begun.
      else if (!started || job.attempt >= job.maxAttempts) unbegun.push(job);
      else prefetched.push(job);
    }
    if (unbegun.length > 0) await store.release(unbegun);
    return claimed.length === wanted;
  };

  /** While requests are waiting: runs a few jobs, then rests. True when there may be more. */
  const claimSlowly = async (): Promise<boolean> => {
    const since = clock.real.now();
    await Promise.all(running.values());
    const slots = Math.min(OVERLOADED_CONCURRENCY, concurrency);
    if (slots === 0) return false;
    const claimed = await store.claim(clock.now(), slots);
    await Promise.all(claimed.map(begin));
    await clock.real.sleep(Math.min((clock.real.now() - since) * store.restRatio, MAX_REST_MS));
    return claimed.length === slots;
  };

  const armTimer = async (): Promise<void> => {
    const next = await store.next(clock.now());
    timer?.cancel();
    timer = next === null || !started ? null : clock.after(next.at - clock.now(), next.kind, poll);
  };

  const claimDue = async (): Promise<void> => {
    while (started && prefetched.length === 0) {
      if (store.restRatio > 0 && overloaded()) {
        if (!(await claimSlowly())) return armTimer();
        continue;
      }
      const slots = freeSlots();
      if (slots <= 0) return;
      if (!(await claim(slots))) return armTimer();
    }
  };

  /** Claims what is due. A call while it runs makes it run once more. */
  function poll(): void {
    if (!started) return;
    pollAgain = true;
    if (polling) return;
    polling = true;
    void (async () => {
      try {
        while (pollAgain) {
          pollAgain = false;
          await claimDue();
        }
      } catch (error) {
        log.error("the queue could not claim jobs; retrying in a second", { error: String(error) });
        clock.real.after(RETRY_MS, poll);
      } finally {
        polling = false;
        settleIdle();
      }
    })();
  }

  const wakeAll = (): void => {
    poll();
    store.announce();
  };

  const held = (): string[] => [...running.keys(), ...[...prefetched, ...ended, ...ending].map((job) => job.id)];

  return {
    workers: store.workers,
    enqueue: (tx, { kind, payload, runAt, maxAttempts = MAX_ATTEMPTS, dedupeKey }: NewJob) => {
      const now = clock.now();
      tx.afterCommit(wakeAll);
      const job: Addition = { kind, payload, runAt: runAt ?? now, maxAttempts, dedupeKey: dedupeKey ?? null, createdAt: now };
      // While requests are waiting the worker has little time for the jobs anyway.
      return store.add(tx, job, started && dedupeKey === undefined && job.runAt <= now && overloaded());
    },
    cancel: store.cancel,
    start: async (byKind, limit) => {
      handlers = byKind;
      concurrency = limit;
      await store.open(Object.keys(byKind), { wake: poll, held });
      started = true;
      poll();
    },
    stop: async () => {
      if (!started) return;
      started = false;
      const unbegun = prefetched.splice(0);
      // A claim may be under way: its jobs are run or put back before the queue has stopped.
      await untilIdle();
      timer?.cancel();
      timer = null;
      // What stays claimed is taken over at the next start, or by the other processes.
      if (unbegun.length > 0) await store.release(unbegun).catch(() => {});
      await store.close();
    },
    idle: async () => {
      await store.writersIdle();
      if (!started) return;
      poll();
      await untilIdle();
    },
    refresh: poll,
    list: store.list,
    readStats: store.readStats,
    get: store.get,
    retry: async (tx, id) => {
      const revived = await store.revive(tx, id, clock.now());
      if (revived) tx.afterCommit(wakeAll);
      return revived;
    },
  };
}

/** The delay after the n-th failed attempt in ms: doubling, with 20 % of jitter so that failures do not coincide again. */
export function backoff(attempt: number, fraction: number): number {
  return Math.round(Math.min(FIRST_DELAY_MS * 2 ** (attempt - 1), MAX_DELAY_MS) * (0.8 + 0.4 * fraction));
}
