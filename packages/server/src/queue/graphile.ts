import type { PgTx, PostgresDb } from "../db/postgres/database.ts";
import type { Clock, Timer } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { Random } from "../lib/random.ts";
import { Link, type LinkOptions } from "./graphile-link.ts";
import { type Addition, graphileStore, type Hold } from "./graphile-store.ts";
import { backoff, type ClaimedJob, type JobHandler, type NewJob, type Outcome, type Queue } from "./queue.ts";

export interface GraphileQueueOptions extends Pick<LinkOptions, "beatMs" | "deadMs"> {
  db: PostgresDb;
  clock: Clock;
  random: Random;
  log: Log;
  /** True while requests are waiting: accepting comes first, so few jobs are then run at a time. */
  pressed?: () => boolean;
}

const MAX_ATTEMPTS = 10;
// What the column holds.
const MOST_ATTEMPTS = 32_767;
// A handler that has not come back after this long (real time) has lost its job; what it commits later is refused.
const LEASE_MS = 10 * 60_000;
// Jobs run at a time while requests are waiting.
const TRICKLE = 4;
// When the database cannot work, it is asked again after this long (real time).
const RETRY_MS = 1000;
// How long a queue that stops goes on trying to store what is done.
const STOP_MS = 3000;
// Jobs taken beyond those that can run at once, at most. Fetching is then one statement for hundreds of short jobs.
const MOST_AHEAD = 512;
// A claim that is used up faster than this may be larger the next time; one that lasts longer shall be smaller, so that
// no process sits on work which another one could do.
const CLAIM_LASTS_MS = 50;

/**
 * The queue of any number of server processes: the tables of graphile-worker, filled in the caller's transaction. Its
 * worker ends a job in a transaction of its own after the task has come back, and knows no time but the database's. Here
 * effect and end are one transaction, and time is the app's clock: so fetching and ending are ours, the rest is its.
 *
 * Measured on two cores, 20,000 jobs that do nothing: graphile-worker's own loop (local queue of 500, completions in
 * batches) and this one, in the same run, are in bench/postgres.
 */
