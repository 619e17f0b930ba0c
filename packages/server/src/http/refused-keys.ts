import { ApiError } from "../lib/api-error.ts";
import type { Clock } from "../lib/clock.ts";
import type { Limiter, Rate, RateLimitResult } from "../lib/rate.ts";
import type { HeaderList } from "./headers.ts";
import { applyRateLimit, formatRate } from "./rate-limit.ts";

/** The time during which a key is refused without a lookup, ms. It has a start, too: a clock that is put back must not extend it. */
interface Cooldown {
  readonly from: number;
  readonly until: number;
}

interface RefusedKeysOptions {
  readonly limiter: Limiter;
  /** Refusals per key. */
  readonly rate: Rate;
  readonly clock: Clock;
}

/**
 * Limits calls with keys that exist and are refused: an agent that keeps calling while it is paused, or a key used on the wrong kind of
 * endpoint, is refused without a lookup once it has used up its rate. Keys that open something pay one look at an empty map.
 */
export class RefusedKeys {
  readonly #limiter: Limiter;
  readonly #rate: Rate;
  readonly #now: () => number;
  /** By the key's hash, the oldest first. */
  readonly #cooldowns = new Map<string, Cooldown>();

  constructor({ limiter, rate, clock }: RefusedKeysOptions) {
    this.#limiter = limiter;
    this.#rate = rate;
    this.#now = () => clock.now();
  }

  /**
   * Runs a lookup. If it refuses the key, counts the refusal, and `headers` tell the remaining attempts. Throws what `lookUp` throws, or
   * ApiError rate_limited.
   */
  async run<T>(hash: string, headers: HeaderList, lookUp: () => Promise<T>): Promise<T> {
    if (this.#cooldowns.size > 0) this.#assertNoCooldown(hash, headers);
    try {
      return await lookUp();
    } catch (error) {
      // Unknown keys are counted by address (`failed-logins.ts`): anyone can make up a new one.
      if (error instanceof ApiError && error.code !== "unauthorized") await this.#countRefusal(hash, headers);
      throw error;
    }
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
      hint: "Stop calling with this key. A paused agent receives agent.resumed when its key works again; a revoked key, or one of another kind than this address takes, never does.",
    }));
  }
}
