import type { Endpoint } from "@mailsvc/sdk/contract";
import { ApiError } from "../lib/api-error.ts";
import type { Clock } from "../lib/clock.ts";
import { toNetwork } from "../lib/ip-network.ts";
import { type Limiter, perMinute, type Rate, type RateLimitResult, TokenBuckets } from "../lib/rate.ts";
import type { HeaderList } from "./headers.ts";

/**
 * Rate limits: `send`, `write` and `read` per API key; `agent` for all calls of an activation, `message` for its messages, `log` per run.
 */
export type RateBucket = "send" | "write" | "read" | "agent" | "message" | "log";

export type Rates = Readonly<Record<RateBucket, Rate>>;

interface Refusal {
  readonly message: string;
  readonly hint?: string;
}

/**
 * Adds the RateLimit headers (delta seconds), replacing those of a wider bucket that was checked before. Throws ApiError
 * rate_limited with Retry-After when no token was left.
 */
export function applyRateLimit(result: RateLimitResult, headers: HeaderList, refusal: () => Refusal): void {
  const before = headers.findIndex(([name]) => name === "ratelimit-limit");
  if (before >= 0) headers.splice(before, 3);
  headers.push(
    ["ratelimit-limit", `${result.limit}`],
    ["ratelimit-remaining", `${result.remaining}`],
    ["ratelimit-reset", `${result.reset}`],
  );
  if (result.allowed) return;
  const { message, hint } = refusal();
  throw new ApiError("rate_limited", message, { headers: { "retry-after": `${result.reset}` }, ...(hint !== undefined && { hint }) });
}

/** Takes a token from the developer key's bucket for this endpoint. Throws ApiError rate_limited. */
export async function limitDeveloper(
  limiter: Limiter,
  rates: Rates,
  keyId: string,
  endpoint: Endpoint,
  headers: HeaderList,
): Promise<void> {
  const bucket = endpoint.bucket ?? (endpoint.method === "GET" ? "read" : "write");
  const taken = await limiter.take(`${keyId}:${bucket}`, rates[bucket]);
  applyRateLimit(taken, headers, () => ({
    message: `Too many requests. This API key may make ${rates[bucket].perSecond} ${bucket} requests per second.`,
  }));
}

/** Takes a token from the activation's bucket, which all calls of its agent share. Throws ApiError rate_limited. */
export async function limitAgent(limiter: Limiter, rates: Rates, activationId: string, headers: HeaderList): Promise<void> {
  const taken = await limiter.take(`${activationId}:agent`, rates.agent);
  applyRateLimit(taken, headers, () => ({
    message: `Too many requests. This activation may make ${formatRate(rates.agent)}.`,
    hint: "Wait for the seconds in Retry-After. One call to runs/log takes 50 entries and is the heartbeat too; answers and wakeups arrive at the webhook, so there is no need to poll.",
  }));
}

/**
 * Takes a token from the second bucket of some agent endpoints: messages of an activation, logs of one run. Throws ApiError rate_limited.
 */
export async function limitAgentWork(
  limiter: Limiter,
  rates: Rates,
  activationId: string,
  { agentBucket }: Endpoint,
  input: Readonly<Record<string, unknown>>,
  headers: HeaderList,
): Promise<void> {
  if (agentBucket === undefined) return;
  const rate = rates[agentBucket];
  if (agentBucket === "message")
    applyRateLimit(await limiter.take(`${activationId}:message`, rate), headers, () => ({
      message: `Too many messages. This activation may post ${formatRate(rate)}.`,
      hint: "Wait for the seconds in Retry-After. Combine what there is to say into one message; progress belongs in runs/log.",
    }));
  else
    applyRateLimit(await limiter.take(`${activationId}:log:${String(input.runId)}`, rate), headers, () => ({
      message: `Too many logs. This run may be logged to ${formatRate(rate)}.`,
      hint: "Wait for the seconds in Retry-After. Send up to 50 entries per call; one call every fifteen minutes keeps a run alive.",
    }));
}

/** A rate for people: "120 a minute". */
export function formatRate({ perSecond, burst }: Rate): string {
  return perSecond < burst ? `${burst} a minute` : `${perSecond} a second`;
}

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

// Uploads of one caller that are in memory at a time: each takes several times the size of its file.
const CONCURRENT = 4;

interface Slots {
  running: number;
  readonly waiting: (() => void)[];
}

/** Lets each caller run four uploads at a time. Further uploads wait, their bodies unread. */
export class UploadLimiter {
  readonly #caller: string;
  readonly #maxWaiting: number;
  /** By caller; callers without uploads have no entry. */
  readonly #slots = new Map<string, Slots>();

  /** `caller` is the word for a caller in messages; `maxWaiting` is how many uploads of one caller may wait. */
  constructor(caller: string, maxWaiting: number) {
    this.#caller = caller;
    this.#maxWaiting = maxWaiting;
  }

  /**
   * Runs an upload once a slot is free. Throws ApiError rate_limited when too many wait, validation_error when the client
   * disconnects while it waits.
   */
  async run<T>(callerId: string, disconnected: AbortSignal, upload: () => Promise<T>): Promise<T> {
    const slots = this.#slots.get(callerId) ?? { running: 0, waiting: [] };
    this.#slots.set(callerId, slots);
    if (slots.running < CONCURRENT) slots.running += 1;
    else if (slots.waiting.length < this.#maxWaiting) await waitForSlot(slots, disconnected);
    else
      throw new ApiError(
        "rate_limited",
        `Too many uploads. This ${this.#caller} has ${CONCURRENT} uploads running and ${this.#maxWaiting} waiting.`,
        { headers: { "retry-after": "1" }, hint: `Upload ${CONCURRENT} files at a time.` },
      );
    try {
      return await upload();
    } finally {
      // The slot passes to the next in line, or is freed.
      const next = slots.waiting.shift();
      if (next) next();
      else slots.running -= 1;
      if (slots.running === 0) this.#slots.delete(callerId);
    }
  }
}

/** Resolves when a slot passes to this upload. An aborted waiter leaves the line. */
function waitForSlot({ waiting }: Slots, disconnected: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (): void => reject(new ApiError("validation_error", "The client disconnected while its upload was waiting."));
    if (disconnected.aborted) {
      fail();
      return;
    }
    const proceed = (): void => {
      disconnected.removeEventListener("abort", leave);
      resolve();
    };
    const leave = (): void => {
      waiting.splice(waiting.indexOf(proceed), 1);
      fail();
    };
    waiting.push(proceed);
    disconnected.addEventListener("abort", leave, { once: true });
  });
}
