import type { Endpoint } from "@mailsvc/sdk/contract";
import { ApiError } from "../lib/api-error.ts";
import type { Limiter, Rate, RateLimitResult } from "../lib/rate.ts";
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
