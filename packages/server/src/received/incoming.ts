import { type AutoReplyReason, addressKey, type MailAuthentication, RECEIVED_LIMITS } from "@mailsvc/sdk/contract";
import { and, desc, eq } from "drizzle-orm";
import { holdContacts, resolveContacts } from "../contacts/contacts.ts";
import type { Tx } from "../db/db.ts";
import { findRows } from "../db/find.ts";
import type { HeldContactId, HeldEmailId } from "../db/held.ts";
import { type EmailRow, findMail, findMailByMessageId, holdEmail } from "../emails/emails.ts";
import { recordEvents } from "../events/events.ts";
import { isTestMail } from "../lib/ids.ts";
import { hashMessageId } from "../lib/message-id.ts";
import { HOUR } from "../lib/units.ts";
import { countIntoQuota } from "./quota.ts";
import type { ReceivedDeps } from "./received.ts";
import { joinAddresses, listReplyAddresses, readMailbox } from "./reply-addresses.ts";
import { insertFiles, isTest, type Mailbox, type ReceivedRow } from "./store.ts";

/** A file of a mail. */
export interface IncomingFile {
  readonly filename: string;
  readonly contentType: string;
  readonly contentId: string | null;
  readonly content: Uint8Array<ArrayBuffer>;
}

/** Content of a mail, as its parser read it: texts without NUL, within RECEIVED_LIMITS. */
export interface IncomingMail {
  /** The addresses in From and Reply-To as they were written. */
  readonly from: string | null;
  readonly fromName: string | null;
  readonly replyTo: readonly string[];
  readonly subject: string;
  readonly messageId: string | null;
  /** A hash of the Message-ID, or of the whole mail if it has none. */
  readonly messageKey: string;
  /** A hash of what it says: of what its author wrote into its header, and of its body. */
  readonly contentKey: string;
  /** Message-IDs of the mails before it, oldest first. */
  readonly references: readonly string[];
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  readonly text: string;
  readonly html: string | null;
  /** The text without what it quotes. */
  readonly reply: string;
  /** Reason its headers show that a program wrote it. */
  readonly autoReply: AutoReplyReason | null;
  readonly files: readonly IncomingFile[];
  /** True if not all of it was read. */
  readonly truncated: boolean;
}

type NewReceived = ReceivedRow & { readonly emailId: HeldEmailId | null; readonly contactId: HeldContactId | null };

/** A mail on its way into a mailbox. */
interface Delivery {
  readonly mailbox: Mailbox;
  readonly mail: IncomingMail;
  readonly raw: Uint8Array;
  /** The sender of the envelope; empty for a mail that must not be answered. */
  readonly envelopeFrom: string;
  readonly authentication: MailAuthentication | null;
}

/**
 * Stores a mail, finds its conversation, and records `email.received`. False for one that the mailbox has already: the sender did not get
 * our reply to it, and sent it again. Throws DailyQuotaReached.
 */
export async function storeIncoming(tx: Tx, deps: ReceivedDeps, delivery: Delivery): Promise<boolean> {
  const { mailbox, mail, raw } = delivery;
  const { workspaceId } = mailbox;
  const id = deps.ids("rcv");
  const from = readMailbox(mail.from);
  const isCredible = isSenderCredible(delivery.authentication, from?.key);
  const thread = await findThread(tx, { mailbox, references: mail.references, fromKey: from?.key, isCredible });
  const { email } = thread;
  const emailId = email && (await holdEmail(tx, email));
  const contactId = await holdContact(tx, workspaceId, email?.contactId ?? email?.to ?? from?.address);
  const { files, references, headers, ...texts } = mail;
  const row: NewReceived = {
    ...texts,
    id,
    workspaceId,
    threadId: thread.threadId ?? id,
    emailId,
    contactId,
    campaignId: email?.campaignId ?? null,
    to: mailbox.address,
    toKey: addressKey(mailbox.address),
    from: from?.address ?? null,
    fromKey: from?.key ?? null,
    replyTo: joinAddresses(listReplyAddresses(mail.replyTo, from?.address ?? null, addressKey(mailbox.address))),
    references: [...references],
    headers: [...headers],
    autoReply: null,
    files: files.length,
    authentication: delivery.authentication,
    size: raw.length,
    receivedAt: deps.clock.now(),
  };
  row.autoReply = await judge(tx, deps, delivery, thread, row);
  const added = await tx.insert(tx.t.received).values(row).onConflictDoNothing().returning({ id: tx.t.received.id });
  if (added.length === 0) return false;
  if (!isTestMail(row.emailId)) await countIntoQuota(tx, deps, { workspaceId, size: raw.length });
  await insertFiles(tx, id, raw, files);
  await announce(tx, deps, row);
  return true;
}

