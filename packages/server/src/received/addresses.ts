import type { ReceivedRow } from "./store.ts";

const NAMING = /^(?:from|to|cc|reply-to|sender|delivered-to|x-original-to)$/i;
// Without the quotes, stars, slashes and the like that may stand around an address; in links the sign between its parts may be escaped.
const ADDRESS = /([\p{L}\p{N}][\p{L}\p{N}._+-]{0,63})(?:@|%40)([\p{L}\p{N}](?:[\p{L}\p{N}.-]{0,253}[\p{L}\p{N}])?)/giu;

/** A text without the addresses that the headers of its mail name, and without these others. */
export function withoutAddresses(text: string, headers: ReceivedRow["headers"], others: readonly string[]): string {
  const naming = headers.filter(({ name }) => NAMING.test(name)).map(({ value }) => value);
  const known = new Set(
    [...naming, ...others].flatMap((value) => [...value.matchAll(ADDRESS)]).map(([, local = "", domain = ""]) => toKey(local, domain)),
  );
  return text.replace(ADDRESS, (found: string, local: string, domain: string) => {
    // The next sentence may follow an address without a blank.
    for (let end = domain.length; end > 0; end = Math.max(domain.lastIndexOf(".", end - 1), domain.lastIndexOf("-", end - 1)))
      if (known.has(toKey(local, domain.slice(0, end)))) return `[address]${domain.slice(end)}`;
    return found;
  });
}

function toKey(local: string, domain: string): string {
  return `${local}@${domain}`.toLowerCase();
}
