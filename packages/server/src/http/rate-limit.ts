import type { Endpoint } from "@mailsvc/sdk/contract";
import type { Config } from "../config.ts";
import { ApiError } from "../lib/api-error.ts";
import type { Limiter, Rate, RateLimitResult } from "../lib/rate.ts";
import type { HeaderList } from "./headers.ts";

interface Refusal {
  readonly message: string;
  readonly hint?: string;
}

/** Adds the RateLimit headers (delta seconds), in place of those of a wider bucket. Throws ApiError rate_limited. */
export function applyRateLimit(taken: RateLimitResult, headers: HeaderList, refusal: () => Refusal): void {
  const before = headers.findIndex(([name]) => name === "ratelimit-limit");
  if (before >= 0) headers.splice(before, 3);
  headers.push(["ratelimit-limit", `${taken.limit}`], ["ratelimit-remaining", `${taken.remaining}`], ["ratelimit-reset", `${taken.reset}`]);
  if (taken.allowed) return;
  const { message, hint } = refusal();
  throw new ApiError("rate_limited", message, { headers: { "retry-after": `${taken.reset}` }, ...(hint !== undefined && { hint }) });
}

/** Takes a token from the key's bucket and adds the RateLimit headers (delta seconds). Throws ApiError rate_limited. */
export function limitKey(
  limiter: Limiter,
  rates: Config["rates"],
  keyId: string,
  endpoint: Endpoint,
  headers: HeaderList,
): void | Promise<void> {
  const bucket = bucketOf(endpoint);
  const taken = limiter.take(`${keyId}:${bucket}`, rates[bucket]);
  const refusal = (): Refusal => ({ message: `This key has used up its ${bucket} rate of ${rates[bucket].perSecond} a second.` });
  return taken instanceof Promise ? taken.then((t) => applyRateLimit(t, headers, refusal)) : applyRateLimit(taken, headers, refusal);
}

/** A rate in words. */
export function describeRate({ perSecond, burst }: Rate): string {
  return perSecond < burst ? `${burst} a minute` : `${perSecond} a second`;
}

/** The same for an agent: each activation has a bucket of its own, which all its calls draw from. */
export async function limitAgent(limiter: Limiter, rates: Config["rates"], activationId: string, headers: HeaderList): Promise<void> {
  const taken = await limiter.take(`${activationId}:agent`, rates.agent);
  applyRateLimit(taken, headers, () => ({
    message: `This activation has used up its rate of ${describeRate(rates.agent)}.`,
    hint: "Wait as long as Retry-After says. One call to runs/log takes 50 entries and is the heartbeat too; answers and wakeups come to the webhook without being asked for.",
  }));
}

/** What some calls of an agent draw from beside that, once their input is known: messages, and the logs of one run. */
export async function limitWork(
  limiter: Limiter,
  rates: Config["rates"],
  activationId: string,
  { agentBucket }: Endpoint,
  input: Readonly<Record<string, unknown>>,
  headers: HeaderList,
): Promise<void> {
  if (agentBucket === undefined) return;
  const rate = rates[agentBucket];
  if (agentBucket === "message")
    applyRateLimit(await limiter.take(`${activationId}:message`, rate), headers, () => ({
      message: `This activation has posted as many messages as it may: ${describeRate(rate)}.`,
      hint: "Wait as long as Retry-After says. Gather what there is to say into one message; progress belongs into runs/log.",
    }));
  else
    applyRateLimit(await limiter.take(`${activationId}:log:${String(input.runId)}`, rate), headers, () => ({
      message: `This run has been logged to as often as it may: ${describeRate(rate)}.`,
      hint: "Wait as long as Retry-After says. Put up to 50 entries into one call; one call in fifteen minutes keeps a run alive.",
    }));
}

// Files of one caller that are in memory at a time: each takes some times its size.
const UPLOADS = 4;

/** Lets a caller upload some files at a time; further ones wait, their bodies unread. */
export class UploadLimiter {
  readonly #caller: string;
  readonly #most: number;
  /** Those that wait, by caller; one that has an entry has uploads under way. */
  readonly #lines = new Map<string, { under: number; waiting: (() => void)[] }>();

  /** `caller` is what one is called to people; `waiting` is how many uploads of one may wait. */
  constructor(caller: string, waiting: number) {
    this.#caller = caller;
    this.#most = waiting;
  }

  /** Runs an upload when it is its turn. Throws ApiError rate_limited for one too many, validation_error for one whose caller goes. */
  async around<T>(callerId: string, gone: AbortSignal, upload: () => Promise<T>): Promise<T> {
    const line = this.#lines.get(callerId) ?? { under: 0, waiting: [] };
    this.#lines.set(callerId, line);
    if (line.under < UPLOADS) line.under += 1;
    else if (line.waiting.length < this.#most) await this.#turn(line.waiting, gone);
    else
      throw new ApiError("rate_limited", `This ${this.#caller} uploads ${UPLOADS} files, and ${this.#most} more wait.`, {
        headers: { "retry-after": "1" },
        hint: `Upload ${UPLOADS} files at a time.`,
      });
    try {
      return await upload();
    } finally {
      const next = line.waiting.shift();
      if (next) next();
      else line.under -= 1;
      if (line.under === 0) this.#lines.delete(callerId);
    }
  }

  /** Settles when it is the turn of one more. Who goes makes room for another. */
  #turn(waiting: (() => void)[], gone: AbortSignal): Promise<void> {
    return new Promise((done, failed) => {
      const leave = (): void => {
        waiting.splice(waiting.indexOf(turn), 1);
        failed(new ApiError("validation_error", "The request ended before it was its turn."));
      };
      const turn = (): void => {
        gone.removeEventListener("abort", leave);
        done();
      };
      if (gone.aborted) failed(new ApiError("validation_error", "The request ended before it was its turn."));
      else {
        waiting.push(turn);
        gone.addEventListener("abort", leave, { once: true });
      }
    });
  }
}

/** Which bucket of a developer's key an endpoint draws from. */
function bucketOf({ bucket, method }: Endpoint): "send" | "write" | "read" {
  return bucket ?? (method === "GET" ? "read" : "write");
}