export function graphileQueue({ db, clock, random, log, pressed = () => false, beatMs, deadMs }: GraphileQueueOptions): Queue {
  const store = graphileStore(db);
  const running = new Map<string, Promise<void>>();
  /** Claimed, and waiting for a place. */
  const ahead: ClaimedJob[] = [];
  /** Done, without an effect, and to be deleted together. */
  let ended: ClaimedJob[] = [];
  let flushing: readonly ClaimedJob[] = [];
  let handlers: Readonly<Record<string, JobHandler>> = {};
  let concurrency = 0;
  let started = false;
  let timer: Timer | null = null;
  let pumping = false;
  let again = false;
  let reach = 0;
  let claimedAt = 0;
  const idle: (() => void)[] = [];
  const additions = new WeakMap<PgTx, Addition[]>();
  let died = (): void => {};

  const link = new Link({
    db,
    real: clock.real,
    log,
    makeName: () => `mailsvc_${Buffer.from(random.bytes(9)).toString("hex")}_${process.pid}`,
    held: () => [...running.keys(), ...[...ahead, ...ended, ...flushing].map((j) => j.id)],
    wake: () => pump(),
    died: () => died(),
    ...(beatMs !== undefined && { beatMs }),
    ...(deadMs !== undefined && { deadMs }),
  });

  const hold = (job: ClaimedJob): Hold => [job.id, link.name, job.attempt];

  const end = async (tx: PgTx, job: ClaimedJob, outcome: Outcome): Promise<void> => {
    // First, so that whoever has lost the job does nothing, and nobody can take it while the effect is written.
    const mine = outcome.again === undefined ? await store.end(tx, hold(job)) : await store.again(tx, hold(job), outcome.again);
    if (!mine) throw new Error(`Job ${job.id} (${job.kind}) was taken from this attempt; its effect is not committed.`);
    await outcome.commit?.(tx);
    if (outcome.again !== undefined) tx.afterCommit(pump);
  };

  /**
   * Commits the end of a job. While the database cannot take it, this tries until it can: what the attempt did outside,
   * such as a mail that was accepted, is known only here. Whether a commit whose answer was lost took place is no
   * question, since the job is gone then.
   */
  const commit = async (job: ClaimedJob, outcome: Outcome): Promise<void> => {
    let until = clock.real.now() + LEASE_MS;
    for (;;) {
      try {
        return await db.tx((tx) => end(tx, job, outcome));
      } catch (error) {
        if (!db.unavailable(error) || clock.real.now() > until) throw error;
        // Whoever stops the queue waits for it: a database that stays away must not hold that up for long.
        if (!started) until = Math.min(until, clock.real.now() + STOP_MS);
        log.warn("the outcome of a job cannot be stored; the next try is in a second", { job: job.id, error: String(error) });
        await clock.real.sleep(RETRY_MS);
      }
    }
  };

  /** Notes a failure. While the database cannot take it, this tries until it can, or until the queue stops. */
  const fail = async (job: ClaimedJob, error: unknown): Promise<void> => {
    const lastError = (error instanceof Error ? `${error.name}: ${error.message}` : String(error)).slice(0, 500);
    const dead = job.attempt >= job.maxAttempts;
    log.warn("job failed", { job: job.id, kind: job.kind, attempt: job.attempt, dead, error: lastError });
    for (let tries = 0; tries === 0 || started; tries += 1) {
      try {
        // Text of Postgres has no U+0000.
        await store.fail(hold(job), clock.now() + backoff(job.attempt, random.fraction()), lastError.replaceAll("\0", "\uFFFD"));
        return;
      } catch (trouble) {
        log.error("a failed job could not be put back; the next try is in a second", { job: job.id, error: String(trouble) });
        await clock.real.sleep(RETRY_MS);
      }
    }
  };

  /** Deletes what has ended, in one statement for all that came together while the one before was on its way. */
  const flush = async (): Promise<void> => {
    while (ended.length > 0) {
      flushing = ended;
      ended = [];
      try {
        await store.endAll(link.name, flushing as ClaimedJob[]);
      } catch (error) {
        // They are let go with the next sweep, and run once more: at least once is what a job is promised.
        log.error("jobs that were done could not be deleted; they will run again", { jobs: flushing.length, error: String(error) });
      }
      flushing = [];
    }
    settle();
  };

  const attempt = async (job: ClaimedJob): Promise<void> => {
    let lease: Timer | undefined;
    try {
      const handler = handlers[job.kind];
      if (!handler) throw new Error(`There is no handler for jobs of kind ${job.kind}.`);
      const lost = new Promise<never>((_, reject) => {
        lease = clock.real.after(LEASE_MS, () => reject(new Error("The attempt took longer than its lease of 10 minutes.")));
      });
      const outcome = await Promise.race([handler(job), lost]);
      if (outcome.commit || outcome.again !== undefined) await commit(job, outcome);
      else {
        ended.push(job);
        if (flushing.length === 0 && ended.length === 1) void Promise.resolve().then(flush);
      }
    } catch (error) {
      await fail(job, error);
    } finally {
      lease?.cancel();
    }
  };

  const arm = async (): Promise<void> => {
    const next = await store.next(clock.now());
    timer?.cancel();
    timer = next === null || !started ? null : clock.after(next.at - clock.now(), next.kind, pump);
  };

  const settle = (): void => {
    if (running.size > 0 || pumping || ahead.length > 0 || ended.length > 0 || flushing.length > 0) return;
    for (const done of idle.splice(0)) done();
  };

  const places = (): number => (pressed() ? Math.min(TRICKLE, concurrency) : concurrency) - running.size;

  const begin = (job: ClaimedJob): void => {
    const work = attempt(job).finally(() => {
      running.delete(job.id);
      fill();
      if (ahead.length === 0) pump();
      settle();
    });
    running.set(job.id, work);
  };

  /** Begins what was taken beforehand. */
  const fill = (): void => {
    while (started && places() > 0) {
      const job = ahead.shift();
      if (!job) return;
      begin(job);
    }
  };

  /** Fetches a batch. True when there may be more. */
  const claim = async (free: number): Promise<boolean> => {
    const now = clock.real.now();
    const quick = now - claimedAt < CLAIM_LASTS_MS;
    reach = quick ? Math.min(reach * 2 + 8, MOST_AHEAD) : Math.floor(reach / 2);
    claimedAt = now;
    const wanted = free + (pressed() ? 0 : reach);
    const jobs = await store.claim(link.name, clock.now(), wanted);
    const back: string[] = [];
    for (const job of jobs) {
      if (started && places() > 0) begin(job);
      // A process that dies must not use up the last attempt of what it had not begun.
      else if (!started || job.attempt >= job.maxAttempts) back.push(job.id);
      else ahead.push(job);
    }
    if (back.length > 0) await store.unclaim(link.name, back);
    return jobs.length === wanted;
  };

  const drain = async (): Promise<void> => {
    while (started && ahead.length === 0) {
      const free = places();
      if (free <= 0) return;
      if (!(await claim(free))) return arm();
    }
  };

  /** Takes what is due. Called again while it runs, it goes round once more. */
  function pump(): void {
    if (!started) return;
    again = true;
    if (pumping) return;
    pumping = true;
    void (async () => {
      try {
        while (again) {
          again = false;
          await drain();
        }
      } catch (error) {
        log.error("the queue could not take jobs; it tries again in a second", { error: String(error) });
      } finally {
        pumping = false;
        settle();
      }
    })();
  }

  const wakeAll = (): void => {
    pump();
    link.announce();
  };

  const settled = (): Promise<void> =>
    new Promise((done) => {
      idle.push(done);
      settle();
    });

  const isId = (id: string): boolean => /^\d{1,18}$/.test(id);

  return {
    workers: {
      get name() {
        return link.name;
      },
      liveWorkers: store.liveWorkers,
      onDeath: (fn) => {
        died = fn;
      },
    },
    enqueue: async (transaction, job: NewJob) => {
      const tx = transaction as PgTx;
      const now = clock.now();
      let list = additions.get(tx);
      if (!list) {
        const made: Addition[] = [];
        list = made;
        additions.set(tx, made);
        // One statement for all jobs of a transaction: a batch of 50 recipients has 50.
        tx.beforeCommit("jobs", () => store.add(tx, made));
        tx.afterCommit(wakeAll);
      }
      list.push({
        kind: job.kind,
        payload: JSON.stringify(job.payload),
        runAt: job.runAt ?? now,
        maxAttempts: Math.min(job.maxAttempts ?? MAX_ATTEMPTS, MOST_ATTEMPTS),
        dedupeKey: job.dedupeKey ?? null,
        createdAt: now,
      });
    },
    start: async (byKind, limit) => {
      handlers = byKind;
      concurrency = limit;
      await store.register(Object.keys(byKind));
      await link.open();
      started = true;
      pump();
    },
    stop: async () => {
      if (!started) return;
      started = false;
      const back = ahead.splice(0).map((j) => j.id);
      // A claim may be under way: what it takes is put back before the queue has stopped.
      await settled();
      timer?.cancel();
      timer = null;
      if (back.length > 0) await store.unclaim(link.name, back).catch(() => {});
      await link.close();
    },
    idle: async () => {
      if (!started) return;
      pump();
      await settled();
    },
    refresh: pump,
    list: (read, filter) => store.list(read, filter),
    get: async (read, id) => (isId(id) ? store.get(read, id) : null),
    retry: async (tx, id) => {
      if (!isId(id)) return null;
      const revived = await store.revive(tx, id, clock.now());
      if (revived) tx.afterCommit(wakeAll);
      return revived;
    },
  };
}
