import { type IpNetwork, parseIpNetwork } from "./ip-network.ts";

const LABEL = "[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?";
const NAME = new RegExp(`^(?:\\*\\.)?${LABEL}(?:\\.${LABEL})*$`);

/** Hosts of one's own network: names, `*.` before a domain for all names below it, and addresses or ranges of them (CIDR). */
export class AllowedHosts {
  readonly #names = new Set<string>();
  readonly #domains: string[] = [];
  readonly #ranges: IpNetwork[] = [];

  /** Reads a list with commas, such as `hooks.internal,*.svc.cluster.local,10.0.0.0/8`. Calls `fail` with a part that is none of these. */
  constructor(list: string, fail: (part: string) => never) {
    for (const part of list.split(",").map((one) => one.trim().toLowerCase())) {
      const range = parseIpNetwork(part);
      if (range) this.#ranges.push(range);
      else if (!NAME.test(part) || /^(?:[\d.]+|0x[\da-f]+)$/.test(part)) fail(part);
      else if (part.startsWith("*.")) this.#domains.push(part.slice(1));
      else this.#names.add(part);
    }
  }

  /** True if a host name is in the list. */
  hasName(name: string): boolean {
    const host = name.toLowerCase().replace(/\.$/, "");
    return this.#names.has(host) || this.#domains.some((domain) => host.endsWith(domain));
  }

  /** True if an IP address (text without brackets) is in the list. IPv4 inside IPv6 counts as the IPv4 address. */
  hasAddress(ip: string): boolean {
    return this.#ranges.some((network) => network.has(ip));
  }
}
