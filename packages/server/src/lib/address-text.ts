import { domainToASCII } from "node:url";
import { addressKey } from "@mailsvc/sdk/contract";

// Names that need no quotes (RFC 5322 3.2.3), letters beyond ASCII included.
const PLAIN = /^[\w !#$%&'*+/=?^`{|}~\u0080-\uffff-]+$/;

/**
 * An address with a name, as a header or a field of JSON shows it: `Acme <hello@acme.example>`, with the name in quotes where it needs
 * them.
 */
export function formatMailbox(address: string, name: string | null | undefined): string {
  if (!name) return address;
  return `${PLAIN.test(name) ? name : `"${name.replaceAll(/[\\"]/g, "\\$&")}"`} <${address}>`;
}

/**
 * The forms in which a text, an address or a part of one, can occur in a stored address (as from `addressKey`): as it is, and
 * with each international label of its domain in ASCII. `@münchen.example` occurs as `@xn--mnchen-3ya.example`, and `münchen` as
 * itself before the @ or as `xn--mnchen-3ya` behind it.
 */
export function listAddressForms(text: string): readonly string[] {
  const key = addressKey(text);
  const at = key.lastIndexOf("@");
  const ascii = key
    .slice(at + 1)
    .split(".")
    .map((label) => domainToASCII(label) || label)
    .join(".");
  const inAscii = key.slice(0, at + 1) + ascii;
  return inAscii === key ? [key] : [key, inAscii];
}

// Local parts may be quoted, and hold any letters. No address is longer.
const ADDRESS = /(?:"[^"]{0,64}"|[^\s<>"'(),;:]{1,64})@[^\s<>"'(),;:]{1,255}/g;

/** A text without the addresses in it, for the log: what a mail server answers often names the recipient. */
export function maskAddresses(text: string): string {
  return text.replace(ADDRESS, "[address]");
}
