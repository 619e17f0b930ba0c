import type { Tx } from "../db/db.ts";
import { maskAddresses } from "../lib/address-text.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { Random } from "../lib/random.ts";
import { yieldToEventLoop } from "../lib/turn.ts";
import { HOUR, MB, SECOND } from "../lib/units.ts";
import type { WorkerStore } from "./job-store.ts";
import { LEASE_MS } from "./lease.ts";
import type { BatchHandler, ClaimedJob, Outcome } from "./queue.ts";

/** Delay before the database is tried again after a failure (real time). */
export const RETRY_MS = 1000;
// Time for which a stopping queue keeps trying to store outcomes.
const STOP_MS = 3000;
// 1 s, 2 s, 4 s … up to an hour.
const FIRST_DELAY_MS = 1000;
const MAX_DELAY_MS = HOUR;
// A job that the database interrupted runs again after this long at most, so that work goes on soon after it is back.
const MAX_AWAY_MS = 30 * SECOND;

/** Outcome of an attempt, to be stored. */
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

interface SettlingOptions {
  readonly store: WorkerStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** True once the queue is being stopped. */
  readonly isStopping: () => boolean;
  /** Called when a job was put back, to run later. */
  readonly putBack: () => void;
}

/**
 * Stores the outcomes of attempts. Outcomes that come while others are being stored share a transaction (`OutcomeLine`), which
 * ends their jobs in one statement and writes their effects. If it fails, each outcome is stored alone, so that one effect that
 * cannot be written hurts only its own job. If the store takes several transactions at a time, outcomes of single handlers run
 * next to each other, because each effect waits for its own round trip. Outcomes of batch handlers update the same rows, such as
 * the counters of a campaign, and would only conflict.
 */
export class Settling {
  readonly #options: SettlingOptions;
  readonly #single: OutcomeLine<Settlement>;
  readonly #shared: OutcomeLine<Settlement>;

  constructor(options: SettlingOptions) {
    this.#options = options;
    const { transactionsAtOnce } = options.store;
    const storeGroup = (group: readonly Unstored<Settlement>[]): Promise<void> => this.#storeGroup(group);
    this.#single = new OutcomeLine(transactionsAtOnce, storeGroup);
    this.#shared = transactionsAtOnce === 1 ? this.#single : new OutcomeLine(1, storeGroup);
  }

