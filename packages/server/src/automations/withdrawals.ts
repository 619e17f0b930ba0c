import { explainNoMail } from "../contacts/contacts.ts";
import type { Reader } from "../db/db.ts";
import { findRows } from "../db/find.ts";
import type { PendingMail } from "../delivery/delivery.ts";

// The reason of entries that end when the contact answers (listener.ts).
const REPLIED = "replied";

/**
 * Keeps back the mail of automations whose contact may not get it any more. It was rendered when its step was taken, and may have waited
 * since: for the mail server, for a held domain, for a paused queue.
 *
 * | the contact                 | the email             |
 * | --------------------------- | --------------------- |
 * | was deleted                 | skipped: `deleted`    |
 * | is no longer SUBSCRIBED     | skipped: its status   |
 * | has answered, so that the entry that sent it has ended | skipped: `replied` |
 * | otherwise                   | is handed over        |
 */
export async function withdrawAutomationMail(read: Reader, mails: readonly PendingMail[]): Promise<void> {
  const own = mails.filter(({ contents }) => contents.automationId !== null);
  if (own.length === 0) return;
  const ids = [...new Set(own.flatMap(({ email }) => email.contactId ?? []))];
  const contacts = new Map((await findRows(read, read.t.contacts, { id: ids })).map((row) => [row.id, row]));
  const answered = await findAnswered(read, own);
  for (const mail of own) {
    const contact = contacts.get(mail.email.contactId ?? "");
    const reason = contact ? (explainNoMail(contact) ?? (answered.has(mail) ? "replied" : null)) : "deleted";
    if (reason !== null) mail.withdrawal = { to: "skipped", reason };
  }
}

/** The mails whose entry ended because the contact has answered. */
async function findAnswered(read: Reader, mails: readonly PendingMail[]): Promise<Set<PendingMail>> {
  const keys = mails.flatMap(({ email: { contactId }, contents: { automationId } }) =>
    contactId === null || automationId === null ? [] : [[`${automationId} ${contactId}`, { automationId, contactId }] as const],
  );
  const entries = (await read.lookUp(read.t.automationEntries, [...new Map(keys).values()])).flat();
  const ended = entries.filter(({ status, reason }) => status === "EXITED" && reason === REPLIED);
  // A contact is inside an automation once at a time, so the instant tells which entry sent the mail.
  const isOf = (entry: (typeof ended)[number], { email, contents }: PendingMail): boolean =>
    entry.automationId === contents.automationId &&
    entry.contactId === email.contactId &&
    entry.enteredAt <= email.createdAt &&
    email.createdAt <= (entry.endedAt ?? 0);
  return new Set(mails.filter((mail) => ended.some((entry) => isOf(entry, mail))));
}
