import type { Endpoint } from "@mailsvc/sdk/contract";
import type { Config } from "../config.ts";
import { ApiError } from "../lib/api-error.ts";
import type { Buckets } from "../lib/rate.ts";
import type { HeaderList } from "./answer.ts";

/** Which bucket an endpoint draws from. */
export const bucketOf = (endpoint: Endpoint): "send" | "write" | "read" =>
  endpoint.bucket ?? (endpoint.method === "GET" ? "read" : "write");

/** Takes a token from the key's bucket and adds the RateLimit headers (delta seconds). Throws ApiError rate_limited. */
export const limit = (buckets: Buckets, rates: Config["rates"], keyId: string, endpoint: Endpoint, headers: HeaderList): void => {
  const bucket = bucketOf(endpoint);
  const taken = buckets.take(`${keyId}:${bucket}`, rates[bucket]);
  headers.push(["ratelimit-limit", `${taken.limit}`], ["ratelimit-remaining", `${taken.remaining}`], ["ratelimit-reset", `${taken.reset}`]);
  if (!taken.allowed)
    throw new ApiError("rate_limited", `This key has used up its ${bucket} rate of ${rates[bucket].perSecond} a second.`, {
      headers: { "retry-after": `${taken.reset}` },
    });
};