async function announce(tx: Tx, deps: ReceivedDeps, row: NewReceived): Promise<void> {
  const { id, workspaceId, threadId, emailId, contactId, campaignId, autoReply, receivedAt: at } = row;
  const data = { receivedId: id, threadId, autoReply, attachmentCount: row.files };
  await recordEvents(tx, deps, [{ workspaceId, type: "email.received", emailId, contactId, campaignId, at, data }]);
}

/** The contact with an id or an address, held; null if there is none. */
async function holdContact(tx: Tx, workspaceId: string, ref: string | undefined): Promise<HeldContactId | null> {
  const [contact] = ref === undefined ? [] : await resolveContacts(tx, workspaceId, [ref]);
  const [held] = contact ? await holdContacts(tx, workspaceId, [contact]) : [];
  return held?.id ?? null;
}

/**
 * Returns the reason a mail counts as automatic: its headers, its envelope, one of our own mails come back, or too many mails of
 * its sender in an hour.
 */
async function judge(
  tx: Tx,
  { clock }: ReceivedDeps,
  delivery: Delivery,
  thread: Thread,
  { fromKey, replyTo, emailId }: Pick<ReceivedRow, "fromKey" | "replyTo" | "emailId">,
): Promise<AutoReplyReason | null> {
  const { mailbox, mail, envelopeFrom } = delivery;
  if (mail.autoReply !== null && !isPersonal(mail, thread)) return mail.autoReply;
  if (envelopeFrom === "") return "null_sender";
  if (await isReturned(tx, delivery)) return "loop";
  if (fromKey === null) return null;
  const { received: t } = tx.t;
  const last = await tx
    .select({ receivedAt: t.receivedAt, replyTo: t.replyTo })
    .from(t)
    .where(and(eq(t.workspaceId, mailbox.workspaceId), eq(t.fromKey, fromKey), isTest(tx, isTestMail(emailId))))
    .orderBy(desc(t.id))
    .limit(LOOKED_BACK);
  // A contact form or a help desk has one From, and each person who writes by it an own Reply-To.
  const fresh = last.filter(({ receivedAt }) => receivedAt > clock.now() - HOUR);
  const same = fresh.filter((one) => one.replyTo === replyTo);
  // A program that answers every mail of ours may name another address each time.
  const isRound = thread.threadId !== null && fresh.length >= ANSWERS_PER_HOUR;
  return isRound || same.length >= RECEIVED_LIMITS.personalPerHour ? "too_many" : null;
}

// Answers of one From within an hour, with whatever Reply-To.
const ANSWERS_PER_HOUR = 100;

// The mails of a sender in which those with the same Reply-To are counted.
const LOOKED_BACK = 500;

/**
 * True if a mail that looks automatic is a person's answer all the same: it continues a conversation, and has no more than the
 * List-Unsubscribe of a tool for outreach, or the X-Loop of a forwarder.
 */
function isPersonal({ autoReply, headers }: IncomingMail, { threadId }: Thread): boolean {
  if (threadId === null) return false;
  if (autoReply === "mailing_list") return !headers.some(({ name }) => /^list-(?:id|post|help)$/i.test(name));
  return autoReply === "loop" && headers.filter(({ name }) => /^received$/i.test(name)).length <= MAX_HOPS;
}

// Servers on the way of a mail that is not going in circles.
const MAX_HOPS = 50;

