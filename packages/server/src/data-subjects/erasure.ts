import { parseAnyMailbox, toUnicodeDomain } from "@mailsvc/sdk/contract";
import { and, eq, inArray, type SQL } from "drizzle-orm";
import type { Tx } from "../db/db.ts";
import { forgetDeliveries } from "../developer-webhooks/developer-webhooks.ts";
import { deleteUnusedContents } from "../emails/emails.ts";
import { deleteEvents } from "../events/events.ts";
import { deleteMails } from "../inbox/inbox.ts";
import { splitIntoChunks } from "../lib/parts.ts";
import { forgetAddressee } from "../mail/header.ts";
import { deleteAnswers } from "./copies.ts";
import type { ErasedSubject } from "./declarations.ts";

/** Deletes the emails to a person. */
export async function eraseEmails(tx: Tx, { workspaceId, emails }: ErasedSubject): Promise<number> {
  const { emails: t } = tx.t;
  let erased = 0;
  for (const chunk of splitIntoChunks(emails)) {
    const ids = chunk.map(({ id }) => id);
    erased += (
      await tx
        .delete(t)
        .where(and(eq(t.workspaceId, workspaceId), inArray(t.id, ids)))
        .returning({ id: t.id })
    ).length;
  }
  return erased;
}

/**
 * Deletes the contents of the emails to a person, with attachments, unless other emails share them. Removes the person from the headers of
 * mails that still go to other recipients.
 */
export async function eraseContents(tx: Tx, { workspaceId, emails, address }: ErasedSubject): Promise<number> {
  const own = emails.filter(({ ofCampaign }) => !ofCampaign);
  let erased = await deleteUnusedContents(tx, workspaceId, own);
  for (const { contentsId, namedIn } of emails) if (namedIn !== null) erased += await eraseAddressee(tx, contentsId, address);
  return erased;
}

/** Deletes the events of a person's emails and contact, and what receivers of webhooks answered to them. */
export async function eraseEvents(tx: Tx, { emails, contact }: ErasedSubject): Promise<number> {
  const { events: t } = tx.t;
  const chunks: SQL[] = splitIntoChunks(emails).map((chunk) =>
    inArray(
      t.emailId,
      chunk.map(({ id }) => id),
    ),
  );
  if (contact) chunks.push(eq(t.contactId, contact.id));
  let erased = 0;
  for (const which of chunks) {
    const deleted = await deleteEvents(tx, which);
    await forgetDeliveries(tx, deleted);
    erased += deleted.length;
  }
  return erased;
}

/** Deletes captured emails to a person, and those to others whose headers name the person. */
export async function eraseCapturedEmails(tx: Tx, { workspaceId, address, emails }: ErasedSubject): Promise<number> {
  const { inbox: t } = tx.t;
  const mailIds = [...new Set(emails.flatMap(({ namedIn }) => namedIn ?? []))];
  const naming = [eq(t.to, address), ...splitIntoChunks(mailIds).map((chunk) => inArray(t.emailId, chunk))];
  let erased = 0;
  for (const which of naming) erased += await deleteMails(tx, and(eq(t.workspaceId, workspaceId), which));
  return erased;
}

/** Deletes stored responses of idempotent requests that name a person. */
export function eraseIdempotentResponses(tx: Tx, subject: ErasedSubject): Promise<number> {
  return deleteAnswers(tx, subject.workspaceId, subject.answers, listTexts(subject));
}

/** By what a person can be named. */
interface Named {
  readonly address: string;
  readonly contact: Pick<NonNullable<ErasedSubject["contact"]>, "id" | "email"> | null;
}

/** The texts by which a person is named in the addresses of links, in any case: as they are, and encoded. */
export function listLinkTexts(subject: Named): string[] {
  return [...new Set(listTexts(subject).flatMap((text) => [text, encodeURIComponent(text)]))];
}

/** The texts by which a person is named in responses, in any case. */
export function listTexts({ address, contact }: Named): string[] {
  const at = address.lastIndexOf("@") + 1;
  return [
    ...new Set([address, address.slice(0, at) + toUnicodeDomain(address.slice(at)), ...(contact ? [contact.id, contact.email] : [])]),
  ];
}

/** Takes an address out of the headers of a mail. */
async function eraseAddressee(tx: Tx, contentsId: number, address: string): Promise<number> {
  const { contents: t } = tx.t;
  const [found] = await tx.select({ addressees: t.addressees, asIs: t.asIs }).from(t).where(eq(t.id, contentsId));
  if (!found?.addressees) return 0;
  if (found.asIs === true) await eraseFromMessage(tx, contentsId, address);
  const others = (list: readonly string[]): string[] => list.filter((text) => parseAnyMailbox(text).key !== address);
  const { to, cc } = found.addressees;
  await tx
    .update(t)
    .set({ addressees: { ...found.addressees, to: others(to), cc: others(cc) } })
    .where(eq(t.id, contentsId));
  return 1;
}

/** Takes an address out of the headers of a message that goes out as it came in; they are in its first part. */
async function eraseFromMessage(tx: Tx, contentsId: number, address: string): Promise<void> {
  const { attachments: t } = tx.t;
  const [message] = await tx.select({ content: t.content, size: t.size }).from(t).where(eq(t.contentsId, contentsId));
  if (!message) return;
  const content = await forgetAddressee(Buffer.from(message.content), address);
  const size = message.size - message.content.length + content.length;
  await tx.update(t).set({ content, size }).where(eq(t.contentsId, contentsId));
}
