import type { Contact, ContactStatus, Suppression } from "@mailsvc/sdk/contract";
import { CONTACT_STATUSES, formatContactName } from "@mailsvc/sdk/contract/facts";

/** The states of contacts as people say them. */
export const STATUS_WORDS: Readonly<Record<ContactStatus, string>> = {
  SUBSCRIBED: "Subscribed",
  UNSUBSCRIBED: "Unsubscribed",
  BOUNCED: "Bounced",
  COMPLAINED: "Complained",
};

export const STATUS_OPTIONS = CONTACT_STATUSES.map((value) => ({ value, text: STATUS_WORDS[value] }));

/** The name of a contact, or its address. */
export function nameOf(contact: Contact): string {
  return formatContactName(contact) || contact.email;
}

export const SCOPE_WORDS: Readonly<Record<Suppression["scope"], string>> = { all: "All mail", marketing: "Marketing only" };

/** Mail stopped by each scope. */
export const SCOPE_MEANING: Readonly<Record<Suppression["scope"], string>> = {
  all: "No mail of any kind is sent to the address.",
  marketing: "No campaigns and automations are sent to the address. Receipts and the like still are, where the sender asks for it.",
};

export const REASON_WORDS: Readonly<Record<Suppression["reason"], string>> = {
  bounce: "Bounced",
  complaint: "Reported as spam",
  unsubscribe: "Unsubscribed",
  manual: "Added by hand",
};

export const SOURCE_WORDS: Readonly<Record<Suppression["source"], string>> = {
  api: "Dashboard or API",
  import: "Import",
  bounce: "A bounce",
  complaint: "A spam report",
  unsubscribe: "An unsubscribe link",
};

/** The choices of a filter, from the words of its values. */
export function optionsOf(words: Readonly<Record<string, string>>): { value: string; text: string }[] {
  return Object.entries(words).map(([value, text]) => ({ value, text }));
}
