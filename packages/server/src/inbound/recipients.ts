import { parseAddress } from "@mailsvc/sdk/contract";
import { findDomainMailbox, findReplyMailbox, type Mailbox } from "../received/received.ts";
import type { InboundDeps } from "./deps.ts";
import type { InboundAddress } from "./return-path.ts";

/** A recipient whose mail is taken: an address of an email that reports come to, or the mailbox of a workspace. */
export type Recipient = { readonly address: InboundAddress } | { readonly mailbox: Mailbox };

/**
 * Returns the recipient with an address; null for one that is not ours. Checks the signature of a reply address first, so that an invented
 * one costs an HMAC and a look-up of its domain, as every other unknown address does.
 */
export async function findRecipient({ db, returnPath }: Pick<InboundDeps, "db" | "returnPath">, text: string): Promise<Recipient | null> {
  const address = returnPath.parse(text);
  if (address?.kind === "reply") {
    const mailbox = await findReplyMailbox(db.read, address.emailId, text.toLowerCase());
    return mailbox && { mailbox };
  }
  if (address !== null) return { address };
  const parsed = parse(text);
  const mailbox = parsed && (await findDomainMailbox(db.read, parsed.address, parsed.domain));
  return mailbox && { mailbox };
}

function parse(text: string): { address: string; domain: string } | null {
  try {
    return parseAddress(text);
  } catch {
    return null;
  }
}
