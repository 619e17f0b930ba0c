import type { Endpoint } from "@mailsvc/sdk/contract";
import type { Config } from "../config.ts";
import { ApiError } from "../lib/api-error.ts";
import type { Limiter, Taken } from "../lib/rate.ts";
import type { HeaderList } from "./answer.ts";

/** Which bucket an endpoint draws from. */
export const bucketOf = (endpoint: Endpoint): "send" | "write" | "read" =>
  endpoint.bucket ?? (endpoint.method === "GET" ? "read" : "write");

/** Takes a token from the key's bucket and adds the RateLimit headers (delta seconds). Throws ApiError rate_limited. */
export const limit = (
  limiter: Limiter,
  rates: Config["rates"],
  keyId: string,
  endpoint: Endpoint,
  headers: HeaderList,
): void | Promise<void> => {
  const bucket = bucketOf(endpoint);
  const taken = limiter.take(`${keyId}:${bucket}`, rates[bucket]);
  const tell = (t: Taken): void => say(t, bucket, rates[bucket].perSecond, headers);
  return taken instanceof Promise ? taken.then(tell) : tell(taken);
};

const say = (taken: Taken, bucket: string, perSecond: number, headers: HeaderList): void => {
  headers.push(["ratelimit-limit", `${taken.limit}`], ["ratelimit-remaining", `${taken.remaining}`], ["ratelimit-reset", `${taken.reset}`]);
  if (!taken.allowed)
    throw new ApiError("rate_limited", `This key has used up its ${bucket} rate of ${perSecond} a second.`, {
      headers: { "retry-after": `${taken.reset}` },
    });
};
