import { showContact } from "../contacts/contacts.ts";
import type { Reader } from "../db/db.ts";
import { getReceivedEmails, listIdsTo } from "../emails/emails.ts";
import { listContactEvents, toEventId } from "../events/events.ts";
import { iso } from "../lib/clock.ts";
import { findSuppressions, showSuppression } from "../suppressions/suppressions.ts";
import type { DataSubjectDeps } from "./data-subjects.ts";
import type { ExportedParts, ExportedSubject } from "./declarations.ts";

// Emails of one response.
const PAGE = 50;

/** The contact with its lists and segments. */
export async function exportContact(read: Reader, { contact }: ExportedSubject, deps: DataSubjectDeps): Promise<ExportedParts> {
  return contact ? { contact: { ...showContact(contact), ...(await deps.contactHooks.listMemberships(read, contact)) } } : {};
}

/** The events of the contact. */
export async function exportEvents(read: Reader, { contact }: ExportedSubject): Promise<ExportedParts> {
  const events = contact ? await listContactEvents(read, contact.id) : [];
  return { events: events.map((e) => ({ id: toEventId(e.sequence), type: e.type, at: iso(e.at), data: e.data ?? {} })) };
}

/** The suppression of the address, also if its hash alone is left. */
export async function exportSuppression(read: Reader, { workspaceId, address }: ExportedSubject): Promise<ExportedParts> {
  const suppression = (await findSuppressions(read, workspaceId, [address])).get(address);
  return suppression ? { suppression: showSuppression(suppression) } : {};
}

/** A page of the emails to the person, with contents and history. */
export async function exportEmails(
  read: Reader,
  { workspaceId, address, position }: ExportedSubject,
  deps: DataSubjectDeps,
): Promise<ExportedParts> {
  if (position !== null && position.emails === undefined) return {};
  const ids = await listIdsTo(read, workspaceId, address, { before: position?.emails ?? null, limit: PAGE + 1 });
  const page = ids.slice(0, PAGE);
  const last = ids.length > PAGE ? page.at(-1) : undefined;
  return { emails: await getReceivedEmails(read, deps, workspaceId, page), ...(last !== undefined && { next: { emails: last } }) };
}
