import type { Tx } from "../db/db.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { Random } from "../lib/random.ts";
import { yieldToEventLoop } from "../lib/turn.ts";
import type { JobStore } from "./job-store.ts";
import type { BatchHandler, ClaimedJob, Outcome } from "./queue.ts";

/** An attempt that takes longer (real time) has lost its job; what it commits later is refused. */
export const LEASE_MS = 10 * 60_000;
/** When the database cannot work, it is asked again after this long (real time). */
export const RETRY_MS = 1000;
// How long a queue that is being stopped keeps trying to store outcomes.
const STOP_MS = 3000;
// Outcomes in one transaction, and what they write. More would only lengthen the turn of the event loop.
const MAX_GROUP = 256;
const MAX_GROUP_BYTES = 1024 * 1024;
// Outcomes that are worth a transaction beside one that is under way.
const MIN_BESIDE = 16;
// After two transactions wrote the same rows, they run one after the other for this long (real time).
const CONTENDED_MS = 1000;
// 1 s, 2 s, 4 s … up to an hour.
const FIRST_DELAY_MS = 1000;
const MAX_DELAY_MS = 3_600_000;

/** What an attempt leaves to be stored. */
export interface Settlement {
  readonly job: ClaimedJob;
  readonly again?: number | undefined;
  /** True if the job goes on. */
  readonly more?: boolean | undefined;
  /** About how much its effect writes, if that is much. */
  readonly bytes?: number | undefined;
  /** The effect of a single handler. */
  readonly commit?: Outcome["commit"];
  /** The effect of a batch handler. */
  readonly shared?: { readonly handler: BatchHandler; readonly effect: unknown } | undefined;
}

export interface SettlingOptions {
  readonly store: JobStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** False once the queue is being stopped. */
  readonly isStarted: () => boolean;
  /** Looks for work. */
  readonly poll: () => void;
  /** Called when nothing is left to be stored. */
  readonly idle: () => void;
}

/** Stores what attempts leave behind. */
export interface Settling {
  /** Stores an outcome. Resolves once it is durable; rejects if it cannot be stored. */
  store(settlement: Settlement): Promise<void>;
  /** Ends a job that has no effect, without waiting for it. */
  end(job: ClaimedJob): void;
  /** Records a failure. */
  fail(job: ClaimedJob, error: unknown): Promise<void>;
  /** Jobs that have ended but are still stored. */
  ended(): readonly ClaimedJob[];
}

interface Waiting extends Settlement {
  done(): void;
  failed(error: unknown): void;
}

/**
 * Creates what stores outcomes: those that settle in one turn of the event loop, or while earlier ones are being stored, share a
 * transaction that ends their jobs in one statement and writes their effects. When that fails, each is stored alone, so that one
 * effect that cannot be written hurts only its own job. Where the store takes several transactions at a time, those of single
 * handlers run beside each other, because each effect waits for its own round trip.
 */
