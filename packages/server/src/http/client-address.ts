import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import type { IpNetwork } from "../lib/ip-network.ts";

// Hops that are looked at: longer chains are made up.
const MAX_HOPS = 20;

/**
 * Returns the address of the client behind a request. X-Forwarded-For counts only from proxies of --trust-proxy, each of which adds the
 * address that it saw: the last one that is no such proxy is the client's. From anybody else, and without proxies, the header is ignored.
 * "local" in process, where there is no connection, unless the header says otherwise.
 */
export function getClientAddress(remote: string | undefined, forwardedFor: string | null, proxies: readonly IpNetwork[]): string {
  const peer = remote === undefined ? "local" : unmapIPv4(remote);
  const isProxy = (address: string): boolean => address === "local" || proxies.some((proxy) => proxy.has(address));
  let client = peer;
  const hops = forwardedFor === null || !isProxy(peer) ? [] : forwardedFor.split(",").slice(-MAX_HOPS);
  while (isProxy(client)) {
    const hop = unmapIPv4(hops.pop()?.trim() ?? "");
    if (isIP(hop) === 0) break;
    client = hop;
  }
  return client;
}

/** Returns the network that counts as one client: an IPv4 address, or the /64 network of an IPv6 address, which one host has alone. */
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
