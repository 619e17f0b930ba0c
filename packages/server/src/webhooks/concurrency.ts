import type { EndpointClient } from "./client.ts";
import type { Outcome } from "./outcomes.ts";
import type { Job } from "./streams.ts";

// Requests in flight to all endpoints, and those of them to slow ones: the rest is left for quick ones.
const MAX_IN_FLIGHT = 2048;
const MAX_SLOW = 1536;
// Slots reserved for endpoints with fewer than FEW requests in flight: they need not wait until others are through.
const RESERVED = 256;
const FEW = 4;
// Requests in flight at one origin (scheme, host and port), and those of them to slow endpoints.
const ORIGIN_SLOTS = 64;
const ORIGIN_SLOW_SLOTS = 10;
// Quick endpoints claim this many times what they may have in flight, so that the next event need not wait for the database. In
// all at most MAX_QUEUED events wait in memory, up to 20 KB each.
const PREFETCH = 8;
const MAX_QUEUED = 4096;
// Endpoints that are remembered. Beyond it, this many idle ones are forgotten at a time.
const MAX_ENDPOINTS = 1000;
const FORGET = 100;

/** The load of one origin: requests in flight, those of them to slow endpoints, and queued jobs. */
class Origin {
  inFlight = 0;
  slow = 0;
  queued = 0;
  /** Endpoints with queued jobs that wait for a slot only, in turns. */
  readonly runnable = new Set<EndpointState>();
}

interface EndpointState {
  readonly client: EndpointClient;
  readonly origin: Origin;
  /** Claimed jobs that are not in flight. */
  readonly queue: Job[];
}

/** So many streams to claim of an endpoint. */
export type ClaimRequest = readonly [endpointId: string, limit: number];

interface LimiterParts {
  /** Endpoints with events that are due, the one that waits longest first. */
  readonly due: Set<string>;
  createClient(url: string): EndpointClient;
  /** One attempt. Never throws. */
  deliver(client: EndpointClient, job: Job): Promise<Outcome>;
  /** Jobs are over and their slots are free. Without an attempt they are to be released. */
  completed(outcomes: readonly Outcome[]): void;
}

/**
 * Decides which claimed jobs go out and how many more to claim. An endpoint is slow while it was never called, hangs or has taken
 * over a second; slow endpoints share the smaller limits, so that they cannot hold up quick ones. Origins get free slots in
 * turns, and so do the endpoints of an origin.
 */
export class ConcurrencyLimiter {
  readonly #endpoints = new Map<string, EndpointState>();
  /** Origins with runnable endpoints, in turns. */
  readonly #runnable = new Set<Origin>();
  /** The sum of all origins. */
  readonly #total = new Origin();
  readonly #parts: LimiterParts;

  constructor(parts: LimiterParts) {
    this.#parts = parts;
  }

  get inFlight(): number {
    return this.#total.inFlight;
  }

