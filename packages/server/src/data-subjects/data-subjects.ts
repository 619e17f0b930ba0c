import { AddressError, type contract, type Erasure, type Person, parseAnyAddress, readContactRef } from "@mailsvc/sdk/contract";
import type { AutomationDeps } from "../automations/automations.ts";
import { type CampaignDeps, collideWithSteps } from "../campaigns/campaigns.ts";
import { type ContactRow, deleteContact, findContactByEmail, resolveContacts } from "../contacts/contacts.ts";
import type { ContactDeps } from "../contacts/deps.ts";
import type { Reader, Schema, Tx } from "../db/db.ts";
import { foreignCursor } from "../db/pagination.ts";
import { collideWithReading } from "../developer-webhooks/developer-webhooks.ts";
import { findEmailCopies } from "../emails/emails.ts";
import type { Handlers } from "../http/handler.ts";
import { ApiError, invalid } from "../lib/api-error.ts";
import { findSuppressions } from "../suppressions/suppressions.ts";
import type { TrackingDeps } from "../tracking/deps.ts";
import { type AnswerCopies, findAnswerCopies } from "./copies.ts";
import { type ExportPosition, PAGED, type PersonDataByTable } from "./declarations.ts";
import { listTexts } from "./erasure.ts";
import { erasePerson, exportPerson } from "./walk.ts";

/** Everything stored about the person with an address; emails to them and mail by them come in pages. Throws ApiError not_found. */
async function exportDataSubject(
  read: Reader,
  deps: DataSubjectDeps,
  tables: PersonDataByTable,
  workspaceId: string,
  { person: ref, cursor }: { person: string; cursor?: string | undefined },
): Promise<Person> {
  const position = cursor === undefined ? null : decodeCursor(cursor);
  const { address, contact } = await findSubject(read, workspaceId, ref);
  const { person, next } = await exportPerson(read, tables, deps, { workspaceId, address, contact, position });
  const { email: _, ...parts } = person;
  const isEmpty = Object.values(parts).every((part) => part === null || (Array.isArray(part) && part.length === 0));
  if (isEmpty && cursor === undefined) throw notStored(ref);
  return { ...person, nextCursor: encodeCursor(next) };
}

/**
 * Finds the stored answers that name the person. Searches all answers of the workspace, so call it before the transaction. Throws ApiError
 * validation_error.
 */
export async function findAnswers(
  read: Reader,
  { clock }: Pick<DataSubjectDeps, "clock">,
  workspaceId: string,
  ref: string,
): Promise<AnswerCopies> {
  const { address, contact } = await findSubject(read, workspaceId, ref);
  return findAnswerCopies(read, workspaceId, listTexts({ address, contact }), clock.now());
}

/**
 * Erases the person with an address from every table. A suppressed address stays suppressed in its scope, as a keyed hash. Throws
 * ApiError not_found.
 */
export async function eraseDataSubject(
  tx: Tx,
  deps: DataSubjectDeps,
  tables: PersonDataByTable,
  workspaceId: string,
  ref: string,
  answers: AnswerCopies,
): Promise<Erasure> {
  const { address, contact } = await findSubject(tx, workspaceId, ref);
  await collideWithSteps(tx, workspaceId);
  await collideWithReading(tx, workspaceId);
  const emails = await findEmailCopies(tx, workspaceId, address);
  const erased = await erasePerson(tx, tables, deps, { workspaceId, address, contact, emails, answers });
  // After its events: deleting it records contact.deleted, the one event about it that stays. It contains no personal data.
  if (contact) await deleteContact(tx, deps, workspaceId, contact.id);
  const count = (table: keyof Schema): number => erased.get(table) ?? 0;
  const removed = {
    contacts: contact ? 1 : 0,
    emails: count("emails"),
    received: count("received"),
    captured: count("inbox"),
    events: count("events"),
    answers: count("idempotency"),
  };
  const addressErased = count("suppressions") > 0;
  if (!addressErased && Object.values(removed).every((n) => n === 0)) throw notStored(ref);
  // Also true if an earlier erasure left the hash.
  return { ...removed, staysSuppressed: addressErased || (await findSuppressions(tx, workspaceId, [address])).size > 0 };
}

/**
 * The address of a person as `addressKey` returns it, and the contact, if there is one. Throws ApiError validation_error for what is no
 * address, and not_found for an id or externalId that no contact has.
 */
async function findSubject(q: Tx | Reader, workspaceId: string, ref: string): Promise<{ address: string; contact: ContactRow | null }> {
  if (readContactRef(ref) !== "email") {
    const [contact] = await resolveContacts(q, workspaceId, [ref]);
    if (!contact) throw notStored(ref);
    return { address: contact.emailKey, contact };
  }
  try {
    const { key } = parseAnyAddress(ref);
    return { address: key, contact: await findContactByEmail(q, workspaceId, key) };
  } catch (error) {
    throw error instanceof AddressError ? invalid("person", "invalid_email", error.message) : error;
  }
}

/** The ids behind which the lists go on, in the order of `PAGED`; empty for a list that has ended. Null when all have. */
function encodeCursor(next: ExportPosition): string | null {
  const ids = PAGED.map((list) => next[list] ?? "");
  return ids.every((id) => id === "") ? null : Buffer.from(ids.join(" ")).toString("base64url");
}

function decodeCursor(cursor: string): ExportPosition {
  const text = Buffer.from(cursor, "base64url").toString();
  const ids = text.split(" ");
  if (ids.length !== PAGED.length || !ids.every((id) => /^(?:[a-z]{2,3}_[0-9a-z]{26})?$/.test(id))) throw foreignCursor();
  return Object.fromEntries(PAGED.flatMap((list, i) => (ids[i] ? [[list, ids[i]]] : [])));
}

function notStored(ref: string) {
  return new ApiError("not_found", `Nothing is stored about ${JSON.stringify(ref.slice(0, 320))} in this workspace.`);
}

/** The handlers of `people`, as the API calls data subjects; `tables` says what each table holds of people. */
export function dataSubjectHandlers(tables: PersonDataByTable): Handlers<typeof contract.people, DataSubjectDeps> {
  return {
    get: (input, { read, deps, workspaceId }) => exportDataSubject(read, deps, tables, workspaceId, input),
    erase: {
      prepare: ({ person }, { read, deps, workspaceId }) => findAnswers(read, deps, workspaceId, person),
      run: ({ person }, { tx, deps, workspaceId }, answers: AnswerCopies) =>
        eraseDataSubject(tx, deps, tables, workspaceId, person, answers),
    },
  };
}

export interface DataSubjectDeps extends AutomationDeps, CampaignDeps, ContactDeps {
  readonly tracker: TrackingDeps["tracker"];
  readonly config: CampaignDeps["config"];
}
