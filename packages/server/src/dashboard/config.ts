import { ROLES, type Role } from "@mailsvc/sdk/contract";
import ipaddr from "ipaddr.js";

/** Single sign-on by a proxy that names the person in a header. */
export interface SsoConfig {
  /** The name of that header. */
  readonly header: string;
  /** The addresses of the proxies, or networks such as 10.0.0.0/8. From others the header is ignored. */
  readonly proxies: readonly string[];
  /** The people who are owners; all others have `role`. */
  readonly owners: readonly string[];
  readonly role: Role;
}

type SsoFlag = "sso-header" | "sso-proxies" | "sso-owners" | "sso-role";

/** Reads the flags of single sign-on; null without them. `refuse` throws for values that cannot be honoured. */
export function readSso(value: (flag: SsoFlag) => string | undefined, refuse: (message: string) => never): SsoConfig | null {
  const [header, proxies] = [value("sso-header"), value("sso-proxies")];
  if (header === undefined && proxies === undefined) return null;
  if (header === undefined || proxies === undefined)
    return refuse("--sso-header and --sso-proxies belong together: a header counts only from proxies that are listed.");
  if (!/^[A-Za-z0-9-]{1,100}$/.test(header)) refuse(`--sso-header must be the name of a header, not "${header}".`);
  const listed = splitList(proxies);
  const wrong = listed.find((one) => !isNetwork(one));
  if (wrong !== undefined || listed.length === 0)
    refuse(`--sso-proxies takes IP addresses and networks, such as 10.0.0.2,10.1.0.0/16; "${wrong ?? ""}" is none.`);
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

/** Whether a text is an address or a network in CIDR notation. */
function isNetwork(text: string): boolean {
  return ipaddr.isValid(text) || ipaddr.isValidCIDR(text);
}
