import type { Clock, Timer } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { Random } from "../lib/random.ts";
import { yieldToEventLoop } from "../lib/turn.ts";
import { Attempts } from "./attempts.ts";
import { Claims, type Demand } from "./claims.ts";
import { DueTimer } from "./due-timer.ts";
import type { WorkerStore } from "./job-store.ts";
import type { ClaimedJob, JobHandlers, Lane, LaneJob } from "./queue.ts";
import { RETRY_MS, Settling } from "./settling.ts";

export interface WorkerOptions {
  clock: Clock;
  random: Random;
  log: Log;
  /** True while requests are waiting: accepting comes before delivering, so few jobs then run at a time. */
  overloaded?: () => boolean;
  /** True while bulk mail may be due: what makes more of it waits. */
  isBulkDue?: () => boolean;
  /** Called when nothing more is due in a lane. */
  drained?: (lane: Lane) => void;
  /** Called when the store has learned that there may be work. */
  heard?: () => void;
}

type Mode = "stopped" | "idle" | "claiming" | "resting" | "retrying" | "stopping";

// While requests wait: single jobs that run at a time, and the time between two claims. With the sizes of these claims (`claims.ts`)
// jobs get about a twentieth of the time on SQLite and a tenth on Postgres. Without a rest, accepting lost a third of its rate.
const OVERLOADED_CONCURRENCY = 4;
const REST_MS = 50;

/**
 * The one loop that works off the jobs of a store. It does not poll: it is woken by the commit that adds a job, by the timer of the
 * next job that falls due and, where there are several processes, by their announcements (`wake`), and by attempts that leave a slot.
 * Where there is one process, the commit makes it look at the lane of the job only (`added`).
 *
 * | mode     | what holds                                                             | left by → to                              |
 * | -------- | ---------------------------------------------------------------------- | ----------------------------------------- |
 * | stopped  | nothing runs, no timer is set, the store is closed                     | `start` → claiming                        |
 * | idle     | what is due is claimed, or waits for a slot; the timer is set          | `wake`, a free slot → claiming            |
 * | claiming | the loop runs; a wake-up makes it look once more before it ends        | nothing more to claim → idle              |
 * |          |                                                                        | requests wait, claimed just now → resting |
 * |          |                                                                        | the store throws → retrying               |
 * | resting  | the loop waits until 50 ms have passed since its last claim            | time → claiming                           |
 * | retrying | the database cannot work; jobs that run go on, wake-ups are ignored    | a second, `idle` → claiming               |
 * | stopping | nothing is claimed any more; what runs ends and is stored              | all is done → stopped                     |
 *
 * `stop` leads from every mode to stopping. A claim that is under way then is put back.
 *
 * Only `Claims` adapts to load: it claims as many jobs ahead as began a moment ago, 0 to `store.maxClaimAhead`, and none while
 * requests wait. All other numbers are fixed. Requests win over the mode: while they wait,
 * claims are small and 50 ms apart. The batch handlers decide how many of their jobs are claimed.
 */
export class Worker {
  readonly #store: WorkerStore;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #overloaded: () => boolean;
  readonly #isBulkDue: () => boolean;
  readonly #heard: () => void;
  readonly #claims: Claims;
  readonly #settling: Settling;
  readonly #attempts: Attempts;
  readonly #dueTimer: DueTimer;
  #mode: Mode = "stopped";
  #concurrency = 0;
  /** True when the loop is to look once more before it ends. */
  #lookAgain = false;
  #isLooping = false;
  #claimedAt = Number.NEGATIVE_INFINITY;
  /** The instant of the newest job of which `added` told, ms. */
  #addedAt = Number.NEGATIVE_INFINITY;
  #retry: Timer | null = null;
  #stopped: Promise<void> = Promise.resolve();
  readonly #quietWaiters: (() => void)[] = [];

