import type { Tx } from "../db/db.ts";
import { findRows } from "../db/find.ts";
import { type EmailRow, findMail, findMailByMessageId } from "../emails/emails.ts";
import { hashMessageId } from "../lib/message-id.ts";
import type { Mailbox } from "./mailboxes.ts";

/** The conversation of a mail, and the email of it that the mail answers. */
export interface Thread {
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
export async function findThread(tx: Tx, { mailbox, references, fromKey, isCredible }: Clues): Promise<Thread> {
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
