// Local parts may be quoted, and hold any letters. No address is longer.
const ADDRESS = /(?:"[^"]{0,64}"|[^\s<>"'(),;:]{1,64})@[^\s<>"'(),;:]{1,255}/g;

/** A text without the addresses in it, for the log: what a mail server answers often names the recipient. */
export function maskAddresses(text: string): string {
  return text.replace(ADDRESS, "[address]");
}
