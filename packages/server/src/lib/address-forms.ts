import { domainToASCII } from "node:url";
import { addressKey } from "@mailsvc/sdk/contract";

// Rules compare the same few texts with many contacts, and parsing what is not an address costs 10 µs.
const cache = new Map<string, readonly string[]>();
const MAX_CACHED = 1000;

/**
 * The forms in which a text, an address or a part of one, can occur in a stored address (as from `addressKey`): as it is, and
 * with each international label of its domain in ASCII. `@münchen.example` occurs as `@xn--mnchen-3ya.example`, and `münchen` as
 * itself before the @ or as `xn--mnchen-3ya` behind it.
 */
export function listAddressForms(text: string): readonly string[] {
  const known = cache.get(text);
  if (known) return known;
  const forms = computeForms(addressKey(text));
  if (cache.size >= MAX_CACHED) cache.clear();
  cache.set(text, forms);
  return forms;
}

function computeForms(key: string): readonly string[] {
  const at = key.lastIndexOf("@");
  const ascii = key
    .slice(at + 1)
    .split(".")
    .map((label) => domainToASCII(label) || label)
    .join(".");
  const inAscii = key.slice(0, at + 1) + ascii;
  return inAscii === key ? [key] : [key, inAscii];
}
