import type { Receipt } from "./mailer.ts";

// Errors of Node name the address or the host after the code; those of certificates, and of access tokens, name hosts too.
const PLACES: readonly (readonly [RegExp, string])[] = [
  [/\b((?:connect|getaddrinfo|query\w*|read|write) E[A-Z0-9_]+)[ :]+(?!\()\S+(?: - Local \([^)]*\))?/g, "$1"],
  [/(does not match certificate's altnames)[\s\S]*/g, "$1"],
  [/\b(token server) \S+/g, "$1"],
];

/** The reason why a relay cannot be reached, without the addresses and hosts of the operator's network, for those who only send by it. */
export function hidePlaces(reason: string): string {
  return PLACES.reduce((text, [place, kept]) => text.replace(place, kept), reason);
}

/** A receipt as the owner of the email may see it: what a mail server answered stays as it is. */
export function hidePlacesOf(receipt: Receipt): Receipt {
  if (!("error" in receipt) || receipt.error.smtpCode !== null) return receipt;
  return { ...receipt, error: { ...receipt.error, message: hidePlaces(receipt.error.message) } };
}
