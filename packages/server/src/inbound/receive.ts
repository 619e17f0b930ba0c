import { parseAddress } from "@mailsvc/sdk/contract";
import { findEmailById } from "../emails/emails.ts";
import { readMessageId } from "../lib/message-id.ts";
import { MAIL_LIMITS } from "../mail/mail-start.ts";
import { DailyQuotaReached, findDomainMailbox, findReplyMailbox, type Mailbox, storeIncoming } from "../received/received.ts";
import { readUnsubscribeSubject, unsubscribe } from "../unsubscribe/unsubscribe.ts";
import { applyReports } from "./apply.ts";
import type { Peer } from "./authentication/authenticate.ts";
import type { InboundDeps } from "./deps.ts";
import { MailNotRead } from "./mail-thread.ts";
import type { ParsedMail } from "./parse-mail.ts";
import type { Report } from "./report.ts";
import type { InboundAddress } from "./return-path.ts";

/**
 * Result of a received mail. `too-early`: the sender must try again, because the email is still being handed over. `unreadable`: it
 * exceeds the limits of a mail, and the reason is in the log. `over-quota`: the workspace has reached its limit of received mail for
 * today. `expired`: an unsubscribe for a deleted email; the recipient is unknown.
 */
type Received = "applied" | "ignored" | "too-early" | "unreadable" | "over-quota" | "expired";

/** A mail as it came, with its envelope. */
interface ReceivedMessage {
  readonly recipients: readonly Recipient[];
  /** Empty for a mail that must not be answered. */
  readonly envelopeFrom: string;
  /** The whole mail; if no recipient is a mailbox, the first `MAIL_LIMITS.bytes` of it. Its memory goes over to the parser. */
  readonly raw: Uint8Array<ArrayBuffer>;
  /** The client that handed it over; null for a mail that did not come over SMTP, whose sender nobody can prove. */
  readonly peer: Pick<Peer, "ip" | "helo"> | null;
}

/**
 * Receives a mail: bounces, complaints, and mail that unsubscribes at the addresses of emails; all mail at the mailboxes of workspaces. Its
 * effects are durable when this returns. Mail to a return path that is no report, such as an automatic reply, is taken and leads to
 * nothing. Throws MailNotRead when its sender must try again.
 */
export async function receiveMail(deps: InboundDeps, message: ReceivedMessage): Promise<Received> {
  const addresses = message.recipients.flatMap((one) => ("address" in one ? one.address : []));
  const mailboxes = message.recipients.flatMap((one) => ("mailbox" in one ? one.mailbox : []));
  const results: Received[] = [];
  if (addresses.length > 0) results.push(...(await applyToEmails(deps, addresses, message)));
  if (mailboxes.length > 0 && !results.includes("unreadable")) results.push(await deliver(deps, mailboxes, message));
  return (["unreadable", "over-quota", "too-early", "applied", "expired"] as const).find((result) => results.includes(result)) ?? "ignored";
}

/** Puts a mail into mailboxes. */
async function deliver(deps: InboundDeps, mailboxes: readonly Mailbox[], message: ReceivedMessage): Promise<Received> {
  const { envelopeFrom, peer } = message;
  const parsed = await orFault(deps.mailParser.read(message.raw));
  const read = "result" in parsed ? parsed.result : parsed;
  if ("fault" in parsed || "fault" in read) {
    const reason = "fault" in read ? read.fault : null;
    deps.log.warn("a mail cannot be read", { reason, workspaceIds: mailboxes.map(({ workspaceId }) => workspaceId) });
    return "unreadable";
  }
  const { raw, authentication } =
    peer === null
      ? { raw: parsed.raw, authentication: null }
      : await deps.mailAuthenticator.authenticate(parsed.raw, { ...peer, envelopeFrom });
  try {
    for (const mailbox of mailboxes)
      await deps.db.tx((tx) => storeIncoming(tx, deps, { mailbox, mail: read.mail, raw, envelopeFrom, authentication }));
    return "applied";
  } catch (error) {
    if (!(error instanceof DailyQuotaReached)) throw error;
    deps.log.warn("a mail was not stored", { reason: error.message });
    return "over-quota";
  }
}

