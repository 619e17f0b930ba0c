import { domainToASCII } from "node:url";
import type { ReceivedRow } from "./store.ts";

const NAMING = /^(?:from|to|cc|reply-to|sender|delivered-to|x-original-to)$/i;
// Without the quotes, stars, slashes and the like that may stand around an address; in links the sign between its parts may be escaped.
const ADDRESS = /([\p{L}\p{N}][\p{L}\p{N}._+-]{0,63})(?:@|%40)([\p{L}\p{N}](?:[\p{L}\p{N}.-]{0,253}[\p{L}\p{N}])?)/giu;

/**
 * A text in form C without the addresses that the headers of its mail name, and without these others. International domains are found in
 * both of their spellings, in ASCII and not.
 */
export function withoutAddresses(text: string, headers: ReceivedRow["headers"], others: readonly string[]): string {
  const naming = headers.filter(({ name }) => NAMING.test(name)).map(({ value }) => value);
  const known = new Map<string, Set<string>>();
  for (const value of [...naming, ...others])
    for (const [, local = "", domain = ""] of value.normalize("NFC").matchAll(ADDRESS)) {
      const domains = known.get(local.toLowerCase()) ?? new Set();
      known.set(local.toLowerCase(), domains.add(toAscii(domain)));
    }
  return text.normalize("NFC").replace(ADDRESS, (found: string, local: string, domain: string) => {
    const end = findEnd(domain, known.get(local.toLowerCase()));
    return end === 0 ? found : `[address]${domain.slice(end)}`;
  });
}

/** The length of the domain at the begin of a text that is one of these; 0 if none is. The next sentence may follow it without a blank. */
function findEnd(text: string, domains: ReadonlySet<string> | undefined): number {
  if (domains === undefined) return 0;
  const deepest = Math.max(...[...domains].map(countDots));
  for (let end = text.length; end > 0; end = Math.max(text.lastIndexOf(".", end - 1), text.lastIndexOf("-", end - 1))) {
    const domain = text.slice(0, end);
    if (countDots(domain) <= deepest && domains.has(toAscii(domain))) return end;
  }
  return 0;
}

function countDots(text: string): number {
  return text.split(".").length;
}

/** A domain in lower-case ASCII; what is none only in lower case. */
function toAscii(domain: string): string {
  return domainToASCII(domain) || domain.toLowerCase();
}
