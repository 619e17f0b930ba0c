import type { AttemptClass } from "@mailsvc/sdk/contract";
import { isNotNull, min } from "drizzle-orm";
import { StorageUnavailable } from "../db/errors.ts";
import type { Timer } from "../lib/clock.ts";
import { SealBroken } from "../lib/seal.ts";
import { MINUTE } from "../lib/units.ts";
import { ATTEMPT_TIMEOUT_MS, type Attempt } from "./attempt.ts";
import type { EndpointClient } from "./client.ts";
import { completeBatch, type Progress } from "./complete-batch.ts";
import { EventRenewer, isStale } from "./composed-events.ts";
import { ConcurrencyLimiter } from "./concurrency.ts";
import type { Lookup } from "./connect.ts";
import type { Endpoint, LoadEndpoint, Message, WebhookWorker } from "./endpoint.ts";
import { openBody } from "./outbox.ts";
import type { Outcome } from "./outcomes.ts";
import { ReadySet } from "./ready-set.ts";
import { WebhookSender } from "./sender.ts";
import { canContinue, type Job, takeOverStreams, toClaim } from "./streams.ts";
import type { WebhookDeps } from "./webhooks.ts";

/*
 * The states of an event. `attempts` and `tries` are counted with each attempt that is recorded.
 *
 *   from                     trigger                                                  to
 *   (new)                    writeEvents, in the transaction of what it reports       pending
 *   pending, queued          2xx                                                      delivered
 *   pending                  a failed direct attempt, further ones are left           pending, due later
 *   pending                  the last direct attempt failed; or 429/503, Retry-After  queued, due later
 *   queued                   a failed queued attempt, further ones are left           queued, due later
 *   pending, queued          410; the last attempt failed                             dead
 *   dead                     reviveDeadEvents                                         pending, due now
 *   pending, queued, dead    withdrawEvents                                           superseded, cancelled
 *   pending, queued          it is gone from the log its bytes are made of            cancelled
 *   any                      2xx of an attempt in flight or by hand                   delivered
 *
 * The states of a stream: the events of one go out one after the other, in the order of `sequence`.
 *
 *   from                     trigger                                                  to
 *   idle (dueAt null)        writeEvents                                              due
 *   waiting (dueAt later)    time; writeEvents; wakeStream                            due
 *   due                      claimStreams: a worker has a slot at its endpoint        claimed, for the length of a lease
 *   claimed                  its event was delivered, the next one is due             claimed, with the next event; at once, if it
 *                                                                                     was claimed with the one before
 *   claimed                  otherwise                                                idle, waiting or due
 *   claimed                  the worker has died, or the lease has ended              due; the attempt counts as interrupted
 *   any                      holdStream: the policy asked for it                      held: only events that pass a hold
 *   held                     releaseStreams                                           due
 *
 * One loop records finished attempts and claims the next events, in one transaction for both (completeBatch). Events that wait for an
 * endpoint without a free slot waits in the database, and nothing waits behind it.
 */

// Outcomes recorded, and streams claimed, in one transaction: a few ms of work, during which other writers wait.
const BATCH = 512;
// While this many requests are in flight, their outcomes are gathered for a moment and recorded together, and for up to three while
// each brings many: the rows of outcomes share pages, so those of a large batch cost less to write. Below this,
// streams are empty: waiting longer would only delay the next claim.
const GATHER_FROM = 16;
const GATHER_MS = 15;
const GATHER_MOMENTS = 3;
const GATHER_MANY = 32;
// Other processes may leave work behind: look for it this often (real time).
const POLL_MS = 5000;
// Delay before the next try while the database is unavailable (real time).
const STORAGE_RETRY_MS = 1000;
// An event that cannot be opened, for want of the right master key, is postponed for this long.
const POSTPONE_MS = MINUTE;
// An event whose lease might end within the attempt is released instead.
const MIN_LEASE_MS = ATTEMPT_TIMEOUT_MS + 2000;
// Time for requests in flight to finish when the server stops (real time).
const STOP_MS = 1000;

interface DispatcherParts {
  /** Known once the product is put together. */
  readonly deps: () => WebhookDeps;
  readonly lookup: Lookup;
  readonly loadEndpoint: LoadEndpoint;
}

/**
 * Delivers events to webhooks, on any number of processes. The row of an event is the truth; the dispatcher holds only
 * what it has claimed.
 */
export class WebhookDispatcher implements WebhookWorker {
  readonly #parts: DispatcherParts;
  #ready = new ReadySet();
  #limiter = this.#createLimiter();
  #sender: WebhookSender | null = null;
  readonly #renewer = new EventRenewer(() => this.#deps);
  /** Completed, and not recorded yet. */
  readonly #outcomes: Outcome[] = [];
  /** Attempts since the process started, by how they ended. */
  readonly attempts = new Map<AttemptClass, number>();
  #worker = "";
  #claims = 0;
  #started = false;
  #stopping = false;
  /** Requests in flight were aborted by us: their failures say nothing about the receiver. */
  #aborted = false;
  #running = false;
  #runAgain = false;
  /** Number of times the loop has been started. */
  #runs = 0;
  #gathered = (): void => {};
  #timer: Timer | null = null;
  #poll: Timer | null = null;
  readonly #idleWaiters: (() => void)[] = [];

