import ipaddr from "ipaddr.js";

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number];

const LABEL = "[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?";
const NAME = new RegExp(`^(?:\\*\\.)?${LABEL}(?:\\.${LABEL})*$`);

/** Hosts of one's own network: names, `*.` before a domain for all names below it, and addresses or ranges of them (CIDR). */
export class AllowedHosts {
  readonly #names = new Set<string>();
  readonly #domains: string[] = [];
  readonly #ranges: Range[] = [];

  /** Reads a list with commas, such as `hooks.internal,*.svc.cluster.local,10.0.0.0/8`. Calls `fail` with a part that is none of these. */
  constructor(list: string, fail: (part: string) => never) {
    for (const part of list.split(",").map((one) => one.trim().toLowerCase())) {
      const range = readRange(part);
      if (range) this.#ranges.push(range);
      else if (!NAME.test(part) || /^[\d.]+$/.test(part)) fail(part);
      else if (part.startsWith("*.")) this.#domains.push(part.slice(1));
      else this.#names.add(part);
    }
  }

  /** Whether a host name is in the list. */
  hasName(name: string): boolean {
    const host = name.toLowerCase().replace(/\.$/, "");
    return this.#names.has(host) || this.#domains.some((domain) => host.endsWith(domain));
  }

  /** Whether an IP address is in the list (text without brackets). IPv4 inside IPv6 counts as the IPv4 address. */
  hasAddress(ip: string): boolean {
    if (!ipaddr.isValid(ip)) return false;
    const address = ipaddr.process(ip);
    return this.#ranges.some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits));
  }
}

function readRange(text: string): Range | null {
  if (ipaddr.isValidCIDR(text)) return ipaddr.parseCIDR(text);
  if (ipaddr.IPv6.isValid(text)) return [ipaddr.IPv6.parse(text), 128];
  // Not the short forms, such as 10.1 for 10.0.0.1.
  return ipaddr.IPv4.isValidFourPartDecimal(text) ? [ipaddr.IPv4.parse(text), 32] : null;
}
