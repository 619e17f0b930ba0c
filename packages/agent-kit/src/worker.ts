import { warnNotStarted } from "./console-reports.ts";
import { AgentPausedError, AgentStoppedError, EventBusyError, isFinal, MissingKeyError, RunWaitingError } from "./errors.ts";
import type { EventLog, Lease } from "./event-log.ts";
import { type AgentClock, randomFraction, systemClock, within } from "./runtime.ts";
import type { Slots } from "./slots.ts";

/** Source of an error: the event and the attempt; `willRetry` if another attempt follows. */
export interface Failure {
  readonly key: string;
  readonly attempt: number;
  readonly willRetry: boolean;
}

interface WorkerOptions {
  readonly log: EventLog;
  readonly clock: AgentClock;
  readonly slots: Slots;
  readonly leaseMs: number;
  readonly maxAttempts: number;
  /** True if events may outlive this process. */
  readonly isStored: boolean;
  /** Runs the handlers of an event. */
  readonly handle: (lease: Lease) => Promise<void>;
  /** The id of the message or wakeup that an event answers. */
  readonly answerIdOf: (lease: Lease) => string | null;
  /** True once an answer is there. */
  readonly hasAnswer: (id: string) => Promise<boolean>;
  /** True if the activation of an event is paused now. */
  readonly isPaused: (activationId: string) => Promise<boolean>;
  /** True if the key of an activation is known now. */
  readonly hasKey: (activationId: string) => Promise<boolean>;
  /** Called when another process has taken an event over, because this one did not renew its lease in time. */
  readonly onLost: (key: string) => void;
  readonly onError: (error: unknown, lease: Lease, failure: Failure) => void;
}

const FIRST_RETRY_MS = 1000;
const MAX_RETRY_MS = 3_600_000;
const PAUSED_RETRY_MS = 10_000;
const BUSY_RETRY_MS = 2000;

/**
 * Works on stored events, in this process. Any number of processes may work on one store; each event has one of them at a time.
 *
 *   mode    | works on                                          | left by
 *   --------|---------------------------------------------------|---------------
 *   new     | events that are passed to it                      | start, stop
 *   running | and those that a regular scan finds to be due     | stop
 *   stopped | nothing new                                       |
 */
export class Worker {
  readonly #options: WorkerOptions;
  readonly #working = new Map<string, Promise<void>>();
  #mode: "new" | "running" | "stopped" = "new";
  #hasWarned = false;
  #cancelScan = (): void => {};

  constructor(options: WorkerOptions) {
    this.#options = options;
  }