  /** Stores an outcome. Resolves once it is durable; rejects if it cannot be stored. */
  store(settlement: Settlement): Promise<void> {
    return (settlement.shared ? this.#shared : this.#single).add(settlement);
  }

  /**
   * Records a failure. Tries until the database can take it or the queue stops; then the next start puts the job back. A failure of the
   * database is not counted against the job, which would be dead after a quarter of an hour of a full disk.
   */
  async fail(job: ClaimedJob, error: unknown): Promise<void> {
    const { store, clock, random, log, isStopping, putBack } = this.#options;
    const isAway = store.isAway(error);
    const lastError = sayError(error);
    this.logFailure(job, error);
    do {
      try {
        const delay = backoff(job.attempt, random.fraction());
        await store.fail(job, clock.now() + (isAway ? Math.min(delay, MAX_AWAY_MS) : delay), isAway ? null : lastError);
        return putBack();
      } catch (trouble) {
        log.error("a failed job could not be put back; retrying in a second", { job: job.id, error: String(trouble) });
        await clock.real.sleep(RETRY_MS);
      }
    } while (!isStopping());
  }

  /** True if a failure ends a job: it was its last attempt, and the database is not to blame. */
  isLast(job: ClaimedJob, error: unknown): boolean {
    return job.attempt >= job.maxAttempts && !this.#options.store.isAway(error);
  }

  logFailure(job: ClaimedJob, error: unknown): void {
    const { store, log } = this.#options;
    log.warn(store.isAway(error) ? "job interrupted by the database; it runs again" : "job failed", {
      job: job.id,
      kind: job.kind,
      attempt: job.attempt,
      dead: this.isLast(job, error),
      // The reply of a mail server may name the recipient.
      error: maskAddresses(sayError(error)),
    });
  }

  async #storeGroup(group: readonly Unstored<Settlement>[]): Promise<void> {
    const [only, ...others] = group;
    if (only && others.length === 0) return this.#storeAlone(only);
    try {
      await this.#persist(`${group.length} jobs`, () => this.#writeTogether(group.map(({ outcome }) => outcome)));
      for (const { stored } of group) stored();
    } catch {
      await Promise.all(group.map((one) => this.#storeAlone(one)));
    }
  }

  async #storeAlone({ outcome, stored, failed }: Unstored<Settlement>): Promise<void> {
    try {
      await this.#persist(outcome.job.id, () => this.#writeAlone(outcome));
      stored();
    } catch (error) {
      failed(error);
    }
  }

  /**
   * Tries until the database can take the outcome: only this process knows what the attempt did outside, such as a mail that
   * was accepted. A commit whose answer was lost is not repeated, because the job is gone then; an effect of a job that goes on is
   * stored again, and has to know that.
   */
  async #persist(what: string, write: () => Promise<void>): Promise<void> {
    const { store, clock, log, isStopping } = this.#options;
    let until = clock.real.now() + LEASE_MS;
    for (;;) {
      try {
        return await write();
      } catch (error) {
        if (!store.isUnavailable(error) || clock.real.now() > until) throw error;
        // `stop` waits for this, and a database that stays away must not delay it for long.
        if (isStopping()) until = Math.min(until, clock.real.now() + STOP_MS);
        log.warn("the outcome of a job cannot be stored; retrying in a second", { job: what, error: String(error) });
        await clock.real.sleep(RETRY_MS);
      }
    }
  }

  #writeAlone(settlement: Settlement): Promise<void> {
    const { store, putBack } = this.#options;
    return store.tx(async (tx) => {
      // First the end: an attempt that has lost its job writes nothing, and nobody can claim the job meanwhile.
      if (!settlement.more && !(await store.end(tx, settlement.job, settlement.again))) throw lost(settlement.job);
      await writeEffects(tx, [settlement]);
      if (settlement.again !== undefined) tx.afterCommit(putBack);
    });
  }

  /**
   * Ends the jobs of a group and writes its effects, all sent together. Throws if an attempt had lost its job: then nothing is stored,
   * and each of the group is to be stored alone.
   */
  #writeTogether(group: readonly Settlement[]): Promise<void> {
    const { store, putBack } = this.#options;
    return store.tx(async (tx) => {
      await Promise.all([this.#endJobs(tx, group), writeEffects(tx, group)]);
      if (group.some(({ again, more }) => again !== undefined && !more)) tx.afterCommit(putBack);
    });
  }

  async #endJobs(tx: Tx, group: readonly Settlement[]): Promise<void> {
    const { store } = this.#options;
    const final = group.filter(({ again, more }) => again === undefined && !more).map(({ job }) => job);
    const postponed = group.filter(({ again, more }) => again !== undefined && !more);
    const [held, ...kept] = await Promise.all([store.endMany(tx, final), ...postponed.map(({ job, again }) => store.end(tx, job, again))]);
    const missed = final.find((job) => !held.has(job)) ?? postponed.find((_, i) => !kept[i])?.job;
    if (missed) throw lost(missed);
  }
}

/** The delay after the n-th failed attempt in ms: doubling, with 20 % of jitter so that failures do not coincide again. */
export function backoff(attempt: number, fraction: number): number {
  return Math.round(Math.min(FIRST_DELAY_MS * 2 ** (attempt - 1), MAX_DELAY_MS) * (0.8 + 0.4 * fraction));
}