  /**
   * Returns the next claims to make, for `max` streams at most. Their endpoints leave the due ones; those without a slot keep
   * their place there.
   */
  claimRequests(max: number): ClaimRequest[] {
    const requests: ClaimRequest[] = [];
    const byOrigin = new Map<Origin | undefined, number>();
    let left = max;
    let slowLeft = MAX_SLOW - this.#total.slow;
    for (const endpointId of this.#parts.due) {
      if (left === 0) break;
      const state = this.#endpoints.get(endpointId);
      const quick = state?.client.quick ?? false;
      const claimed = byOrigin.get(state?.origin) ?? 0;
      // The origin of an unknown endpoint is unknown too: its first job may be released again.
      const limit = Math.min(state ? this.#quota(state, quick, claimed) : 1, left, quick ? left : slowLeft);
      if (limit <= 0) continue;
      byOrigin.set(state?.origin, claimed + limit);
      this.#parts.due.delete(endpointId);
      requests.push([endpointId, limit]);
      left -= limit;
      if (!quick) slowLeft -= limit;
    }
    return requests;
  }

  /** Queues a claimed job, and starts what may start. */
  add(job: Job): void {
    const state = this.#getState(job.endpoint);
    state.queue.push(job);
    this.#count(state.origin, { queued: 1 });
    this.#enqueue(state);
    this.#start();
  }

  /** Hands back all jobs that are not in flight. */
  releaseQueued(): void {
    for (const state of this.#endpoints.values()) this.#release(state, 0);
  }

  /** Number of further jobs that an endpoint may claim, after others of its origin have claimed theirs. */
  #quota({ client, origin, queue }: EndpointState, quick: boolean, claimed: number): number {
    const prefetch = quick ? Math.min((PREFETCH - 1) * client.limit, Math.max(0, MAX_QUEUED - this.#total.queued)) : 0;
    // Slots of an origin used by quick endpoints do not keep a slow one from starting.
    const left = quick ? ORIGIN_SLOTS * PREFETCH - origin.inFlight - origin.queued : ORIGIN_SLOW_SLOTS - origin.slow;
    return Math.min(client.limit - client.busy + prefetch - queue.length, this.#slots(client), left - claimed);
  }

  /** True if a request to an endpoint may start. */
  #mayStart({ client, origin }: EndpointState): boolean {
    return this.#slots(client) > 0 && origin.inFlight < ORIGIN_SLOTS && (client.quick || origin.slow < ORIGIN_SLOW_SLOTS);
  }

  /** Number of requests to an endpoint that may start, apart from the limits of its origin. */
  #slots({ busy }: EndpointClient): number {
    const free = MAX_IN_FLIGHT - this.inFlight;
    return Math.min(free, Math.max(free - RESERVED, FEW - busy));
  }

  #getState({ id, url }: Job["endpoint"]): EndpointState {
    const known = this.#endpoints.get(id);
    if (known?.client.url === url) return known;
    if (this.#endpoints.size >= MAX_ENDPOINTS) this.#forgetIdle();
    const client = this.#parts.createClient(url);
    const { origin } = [...this.#endpoints.values()].find((one) => one.client.origin === client.origin) ?? { origin: new Origin() };
    // Its URL may have changed: what was learnt about the old one says nothing about the new one.
    known?.client.close();
    const state: EndpointState = { client, origin, queue: known ? this.#dequeue(known, 0) : [] };
    this.#count(origin, { queued: state.queue.length });
    this.#endpoints.set(id, state);
    return state;
  }

  /** Forgets idle endpoints, those known longest first. */
  #forgetIdle(): void {
    const idle = [...this.#endpoints].filter(([id, one]) => one.client.busy + one.queue.length === 0 && !this.#parts.due.has(id));
    for (const [id, { client }] of idle.slice(0, FORGET)) {
      client.close();
      this.#endpoints.delete(id);
    }
  }

  #count(origin: Origin, { inFlight = 0, slow = 0, queued = 0 }): void {
    for (const load of [origin, this.#total]) {
      load.inFlight += inFlight;
      load.slow += slow;
      load.queued += queued;
    }
  }

  /** Makes an endpoint runnable if its jobs wait for a slot only, and hands back those that would wait too long. */
  #enqueue(state: EndpointState): void {
    const { client, origin, queue } = state;
    // It has become slow: others may need its slots.
    if (!client.quick && (client.busy >= client.limit || origin.slow >= ORIGIN_SLOW_SLOTS)) this.#release(state, 0);
    // Or it may have fewer in flight, since it does not answer: the rest would wait for longer than its leases last.
    else if (queue.length > 2 * PREFETCH * client.limit) this.#release(state, PREFETCH * client.limit);
    if (queue.length === 0 || client.busy >= client.limit) return;
    origin.runnable.add(state);
    this.#runnable.add(origin);
  }

  #release(state: EndpointState, from: number): void {
    const released = this.#dequeue(state, from);
    if (released.length > 0) this.#parts.completed(released.map((job) => ({ job, attempt: null })));
  }

  /** Takes queued jobs out of the queue of an endpoint. */
  #dequeue(state: EndpointState, from: number, n = state.queue.length): Job[] {
    const jobs = state.queue.splice(from, n);
    if (state.queue.length === 0) state.origin.runnable.delete(state);
    this.#count(state.origin, { queued: -jobs.length });
    return jobs;
  }

  /** Starts jobs while there are slots. An origin that has started one goes to the end of the line, and comes up again. */
  #start(): void {
    for (const origin of this.#runnable) {
      if (this.inFlight >= MAX_IN_FLIGHT) return;
      // The endpoint whose turn it is.
      const state = [...origin.runnable].find((one) => this.#mayStart(one));
      if (state || origin.runnable.size === 0) this.#runnable.delete(origin);
      if (!state) continue;
      origin.runnable.delete(state);
      for (const job of this.#dequeue(state, 0, 1)) void this.#run(state, job);
      this.#enqueue(state);
      if (origin.runnable.size > 0) this.#runnable.add(origin);
    }
  }

  async #run(state: EndpointState, job: Job): Promise<void> {
    const { client, origin } = state;
    const slow = client.quick ? 0 : 1;
    this.#count(origin, { inFlight: 1, slow });
    const outcome = await this.#parts.deliver(client, job);
    this.#count(origin, { inFlight: -1, slow: -slow });
    if (outcome.next) this.add(outcome.next);
    this.#enqueue(state);
    this.#start();
    this.#parts.completed([outcome]);
  }
}
