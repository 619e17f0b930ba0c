import type { Clock, Timer } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { Random } from "../lib/random.ts";
import { yieldToEventLoop } from "../lib/turn.ts";
import type { Addition, JobStore, LaneLimits } from "./job-store.ts";
import { deletePause, readPause, writePause } from "./pause.ts";
import {
  type BatchHandler,
  type BatchOutcome,
  type ClaimedJob,
  type JobHandler,
  type JobHandlers,
  LANES,
  type Lane,
  type LaneJob,
  type NewJob,
  type Queue,
} from "./queue.ts";
import { createSettling, LEASE_MS, RETRY_MS, type Settlement } from "./settling.ts";

export { backoff } from "./settling.ts";

export interface QueueOptions {
  clock: Clock;
  random: Random;
  log: Log;
  /** True while requests are waiting: accepting comes before delivering, so few jobs then run at a time. */
  overloaded?: () => boolean;
}

const MAX_ATTEMPTS = 10;
// Single jobs, and jobs of each other lane, that run at a time while requests are waiting.
const OVERLOADED_CONCURRENCY = 4;
// Single mails handed over together then: 64 took a tenth of the processor from the requests.
const OVERLOADED_BATCH = 16;
// The longest rest between two batches while requests are waiting.
const MAX_REST_MS = 200;
// Jobs claimed for free slots in one statement. More would only lengthen the turn of the event loop.
const MAX_CLAIM = 32;
const MAX_BATCH_CLAIM = 256;
// Outcomes of single jobs that may wait to be stored while further jobs run: as many as share a transaction. With none, 32 jobs at a
// time that write a row were half as many a second on Postgres.
const MAX_UNSTORED = 256;
// A prefetch that is used up faster than this may be larger the next time; one that lasts longer gets smaller, so that no
// process sits on work that another one could do.
const PREFETCH_LASTS_MS = 50;

/**
 * The queue: a store of jobs and the one loop that works them off. The loop is woken by the commit that adds a job, by a timer
 * for the next job that falls due and, where there are several processes, by their announcements. It does not poll.
 *
 * | job is   | trigger                                  | becomes                                   |
 * | -------- | ---------------------------------------- | ----------------------------------------- |
 * | (none)   | `enqueue` commits                        | ready                                     |
 * | ready    | claimed at or after `runAt`              | running, attempts + 1                     |
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
 */
