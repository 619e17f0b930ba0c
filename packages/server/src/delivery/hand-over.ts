import { parseAnyMailbox } from "@mailsvc/sdk/contract";
import type { Reader } from "../db/db.ts";
import { findAttachments, getMessage } from "../emails/emails.ts";
import type { OutgoingMail, Receipt } from "../mail/mailer.ts";
import type { DeliveryDeps } from "./deps.ts";
import type { Ended, Next } from "./next.ts";
import { outcomeOfReceipt } from "./outcome.ts";
import type { PendingMail } from "./transform.ts";

// An email that was marked for a relay which went out of service meanwhile.
const PASSED_ON: Receipt = {
  outcome: "deferred",
  error: { message: "The relay is out of service, so another one takes over.", smtpCode: null, enhancedCode: null },
  unavailable: true,
};

/**
 * Hands one email over to the mailer that was chosen for it, and decides what the receipt means. Calls `renew`, which decides anew about
 * the email, right before the bytes of the message are sent. A mailer that throws, for a bug of ours, fails the attempt.
 */
export async function handOver(
  { mailers, db, clock, random }: DeliveryDeps,
  mail: PendingMail,
  renew: () => Promise<Next | undefined>,
): Promise<Ended> {
  let withdrawn: Ended | null = null;
  const isStillWanted = async (): Promise<boolean> => {
    const next = await renew();
    if (next !== undefined && next.next !== "handOver") withdrawn = next;
    return withdrawn === null;
  };
  try {
    const receipt = mail.choice?.isOutOfService()
      ? PASSED_ON
      : await (mail.choice?.mailer ?? mailers.main).send({ ...(await toOutgoingMail(db.read, mail)), isStillWanted });
    if (withdrawn !== null && receipt.outcome === "deferred") return withdrawn;
    // Only a mail that has certainly not left may go to another relay.
    const takenOver = receipt.outcome === "deferred" && receipt.unavailable === true && mail.choice?.isOutOfService() === true;
    const relay = mail.choice?.relay ?? null;
    const attempt = { email: mail.email, attempt: mail.attempt, relay, at: clock.now(), random, takenOver };
    return { next: "settle", effect: outcomeOfReceipt(receipt, attempt) };
  } catch (error) {
    return { next: "fail", error };
  }
}

async function toOutgoingMail(read: Reader, mail: PendingMail): Promise<OutgoingMail> {
  const { email, contents } = mail;
  return {
    envelopeFrom: mail.envelopeFrom,
    envelopeTo: email.to,
    messageId: mail.messageId,
    from: contents.from,
    ...listAddressees(mail),
    replyTo: mail.replyTo,
    subject: mail.subject,
    html: mail.html,
    text: mail.text,
    headers: mail.headers,
    ...(contents.asIs === true
      ? { attachments: [], message: await getMessage(read, contents) }
      : { attachments: contents.attachments > 0 ? await findAttachments(read, contents) : [] }),
    // The date of the first attempt, because every attempt sends the same bytes.
    date: email.scheduledAt ?? email.createdAt,
    attempt: mail.attempt,
    origin: { workspaceId: email.workspaceId, emailId: email.mailId ?? email.id },
    traceparent: contents.traceparent,
  };
}

/** To and Cc of the message. A mail to one recipient names only that one. */
function listAddressees({ email, contents: { addressees } }: PendingMail): Pick<OutgoingMail, "to" | "cc"> {
  if (addressees === null) return { to: [{ name: email.name ?? "", address: email.to }], cc: [] };
  return { to: addressees.to.map(parseAnyMailbox), cc: addressees.cc.map(parseAnyMailbox) };
}
