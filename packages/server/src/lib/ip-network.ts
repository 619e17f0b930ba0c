import { isIP } from "node:net";
import { isLoopbackHost } from "@mailsvc/sdk/contract";
import ipaddr from "ipaddr.js";

/** A network of IP addresses. */
export interface IpNetwork {
  /** Number of bits that all its addresses have in common; 0 for all addresses. */
  readonly prefixLength: number;
  /** True if an address is in the network; false for a text that is no address. IPv4 inside IPv6 counts as IPv4. */
  has(ip: string): boolean;
}

/**
 * Reads an address, or a network such as `10.0.0.0/8`; null for any other text. Also for what some programs take for an address and read in
 * their own ways: `10.1`, `010.0.0.1`, `0x7f000001`. IPv4 inside IPv6 counts as IPv4.
 */
export function parseIpNetwork(text: string): IpNetwork | null {
  const [ip = "", length, ...rest] = text.split("/");
  const version = isIP(ip);
  const most = version === 4 ? 32 : 128;
  const bits = length === undefined ? most : /^\d{1,3}$/.test(length) ? Number(length) : most + 1;
  if (version === 0 || bits > most || rest.length > 0) return null;
  const address = ipaddr.parse(ip);
  return address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && bits >= 96
    ? networkOf(address.toIPv4Address(), bits - 96)
    : networkOf(address, bits);
}

/** Reads networks that were checked before; null stays null. */
export function readNetworks(texts: readonly string[] | null): readonly IpNetwork[] | null {
  return texts?.map(parseIpNetwork).filter((network) => network !== null) ?? null;
}

function networkOf(network: ipaddr.IPv4 | ipaddr.IPv6, bits: number): IpNetwork {
  return {
    prefixLength: bits,
    has: (ip) => {
      if (isIP(ip) === 0) return false;
      const address = ipaddr.process(ip);
      return network.kind() === address.kind() && address.match(network, bits);
    },
  };
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

/** True if an address of a connection, IPv4 or IPv6 in short or long form, belongs to this machine. */
export function isLoopbackAddress(address: string): boolean {
  return /^(?:::ffff:)?127\./i.test(address) || address === "::1" || /^0{0,4}(?::0{0,4}){6,7}:0{0,3}1$/.test(address);
}

/** True if a Host header names this machine. */
export function isLoopbackHostHeader(host: string): boolean {
  return isLoopbackHost(host.replace(/:\d+$/, ""));
}
