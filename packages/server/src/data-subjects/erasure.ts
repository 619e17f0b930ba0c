import { toUnicodeDomain } from "@mailsvc/sdk/contract";
import type { Tx } from "../db/db.ts";
import { forgetDeliveries } from "../developer-webhooks/developer-webhooks.ts";
import { deleteEmails, deleteUnusedContents, eraseAddressee } from "../emails/emails.ts";
import { deleteEventsAbout } from "../events/events.ts";
import { deleteMailsNaming } from "../inbox/inbox.ts";
import { deleteAnswers } from "./copies.ts";
import type { ErasedSubject } from "./declarations.ts";

/** Deletes the emails to a person. */
export function eraseEmails(tx: Tx, { workspaceId, emails }: ErasedSubject): Promise<number> {
  return deleteEmails(tx, workspaceId, emails);
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
  const deleted = await deleteEventsAbout(
    tx,
    emails.map(({ id }) => id),
    contact?.id ?? null,
  );
  await forgetDeliveries(tx, deleted);
  return deleted.length;
}

/** Deletes captured emails to a person, and those to others whose headers name the person. */
export function eraseCapturedEmails(tx: Tx, { workspaceId, address, emails }: ErasedSubject): Promise<number> {
  return deleteMailsNaming(tx, workspaceId, address, [...new Set(emails.flatMap(({ namedIn }) => namedIn ?? []))]);
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
