import type { ReceivedRow } from "./store.ts";

const NAMING = /^(?:from|to|cc|reply-to|sender|delivered-to|x-original-to)$/i;
const ADDRESS = /[^\s<>,;:"()[\]]{1,64}@[^\s<>,;:"()[\]]{1,255}/g;

/** A text without the addresses that the headers of its mail name, and without these others. */
export function withoutAddresses(text: string, headers: ReceivedRow["headers"], others: readonly string[]): string {
  const named = headers.filter(({ name }) => NAMING.test(name)).flatMap(({ value }) => value.match(ADDRESS) ?? []);
  const known = new Set([...named, ...others].map((address) => address.toLowerCase()));
  // The end of a sentence may follow an address.
  return text.replace(ADDRESS, (found) => {
    const address = found.replace(/[.!?'*_]+$/, "");
    return known.has(address.toLowerCase()) ? `[address]${found.slice(address.length)}` : found;
  });
}
