import type { Tx } from "../db/db.ts";
import { findRows } from "../db/find.ts";
import { type ContentsRow, type EmailRow, findMail, readMessageId } from "../emails/emails.ts";
import type { Mailbox } from "./mailboxes.ts";
import { hashMessageId } from "./store.ts";

/** The conversation of a mail, and the email of it that the mail answers. */
export interface Thread {
  /** Null for a mail that begins one. */
  readonly threadId: string | null;
  readonly email: EmailRow | null;
  readonly contents: ContentsRow | null;
}

// Mails named in References beyond the last ones are not looked for.
const MAX_LOOKED_UP = 20;

const NONE: Thread = { threadId: null, email: null, contents: null };

/** Who wrote a mail, where it came to, and what it names. */
interface Clues {
  readonly mailbox: Mailbox;
  /** Message-IDs, oldest first. */
  readonly references: readonly string[];
  /** The sender as `addressKey` returns it. */
  readonly fromKey: string | undefined;
}

/**
 * Finds the conversation of a mail: by the reply address it came to, else by the last mail in its References that is known here, sent or
 * received. A Message-ID proves no more than the From header does: ids of one millisecond count up, so that who has one mail can work out
 * those beside it. Of several recipients of that one, the sender answers, or as far as is known the first.
 */
export async function findThread(tx: Tx, { mailbox, references, fromKey }: Clues): Promise<Thread> {
  const { workspaceId, emailId } = mailbox;
  const named = references.slice(-MAX_LOOKED_UP).reverse();
  for (const id of [emailId, ...named.map(readMessageId)]) {
    const mail = id === null ? null : await findMail(tx, workspaceId, id);
    if (mail === null) continue;
    const { emails, contents } = mail;
    const email = emails.find((one) => (id === emailId ? one.id === id : one.toKey === fromKey)) ?? emails[0];
    if (email) return { threadId: contents.threadId ?? email.mailId ?? email.id, email, contents };
  }
  if (named.length === 0) return NONE;
  const [known] = await findRows(tx, tx.t.received, { workspaceId, messageKey: named.map(hashMessageId) });
  return known ? { ...NONE, threadId: known.threadId } : NONE;
}