async function writeEffects(tx: Tx, settlements: readonly Settlement[]): Promise<void> {
  for (const { commit } of settlements) if (commit) await commit(tx);
  const shared = settlements.flatMap((settlement) => settlement.shared ?? []);
  for (const [handler, own] of Map.groupBy(shared, (one) => one.handler))
    await handler.commit(
      tx,
      own.map(({ effect }) => effect),
    );
}

function sayError(error: unknown): string {
  return (error instanceof Error ? `${error.name}: ${error.message}` : String(error)).slice(0, 500);
}

function lost({ id, kind }: ClaimedJob): Error {
  return new Error(`Job ${id} (${kind}) was taken from this attempt; its effect is not committed.`);
}

// Outcomes in one transaction, and what they write. More would only lengthen the turn of the event loop.
const MAX_GROUP = 256;
const MAX_GROUP_BYTES = MB;
// Outcomes that are worth a transaction while another one is under way.
const MIN_GROUP = 16;

/** An outcome that waits to be stored, and what to call when it is stored or cannot be. */
export interface Unstored<Outcome> {
  readonly outcome: Outcome;
  stored(): void;
  failed(error: unknown): void;
}

/**
 * The line in which outcomes wait to be stored. They are stored in groups: what comes in one turn of the event loop, or while earlier
 * groups are being stored, shares a transaction. Up to `atOnce` groups are under way; a further one begins when it has 16 outcomes.
 *
 * | groups under way | outcomes wait | at the end of the turn                          |
 * | ---------------- | ------------- | ----------------------------------------------- |
 * | none             | any           | a group begins                                  |
 * | less than atOnce | 16 or more    | a group begins, with its share of the outcomes  |
 * | less than atOnce | fewer         | they wait for a group to end, or for others     |
 * | atOnce           | any           | they wait for a group to end                    |
 */
export class OutcomeLine<Outcome extends { readonly bytes?: number | undefined }> {
  readonly #atOnce: number;
  readonly #storeGroup: (group: readonly Unstored<Outcome>[]) => Promise<void>;
  #waiting: Unstored<Outcome>[] = [];
  #underWay = 0;
  #isScheduled = false;

  /** `storeGroup` settles each outcome of a group; it must not reject. */
  constructor(atOnce: number, storeGroup: (group: readonly Unstored<Outcome>[]) => Promise<void>) {
    this.#atOnce = atOnce;
    this.#storeGroup = storeGroup;
  }

  /** Resolves once the outcome is stored; rejects if it cannot be. */
  add(outcome: Outcome): Promise<void> {
    return new Promise((stored, failed) => {
      this.#waiting.push({ outcome, stored, failed });
      this.#schedule();
    });
  }

  get #mayBegin(): boolean {
    if (this.#underWay === 0) return this.#waiting.length > 0;
    return this.#underWay < this.#atOnce && this.#waiting.length >= MIN_GROUP;
  }

  /** At the end of the turn of the event loop: replies of several connections arrive in one turn, and others have a turn between groups. */
  #schedule(): void {
    if (this.#isScheduled || !this.#mayBegin) return;
    this.#isScheduled = true;
    void yieldToEventLoop().then(() => {
      this.#isScheduled = false;
      while (this.#mayBegin) void this.#storeNext();
    });
  }

  async #storeNext(): Promise<void> {
    const group = this.#waiting.splice(0, this.#sizeOfNext());
    this.#underWay += 1;
    await this.#storeGroup(group);
    this.#underWay -= 1;
    this.#schedule();
  }

  /** At least one, and as many as share a transaction unless what they write is large. */
  #sizeOfNext(): number {
    const share = Math.ceil(this.#waiting.length / this.#atOnce);
    const limit = Math.min(Math.max(share, MIN_GROUP), MAX_GROUP);
    let bytes = 0;
    const end = this.#waiting.slice(0, limit).findIndex(({ outcome }) => {
      bytes += outcome.bytes ?? 0;
      return bytes > MAX_GROUP_BYTES;
    });
    return end < 0 ? limit : Math.max(1, end);
  }
}