  constructor(parts: DispatcherParts) {
    this.#parts = parts;
  }

  wake(endpointIds: Iterable<string>): void {
    for (const endpointId of endpointIds) this.#ready.due.add(endpointId);
    if (this.#started) this.#run();
  }

  prepare(): void {
    this.#getSender().prepare();
  }

  send(endpoint: Endpoint, message: Message): Promise<Attempt> {
    return this.#getSender().sendOnce(endpoint, message);
  }

  async start(): Promise<void> {
    const { random, queue } = this.#deps;
    const { workers } = queue;
    this.#ready = new ReadySet();
    this.#limiter = this.#createLimiter();
    this.#worker = workers?.name ?? Buffer.from(random.bytes(9)).toString("hex");
    await this.#takeOver();
    workers?.onDeath(() => void (this.#started && this.#look(() => this.#takeOver())));
    this.#started = true;
    this.#stopping = false;
    this.#aborted = false;
    await this.#survey();
    if (workers) this.#schedulePoll();
    this.#runDue();
  }

  async stop(): Promise<void> {
    if (!this.#started) return;
    this.#stopping = true;
    this.#timer?.cancel();
    this.#poll?.cancel();
    this.#limiter.releaseQueued();
    const deadline = this.#deps.clock.real.after(STOP_MS, () => {
      this.#aborted = true;
      this.#sender?.close();
    });
    this.#run();
    await this.#waitUntilIdle();
    deadline.cancel();
    this.#started = false;
    this.#sender?.close();
    this.#sender = null;
  }

  async idle(): Promise<boolean> {
    if (!this.#started) return false;
    const before = this.#runs;
    if (this.#ready.due.size > 0 || this.#outcomes.length > 0) this.#run();
    if (this.#running || this.#limiter.inFlight > 0) await this.#waitUntilIdle();
    return this.#runs !== before;
  }

  get #deps(): WebhookDeps {
    return this.#parts.deps();
  }

  #createLimiter(): ConcurrencyLimiter {
    return new ConcurrencyLimiter({
      due: this.#ready.due,
      createClient: (url) => this.#getSender().createClient(url),
      deliver: (client, job) => this.#deliver(client, job),
      completed: (outcomes) => {
        this.#outcomes.push(...outcomes);
        for (const { attempt } of outcomes) if (attempt) this.attempts.set(attempt.class, (this.attempts.get(attempt.class) ?? 0) + 1);
        if (this.#hasGathered()) this.#gathered();
        this.#run();
      },
    });
  }

  #getSender(): WebhookSender {
    this.#sender ??= new WebhookSender(this.#deps, this.#parts.lookup);
    return this.#sender;
  }

  async #deliver(client: EndpointClient, job: Job): Promise<Outcome> {
    const { event, endpoint } = job;
    const { clock, log } = this.#deps;
    if (clock.now() > job.leaseEndsAt - MIN_LEASE_MS) return { job, attempt: null };
    try {
      if (isStale(event, clock.real.now())) await client.hold(() => this.#renewer.renew(job));
      // It is gone from the log. Unless it was cancelled when it was claimed, it is when it is claimed again.
      if (event.eventKey !== null && !event.composed) return { job, attempt: null };
      const { id, body } = event.composed ?? { id: event.id, body: openBody(this.#deps, event) };
      const message: Message = { id, type: event.type, at: event.at, attempt: event.attempts + 1, body, traceparent: event.traceparent };
      const attempt = await this.#getSender().send(client, endpoint, message);
      if (attempt.class === "ok") return { job, attempt, next: this.#next(job) };
      return { job, attempt: this.#aborted ? null : attempt };
    } catch (error) {
      // It is released as soon as the database works again.
      if (error instanceof StorageUnavailable) return { job, attempt: null };
      // Our fault and not the receiver's: it costs no attempt.
      log.error("cannot prepare an event for its webhook", {
        event: event.id,
        error: error instanceof SealBroken ? error.message : String(error),
      });
      return { job, attempt: null, dueAt: clock.now() + POSTPONE_MS };
    }
  }

  /** The next event that was claimed with one that has arrived. Undefined when there is none, or no time for it. */
  #next(job: Job): Job | undefined {
    const event = job.rest[0];
    if (!event || this.#stopping || !canContinue(job, this.#deps.clock.now())) return undefined;
    return { ...job, event, rest: job.rest.slice(1) };
  }

  /** Loops until there is nothing left to record or claim. Called while it runs, it makes it loop once more. */
  #run(): void {
    this.#runAgain = true;
    if (this.#running || this.#worker === "") return;
    this.#running = true;
    this.#runs += 1;
    void (async () => {
      while (this.#runAgain) {
        this.#runAgain = false;
        do {
          if (!this.#hasGathered()) await this.#gather();
        } while (await this.#runBatch());
        this.#setTimer();
      }
      this.#running = false;
      this.#notifyIdle();
    })();
  }

  /** Records some outcomes and claims what is next. False when there is neither. */
  async #runBatch(): Promise<boolean> {
    const outcomes = this.#outcomes.splice(0, BATCH);
    const requests = this.#started && !this.#stopping ? this.#limiter.claimRequests(BATCH) : [];
    if (outcomes.length === 0 && requests.length === 0) return false;
    this.#claims += 1;
    const batch = { claim: toClaim(this.#worker, this.#claims), outcomes, requests };
    const left = await completeBatch(this.#deps, this.#parts.loadEndpoint, batch, (progress) => this.#proceed(progress));
    if (left === null) return true;
    this.#outcomes.unshift(...left);
    for (const [endpointId] of requests) this.#ready.due.add(endpointId);
    // Streams that were released by a commit whose answer was lost tell no more when they are due.
    for (const { job } of left) this.#ready.due.add(job.endpoint.id);
    await this.#deps.clock.real.sleep(STORAGE_RETRY_MS);
    if (this.#stopping) this.#outcomes.length = 0;
    return true;
  }

  #proceed({ continued, claimed }: Progress): void {
    const now = this.#deps.clock.now();
    for (const [job, { next, dueAt }] of continued) {
      this.#ready.schedule(job.endpoint.id, dueAt, now);
      if (next) this.#add(next);
    }
    for (const [endpointId, { jobs, nextAt }] of claimed) {
      this.#ready.schedule(endpointId, nextAt, now);
      for (const job of jobs) this.#add(job);
    }
  }

  #add(job: Job): void {
    if (this.#stopping) this.#outcomes.push({ job, attempt: null });
    else this.#limiter.add(job);
  }

  /** Waits until a batch has completed, or few more outcomes come. */
  async #gather(): Promise<void> {
    for (let moments = 0; moments < GATHER_MOMENTS; moments += 1) {
      const before = this.#outcomes.length;
      await new Promise<void>((resolve) => {
        this.#gathered = resolve;
        void this.#deps.clock.real.sleep(GATHER_MS).then(resolve);
      });
      if (this.#hasGathered() || this.#outcomes.length - before < GATHER_MANY) return;
    }
  }

  /** True if a batch has completed, or if too few requests are in flight to wait for more. */
  #hasGathered(): boolean {
    return this.#outcomes.length >= BATCH || this.#limiter.inFlight < GATHER_FROM;
  }

  #waitUntilIdle(): Promise<void> {
    return new Promise((resolve) => {
      this.#idleWaiters.push(resolve);
      this.#notifyIdle();
    });
  }

  #notifyIdle(): void {
    if (this.#running || this.#limiter.inFlight > 0 || this.#outcomes.length > 0) return;
    for (const resolve of this.#idleWaiters.splice(0)) resolve();
  }

  /** Moves what has become due to the ready set, for which the loop runs once more, and sets the timer for what is due next. */
  #setTimer(): void {
    const { clock } = this.#deps;
    const now = clock.now();
    const waiting = this.#ready.due.size;
    const next = this.#ready.advance(now);
    if (this.#ready.due.size > waiting) this.#runAgain = true;
    this.#timer?.cancel();
    this.#timer = next === null || !this.#started ? null : clock.after(next - now, "agent.deliver", () => this.#runDue());
  }

  #runDue(): void {
    this.#setTimer();
    this.#run();
  }

  /** Finds what waits in the database. */
  async #survey(): Promise<void> {
    const { db, clock } = this.#deps;
    const { webhookStreams: s } = db.read.t;
    const rows = await db.read
      .select({ endpointId: s.endpointId, at: min(s.dueAt) })
      .from(s)
      .where(isNotNull(s.dueAt))
      .groupBy(s.endpointId);
    const now = clock.now();
    for (const { endpointId, at } of rows) this.#ready.schedule(endpointId, at, now);
  }

  #takeOver(): Promise<void> {
    const { db, clock, queue } = this.#deps;
    return takeOverStreams(db, clock.now, async () => [...((await queue.workers?.liveWorkers()) ?? [])]);
  }

  async #look(find: () => Promise<void>): Promise<void> {
    try {
      await find();
      await this.#survey();
      if (this.#started) this.#runDue();
    } catch (error) {
      this.#deps.log.warn("cannot look for webhook events", { error: String(error) });
    }
  }

  #schedulePoll(): void {
    this.#poll = this.#deps.clock.real.after(POLL_MS, () => {
      void this.#look(async () => {}).then(() => {
        if (this.#started) this.#schedulePoll();
      });
    });
  }
}
