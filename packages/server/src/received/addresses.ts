import { domainToASCII } from "node:url";
import type { ReceivedRow } from "./store.ts";

const NAMING = /^(?:from|to|cc|reply-to|sender|delivered-to|x-original-to)$/i;
// Separator of an address; in links it may be escaped.
const SEPARATOR = /@|%40/g;
// Local part, without the quotes, stars, slashes and the like that may stand around an address.
const LOCAL = /[\p{L}\p{N}][\p{L}\p{N}._+-]*$/u;
const DOMAIN = /^[\p{L}\p{N}](?:[\p{L}\p{N}.-]*[\p{L}\p{N}])?/u;
// Longer parts are no part of an address.
const MAX_LOCAL = 64;
const MAX_DOMAIN = 255;
// Maximum size of the headers that name people: some thousand addresses.
const MAX_NAMING = 256 * 1024;

/** The domains of a local part, in ASCII, and the dots of the deepest one. */
interface Domains {
  readonly known: Set<string>;
  deepest: number;
}

/**
 * A text in form C without the addresses that the headers of its mail name, and without these others. International domains are found in
 * both of their spellings, in ASCII and not. Takes time that rises with the length of the text alone, whatever stands in it.
 */
export function withoutAddresses(text: string, headers: ReceivedRow["headers"], others: readonly string[]): string {
  const naming = headers.filter(({ name }) => NAMING.test(name)).map(({ value }) => value);
  const all = [...others, ...naming].join("\n").slice(0, MAX_NAMING).normalize("NFC");
  const byLocal = new Map<string, Domains>();
  for (const { local, domain } of listCandidates(all)) {
    const domains = byLocal.get(local.toLowerCase()) ?? { known: new Set(), deepest: 0 };
    byLocal.set(local.toLowerCase(), domains);
    const ascii = toAscii(domain);
    domains.known.add(ascii);
    domains.deepest = Math.max(domains.deepest, countDots(ascii));
  }
  const normal = text.normalize("NFC");
  let shown = "";
  let done = 0;
  for (const { start, local, at, domain } of listCandidates(normal)) {
    const domains = byLocal.get(local.toLowerCase());
    const end = domains === undefined || start < done ? 0 : findEnd(domain, domains);
    if (end === 0) continue;
    shown += `${normal.slice(done, start)}[address]`;
    done = at + end;
  }
  return shown + normal.slice(done);
}

/** Lists possible addresses: the start, the local part, and the position and text of the domain. */
function* listCandidates(text: string): Generator<{ start: number; local: string; at: number; domain: string }> {
  for (const { index, 0: sign } of text.matchAll(SEPARATOR)) {
    const [local] = LOCAL.exec(text.slice(Math.max(0, index - MAX_LOCAL), index)) ?? [];
    const at = index + sign.length;
    const [domain] = local === undefined ? [] : (DOMAIN.exec(text.slice(at, at + MAX_DOMAIN)) ?? []);
    if (local !== undefined && domain !== undefined) yield { start: index - local.length, local, at, domain };
  }
}

/** The length of the domain at the begin of a text that is one of these; 0 if none is. The next sentence may follow it without a blank. */
function findEnd(text: string, { known, deepest }: Domains): number {
  for (let end = text.length; end > 0; end = Math.max(text.lastIndexOf(".", end - 1), text.lastIndexOf("-", end - 1))) {
    const domain = text.slice(0, end);
    if (countDots(domain) <= deepest && known.has(toAscii(domain))) return end;
  }
  return 0;
}

function countDots(text: string): number {
  return text.split(".").length;
}

const IS_ASCII = /^[a-z0-9.-]*$/i;

/** A domain in lower-case ASCII; what is none only in lower case. */
function toAscii(domain: string): string {
  // Skips the conversion, which takes a hundred times as long.
  if (IS_ASCII.test(domain)) return domain.toLowerCase();
  return domainToASCII(domain) || domain.toLowerCase();
}
