import type { Message } from "@mailsvc/sdk/contract";
import { parseAnyMailbox } from "@mailsvc/sdk/contract";
import { eq, sql } from "drizzle-orm";
import { resolveContacts } from "../contacts/contacts.ts";
import type { Tx } from "../db/db.ts";
import { findEmail } from "../emails/emails.ts";
import { ApiError } from "../lib/api-error.ts";
import { findPassedOn, writeToAgent } from "../marketplace/messages/messages.ts";
import { withoutAddresses } from "./addresses.ts";
import type { ReceivedDeps } from "./deps.ts";
import { withoutNames } from "./names.ts";
import { splitAddresses } from "./reply-addresses.ts";
import { getReceivedRow, type ReceivedRow } from "./store.ts";

/** Characters of a message that a brand writes to an agent. */
const MAX_TEXT = 10_000;

/**
 * Posts what a person wrote, without the mail that it quotes and without the addresses and names of its sender and recipients, into the
 * conversation of the brand with an agent. A mail that the agent has already got is not posted again: then `created` is false. Throws
 * ApiError not_found or invalid_state.
 */
export async function passOn(
  tx: Tx,
  deps: ReceivedDeps,
  workspaceId: string,
  { id, activationId }: { readonly id: string; readonly activationId: string },
): Promise<{ message: Message; created: boolean }> {
  const mail = await getReceivedRow(tx, workspaceId, id);
  const posted = await findPassedOn(tx, activationId, id, deps.clock.now());
  if (posted) return { message: posted, created: false };
  const written = mail.reply.trim() || (mail.emailId === null ? mail.text.trim() : "");
  if (written === "")
    throw new ApiError("invalid_state", "This mail has no text of its own to pass on.", {
      hint: `See it as it came: mailsvc received raw ${id}`,
    });
  await holdReceived(tx, id);
  const cut = cutText(written, MAX_TEXT);
  const known = await listKnown(tx, workspaceId, mail);
  const text = withoutNames(withoutAddresses(cut, mail.headers, known.addresses), known.names);
  return { message: await writeToAgent(tx, deps, workspaceId, activationId, { text, format: "plain", receivedId: id }), created: true };
}

/** Addresses and names of the people of a mail, which its text may contain. */
async function listKnown(tx: Tx, workspaceId: string, mail: ReceivedRow): Promise<{ addresses: string[]; names: string[] }> {
  const answered = mail.emailId === null ? null : await findEmail(tx, workspaceId, mail.emailId);
  const { to = [], cc = [] } = answered?.contents.addressees ?? {};
  const mailboxes = [...to, ...cc].map((text) => parseAnyMailbox(text));
  const [contact] = mail.contactId === null ? [] : await resolveContacts(tx, workspaceId, [mail.contactId]);
  return {
    addresses: [
      ...[mail.to, mail.from ?? "", answered?.email.to ?? ""],
      ...splitAddresses(mail.replyTo),
      ...mailboxes.map(({ address }) => address),
    ],
    names: [mail.fromName, contact?.firstName, contact?.lastName, ...mailboxes.map(({ name }) => name)].filter(
      (name) => typeof name === "string",
    ),
  };
}

/** Holds a mail until the end of the transaction: whoever deletes it meanwhile starts again, and sees what refers to it. */
async function holdReceived(tx: Tx, id: string): Promise<void> {
  const { received: t } = tx.t;
  await tx
    .update(t)
    .set({ id: sql`${t.id}` })
    .where(eq(t.id, id));
}

/** A text of at most this many characters, cut between two words: half an address would not be found. */
function cutText(text: string, most: number): string {
  if (text.length <= most) return text;
  let end = most;
  while (end > 0 && !/\s/.test(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end).trimEnd();
}
