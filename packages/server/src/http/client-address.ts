import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { isForbiddenAddress } from "../lib/guard-url.ts";

/**
 * The address of the client behind a request. A reverse proxy on this machine or its network is trusted: the last address of its
 * X-Forwarded-For is the one it saw itself. From anywhere else the header is ignored. "local" in process, where there is no
 * connection.
 */
export function getClientAddress(remote: string | undefined, forwardedFor: string | null): string {
  const peer = remote === undefined ? undefined : unmapIPv4(remote);
  if (peer !== undefined && !isForbiddenAddress(peer, { dev: false })) return peer;
  const last = unmapIPv4(forwardedFor?.split(",").at(-1)?.trim() ?? "");
  return isIP(last) === 0 ? (peer ?? "local") : last;
}

/** What counts as one client: an IPv4 address, or the /64 network of an IPv6 address, which a single host has to itself. */
export function toNetwork(address: string): string {
  if (!ipaddr.IPv6.isValid(address)) return address;
  const { parts } = ipaddr.IPv6.parse(address);
  return `${parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(":")}::/64`;
}

/** `::ffff:192.0.2.1` as `192.0.2.1`. */
function unmapIPv4(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, "");
}