async function applyToEmails(
  deps: InboundDeps,
  addresses: readonly InboundAddress[],
  { raw, envelopeFrom: sender }: Pick<ReceivedMessage, "raw" | "envelopeFrom">,
): Promise<Received[]> {
  const about = await listRecipients(deps, addresses);
  const mail = await orFault(deps.mailParser.parse(raw.subarray(0, MAIL_LIMITS.bytes), { sender, about }));
  if (!("outcome" in mail) || mail.fault !== null) {
    const emailIds = addresses.flatMap((address) => ("emailId" in address ? address.emailId : []));
    deps.log.warn("a mail to the inbound domain cannot be read", { reason: mail.fault, emailIds });
    return ["unreadable"];
  }
  const results: Received[] = [];
  for (const address of addresses)
    results.push(
      address.kind === "unsubscribe" ? await unsubscribeByMail(deps, address.emailId, mail) : await applyMail(deps, address, mail),
    );
  return results;
}

/** The recipients of the emails whose return paths a mail came to. */
async function listRecipients({ db }: InboundDeps, addresses: readonly InboundAddress[]): Promise<string[]> {
  const ids = addresses.flatMap((address) => (address.kind === "bounce" ? address.emailId : []));
  const emails = await Promise.all(ids.map((id) => findEmailById(db.read, id)));
  return emails.flatMap((email) => email?.to ?? []);
}

/** A mail that can never be read is one with a fault: its sender must not try again. */
async function orFault<Result>(reading: Promise<Result>): Promise<Result | { readonly fault: string }> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof MailNotRead && error.isLasting) return { fault: error.message };
    throw error;
  }
}

/** The email that a report is about. */
type Found = Pick<Report, "emailId" | "recipient">;

async function applyMail(deps: InboundDeps, address: InboundAddress, { outcome, source, about }: ParsedMail): Promise<Received> {
  if (outcome === null) return "ignored";
  const found = "emailId" in address ? { emailId: address.emailId } : findEmail(deps, about);
  if (found === null) return "ignored";
  const report: Report = { ...found, source, key: buildKey(source, found, outcome), outcome };
  const [result] = await deps.db.tx((tx) => applyReports(tx, deps, [report], null));
  return result ?? "ignored";
}

/** One report of each kind counts per email and recipient, whichever server sends it, and however often. */
function buildKey(source: string, { emailId, recipient }: Found, outcome: NonNullable<ParsedMail["outcome"]>): string {
  const code = "error" in outcome ? (outcome.error.enhancedCode ?? outcome.error.smtpCode ?? "") : "";
  return [source, emailId, recipient, outcome.kind, code].filter(Boolean).join(" ");
}

/** Feedback loops do not know our return path, but return what they complain about. */
function findEmail({ returnPath }: InboundDeps, about: ParsedMail["about"]): Found | null {
  const address = about.returnPath === null ? null : returnPath.parse(about.returnPath);
  if (address?.kind === "bounce") return { emailId: address.emailId };
  const emailId = readMessageId(about.messageId ?? "");
  return emailId === null ? null : { emailId, recipient: about.recipient };
}

/**
 * Unsubscribes the recipient of an email, also once the email is deleted if the subject names them. An automatic reply, or the bounce of a
 * reply, is nobody's wish to unsubscribe.
 */
async function unsubscribeByMail(deps: InboundDeps, emailId: string, { automatic, subject }: ParsedMail): Promise<Received> {
  if (automatic) return "ignored";
  return deps.db.tx(async (tx) => {
    const email = await findEmailById(tx, emailId);
    const subscriber = email ? { workspaceId: email.workspaceId, email: email.to, emailId } : readUnsubscribeSubject(deps, subject);
    if (subscriber?.emailId !== emailId) return "expired";
    await unsubscribe(tx, deps, subscriber, "mailto");
    return "applied";
  });
}

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