  constructor(
    store: WorkerStore,
    { clock, random, log, overloaded = () => false, isBulkDue = () => false, drained = () => {}, heard = () => {} }: WorkerOptions,
  ) {
    this.#store = store;
    this.#clock = clock;
    this.#log = log;
    this.#overloaded = overloaded;
    this.#isBulkDue = isBulkDue;
    this.#heard = heard;
    this.#claims = new Claims(store, { clock, log, drained });
    this.#dueTimer = new DueTimer(store, clock, () => this.wake());
    this.#settling = new Settling({
      ...{ store, clock, random, log },
      isStopping: () => this.isStopping,
      putBack: () => this.wake(),
    });
    this.#attempts = new Attempts({ real: clock.real, log, settling: this.#settling, slotFreed: () => this.#slotFreed() });
  }

  get mode(): Mode {
    return this.#mode;
  }

  /** Starts to run jobs, `concurrency` of single handlers at a time. */
  async start(handlers: JobHandlers, concurrency: number): Promise<void> {
    await this.#stopped;
    const kinds = Object.keys(handlers);
    this.#attempts.use(handlers);
    this.#claims.use(kinds);
    this.#concurrency = concurrency;
    const wake = (): void => {
      this.wake();
      this.#heard();
    };
    await this.#store.open(kinds, { wake, held: () => this.#held() });
    this.#mode = "idle";
    this.wake();
  }

  /** Claims nothing more, and resolves when what runs has ended and is stored, and `others` have stopped as well. */
  stop(others: Promise<unknown> = Promise.resolve()): Promise<void> {
    if (!this.isStopping) {
      this.#mode = "stopping";
      this.#stopped = this.#stop(others);
    }
    return this.#stopped;
  }

  /** Number of jobs that have begun here so far. */
  get begun(): number {
    return this.#attempts.begun;
  }

  /** Resolves when nothing runs and nothing is due at the present instant, or the database cannot work. */
  async idle(): Promise<void> {
    if (this.isStopping) return;
    // It may be able to work again.
    if (this.#mode === "retrying") this.#endRetrying();
    this.wake();
    await this.#untilQuiet();
  }

  /** Looks for work after jobs were added or moved, or time has passed. */
  wake(): void {
    this.#dueTimer.invalidate();
    this.#claims.refill();
    this.#look();
  }

  /** Looks for jobs of these lanes after some were added that are due at `at` (ms): others, and the timer, are as they were. */
  added(lanes: ReadonlySet<Lane>, at: number): void {
    this.#addedAt = Math.max(this.#addedAt, at);
    this.#claims.refill(lanes);
    this.#look();
  }

  /** True if nothing was due in a lane at the last look. */
  isDrained(lane: Lane): boolean {
    return this.#claims.isDrained(lane);
  }

  /** True if these jobs are of the lane `mail`, and batch handlers may begin all of them as soon as they are stored. */
  hasRoomFor(jobs: readonly LaneJob[]): boolean {
    if (this.isStopping || this.#mode === "retrying" || jobs.length > this.#claims.roomForMail(this.#demand())) return false;
    return jobs.every(({ kind, lane }) => lane === "mail" && this.#attempts.runsInBatches(kind));
  }

  /** Begins jobs that were claimed, or stored a moment ago. One that began in the other way meanwhile is left out. */
  begin(jobs: readonly LaneJob[]): void {
    if (this.isStopping) return;
    const held = new Set(this.#held().map(({ id }) => id));
    this.#attempts.begin(jobs.filter(({ id }) => !held.has(id)));
  }

  /** True from the call of `stop` until the next start. */
  get isStopping(): boolean {
    return this.#mode === "stopping" || this.#mode === "stopped";
  }

  /** The jobs this process holds. */
  #held(): ClaimedJob[] {
    return [...this.#attempts.jobs, ...this.#claims.ahead];
  }

  async #stop(others: Promise<unknown>): Promise<void> {
    this.#retry?.cancel();
    const unbegun = this.#claims.takeAhead();
    await this.#untilQuiet();
    this.#dueTimer.cancel();
    // Jobs that stay claimed are taken over at the next start, or by the other processes.
    if (unbegun.length > 0) await this.#store.release(unbegun).catch(() => {});
    await others;
    await this.#store.close();
    this.#mode = "stopped";
  }

  #slotFreed(): void {
    this.#beginAhead();
    if (this.#claims.ahead.length === 0) this.#look();
    this.#checkQuiet();
  }

  /** Begins the jobs that were claimed ahead, as many as there are slots: those of batch handlers take none. */
  #beginAhead(): void {
    while (!this.isStopping && this.#claims.ahead.length > 0 && this.#freeSlots() > 0)
      this.#attempts.begin(this.#claims.takeAhead(this.#freeSlots()));
  }

  #freeSlots(): number {
    const slots = this.#overloaded() ? Math.min(OVERLOADED_CONCURRENCY, this.#concurrency) : this.#concurrency;
    return slots - this.#attempts.slotsTaken;
  }

  #look(): void {
    if (this.#mode === "claiming" || this.#mode === "resting") this.#lookAgain = true;
    if (this.#mode !== "idle") return;
    this.#mode = "claiming";
    this.#isLooping = true;
    void this.#loop();
  }

  async #loop(): Promise<void> {
    try {
      do {
        this.#lookAgain = false;
        // One claim for all slots that the jobs of this turn leave.
        await yieldToEventLoop();
        await this.#claimDue();
        // The clock was set back since the job was added, which is not due any more.
        if (this.#clock.now() < this.#addedAt) this.#dueTimer.invalidate();
        if (!this.isStopping) await this.#dueTimer.arm(this.#claims.lookedUntil);
      } while (this.#lookAgain && !this.isStopping);
      if (!this.isStopping) this.#mode = "idle";
    } catch (error) {
      this.#log.error("the queue could not claim jobs; retrying in a second", { error: String(error) });
      this.#retryLater();
    }
    this.#isLooping = false;
    this.#checkQuiet();
  }

  #retryLater(): void {
    if (this.isStopping) return;
    this.#mode = "retrying";
    this.#retry = this.#clock.real.after(RETRY_MS, () => {
      this.#endRetrying();
      this.#look();
    });
  }

  #endRetrying(): void {
    this.#retry?.cancel();
    this.#mode = "idle";
  }

  /** Claims and begins jobs until no lane that has a free slot has more that are due. */
  async #claimDue(): Promise<void> {
    while (!this.isStopping && this.#claims.isWorthwhile(this.#demand())) {
      if (this.#overloaded()) await this.#rest();
      const jobs = await this.#claims.claim(this.#demand());
      this.#claimedAt = this.#clock.real.now();
      if (this.isStopping) await this.#store.release([...jobs, ...this.#claims.takeAhead()]);
      else {
        this.begin(jobs);
        this.#beginAhead();
      }
    }
  }

  #demand(): Demand {
    const [slots, isBulkDue, overloaded] = [this.#freeSlots(), this.#isBulkDue(), this.#overloaded()];
    return { slots, batchSlots: this.#attempts.batchSlots, isBulkDue, overloaded };
  }

  async #rest(): Promise<void> {
    const left = this.#claimedAt + REST_MS - this.#clock.real.now();
    if (left <= 0) return;
    this.#mode = "resting";
    await this.#clock.real.sleep(left);
    if (!this.isStopping) this.#mode = "claiming";
  }

  #untilQuiet(): Promise<void> {
    return new Promise((done) => {
      this.#quietWaiters.push(done);
      this.#checkQuiet();
    });
  }

  #checkQuiet(): void {
    if (this.#isLooping || this.#attempts.size > 0 || this.#claims.ahead.length > 0) return;
    for (const done of this.#quietWaiters.splice(0)) done();
  }
}
