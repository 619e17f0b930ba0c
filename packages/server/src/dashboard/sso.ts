import type { Role } from "@mailsvc/sdk/contract";
import ipaddr from "ipaddr.js";
import type { BrowserRequest } from "../http/auth.ts";
import type { SsoConfig } from "./config.ts";

// Longer names are no names.
const MAX_NAME = 200;

/** The name in the header of a trusted proxy; null when there is none, or the request comes from elsewhere. */
export function readProxyUser(sso: SsoConfig | null, { headers, remoteAddress }: BrowserRequest): string | null {
  if (sso === null || remoteAddress === undefined || !isListed(remoteAddress, sso.proxies)) return null;
  const name = headers.get(sso.header)?.trim() ?? "";
  return name === "" || name.length > MAX_NAME ? null : name;
}

/** The role of a person whom a proxy names. */
export function chooseRole({ owners, role }: SsoConfig, user: string): Role {
  return owners.some((owner) => owner.toLowerCase() === user.toLowerCase()) ? "owner" : role;
}

function isListed(address: string, networks: readonly string[]): boolean {
  const peer = ipaddr.process(address);
  return networks.some((network) => {
    const [range, bits] = ipaddr.isValidCIDR(network) ? ipaddr.parseCIDR(network) : [ipaddr.process(network), null];
    if (range.kind() !== peer.kind()) return false;
    return bits === null ? range.toString() === peer.toString() : peer.match(range, bits);
  });
}
