import { explainNoMail } from "../contacts/contacts.ts";
import type { Reader } from "../db/db.ts";
import { findRows } from "../db/find.ts";
import type { PendingMail } from "../delivery/delivery.ts";

/**
 * Keeps back the mail of automations whose contact may not get it any more. It was rendered when its step was taken, and may have waited
 * since: for the mail server, for a held domain, for a paused queue.
 *
 * | the contact                 | the email             |
 * | --------------------------- | --------------------- |
 * | was deleted                 | skipped: `deleted`    |
 * | is no longer SUBSCRIBED     | skipped: its status   |
 * | otherwise                   | is handed over        |
 */
export async function withdrawAutomationMail(read: Reader, mails: readonly PendingMail[]): Promise<void> {
  const own = mails.filter(({ contents }) => contents.automationId !== null);
  if (own.length === 0) return;
  const ids = [...new Set(own.flatMap(({ email }) => email.contactId ?? []))];
  const contacts = new Map((await findRows(read, read.t.contacts, { id: ids })).map((row) => [row.id, row]));
  for (const mail of own) {
    const contact = contacts.get(mail.email.contactId ?? "");
    const reason = contact ? explainNoMail(contact) : "deleted";
    if (reason !== null) mail.withdrawal = { to: "skipped", reason };
  }
}