export function createQueue(store: JobStore, { clock, random, log, overloaded = () => false }: QueueOptions): Queue {
  /** By the id of their job, until their outcome is stored. */
  const running = new Map<string, Promise<void>>();
  /** Attempts of batch handlers among them: they take no slot. */
  const batched = new Set<string>();
  /** Attempts of single handlers whose outcomes are being stored: they take no slot either, up to a limit. */
  let unstored = 0;
  /** Claimed, waiting for a slot. */
  const prefetched: LaneJob[] = [];
  let handlers: JobHandlers = {};
  let batchHandlers: readonly BatchHandler[] = [];
  let concurrency = 0;
  let started = false;
  let timer: Timer | null = null;
  /** True when a job may have been added that is due before the timer fires. */
  let timerStale = true;
  /** Lanes in which nothing was due at the last look. */
  const drained = new Set<Lane>();
  /** Counts up whenever jobs may have been added. */
  let additions = 0;
  let polling = false;
  let pollAgain = false;
  let soon = false;
  let prefetch = 0;
  let claimedAt = 0;
  const idleWaiters: (() => void)[] = [];

  const settling = createSettling({
    store,
    clock,
    random,
    log,
    isStarted: () => started,
    poll: () => wake(),
    idle: () => settleIdle(),
  });

  const freeSlots = (): number => {
    const used = running.size - batched.size;
    if (overloaded()) return Math.min(OVERLOADED_CONCURRENCY, concurrency) - used;
    return concurrency + Math.min(unstored, MAX_UNSTORED) - used;
  };

  const settleIdle = (): void => {
    if (running.size > 0 || polling || prefetched.length > 0 || settling.ended().length > 0) return;
    for (const done of idleWaiters.splice(0)) done();
  };

  const untilIdle = (): Promise<void> =>
    new Promise((done) => {
      idleWaiters.push(done);
      settleIdle();
    });

  const fail = async (job: ClaimedJob, error: unknown): Promise<void> => {
    await settling.fail(job, error);
    timerStale = true;
  };

  const lease = (expire: (error: Error) => void, ms = LEASE_MS): Timer =>
    clock.real.after(ms, () => expire(new Error("The attempt took longer than its lease of 10 minutes.")));

  const attempt = async (handler: JobHandler | undefined, job: ClaimedJob): Promise<void> => {
    let timeout: Timer | undefined;
    try {
      if (!handler) throw new Error(`There is no handler for jobs of kind ${job.kind}.`);
      const expired = new Promise<never>((_, reject) => {
        timeout = lease(reject);
      });
      const { commit, again } = await Promise.race([handler(job), expired]);
      if (commit || again !== undefined) await storeOutcome({ job, commit, again });
      else settling.end(job);
    } catch (error) {
      await fail(job, error);
    } finally {
      timeout?.cancel();
    }
  };

  /** Stores an outcome, while the next job runs in the slot that is free now. */
  const storeOutcome = async (settlement: Settlement): Promise<void> => {
    unstored += 1;
    const stored = settling.store(settlement);
    beginNext();
    try {
      await stored;
    } finally {
      unstored -= 1;
    }
  };

  /** Fills free slots. */
  const beginNext = (): void => {
    beginPrefetched();
    if (prefetched.length === 0) poll();
  };

  const track = (job: ClaimedJob, work: Promise<void>, inBatch: boolean): void => {
    running.set(job.id, work);
    if (inBatch) batched.add(job.id);
    void work.then(() => {
      // SQLite gives the id of a deleted job to the next one, which may have begun already.
      if (running.get(job.id) === work) {
        running.delete(job.id);
        batched.delete(job.id);
      }
      beginNext();
      settleIdle();
    });
  };

  const begin = (job: LaneJob): void => {
    const handler = handlers[job.kind];
    if (isBatchHandler(handler)) beginBatch(handler, [job]);
    else track(job, attempt(handler, job), false);
  };

  const beginBatch = (handler: BatchHandler, jobs: readonly LaneJob[]): void => {
    const attempts = new Map<ClaimedJob, { timeout: Timer; aliveAt: number; end: (ended: Promise<void>) => void }>();
    for (const job of jobs) {
      const work = new Promise<void>((end) => {
        const expire = (error: Error): void => {
          const own = attempts.get(job);
          if (!own) return;
          const left = own.aliveAt + LEASE_MS - clock.real.now();
          if (left > 0) own.timeout = lease(expire, left);
          else if (attempts.delete(job)) end(fail(job, error));
        };
        attempts.set(job, { timeout: lease(expire), aliveAt: clock.real.now(), end });
      });
      track(job, work, true);
    }
    const settle = async (job: ClaimedJob, outcome: BatchOutcome<unknown>): Promise<void> => {
      const own = attempts.get(job);
      if (!own) {
        log.warn("a job settled after its lease had expired; its effect is not committed", { job: job.id, kind: job.kind });
        return;
      }
      const settlement =
        "error" in outcome
          ? null
          : {
              job,
              again: outcome.again,
              more: outcome.more,
              bytes: outcome.bytes,
              shared: outcome.effect === undefined ? undefined : { handler, effect: outcome.effect },
            };
      if (settlement?.more) {
        // It is alive: its lease begins again. The timer that runs looks when it fires.
        own.aliveAt = clock.real.now();
        return settling.store(settlement).finally(pollSoon);
      }
      own.timeout.cancel();
      attempts.delete(job);
      // Not when requests wait: fewer and larger claims leave them more of the database.
      if (!overloaded()) pollSoon();
      const ended = settlement
        ? settling.store(settlement).catch((error: unknown) => fail(job, error))
        : fail(job, (outcome as { error: unknown }).error);
      own.end(ended);
      return ended;
    };
    handler.run(jobs, settle);
  };

  /** Begins jobs, those of a batch handler together. */
  const beginAll = (jobs: readonly LaneJob[]): void => {
    const batches = new Map<BatchHandler, LaneJob[]>();
    for (const job of jobs) {
      const handler = handlers[job.kind];
      if (!isBatchHandler(handler)) begin(job);
      else if (!batches.get(handler)?.push(job)) batches.set(handler, [job]);
    }
    for (const [handler, batch] of batches) beginBatch(handler, batch);
  };

  const beginPrefetched = (): void => {
    while (started && freeSlots() > 0) {
      const job = prefetched.shift();
      if (!job) return;
      begin(job);
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

  const slotsIn = (lane: Lane, most: number): number => {
    if (drained.has(lane)) return 0;
    if (batchHandlers.length === 0) return Math.max(0, Math.min(freeSlots(), most));
    return Math.min(Math.max(0, ...batchHandlers.map((handler) => handler.freeSlots(lane))), most);
  };

  /** Claims a batch and begins it. True when there may be more. */
  const claim = async (): Promise<boolean> => {
    const slots = freeSlots();
    const wantsSingle = slots > 0 && prefetched.length === 0 && !drained.has("default");
    const limits: LaneLimits = {
      default: wantsSingle ? Math.min(slots, MAX_CLAIM) + nextPrefetch() : 0,
      mail: slotsIn("mail", MAX_BATCH_CLAIM),
      bulk: slotsIn("bulk", MAX_BATCH_CLAIM),
    };
    const claimed = await claimUpTo(limits);
    const unbegun: LaneJob[] = [];
    const begun: LaneJob[] = [];
    let left = freeSlots();
    for (const job of claimed) {
      const slotless = isBatchHandler(handlers[job.kind]) || job.lane !== "default";
      if (started && (slotless || left > 0)) {
        begun.push(job);
        if (!slotless) left -= 1;
      } else if (!started) unbegun.push(job);
      else prefetched.push(job);
    }
    beginAll(begun);
    if (unbegun.length > 0) {
      await store.release(unbegun);
      drained.clear();
    }
    return LANES.some((lane) => limits[lane] > 0 && !drained.has(lane));
  };

  /** Claims jobs and remembers which lanes gave all they have. */
  const claimUpTo = async (limits: LaneLimits): Promise<readonly LaneJob[]> => {
    if (LANES.every((lane) => limits[lane] === 0)) return [];
    const before = additions;
    const claim = await store.claim(clock.now(), limits);
    if (additions === before) for (const lane of claim.drained) drained.add(lane);
    return claim.jobs;
  };

  /** While requests are waiting: runs a few jobs, then rests. True when there may be more. */
  const claimSlowly = async (): Promise<boolean> => {
    const since = clock.real.now();
    const limits: LaneLimits = {
      default: drained.has("default") ? 0 : Math.max(0, freeSlots()),
      mail: slotsIn("mail", OVERLOADED_BATCH),
      bulk: slotsIn("bulk", OVERLOADED_CONCURRENCY),
    };
    beginAll(await claimUpTo(limits));
    // A mail server that hangs must not hold up the rest.
    await Promise.race([Promise.all(running.values()), clock.real.sleep(MAX_REST_MS)]);
    await clock.real.sleep(Math.min((clock.real.now() - since) * store.restRatio, MAX_REST_MS));
    return LANES.some((lane) => limits[lane] > 0 && !drained.has(lane));
  };

  const armTimer = async (): Promise<void> => {
    if (!timerStale) return;
    timerStale = false;
    try {
      const next = await store.next(clock.now());
      timer?.cancel();
      timer = next === null || !started ? null : clock.after(next.at - clock.now(), next.kind, wake);
    } catch (error) {
      timerStale = true;
      throw error;
    }
  };

  const claimDue = async (): Promise<void> => {
    while (started && (store.restRatio > 0 && overloaded() ? await claimSlowly() : await claim()));
    if (started) await armTimer();
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

  /** Claims for the slots that jobs have left, once in a turn of the event loop. */
  function pollSoon(): void {
    if (soon) return;
    soon = true;
    void yieldToEventLoop().then(() => {
      soon = false;
      poll();
    });
  }

  /** The same, after jobs were added or the clock has moved. */
  function wake(): void {
    timerStale = true;
    additions += 1;
    drained.clear();
    poll();
  }

  const wakeAll = (): void => {
    wake();
    store.announce();
  };

  const held = (): string[] => [...running.keys(), ...[...prefetched, ...settling.ended()].map((job) => job.id)];

  return {
    workers: store.workers,
    enqueue: (tx, { kind, payload, runAt, maxAttempts = MAX_ATTEMPTS, dedupeKey, lane = "default" }: NewJob) => {
      const now = clock.now();
      tx.afterCommit(wakeAll);
      const job: Addition = { kind, payload, runAt: runAt ?? now, maxAttempts, dedupeKey: dedupeKey ?? null, createdAt: now, lane };
      // While requests are waiting the worker has little time for the jobs anyway.
      return store.add(tx, job, started && dedupeKey === undefined && job.runAt <= now && overloaded());
    },
    cancel: store.cancel,
    omit: store.omit,
    runNow: async (tx, jobs) => {
      tx.afterCommit(wakeAll);
      await store.advance(tx, jobs, clock.now());
    },
    start: async (byKind, limit) => {
      handlers = byKind;
      batchHandlers = [...new Set(Object.values(byKind).filter(isBatchHandler))];
      concurrency = limit;
      await store.open(Object.keys(byKind), { wake, held });
      started = true;
      wake();
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
      wake();
      await untilIdle();
    },
    refresh: wake,
    pause: (tx, reason) => writePause(tx, { at: clock.now(), reason }),
    resume: async (tx) => {
      tx.afterCommit(wakeAll);
      await deletePause(tx);
    },
    readPause,
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

function isBatchHandler(handler: JobHandler | BatchHandler | undefined): handler is BatchHandler {
  return typeof handler === "object";
}