/**
 * True if a mail is one of ours that came back. Mail that was written to this mailbox did not, such as the message of a contact
 * form. But an answer sent with the API, or mail of an automation or campaign, counts as returned there too: if a program
 * answered it, the two would mail each other without end. A program that submits messages marks automatic ones in their headers.
 */
async function isReturned(tx: Tx, { mailbox, mail: { messageId, references } }: Delivery): Promise<boolean> {
  const toKey = addressKey(mailbox.address);
  const own = messageId === null ? null : await findMailByMessageId(tx, mailbox.workspaceId, messageId, toKey);
  if (own === null) return false;
  const { contents } = own;
  const email = own.emails.find((one) => one.toKey === toKey);
  if (email === undefined) return true;
  const isAnswer = references.length > 0 || contents.threadId !== null;
  return contents.asIs !== true && (isAnswer || contents.automationId !== null || email.campaignId !== null);
}

/** The conversation of a mail, and the email of it that the mail answers. */
interface Thread {
  /** Null for a mail that begins one. */
  readonly threadId: string | null;
  readonly email: EmailRow | null;
}

// Mails named in References beyond the last ones are not looked for.
const MAX_LOOKED_UP = 20;

const NONE: Thread = { threadId: null, email: null };

/** Sender of a mail, the mailbox it came to, and the mails it refers to. */
interface Clues {
  readonly mailbox: Mailbox;
  /** Message-IDs, oldest first. */
  readonly references: readonly string[];
  /** The sender as `addressKey` returns it. */
  readonly fromKey: string | undefined;
  /** True if that address may be believed. */
  readonly isCredible: boolean;
}

/**
 * Finds the conversation of a mail: by the reply address it came to, else by the last mail in its References that is known here, sent or
 * received. The signature of a reply address proves that its email reached the sender. A Message-ID proves nothing: ids of one
 * millisecond count up, so that one mail tells the ids before and after it, and a copy of a mail has its id, too. So a mail that only
 * names an email joins its conversation, and counts as an answer to it only if it comes from a recipient of it, and nothing speaks
 * against that sender.
 */
async function findThread(tx: Tx, { mailbox, references, fromKey, isCredible }: Clues): Promise<Thread> {
  const { workspaceId, emailId } = mailbox;
  const named = references.slice(-MAX_LOOKED_UP).reverse();
  const find = [
    ...(emailId === null ? [] : [() => findMail(tx, workspaceId, emailId)]),
    ...named.map((messageId) => () => findMailByMessageId(tx, workspaceId, messageId, isCredible ? fromKey : undefined)),
  ];
  for (const [i, findNext] of find.entries()) {
    const mail = await findNext();
    if (mail === null) continue;
    const isAddressed = emailId !== null && i === 0;
    const { emails, contents } = mail;
    const [first] = emails;
    if (!first) continue;
    const email = emails.find((one) => (isAddressed ? one.id === emailId : isCredible && one.toKey === fromKey)) ?? null;
    return { threadId: contents.threadId ?? first.mailId ?? first.id, email };
  }
  if (named.length === 0) return NONE;
  const [known] = await findRows(tx, tx.t.received, { workspaceId, messageKey: named.map(hashMessageId) });
  return known ? { ...NONE, threadId: known.threadId } : NONE;
}

/**
 * True if the address in From may be believed: DMARC passes, or the domain has no DMARC record and signed the mail, itself or by
 * a domain above it. Also true of a mail that did not come over SMTP, or that a trusted server handed over. Never true with
 * several senders in From.
 */
export function isSenderCredible(authentication: MailAuthentication | null, fromKey: string | undefined): boolean {
  if (authentication === null) return true;
  const { spf, dmarc, signers } = authentication;
  if (dmarc === "permerror") return false;
  if (spf === null) return true;
  if (dmarc === "pass") return true;
  if (dmarc !== "none" || fromKey === undefined) return false;
  const domain = fromKey.slice(fromKey.lastIndexOf("@") + 1);
  return signers.some((signer) => domain === signer || domain.endsWith(`.${signer}`));
}
