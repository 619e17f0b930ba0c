import { ROLES } from "@mailsvc/sdk/contract";
import type { SsoConfig } from "./deps.ts";
import { isNetwork } from "./sso.ts";

export type { SsoConfig } from "./deps.ts";

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
  return { header, proxies: listed, owners: splitList(value("sso-owners") ?? ""), role };
}

function splitList(text: string): string[] {
  return text
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "");
}
