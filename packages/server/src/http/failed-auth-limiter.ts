import { ApiError } from "../lib/api-error.ts";
import type { Clock } from "../lib/clock.ts";
import { type Limiter, perMinute, type Rate, type RateLimitResult, TokenBuckets } from "../lib/rate.ts";
import { toNetwork } from "./client-address.ts";
import type { HeaderList } from "./headers.ts";
import { applyRateLimit, formatRate } from "./rate-limit.ts";

/** The time during which a key is refused without a lookup, ms. It has a start, too: a clock that is put back must not extend it. */
interface Cooldown {
  readonly from: number;
  readonly until: number;
}

/** Invalid API keys one IP address may try. Enough for a team behind one address whose key was revoked; far too few to guess. */
const INVALID_KEYS_PER_IP = perMinute(300);

interface FailedAuthOptions {
  readonly limiter: Limiter;
  /** Refusals per key. */
  readonly rate: Rate;
  readonly clock: Clock;
}

/**
 * Limits failed authentication in two ways.
 *
 * Per key: an agent that keeps calling while it is paused, or a key used on the wrong kind of endpoint, is refused without a
 * lookup once it has used up its rate. Keys that open something pay one look at an empty map.
 *
 * Per IP address: after 300 invalid keys a minute the response is 429 instead of 401. A valid key is never refused because of
 * others at its address, so a shared address cannot be locked out.
 */
export class FailedAuthLimiter {
  readonly #limiter: Limiter;
  readonly #rate: Rate;
  readonly #now: () => number;
  /** By the key's hash, the oldest first. */
  readonly #cooldowns = new Map<string, Cooldown>();
  /** Of this process, in real time: guessing is not slowed by a database query each, nor sped up by a developer's clock. */
  readonly #addresses: TokenBuckets;

  constructor({ limiter, rate, clock }: FailedAuthOptions) {
    this.#limiter = limiter;
    this.#rate = rate;
    this.#now = () => clock.now();
    this.#addresses = new TokenBuckets(() => clock.real.now());
  }

  /**
   * Runs a lookup. When it refuses the key, the refusal is counted and `headers` say what is left. Throws what `lookUp` throws, or
   * ApiError rate_limited.
   */
  async run<T>(hash: string, headers: HeaderList, lookUp: () => Promise<T>): Promise<T> {
    if (this.#cooldowns.size > 0) this.#assertNoCooldown(hash, headers);
    try {
      return await lookUp();
    } catch (error) {
      // Unknown keys are counted by address: anyone can make up a new one.
      if (error instanceof ApiError && error.code !== "unauthorized") await this.#countRefusal(hash, headers);
      throw error;
    }
  }

  /** Counts an invalid or missing key from this address. Throws ApiError rate_limited when there were too many. */
  countInvalidKey(address: string, headers: HeaderList): void {
    const taken = this.#addresses.take(toNetwork(address), INVALID_KEYS_PER_IP);
    if (taken.allowed) return;
    applyRateLimit(taken, headers, () => ({
      message: `Too many requests with an invalid API key from this address: at most ${formatRate(INVALID_KEYS_PER_IP)}.`,
      hint: "Stop calling and correct the key.",
    }));
  }

  async #countRefusal(hash: string, headers: HeaderList): Promise<void> {
    const taken = await this.#limiter.take(`${hash}:refused`, this.#rate);
    if (!taken.allowed) this.#startCooldown(hash, taken.reset * 1000);
    this.#apply(taken, headers);
  }

  #startCooldown(hash: string, ms: number): void {
    const from = this.#now();
    for (const [other, { until }] of this.#cooldowns) {
      if (from < until) break;
      this.#cooldowns.delete(other);
    }
    this.#cooldowns.delete(hash);
    this.#cooldowns.set(hash, { from, until: from + ms });
  }

  #assertNoCooldown(hash: string, headers: HeaderList): void {
    const cooldown = this.#cooldowns.get(hash);
    const now = this.#now();
    if (cooldown === undefined || now < cooldown.from || now >= cooldown.until) return;
    this.#apply({ allowed: false, limit: this.#rate.burst, remaining: 0, reset: Math.ceil((cooldown.until - now) / 1000) }, headers);
  }

  #apply(result: RateLimitResult, headers: HeaderList): void {
    applyRateLimit(result, headers, () => ({
      message: `Too many requests with a key that is refused here: at most ${formatRate(this.#rate)}.`,
      hint: "Stop calling. A paused agent receives agent.resumed when its key works again; a revoked key never works again.",
    }));
  }
}
