import { ROLES, type Role } from "@mailsvc/sdk/contract";
import type { HeaderReader } from "../http/headers.ts";
import { type IpNetwork, parseIpNetwork } from "../lib/ip-network.ts";

/** Single sign-on by a proxy that names the person in a header. */
export interface SsoConfig {
  /** The name of that header. */
  readonly header: string;
  /** The addresses of the proxies, or networks such as 10.0.0.0/8. From others the header is ignored. */
  readonly proxies: readonly IpNetwork[];
  /** The people who are owners; all others have `role`. */
  readonly owners: readonly string[];
  readonly role: Role;
}

const PROXIES = "IP addresses and networks, such as 10.0.0.2,10.1.0.0/16";

// They hold secrets of the request, or say where it comes from.
const TAKEN: ReadonlySet<string> = new Set(["authorization", "cookie", "host", "origin"]);

type SsoFlag = "sso-header" | "sso-proxies" | "sso-owners" | "sso-role";

/** Reads the flags of single sign-on; null without them. `refuse` throws for values that cannot be honoured. */
export function readSso(value: (flag: SsoFlag) => string | undefined, refuse: (message: string) => never): SsoConfig | null {
  const [header, proxies] = [value("sso-header"), value("sso-proxies")];
  if (header === undefined && proxies === undefined) {
    const without = (["sso-owners", "sso-role"] as const).find((flag) => value(flag) !== undefined);
    return without === undefined
      ? null
      : refuse(`--${without} needs --sso-header and --sso-proxies: it is about those whom a proxy names.`);
  }
  if (header === undefined || proxies === undefined)
    return refuse("--sso-header and --sso-proxies belong together: a header counts only from proxies that are listed.");
  if (!/^[A-Za-z0-9-]{1,100}$/.test(header)) refuse(`--sso-header must be the name of a header, not "${header}".`);
  if (TAKEN.has(header.toLowerCase())) refuse(`--sso-header cannot be ${header}, which browsers and programs send themselves.`);
  const listed = splitList(proxies).map((text) => parseProxy(text, refuse));
  if (listed.length === 0) refuse(`--sso-proxies takes ${PROXIES}.`);
  const named = value("sso-role") ?? "viewer";
  const role = ROLES.find((one) => one === named) ?? refuse(`--sso-role is one of ${ROLES.join(", ")}, not "${named}".`);
  return { header: header.toLowerCase(), proxies: listed, owners: splitList(value("sso-owners") ?? ""), role };
}

function splitList(text: string): string[] {
  return text
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "");
}

function parseProxy(text: string, refuse: (message: string) => never): IpNetwork {
  const network = parseIpNetwork(text) ?? refuse(`--sso-proxies takes ${PROXIES}; "${text}" is none.`);
  return network.prefixLength > 0
    ? network
    : refuse(`--sso-proxies cannot be "${text}": anybody who reaches the server could then be an owner. List the proxy.`);
}

// Longer names are no names.
const MAX_NAME = 200;

/** The parts of a request by which a proxy names a user. */
interface ProxiedRequest {
  readonly headers: HeaderReader;
  /** The IP address of the peer; undefined in process. */
  readonly remoteAddress: string | undefined;
}

/** The name in the header of a trusted proxy; null when there is none, or the request comes from elsewhere. */
export function readProxyUser(sso: SsoConfig | null, { headers, remoteAddress }: ProxiedRequest): string | null {
  if (sso === null || remoteAddress === undefined || !sso.proxies.some((proxy) => proxy.has(remoteAddress))) return null;
  const name = headers.get(sso.header)?.trim() ?? "";
  return name === "" || name.length > MAX_NAME ? null : name;
}

/** The role of a person whom a proxy names. */
export function chooseRole({ owners, role }: SsoConfig, user: string): Role {
  return owners.some((owner) => owner.toLowerCase() === user.toLowerCase()) ? "owner" : role;
}
