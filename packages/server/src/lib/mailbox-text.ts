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
