import { ApiError } from "../lib/api-error.ts";
import type { Clock } from "../lib/clock.ts";
import { type IpNetwork, toNetwork } from "../lib/ip-network.ts";
import { perMinute, TokenBuckets } from "../lib/rate.ts";
import type { BrowserRequest } from "./auth.ts";
import { getClientAddress } from "./client-address.ts";
import type { HeaderList } from "./headers.ts";
import { applyRateLimit, formatRate } from "./rate-limit.ts";

/** Errors that refuse a key. */
const OF_KEYS: ReadonlySet<string> = new Set(["unauthorized", "key_revoked", "key_expired"]);

/** Failed logins of one address. Enough for a team behind one address whose key was revoked; far too few to guess. */
const FAILED_LOGINS = perMinute(300);

/**
 * Counts failed logins by the address they come from, at every entry point: the API and those of other services, /mcp, the dashboard,
 * SMTP. After 300 a minute a failed login is answered with rate_limited. A valid key is never refused because of others at its address, so
 * a shared address cannot be locked out.
 */
export class FailedLogins {
  /** Buckets of this process, in real time: guessing is not slowed by a database query each, nor sped up by a developer's clock. */
  readonly #addresses: TokenBuckets;

  readonly #proxies: readonly IpNetwork[];

  /** `proxies` say in X-Forwarded-For for whom they call. */
  constructor(clock: Clock, proxies: readonly IpNetwork[]) {
    this.#proxies = proxies;
    this.#addresses = new TokenBuckets(() => clock.real.now());
  }

  /**
   * Counts an error, if it refuses who somebody says they are. `headers` get what is left. Throws ApiError rate_limited when this address
   * failed too often.
   */
  count(error: unknown, address: string, headers: HeaderList = []): void {
    if (!(error instanceof ApiError) || !OF_KEYS.has(error.code)) return;
    const taken = this.#addresses.take(toNetwork(address), FAILED_LOGINS);
    if (taken.allowed) return;
    applyRateLimit(taken, headers, () => ({
      message: `Too many failed logins from this address: at most ${formatRate(FAILED_LOGINS)}.`,
      hint: "Stop calling and correct the key.",
    }));
  }

  /** Counts an error of a request. A request in process has no address: it comes from an entry point that counts itself, such as /mcp. */
  countRequest(error: unknown, request: Pick<BrowserRequest, "headers" | "remoteAddress">, headers: HeaderList = []): void {
    const { remoteAddress } = request;
    if (remoteAddress !== undefined)
      this.count(error, getClientAddress(remoteAddress, request.headers.get("x-forwarded-for"), this.#proxies), headers);
  }
}
