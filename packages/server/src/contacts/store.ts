import { addressKey, type ContactRefKind, readContactRef, type SkipReason } from "@mailsvc/sdk/contract";
import { and, eq, inArray, sql } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { findRows } from "../db/find.ts";
import { assumeContactHeld, type HeldContact, type HeldContactSeq } from "../db/held.ts";
import { foreignCursor } from "../db/pagination.ts";
import { setAllBut } from "../db/statements.ts";
import { tagKeys } from "./normalize.ts";
import type { ContactTables } from "./tables.ts";

export type ContactRow = ContactTables["contacts"]["$inferSelect"];

export async function findByEmailKey(q: Tx | Reader, workspaceId: string, emailKey: string): Promise<ContactRow | null> {
  const [row] = await findRows(q, q.t.contacts, { workspaceId, emailKey });
  return row ?? null;
}

/** The contacts with these addresses (as from `addressKey`), by address; a thousand at most. */
export async function findByEmailKeys(q: Tx | Reader, workspaceId: string, emailKeys: readonly string[]): Promise<Map<string, ContactRow>> {
  const rows = await findRows(q, q.t.contacts, { workspaceId, emailKey: emailKeys });
  return new Map(rows.map((row) => [row.emailKey, row]));
}

/** The contacts with these ids in the owner's own system, by those; a thousand at most. */
export async function findByExternalIds(q: Tx | Reader, workspaceId: string, ids: readonly string[]): Promise<Map<string, ContactRow>> {
  const rows = ids.length === 0 ? [] : await findRows(q, q.t.contacts, { workspaceId, externalId: ids });
  return new Map(rows.map((row) => [row.externalId ?? "", row]));
}

/**
 * The contacts that texts name by an id, an address or an externalId, in the same order; null where there is none. A thousand at most.
 * `readContactRef` says which of the three a text is.
 */
export async function resolveContacts(q: Tx | Reader, workspaceId: string, refs: readonly string[]): Promise<(ContactRow | null)[]> {
  const kinds = refs.map(readContactRef);
  const keys = refs.map((ref, i) => (kinds[i] === "email" ? addressKey(ref) : ref));
  const ofKind = (kind: ContactRefKind): string[] => keys.filter((_, i) => kinds[i] === kind);
  const ids = ofKind("id");
  const byId = new Map((ids.length === 0 ? [] : await findRows(q, q.t.contacts, { workspaceId, id: ids })).map((row) => [row.id, row]));
  const emailKeys = ofKind("email");
  const byEmail: ReadonlyMap<string, ContactRow> = emailKeys.length === 0 ? new Map() : await findByEmailKeys(q, workspaceId, emailKeys);
  const found = { id: byId, email: byEmail, externalId: await findByExternalIds(q, workspaceId, ofKind("externalId")) };
  return keys.map((key, i) => found[kinds[i] as ContactRefKind].get(key) ?? null);
}

export async function insertContacts(tx: Tx, rows: readonly ContactRow[]): Promise<void> {
  await tx.insertAll(tx.t.contacts, rows);
  const tagRows: (ContactTables["contactTags"]["$inferInsert"] & { contactSeq: HeldContactSeq })[] = [];
  await inTurns(tx, rows.map(assumeContactHeld), ({ workspaceId, seq, status, tags }) => {
    for (const tagKey of tagKeys(tags)) tagRows.push({ workspaceId, tagKey, contactSeq: seq, status });
  });
  await tx.insertAll(tx.t.contactTags, tagRows);
}

// Contacts that are worked on in one stretch: a few milliseconds where each has many tags.
const CONTACTS_PER_TURN = 25;

/** Does `work` for each of some contacts. Between chunks of many, the event loop serves others. */
export async function inTurns<T>(tx: Tx, items: readonly T[], work: (item: T) => unknown): Promise<void> {
  for (let i = 0; i < items.length; i += CONTACTS_PER_TURN) {
    if (i > 0) await tx.breathe();
    // In parallel: where the database is a network away, this costs a round trip for each chunk instead of one for each contact.
    await Promise.all(items.slice(i, i + CONTACTS_PER_TURN).map(work));
  }
}

