import { toPlainTextInTurns } from "../html/plain-text.ts";
import type { PendingMail } from "./transform.ts";

/**
 * Gives mails with HTML only a text part made of it, as spam filters, watches and screen readers expect one. Mails with the same
 * HTML share it. Runs before links are tracked: the text keeps the real addresses.
 */
export async function addTextParts(mails: readonly PendingMail[]): Promise<void> {
  const texts = new Map<string, string>();
  for (const mail of mails) {
    const { html, text } = mail;
    if (text !== null || html === null) continue;
    const made = texts.get(html) ?? (await toPlainTextInTurns(html));
    texts.set(html, made);
    if (made !== "") mail.text = made;
  }
}
