import { type Mailbox, parseAddress, SEND_LIMITS } from "@mailsvc/sdk/contract";

/** The mailbox that somebody wrote into a header; null if it is none. */
export function readMailbox(text: string | null): Pick<Mailbox, "address" | "key"> | null {
  try {
    return text === null ? null : parseAddress(text);
  } catch {
    return null;
  }
}

/**
 * The addresses that an answer goes to: those in Reply-To, each once and at most as many as a mail has recipients, else the one in From.
 * The mailbox that received the mail is none of them if there are others: mail programs name it when they answer all.
 */
export function listReplyAddresses(replyTo: readonly string[], from: string | null, ownKey: string): string[] {
  const found = new Map<string, string>();
  for (const text of replyTo) {
    const box = readMailbox(text);
    if (box !== null && !found.has(box.key)) found.set(box.key, box.address);
  }
  if (found.size > 1) found.delete(ownKey);
  if (found.size === 0) return from === null ? [] : [from];
  return [...found.values()].slice(0, SEND_LIMITS.recipients);
}

/** Addresses as one column holds them. No address contains a line break. */
export function joinAddresses(addresses: readonly string[]): string | null {
  return addresses.length === 0 ? null : addresses.join("\n");
}

/** The addresses in a column that `joinAddresses` wrote. */
export function splitAddresses(stored: string | null): string[] {
  return stored === null ? [] : stored.split("\n");
}
