import { ApiError } from "../lib/api-error.ts";
import type { Clock } from "../lib/clock.ts";
import { toNetwork } from "../lib/ip-network.ts";
import { perMinute, TokenBuckets } from "../lib/rate.ts";
import type { HeaderList } from "./headers.ts";
import { applyRateLimit, formatRate } from "./rate-limit.ts";

/** Webhooks without a valid signature that one address may send. Checking one costs up to 6 ms, if it is a megabyte. */
const FORGED_PER_ADDRESS = perMinute(600);

// Addresses that are refused at the moment; more are not remembered.
const MAX_REFUSED = 10_000;

/**
 * Limits webhooks without a valid signature, by the address they come from. After 600 in a minute the response is 429, before the body is
 * read, except for ten a second. A webhook with a valid signature costs nothing, and gives its address the whole allowance again:
 * providers send thousands a second from few addresses, and others may send something forged from there.
 */
export class ForgeryLimiter {
  readonly #now: () => number;
  readonly #buckets: TokenBuckets;
  /** Until when an address is refused, ms of real time. */
  readonly #refusedUntil = new Map<string, number>();

  constructor(clock: Clock) {
    this.#now = () => clock.real.now();
    this.#buckets = new TokenBuckets(this.#now);
  }

  /** Runs the work on a webhook, which throws for one that is forged. Throws what it throws, or ApiError rate_limited. */
  async run<T>(address: string, headers: HeaderList, work: () => Promise<T>): Promise<T> {
    const network = toNetwork(address);
    this.#assertAllowed(network, headers);
    try {
      const result = await work();
      this.#buckets.forget(network);
      return result;
    } catch (error) {
      if (error instanceof ApiError && error.status < 500) this.#count(network);
      throw error;
    }
  }

  #assertAllowed(network: string, headers: HeaderList): void {
    const until = this.#refusedUntil.get(network);
    if (until === undefined) return;
    const left = until - this.#now();
    if (left <= 0) {
      this.#refusedUntil.delete(network);
      return;
    }
    const { burst: limit } = FORGED_PER_ADDRESS;
    applyRateLimit({ allowed: false, limit, remaining: 0, reset: Math.max(1, Math.ceil(left / 1000)) }, headers, () => ({
      message: `Too many webhooks without a valid signature from this address: at most ${formatRate(FORGED_PER_ADDRESS)}.`,
      hint: "Check the secret or key of this webhook, and that no proxy changes its body. Then send it again.",
    }));
  }

  #count(network: string): void {
    const { remaining } = this.#buckets.take(network, FORGED_PER_ADDRESS);
    if (remaining >= 1) return;
    if (this.#refusedUntil.size >= MAX_REFUSED) this.#refusedUntil.clear();
    this.#refusedUntil.set(network, this.#now() + 1000 / FORGED_PER_ADDRESS.perSecond);
  }
}
