import { isIP } from "node:net";
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

/** `::ffff:192.0.2.1` as `192.0.2.1`. */
function unmapIPv4(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, "");
}
