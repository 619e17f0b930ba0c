import { MINUTE } from "./units.ts";

/** The size of a token bucket, and how fast it fills. */
export interface Rate {
  /** Requests a second, over time. */
  perSecond: number;
  /** Requests at once. */
  burst: number;
}

/** `n` per second, in bursts of up to a second's worth. */
export function perSecond(n: number): Rate {
  return { perSecond: n, burst: n };
}

/** `n` per minute, in bursts of up to a minute's worth. */
export function perMinute(n: number): Rate {
  return { perSecond: n / 60, burst: n };
}

export interface RateLimitResult {
  allowed: boolean;
  limit: number;
  remaining: number;
  /** Whole seconds until the bucket is full; when refused, until a request is allowed, at least 1. */
  reset: number;
}

/** Takes tokens from named buckets. */
export interface Limiter {
  take(name: string, rate: Rate): Promise<RateLimitResult>;
  clear(): void;
}

// Beyond this many buckets, full ones are dropped.
const MAX_IDLE = 10_000;
const PRUNE_MS = 1000;
// Every bucket is full after a minute, since rates are by the second or the minute.
const FULL_AFTER_MS = MINUTE;

/** Rate limits of one process. */
export function createLocalLimiter(now: () => number): Limiter {
  const buckets = new TokenBuckets(now);
  return { take: async (name, rate) => buckets.take(name, rate), clear: () => buckets.clear() };
}

/** Token buckets in memory, refilled by the clock. Full buckets are dropped, so idle names cost nothing. */
export class TokenBuckets {
  readonly #now: () => number;
  readonly #buckets = new Map<string, { tokens: number; at: number }>();
  #prunedAt = Number.NEGATIVE_INFINITY;

  constructor(now: () => number) {
    this.#now = now;
  }

  take(name: string, rate: Rate): RateLimitResult {
    const now = this.#now();
    let bucket = this.#buckets.get(name);
    if (!bucket) {
      this.#makeRoom(now);
      bucket = { tokens: rate.burst, at: now };
      this.#buckets.set(name, bucket);
    }
    // A clock that goes back neither adds nor removes tokens.
    const passed = Math.max(0, now - bucket.at);
    bucket.tokens = Math.min(rate.burst, bucket.tokens + (passed * rate.perSecond) / 1000);
    bucket.at = now;
    const allowed = bucket.tokens >= 1;
    if (allowed) bucket.tokens -= 1;
    const missing = allowed ? rate.burst - bucket.tokens : 1 - bucket.tokens;
    const seconds = Math.ceil(missing / rate.perSecond);
    return { allowed, limit: rate.burst, remaining: Math.floor(bucket.tokens), reset: allowed ? seconds : Math.max(1, seconds) };
  }

  /** Fills a bucket. */
  forget(name: string): void {
    this.#buckets.delete(name);
  }

  clear(): void {
    this.#buckets.clear();
  }

  #makeRoom(now: number): void {
    // At most once a second: while ten thousand names are in use, each new one would look at all of them.
    if (this.#buckets.size < MAX_IDLE || Math.abs(now - this.#prunedAt) < PRUNE_MS) return;
    this.#prunedAt = now;
    for (const [name, { at }] of this.#buckets) if (now - at > FULL_AFTER_MS) this.#buckets.delete(name);
  }
}

const WINDOW_MS = 50;

/**
 * Counts what happened in the last 50 to 100 ms. It is the measure of how far ahead work is taken: as much as ended a moment ago, so
 * much while it ends quickly, and none while nothing ends.
 */
export class RecentCount {
  readonly #now: () => number;
  #windowStartedAt: number;
  #current = 0;
  #previous = 0;

  /** `now` gives real time, ms. */
  constructor(now: () => number) {
    this.#now = now;
    this.#windowStartedAt = now();
  }

  add(n = 1): void {
    this.#advance();
    this.#current += n;
  }

  get value(): number {
    this.#advance();
    return Math.max(this.#previous, this.#current);
  }

  #advance(): void {
    const age = this.#now() - this.#windowStartedAt;
    if (age < WINDOW_MS) return;
    this.#previous = age < 2 * WINDOW_MS ? this.#current : 0;
    this.#current = 0;
    this.#windowStartedAt += age;
  }
}
