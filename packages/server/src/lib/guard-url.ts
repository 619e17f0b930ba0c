import ipaddr from "ipaddr.js";
import type { AllowedHosts } from "./allowed-hosts.ts";
import { ApiError } from "./api-error.ts";

/** Reason a URL must not be called, as a sentence; null if it may be called. */
export type UrlFault = string | null;

export interface Guard {
  /** In dev mode this machine may be called, also over plain HTTP. */
  readonly dev: boolean;
  /** The port this server listens on: in dev mode its own endpoints ask for no key, so a webhook must not call them. */
  readonly ownPort?: number | null;
  /** Hosts that may be called though they are not public, also over plain HTTP; null or absent for none. */
  readonly allowed?: AllowedHosts | null;
}

// Ports of databases and other internal services, where no webhook receiver listens.
const INTERNAL_PORTS = new Set([
  1433, 1521, 2049, 2181, 2375, 2376, 2379, 2380, 3306, 3389, 4444, 5432, 5672, 5984, 6379, 6443, 6667, 8086, 9042, 9092, 9200, 9300, 10250,
  11211, 15672, 25565, 27017, 50000,
]);

// Names of this machine and its network.
const LOCAL_NAME = /(?:^|\.)(?:localhost|localdomain|local|internal|intranet|lan|home|corp|private|svc|home\.arpa)$/;

// 2000::/3 and 3fff::/20, as numbers: to parse them would compile a regular expression of 4 ms on every start.
const GLOBAL_IPV6: [ipaddr.IPv6, number] = [new ipaddr.IPv6([0x2000, 0, 0, 0, 0, 0, 0, 0]), 3];
const DOCUMENTATION_IPV6: [ipaddr.IPv6, number] = [new ipaddr.IPv6([0x3fff, 0, 0, 0, 0, 0, 0, 0]), 20];

// A valid domain name: labels of 1 to 63 characters, 253 in all.
const NAME = /^(?=.{1,253}$)[^.]{1,63}(?:\.[^.]{1,63})*$/;

/**
 * True if connecting to an IP address (text without brackets) is forbidden. Checked for literals in URLs, for every DNS answer,
 * and for the peer of a connection. Only public addresses are allowed, those that the operator has named, and in dev mode this
 * machine.
 */
export function isForbiddenAddress(ip: string, { dev, allowed }: Guard): boolean {
  const range = rangeOf(ip);
  return range !== "unicast" && !(dev && range === "loopback") && !allowed?.hasAddress(ip);
}

/** True if the operator has named a host of a URL, by its name or its address. It may then be called at any address. */
export function isAllowedHost(host: string, { allowed }: Guard): boolean {
  return allowed != null && (allowed.hasName(host) || allowed.hasAddress(host));
}

/** True if an address and a port belong to this server. */
export function isOwnServer(ip: string, port: number | undefined, { ownPort }: Guard): boolean {
  return typeof ownPort === "number" && port === ownPort && rangeOf(ip) === "loopback";
}

/**
 * Checks a URL before its host name is resolved. URLs may write an IP address in many ways (decimal, octal, hexadecimal, shortened,
 * inside IPv6); the URL parser normalizes them.
 */
export function checkWebhookUrl(text: string, guard: Guard): UrlFault {
  if (!URL.canParse(text)) return "Invalid URL.";
  const url = new URL(text);
  const host = url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  const local = isLoopback(host);
  if (url.username !== "" || url.password !== "") return "A webhook URL must not contain a user name or password.";
  if ((guard.dev && local) || isAllowedHost(host, guard)) {
    if (url.protocol !== "http:" && url.protocol !== "https:") return "A webhook URL must begin with https://.";
    return local && isOwnServer("127.0.0.1", getPort(url), guard) ? `Port ${getPort(url)} of this machine is this server itself.` : null;
  }
  if (url.protocol !== "https:") return "A webhook URL must begin with https://. Plain HTTP is allowed in dev mode only, to this machine.";
  if (local || LOCAL_NAME.test(host)) return `${host} is a name of this machine or its network, which webhooks must not call.`;
  if (ipaddr.isValid(host)) return isForbiddenAddress(host, guard) ? `${host} is not a public IP address.` : checkPort(url);
  if (!NAME.test(host)) return `${host.slice(0, 80)} is not a valid domain name: a label is empty or too long.`;
  if (!host.includes(".")) return `${host} is not a public domain name: it has no dot.`;
  return checkPort(url);
}

/** Throws ApiError validation_error for a URL that must not be called; `path` names its field. */
export function assertWebhookUrl(path: string, url: string, guard: Guard): void {
  const message = checkWebhookUrl(url, guard);
  if (message === null) return;
  const hint = "To let webhooks call hosts of your own network, start the server with --webhook-allow.";
  throw new ApiError("validation_error", message, { details: [{ path, code: "forbidden_url", message }], hint });
}

/** The range of an IP address: `unicast` for public addresses. IPv4 inside IPv6 counts as the IPv4 address. */
function rangeOf(ip: string): string {
  if (!ipaddr.isValid(ip)) return "invalid";
  const address = ipaddr.process(ip);
  const range = address.range();
  if (address.kind() === "ipv4" || range !== "unicast") return range;
  return address.match(GLOBAL_IPV6) && !address.match(DOCUMENTATION_IPV6) ? range : "reserved";
}

function isLoopback(host: string): boolean {
  return /(?:^|\.)localhost$/.test(host) || rangeOf(host) === "loopback";
}

function getPort({ port, protocol }: URL): number {
  if (port !== "") return Number(port);
  return protocol === "http:" ? 80 : 443;
}

function checkPort(url: URL): UrlFault {
  const number = getPort(url);
  const open = number === 443 || (number >= 1024 && !INTERNAL_PORTS.has(number));
  return open ? null : `Port ${number} is not allowed for webhooks. Use 443 or a port above 1023 that no internal service uses.`;
}
