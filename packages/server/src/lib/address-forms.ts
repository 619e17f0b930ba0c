import { domainToASCII } from "node:url";
import { addressKey } from "@mailsvc/sdk/contract";

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
