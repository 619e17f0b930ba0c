/** How many tokens a bucket holds, and how fast it fills. */
export interface Rate {
  /** Requests a second, over time. */
  perSecond: number;
  /** Requests at once. */
  burst: number;
}

/** So many a second, and a second's worth at once. */
export function perSecond(n: number): Rate {
  return { perSecond: n, burst: n };
}

/** So many a minute, and a minute's worth at once. */
export function perMinute(n: number): Rate {
  return { perSecond: n / 60, burst: n };
}

export interface RateLimitResult {
  allowed: boolean;
  limit: number;
  remaining: number;
  /** Whole seconds until the bucket is full, or, when refused, until a request is let through; at least 1 then. */
  reset: number;
}

/** Says who may go on. A promise where the answer is not in memory. */
export interface Limiter {
  take(name: string, rate: Rate): RateLimitResult | Promise<RateLimitResult>;
  clear(): void;
}

/** Token buckets by name, refilled by the clock. Full buckets are forgotten, so idle names cost nothing. */
export class TokenBuckets implements Limiter {
  readonly #now: () => number;
  readonly #buckets = new Map<string, { tokens: number; at: number }>();

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
    // A clock that steps back gives nothing and takes nothing.
    const passed = Math.max(0, now - bucket.at);
    bucket.tokens = Math.min(rate.burst, bucket.tokens + (passed * rate.perSecond) / 1000);
    bucket.at = now;
    const allowed = bucket.tokens >= 1;
    if (allowed) bucket.tokens -= 1;
    const missing = allowed ? rate.burst - bucket.tokens : 1 - bucket.tokens;
    const seconds = Math.ceil(missing / rate.perSecond);
    return { allowed, limit: rate.burst, remaining: Math.floor(bucket.tokens), reset: allowed ? seconds : Math.max(1, seconds) };
  }

  clear(): void {
    this.#buckets.clear();
  }

  #makeRoom(now: number): void {
    if (this.#buckets.size < 10_000) return;
    for (const [name, { at }] of this.#buckets) if (now - at > 60_000) this.#buckets.delete(name);
  }
}
