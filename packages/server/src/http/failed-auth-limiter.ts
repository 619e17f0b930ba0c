import { ApiError } from "../lib/api-error.ts";
import type { Limiter, Rate, RateLimitResult } from "../lib/rate.ts";
import type { HeaderList } from "./headers.ts";
import { applyRateLimit, describeRate } from "./rate-limit.ts";

/** A time in which a key is refused unseen, ms. It has a beginning, too: a clock that is put back must not lengthen it. */
interface Rest {
  readonly from: number;
  readonly until: number;
}

/**
 * Limits how often a key is looked up that opens nothing: that of an agent which goes on calling while it is paused or
 * turned off, or a key at the wrong door. One that opens something pays no more than a look at an empty map.
 */
export class FailedAuthLimiter {
  readonly #limiter: Limiter;
  readonly #rate: Rate;
  readonly #now: () => number;
  /** By the key's hash, the oldest first. */
  readonly #resting = new Map<string, Rest>();

  constructor(limiter: Limiter, rate: Rate, now: () => number) {
    this.#limiter = limiter;
    this.#rate = rate;
    this.#now = now;
  }

  /** Looks a key up; when it is refused, that counts, and `headers` tell what is left. Throws what `look` throws, or ApiError rate_limited. */
  async around<T>(hash: string, headers: HeaderList, look: () => Promise<T>): Promise<T> {
    if (this.#resting.size > 0) this.#assertRested(hash, headers);
    try {
      return await look();
    } catch (error) {
      // Keys that nobody has are not counted: anybody can make them up.
      if (error instanceof ApiError && error.code !== "unauthorized") await this.#count(hash, headers);
      throw error;
    }
  }

  async #count(hash: string, headers: HeaderList): Promise<void> {
    const taken = await this.#limiter.take(`${hash}:refused`, this.#rate);
    if (!taken.allowed) this.#rest(hash, taken.reset * 1000);
    this.#say(taken, headers);
  }

  #rest(hash: string, ms: number): void {
    const from = this.#now();
    for (const [other, { until }] of this.#resting) {
      if (from < until) break;
      this.#resting.delete(other);
    }
    this.#resting.delete(hash);
    this.#resting.set(hash, { from, until: from + ms });
  }

  #assertRested(hash: string, headers: HeaderList): void {
    const rest = this.#resting.get(hash);
    const now = this.#now();
    if (rest === undefined || now < rest.from || now >= rest.until) return;
    this.#say({ allowed: false, limit: this.#rate.burst, remaining: 0, reset: Math.ceil((rest.until - now) / 1000) }, headers);
  }

  #say(taken: RateLimitResult, headers: HeaderList): void {
    applyRateLimit(taken, headers, () => ({
      message: `This key opens nothing here, and has been refused as often as it may: ${describeRate(this.#rate)}.`,
      hint: "Stop calling. A paused agent hears agent.resumed when its key works again; a revoked key never does.",
    }));
  }
}
