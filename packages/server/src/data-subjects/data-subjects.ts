import { type Erasure, type Person, parseAnyAddress } from "@mailsvc/sdk/contract";
import { collideWithSteps } from "../campaigns/campaigns.ts";
import { deleteContact, findContactByEmail } from "../contacts/contacts.ts";
import type { Reader, Schema, Tx } from "../db/db.ts";
import { ApiError, invalid } from "../lib/api-error.ts";
import { findSuppressions } from "../suppressions/suppressions.ts";
import { type AnswerCopies, findAnswerCopies } from "./answer-copies.ts";
import { type ExportPosition, PAGED, type PersonDataByTable } from "./declarations.ts";
import type { DataSubjectDeps } from "./deps.ts";
import { findEmailCopies } from "./email-copies.ts";
import { listTexts } from "./erasure.ts";
import { erasePerson, exportPerson } from "./walk.ts";

/** Everything stored about the person with an address; emails to them and mail by them come in pages. Throws ApiError not_found. */
export async function exportDataSubject(
  read: Reader,
  deps: DataSubjectDeps,
  tables: PersonDataByTable,
  workspaceId: string,
  { email, cursor }: { email: string; cursor?: string | undefined },
): Promise<Person> {
  const address = parseKey(email);
  const position = cursor === undefined ? null : decodeCursor(cursor);
  const contact = await findContactByEmail(read, workspaceId, address);
  const { person, next } = await exportPerson(read, tables, deps, { workspaceId, address, contact, position });
  const { email: _, ...parts } = person;
  const isEmpty = Object.values(parts).every((part) => part === null || (Array.isArray(part) && part.length === 0));
  if (isEmpty && cursor === undefined) throw notStored(email);
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
  email: string,
): Promise<AnswerCopies> {
  const address = parseKey(email);
  const contact = await findContactByEmail(read, workspaceId, address);
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
  email: string,
  answers: AnswerCopies,
): Promise<Erasure> {
  const address = parseKey(email);
  const contact = await findContactByEmail(tx, workspaceId, address);
  await collideWithSteps(tx, workspaceId);
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
  if (!addressErased && Object.values(removed).every((n) => n === 0)) throw notStored(email);
  // Also true if an earlier erasure left the hash.
  return { ...removed, staysSuppressed: addressErased || (await findSuppressions(tx, workspaceId, [address])).size > 0 };
}

/** The `addressKey` of an address in a path. Throws ApiError validation_error. */
function parseKey(email: string): string {
  try {
    return parseAnyAddress(email).key;
  } catch (error) {
    throw invalid("email", "invalid_email", (error as Error).message);
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
  if (ids.length !== PAGED.length || !ids.every((id) => /^(?:[a-z]{2,3}_[0-9a-z]{26})?$/.test(id)))
    throw invalid("cursor", "invalid_cursor", "This cursor is not from this list. Use nextCursor of the page before.");
  return Object.fromEntries(PAGED.flatMap((list, i) => (ids[i] ? [[list, ids[i]]] : [])));
}

function notStored(email: string) {
  return new ApiError("not_found", `Nothing is stored about ${JSON.stringify(email.slice(0, 320))} in this workspace.`);
}
