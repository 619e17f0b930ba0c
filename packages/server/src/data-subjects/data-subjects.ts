import { type Erasure, type Person, parseAddress } from "@mailsvc/sdk/contract";
import { listCurrentRecipients } from "../campaigns/campaigns.ts";
import { type ContactLinks, deleteContact, findContactByEmail, listMemberships, showContact } from "../contacts/contacts.ts";
import type { Reader, Tx } from "../db/db.ts";
import { getEmails, listIdsTo } from "../emails/emails.ts";
import { listContactEvents, toEventId } from "../events/events.ts";
import { ApiError, invalid } from "../lib/api-error.ts";
import { iso } from "../lib/clock.ts";
import { eraseAddress, findSuppressions, showSuppression } from "../suppressions/suppressions.ts";
import { eraseLinks } from "../tracking/tracking.ts";
import type { DataSubjectDeps } from "./deps.ts";
import {
  deleteCapturedEmails,
  deleteContactEvents,
  deleteEmailCopies,
  deleteIdempotentResponses,
  type EmailCopy,
  findEmailCopies,
} from "./email-copies.ts";

const PAGE = 50;

/** Everything stored about the person with an address; emails to them come in pages. Throws ApiError not_found. */
export async function exportDataSubject(
  read: Reader,
  workspaceId: string,
  { email, cursor }: { email: string; cursor?: string | undefined },
  links: readonly ContactLinks[],
  now: number,
): Promise<Person> {
  const key = parseKey(email);
  const contact = await findContactByEmail(read, workspaceId, key);
  const events = contact ? await listContactEvents(read, contact.id) : [];
  const suppression = (await findSuppressions(read, workspaceId, [key])).get(key);
  const ids = await listIdsTo(read, workspaceId, key, { before: cursor === undefined ? null : decodeCursor(cursor), limit: PAGE + 1 });
  if (!contact && !suppression && ids.length === 0 && cursor === undefined) throw notStored(email);
  const page = ids.slice(0, PAGE);
  return {
    email: contact?.email ?? key,
    contact: contact && { ...showContact(contact), ...(await listMemberships(read, contact, links, now)) },
    events: events.map((e) => ({ id: toEventId(e.sequence), type: e.type, at: iso(e.at), data: e.data ?? {} })),
    suppression: suppression ? showSuppression(suppression) : null,
    emails: await getEmails(read, workspaceId, page),
    nextCursor: ids.length > PAGE ? Buffer.from(page.at(-1) ?? "").toString("base64url") : null,
  };
}

/** All emails to a person. Scans all emails of the workspace, so call it before the transaction. Throws ApiError validation_error. */
export function findEmailCopiesOf(read: Reader, workspaceId: string, email: string): Promise<EmailCopy[]> {
  return findEmailCopies(read, workspaceId, parseKey(email));
}

/**
 * Erases the person with an address from every table. A suppressed address stays suppressed in its scope, as a keyed hash. Throws
 * ApiError not_found.
 */
export async function eraseDataSubject(
  tx: Tx,
  deps: DataSubjectDeps,
  workspaceId: string,
  email: string,
  emailCopies: readonly EmailCopy[],
  links: readonly ContactLinks[],
): Promise<Erasure> {
  const key = parseKey(email);
  const contact = await findContactByEmail(tx, workspaceId, key);
  const known = new Set(emailCopies.map((copy) => copy.id));
  const late = (await listCurrentRecipients(tx, workspaceId, key)).filter((id) => !known.has(id));
  const copies = [...emailCopies, ...late.map((id) => ({ id, contentsId: 0, shared: true }))];
  const deleted = await deleteEmailCopies(tx, deps, workspaceId, copies);
  let { events } = deleted;
  if (contact) {
    // Before the contact: deleting it records contact.deleted, the one event that stays. It contains no personal data.
    events += await deleteContactEvents(tx, contact.id);
    await deleteContact(tx, deps, workspaceId, contact.id, links);
  }
  const texts = [key, ...(contact ? [contact.id, contact.email] : [])];
  await eraseLinks(tx, deps.tracker, workspaceId, texts);
  const addressErased = await eraseAddress(tx, deps, workspaceId, key);
  const removed = {
    contacts: contact ? 1 : 0,
    emails: deleted.emails,
    captured: await deleteCapturedEmails(tx, workspaceId, key),
    events,
    answers: await deleteIdempotentResponses(tx, workspaceId, texts),
  };
  if (!addressErased && Object.values(removed).every((n) => n === 0)) throw notStored(email);
  // Also true if an earlier erasure left the hash.
  return { ...removed, staysSuppressed: addressErased || (await findSuppressions(tx, workspaceId, [key])).size > 0 };
}

/** The `addressKey` of an address in a path. Throws ApiError validation_error. */
function parseKey(email: string): string {
  try {
    return parseAddress(email).key;
  } catch (error) {
    throw invalid("email", "invalid_email", (error as Error).message);
  }
}

function decodeCursor(cursor: string): string {
  const id = Buffer.from(cursor, "base64url").toString();
  if (!/^em_[0-9a-z]{26}$/.test(id))
    throw invalid("cursor", "invalid_cursor", "This cursor is not from this list. Use nextCursor of the page before.");
  return id;
}

function notStored(email: string) {
  return new ApiError("not_found", `Nothing is stored about ${JSON.stringify(email.slice(0, 320))} in this workspace.`);
}
