import type { Role } from "@mailsvc/sdk/contract";
import type { BrowserRequest } from "../http/auth.ts";
import type { SsoConfig } from "./config.ts";

// Longer names are no names.
const MAX_NAME = 200;

/** The name in the header of a trusted proxy; null when there is none, or the request comes from elsewhere. */
export function readProxyUser(sso: SsoConfig | null, { headers, remoteAddress }: BrowserRequest): string | null {
  if (sso === null || remoteAddress === undefined || !sso.proxies.some((proxy) => proxy.has(remoteAddress))) return null;
  const name = headers.get(sso.header)?.trim() ?? "";
  return name === "" || name.length > MAX_NAME ? null : name;
}

/** The role of a person whom a proxy names. */
export function chooseRole({ owners, role }: SsoConfig, user: string): Role {
  return owners.some((owner) => owner.toLowerCase() === user.toLowerCase()) ? "owner" : role;
}
