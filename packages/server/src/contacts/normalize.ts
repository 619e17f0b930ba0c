import {
  CONTACT_LIMITS,
  CONTACT_TEXT_FIELDS,
  type ContactTextField,
  type CustomValue,
  isPartOfName,
  parseAddress,
  toUnicodeDomain,
} from "@mailsvc/sdk/contract";
import { invalid } from "../lib/api-error.ts";
import { fold } from "../lib/fold.ts";

/** The form in which tags are compared and indexed: `VIP` and `vip` are one tag. */
export function tagKey(tag: string): string {
  return fold(tag.trim());
}

export function tagKeys(tags: readonly string[]): string[] {
  return [...new Set(tags.map(tagKey))];
}

/** Tags without duplicates, in the spelling that came first. */
export function uniqueTags(tags: readonly string[]): string[] {
  const byKey = new Map<string, string>();
  for (const tag of tags) {
    const key = tagKey(tag);
    if (!byKey.has(key)) byKey.set(key, tag);
  }
  return [...byKey.values()];
}

// Reserved so that no mail server on the Internet can have such a name: RFC 6761, RFC 6762 (.local) and RFC 7686 (.onion).
// .test and .example stay usable for tests against a server, .internal for mail inside a company.
const UNREACHABLE = /[.](?:invalid|localhost|local|onion)$/;

/** True if a domain can receive email. In dev mode every domain can, since no email leaves the machine. */
export function isReachableDomain({ dev }: { readonly dev: boolean }, domain: string): boolean {
  return dev || !UNREACHABLE.test(domain);
}

/** An empty name or phone number is stored as none. */
export function emptyToNull(text: string | null | undefined): string | null {
  return text || null;
}

/**
 * The text contact search looks in: address, the parts of the name, and the address with its international domain in Unicode.
 * Each is on its own line, so that no hit spans two of them, and at least two characters follow every character, because
 * the index is one of trigrams.
 */
export function toSearchText(contact: { readonly email: string } & Readonly<Record<ContactTextField, string | null>>): string {
  const { email } = contact;
  const { local, domain } = parseAddress(email);
  const unicode = toUnicodeDomain(domain);
  const names = CONTACT_TEXT_FIELDS.filter(isPartOfName).map((field) => contact[field] ?? "");
  const lines = [email, ...names, ...(unicode === domain ? [] : [`${local}@${unicode}`])];
  return `${lines.map(fold).join("\n")}\n\n`;
}

/** The text to look for in `toSearchText`: folded, and an address in its canonical spelling. Empty for no filter. */
export function toSearchTerm(search: string | undefined): string {
  const text = search?.trim() ?? "";
  // To refuse what is no address takes 15 µs, as long as the rest of a page takes in the database.
  if (!text.includes("@")) return fold(text);
  try {
    return fold(parseAddress(text).address);
  } catch {
    return fold(text);
  }
}

/** Sets custom fields one by one; null removes a field. Throws ApiError validation_error if they become too many or too large. */
export function mergeCustomFields(
  before: Readonly<Record<string, CustomValue>>,
  patch: Readonly<Record<string, CustomValue>>,
): Record<string, CustomValue> {
  const fields = Object.fromEntries(Object.entries({ ...before, ...patch }).filter(([name]) => patch[name] !== null));
  const { customKeys, customBytes } = CONTACT_LIMITS;
  if (Object.keys(fields).length > customKeys || Buffer.byteLength(JSON.stringify(fields)) > customBytes)
    throw invalid(
      "customFields",
      "too_big",
      `Together with the fields already stored, this contact would have more than ${customKeys} custom fields or ${customBytes / 1024} KiB. Send null to remove a field.`,
    );
  return fields;
}