/** Writes a contact as `after`, and those rows of the tag index that differ. */
export async function updateContactRow(tx: Tx, before: ContactRow, after: ContactRow): Promise<void> {
  await tx
    .prepared("update_contact", (q, { contacts: t }, arg) =>
      q
        .update(t)
        .set(setAllBut(t, ["seq", "id", "workspaceId", "emailKey", "externalId", "createdAt"]))
        .where(eq(t.seq, arg("seq"))),
    )
    .execute({ ...after });
  // Apart, because each has an index, which would be written with every change.
  if (before.emailKey !== after.emailKey || before.externalId !== after.externalId)
    await tx.update(tx.t.contacts).set({ emailKey: after.emailKey, externalId: after.externalId }).where(eq(tx.t.contacts.seq, before.seq));
  const { contactTags: t } = tx.t;
  const [keysBefore, keysAfter] = [tagKeys(before.tags), tagKeys(after.tags)];
  const ofContact = and(eq(t.workspaceId, before.workspaceId), eq(t.contactSeq, before.seq));
  const [had, has] = [new Set(keysBefore), new Set(keysAfter)];
  const removed = keysBefore.filter((key) => !has.has(key));
  if (removed.length > 0) await tx.delete(t).where(and(ofContact, inArray(t.tagKey, removed)));
  const kept = keysBefore.filter((key) => has.has(key));
  if (kept.length > 0 && before.status !== after.status)
    await tx
      .update(t)
      .set({ status: after.status })
      .where(and(ofContact, inArray(t.tagKey, kept)));
  const added = keysAfter.filter((key) => !had.has(key));
  const { workspaceId, seq, status } = assumeContactHeld(after);
  await tx.insertAll(
    t,
    added.map((tagKey) => ({ workspaceId, tagKey, contactSeq: seq, status })),
  );
}

/** Deletes the row of a contact and its rows in the tag index. */
export async function deleteContactRow(tx: Tx, { workspaceId, seq, tags }: ContactRow): Promise<void> {
  const { contacts, contactTags: t } = tx.t;
  const deleted = await tx.delete(contacts).where(eq(contacts.seq, seq)).returning({ seq: contacts.seq });
  if (deleted.length > 0 && tags.length > 0)
    await tx.delete(t).where(and(eq(t.workspaceId, workspaceId), eq(t.contactSeq, seq), inArray(t.tagKey, tagKeys(tags))));
}

/** The cursor of the list of contacts that continues after the one with this number. */
export function toContactCursor(seq: number): string {
  return Buffer.from(`contact:${seq}`).toString("base64url");
}

/** The number in such a cursor. Throws ApiError validation_error for the cursor of another list. */
export function readContactCursor(cursor: string): number {
  const [, seq] = /^contact:(\d{1,15})$/.exec(Buffer.from(cursor, "base64url").toString()) ?? [];
  if (seq === undefined) throw foreignCursor();
  return Number(seq);
}

const BY_STATUS = {
  SUBSCRIBED: null,
  UNSUBSCRIBED: "unsubscribed",
  BOUNCED: "bounced",
  COMPLAINED: "complained",
} as const satisfies Record<ContactRow["status"], SkipReason | null>;

/** Returns the reason a contact gets no mail of campaigns and automations; null if it may get it. */
export function explainNoMail({ status }: Pick<ContactRow, "status">): SkipReason | null {
  return BY_STATUS[status];
}

/**
 * Holds contacts that were read in this transaction, so that rows about them may be inserted: a transaction that deletes one of them or
 * erases its person at the same time collides with this one, and the later of both runs again. It sees that the contact is gone, or the
 * deletion sees the new rows.
 */
export async function holdContacts<Contact extends { readonly id: string; readonly seq: number }>(
  tx: Tx,
  workspaceId: string,
  contacts: readonly Contact[],
): Promise<(Contact & HeldContact)[]> {
  await lockContacts(
    tx,
    workspaceId,
    contacts.map(({ seq }) => seq),
  );
  return contacts.map(assumeContactHeld);
}

/** Locks contacts by their numbers, a thousand at most. On Postgres it is an UPDATE of their rows that changes nothing. */
export async function lockContacts(tx: Tx, workspaceId: string, seqs: readonly number[]): Promise<void> {
  if (seqs.length === 0) return;
  // In one order, so that two transactions rarely wait for each other.
  const sorted = [...new Set(seqs)].sort((a, b) => a - b);
  await tx
    .prepared("lock_contacts", (q, { contacts: t }, arg) =>
      q
        .update(t)
        .set({ workspaceId: sql`${arg("workspaceId")}` })
        .where(and(tx.sqlDialect.concurrent, eq(t.workspaceId, arg("workspaceId")), tx.sqlDialect.amongNumbers(t.seq, arg("seqs")))),
    )
    .execute({ workspaceId, seqs: JSON.stringify(sorted) });
}