  /** Looks for events that are due, now and from then on: events of a process that crashed, and those that are to be repeated. */
  start(): void {
    if (this.#mode !== "new") return;
    this.#mode = "running";
    void this.#scanRegularly();
  }

  /** Warns once, if nobody has called `start` and the store outlives this process. */
  warnUnlessStarted(): void {
    if (this.#mode !== "new" || this.#hasWarned || !this.#options.isStored) return;
    this.#hasWarned = true;
    warnNotStarted();
  }

  /** Takes no more events and waits until the present work is done, at most so long. */
  async stop(withinMs: number): Promise<void> {
    this.#mode = "stopped";
    this.#cancelScan();
    this.#options.slots.close();
    await within(withinMs, Promise.all(this.#working.values()));
  }

  /** Works on one event if it is due. Never rejects. */
  async process(key: string, activationId: string): Promise<void> {
    if (this.#mode === "stopped") return;
    const known = this.#working.get(key);
    if (known) return known;
    const work = this.#options.slots
      .use(activationId, () => this.#work(key, activationId))
      .then((next) => (next === null ? undefined : this.process(next, activationId)))
      // An error here is one of the store: the lease ends, and a later scan finds the event again.
      .catch(() => {})
      .finally(() => this.#working.delete(key));
    this.#working.set(key, work);
    return work;
  }

  /** Looks for events that are due now, if it is running, as after a change in the store. */
  async look(): Promise<void> {
    if (this.#mode === "running") await this.#scan();
  }

  /** Makes the waiting events of an activation due. Returns the work on them. */
  async wake(activationId: string): Promise<Promise<void>[]> {
    return (await this.#options.log.wake(activationId)) > 0 ? this.#scan() : [];
  }

  /** Keeps a lease while work goes on; returns how to end that. */
  #keep(lease: Lease): () => void {
    let ended = false;
    let cancel = (): void => {};
    const plan = (): void => {
      cancel = systemClock.after(this.#options.leaseMs / 3, async () => {
        // Without the store nobody can have taken over.
        const isOurs = await lease.renew().catch(() => true);
        if (ended) return;
        if (isOurs) plan();
        else this.#options.onLost(lease.key);
      });
    };
    plan();
    return () => {
      ended = true;
      cancel();
    };
  }

  /** Runs the handlers of an event until they are done, or can only wait. Rejects with their error. */
  async perform(lease: Lease): Promise<void> {
    const release = this.#keep(lease);
    try {
      for (;;) {
        const waits = await this.#options.handle(lease).then(() => null, asWait);
        if (waits === null) break;
        await lease.announce(waits.waitsFor);
        // From here on, who stores an answer finds the event; what was stored before is seen here.
        if (await this.#hasAnswer(waits.waitsFor)) continue;
        release();
        return void (await lease.wait());
      }
      release();
      await lease.complete();
    } finally {
      release();
    }
  }

  async #hasAnswer(ids: readonly string[]): Promise<boolean> {
    for (const id of ids) if (await this.#options.hasAnswer(id)) return true;
    return false;
  }

  /** Makes the event due that waits for the answer in this one, and returns its key; null without one. Throws EventBusyError. */
  async #continue(lease: Lease): Promise<string | null> {
    const { log, answerIdOf } = this.#options;
    const answerId = answerIdOf(lease);
    const key = answerId === null ? null : await log.findWaiting(answerId);
    const found = key === null ? "gone" : await log.answered(key);
    // Should that process crash now, nobody else would tell the event.
    if (found === "busy") throw new EventBusyError();
    return found === "due" ? key : null;
  }

  /** Ends an event whose handlers failed. */
  async settle(lease: Lease, error: unknown): Promise<void> {
    const { maxAttempts, onError } = this.#options;
    if (error instanceof EventBusyError) return this.#retry(lease, BUSY_RETRY_MS, false);
    if (error instanceof AgentStoppedError) return void (await lease.retry(0, false));
    if (error instanceof AgentPausedError) return this.#park(lease, error.activationId);
    const attempt = lease.attempts + 1;
    const willRetry = !isFinal(error) && attempt < maxAttempts;
    onError(error, lease, { key: lease.key, attempt, willRetry });
    if (isFinal(error)) return void (await lease.complete());
    if (!willRetry) return void (await lease.bury(error instanceof Error ? error.message : String(error)));
    const ms = Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 5 ** (attempt - 1)) * (0.8 + 0.4 * randomFraction());
    await this.#retry(lease, ms, true);
    // The key may have arrived since the handlers looked for it.
    if (error instanceof MissingKeyError && (await this.#options.hasKey(error.activationId))) await this.wake(error.activationId);
  }

  /** Works on an event; returns the key of another one that goes on with it. */
  async #work(key: string, activationId: string): Promise<string | null> {
    const lease = await this.#options.log.take(key);
    if (typeof lease === "number") this.#plan(key, activationId, lease);
    if (lease === null || typeof lease === "number") return null;
    let next: string | null = null;
    try {
      next = await this.#continue(lease);
      await this.perform(lease);
    } catch (error) {
      await this.settle(lease, error);
    }
    return next;
  }

  async #park(lease: Lease, activationId: string): Promise<void> {
    const { isPaused } = this.#options;
    // The service has refused a call before the event of the pause arrived, or after that of the resumption.
    if (!(await isPaused(activationId))) return this.#retry(lease, PAUSED_RETRY_MS, false);
    await lease.park();
    if (!(await isPaused(activationId))) await this.wake(activationId);
  }

  async #retry(lease: Lease, ms: number, failed: boolean): Promise<void> {
    await lease.retry(ms, failed);
    this.#plan(lease.key, lease.event?.activationId ?? "", ms);
  }

  #plan(key: string, activationId: string, ms: number): void {
    this.#options.clock.after(ms, () => void this.process(key, activationId));
  }

  async #scan(): Promise<Promise<void>[]> {
    return (await this.#options.log.listDue()).map(({ key, activationId }) => this.process(key, activationId));
  }

  async #scanRegularly(): Promise<void> {
    await this.#scan().catch(() => {});
    if (this.#mode === "running") this.#cancelScan = systemClock.after(this.#options.leaseMs / 2, () => void this.#scanRegularly());
  }
}

/** The error of work that can only wait. Throws any other. */
function asWait(error: unknown): RunWaitingError {
  if (error instanceof RunWaitingError) return error;
  throw error;
}
