import type { Reader } from "../db/db.ts";
import type { Deps } from "../deps.ts";
import type { PendingMail } from "../emails/emails.ts";

/** Gives mails their return path at the inbound domain, if there is one, so that bounces come back to this server. */
export async function setBounceAddresses(_read: Reader, { returnPath }: Deps, mails: readonly PendingMail[]): Promise<void> {
  for (const mail of mails) mail.envelopeFrom = returnPath.bounceAddress(mail.email.id) ?? mail.envelopeFrom;
}
