import { Person } from "@mailsvc/sdk/contract";
import { and, type Column, eq, getTableColumns, inArray } from "drizzle-orm";
import { type ContactRow, showContact } from "../contacts/contacts.ts";
import type { Reader, Schema, Tx } from "../db/db.ts";
import { getReceivedEmails, listIdsTo } from "../emails/emails.ts";
import { listContactEvents, toEventId } from "../events/events.ts";
import { iso } from "../lib/clock.ts";
import { splitIntoChunks } from "../lib/parts.ts";
import { findSuppressions, showSuppression } from "../suppressions/suppressions.ts";
import type { DataSubjectDeps } from "./data-subjects.ts";
import type { ErasedSubject, ExportedParts, ExportedSubject, ExportPosition, PersonData, PersonDataByTable } from "./declarations.ts";

/** A page of everything that tables hold about a person, and where the next one begins. */
export async function exportPerson(
  read: Reader,
  tables: PersonDataByTable,
  deps: DataSubjectDeps,
  subject: ExportedSubject,
): Promise<{ readonly person: Omit<Person, "nextCursor">; readonly next: ExportPosition }> {
  const person = { ...buildNothing(), email: subject.contact?.email ?? subject.address };
  const position: ExportPosition = {};
  for (const [, data] of listTables(tables))
    if (typeof data === "object" && "export" in data && typeof data.export === "function") {
      const { next, ...parts } = await data.export(read, subject, deps);
      Object.assign(person, parts);
      Object.assign(position, next);
    }
  return { person, next: position };
}

/** An export of a person of whom nothing is stored: each list of it is empty, and what else may be missing is null. */
function buildNothing(): Omit<Person, "nextCursor"> {
  const parts = Object.entries(Person.shape).map(([name, part]) => [name, part.safeParse([]).success ? [] : null]);
  return Object.fromEntries(parts) as Omit<Person, "nextCursor">;
}

/** Deletes or clears what tables hold about a contact, its own row too. */
export async function forgetContact(tx: Tx, tables: PersonDataByTable, deps: DataSubjectDeps, contact: ContactRow): Promise<void> {
  for (const [name, data] of listTables(tables)) {
    if (typeof data === "string" || !("forget" in data)) continue;
    if (typeof data.forget === "function") await data.forget(tx, contact, deps);
    else if (data.forget === "delete") await deleteRows(tx, name, data.contact, [data.contact === "contactId" ? contact.id : contact.seq]);
  }
}

/** Erases what tables hold about a person, except what goes with the contact. Returns how many rows that were, by table. */
export async function erasePerson(
  tx: Tx,
  tables: PersonDataByTable,
  deps: DataSubjectDeps,
  subject: ErasedSubject,
): Promise<Map<keyof Schema, number>> {
  const erased = new Map<keyof Schema, number>();
  for (const [name, data] of listTables(tables)) {
    if (typeof data === "string" || !("erase" in data)) continue;
    if (typeof data.erase === "function") erased.set(name, await data.erase(tx, subject, deps));
    else if (data.erase === "delete" && "email" in data) {
      const ids = subject.emails.map(({ id }) => id);
      await deleteRows(tx, name, data.email, ids, subject.workspaceId);
    }
  }
  return erased;
}

function listTables(tables: PersonDataByTable): [keyof Schema, PersonData][] {
  return Object.entries(tables) as [keyof Schema, PersonData][];
}

/** Deletes the rows that have one of these values in a column. With a workspace, its column is named too: keys begin with it. */
async function deleteRows(
  tx: Tx,
  name: keyof Schema,
  column: string,
  values: readonly (string | number)[],
  workspaceId?: string,
): Promise<void> {
  const table = tx.t[name];
  const columns: Readonly<Record<string, Column>> = getTableColumns(table);
  const found = columns[column];
  if (!found) throw new Error(`The table ${name} has no column ${column}.`);
  const workspace = columns["workspaceId"];
  const ofWorkspace = workspace && workspaceId !== undefined ? eq(workspace, workspaceId) : undefined;
  for (const chunk of splitIntoChunks(values)) await tx.delete(table).where(and(ofWorkspace, inArray(found, chunk)));
}

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