export function createSettling({ store, clock, random, log, isStarted, poll, idle }: SettlingOptions): Settling {
  /** Until then transactions run one after the other, because one had met another one and had to run again. */
  let contendedUntil = 0;
  /** Ended without an effect, waiting to be deleted together. */
  let ended: ClaimedJob[] = [];
  /** Being deleted. */
  let ending: readonly ClaimedJob[] = [];

  /**
   * Tries until the database can take the outcome: only this process knows what the attempt did outside, such as a mail that
   * was accepted. A commit whose answer was lost is not repeated, because the job is gone then.
   */
  const persist = async (what: string, write: () => Promise<void>): Promise<void> => {
    let until = clock.real.now() + LEASE_MS;
    for (;;) {
      try {
        return await write();
      } catch (error) {
        if (!store.isUnavailable(error) || clock.real.now() > until) throw error;
        // `stop` waits for this, and a database that stays away must not delay it for long.
        if (!isStarted()) until = Math.min(until, clock.real.now() + STOP_MS);
        log.warn("the outcome of a job cannot be stored; retrying in a second", { job: what, error: String(error) });
        await clock.real.sleep(RETRY_MS);
      }
    }
  };

  const writeAlone = (settlement: Settlement): Promise<void> =>
    store.tx(async (tx) => {
      // First the end: an attempt that has lost its job writes nothing, and nobody can claim the job meanwhile.
      if (!settlement.more && !(await store.end(tx, settlement.job, settlement.again))) throw lost(settlement.job);
      await writeEffects(tx, [settlement]);
      if (settlement.again !== undefined) tx.afterCommit(poll);
    });

  /**
   * Ends the jobs of a group and writes its effects, all sent together. Throws if an attempt had lost its job: then nothing is stored,
   * and each of the group is to be stored alone.
   */
  const writeTogether = async (group: readonly Waiting[]): Promise<void> => {
    let runs = 0;
    await store.tx(async (tx) => {
      runs += 1;
      await Promise.all([endJobs(tx, group), writeEffects(tx, group)]);
      if (group.some(({ again, more }) => again !== undefined && !more)) tx.afterCommit(poll);
    });
    if (runs > 1) contendedUntil = clock.real.now() + CONTENDED_MS;
  };

  const endJobs = async (tx: Tx, group: readonly Waiting[]): Promise<void> => {
    const final = group.filter(({ again, more }) => again === undefined && !more).map(({ job }) => job);
    const postponed = group.filter(({ again, more }) => again !== undefined && !more);
    const [held, ...kept] = await Promise.all([store.endMany(tx, final), ...postponed.map(({ job, again }) => store.end(tx, job, again))]);
    const missed = final.find((job) => !held.has(job)) ?? postponed.find((_, i) => !kept[i])?.job;
    if (missed) throw lost(missed);
  };

  const storeAlone = async (one: Waiting): Promise<void> => {
    try {
      await persist(one.job.id, () => writeAlone(one));
      one.done();
    } catch (error) {
      one.failed(error);
    }
  };

  const storeGroup = async (group: readonly Waiting[]): Promise<void> => {
    const [only, ...others] = group;
    if (only && others.length === 0) return storeAlone(only);
    try {
      await persist(`${group.length} jobs`, () => writeTogether(group));
      for (const one of group) one.done();
    } catch {
      await Promise.all(group.map(storeAlone));
    }
  };

  /** Collects outcomes and stores them in groups, of which at most `most` are under way. Returns what adds one. */
  const createLine = (most: number): ((one: Waiting) => void) => {
    let waiting: Waiting[] = [];
    /** Groups that are being stored: what settles meanwhile waits for one to end, or for enough others. */
    let storing = 0;
    let scheduled = false;
    const mayBegin = (): boolean => storing === 0 || (storing < most && waiting.length >= MIN_BESIDE && clock.real.now() >= contendedUntil);
    /** At the end of the turn of the event loop: replies of several connections arrive in one turn. */
    const schedule = (): void => {
      if (scheduled || !mayBegin()) return;
      scheduled = true;
      void yieldToEventLoop().then(() => {
        scheduled = false;
        while (waiting.length > 0 && mayBegin()) void storeNext();
      });
    };
    const storeNext = async (): Promise<void> => {
      const size = countGroup(waiting, waiting.length < 2 * MIN_BESIDE ? MAX_GROUP : Math.ceil(waiting.length / (most - storing)));
      const group = waiting.slice(0, size);
      waiting = waiting.slice(size);
      storing += 1;
      await storeGroup(group);
      storing -= 1;
      // Between large groups others have a turn.
      if (waiting.length > 0) schedule();
    };
    return (one) => {
      waiting.push(one);
      schedule();
    };
  };
  const addSingle = createLine(store.groupsAtOnce);
  // Those of batch handlers update the same rows, such as the counters of a campaign: at the same time they would only conflict.
  const addShared = store.groupsAtOnce === 1 ? addSingle : createLine(1);

  /** Deletes ended jobs: one statement for all that ended while the one before was on its way. */
  const deleteEnded = async (): Promise<void> => {
    while (ended.length > 0) {
      ending = ended;
      ended = [];
      for (let tries = 0; ending.length > 0 && (tries === 0 || isStarted()); tries += 1) {
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
    idle();
  };

  return {
    store: (settlement) =>
      new Promise((done, failed) => {
        (settlement.commit ? addSingle : addShared)({ ...settlement, done, failed });
      }),
    end: (job) => {
      ended.push(job);
      if (ending.length === 0 && ended.length === 1) void Promise.resolve().then(deleteEnded);
    },
    // Tries until the database can take it or the queue stops; then the next start puts the job back.
    fail: async (job, error) => {
      const lastError = (error instanceof Error ? `${error.name}: ${error.message}` : String(error)).slice(0, 500);
      log.warn("job failed", {
        job: job.id,
        kind: job.kind,
        attempt: job.attempt,
        dead: job.attempt >= job.maxAttempts,
        error: lastError,
      });
      for (let tries = 0; tries === 0 || isStarted(); tries += 1) {
        try {
          return await store.fail(job, clock.now() + backoff(job.attempt, random.fraction()), lastError);
        } catch (trouble) {
          log.error("a failed job could not be put back; retrying in a second", { job: job.id, error: String(trouble) });
          await clock.real.sleep(RETRY_MS);
        }
      }
    },
    ended: () => [...ended, ...ending],
  };
}

/** The delay after the n-th failed attempt in ms: doubling, with 20 % of jitter so that failures do not coincide again. */
export function backoff(attempt: number, fraction: number): number {
  return Math.round(Math.min(FIRST_DELAY_MS * 2 ** (attempt - 1), MAX_DELAY_MS) * (0.8 + 0.4 * fraction));
}

/** How many of these outcomes one transaction stores: at least one, and `most` unless what they write is large. */
function countGroup(waiting: readonly Settlement[], most: number): number {
  const limit = Math.min(Math.max(most, MIN_BESIDE), MAX_GROUP);
  let bytes = 0;
  const end = waiting.slice(0, limit).findIndex((one) => {
    bytes += one.bytes ?? 0;
    return bytes > MAX_GROUP_BYTES;
  });
  return end < 0 ? limit : Math.max(1, end);
}

async function writeEffects(tx: Tx, settlements: readonly Settlement[]): Promise<void> {
  const byHandler = new Map<BatchHandler, unknown[]>();
  for (const { commit, shared } of settlements) {
    if (commit) await commit(tx);
    if (!shared) continue;
    const effects = byHandler.get(shared.handler);
    if (effects) effects.push(shared.effect);
    else byHandler.set(shared.handler, [shared.effect]);
  }
  for (const [handler, effects] of byHandler) await handler.commit(tx, effects);
}

function lost({ id, kind }: ClaimedJob): Error {
  return new Error(`Job ${id} (${kind}) was taken from this attempt; its effect is not committed.`);
}
