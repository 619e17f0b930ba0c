import {
  LIST_LIMITS,
  type ListAddition,
  type ListMember,
  type ListMemberStatus,
  type ListRemoval,
  type Page,
  parseMailbox,
} from "@mailsvc/sdk/contract";
import { and, desc, eq, inArray, lt } from "drizzle-orm";
import { type ContactRow, holdContacts, resolveContacts, showContact, toSearchTerm } from "../contacts/contacts.ts";
import { type CounterChange, countEach, getCounters, incrementCounters } from "../counters/counters.ts";
import type { Reader, Tx } from "../db/db.ts";
import { findRows } from "../db/find.ts";
import { assumeContactHeld, type HeldContact, type HeldContactId, type HeldContactSeq } from "../db/held.ts";
import { countQuery, ONE, type PageInput, paginateBySeq, type Total } from "../db/pagination.ts";
import { type NewEvent, recordEvents } from "../events/events.ts";
import { ApiError, notFound } from "../lib/api-error.ts";
import { iso } from "../lib/clock.ts";
import { DAY, MINUTE } from "../lib/units.ts";
import { assertVerified } from "../senders/senders.ts";
import { findSuppressed } from "../suppressions/suppressions.ts";
import type { ListDeps } from "./lists.ts";
import type { ListTables } from "./tables.ts";

export type MemberRow = ListTables["listMembers"]["$inferSelect"];

/** Job kind: sends confirmation emails. */
export const CONFIRMATION_JOB = "lists.send-confirmations";

export function showMember(contact: ContactRow, row: MemberRow): ListMember {
  return {
    contact: showContact(contact),
    status: row.status,
    addedAt: iso(row.addedAt),
    joinedAt: row.joinedAt === null ? null : iso(row.joinedAt),
    expiresAt: row.status === "MEMBER" || !row.expiresAt ? null : iso(row.expiresAt),
  };
}

/** Returns the time at which a confirmation link sent now expires (ms). */
export function computeExpiry(now: number): number {
  return now + LIST_LIMITS.confirmDays * DAY;
}

/** Tells that contacts left by themselves, on their preference page, or that nobody enters an automation by it. */
interface ListCause {
  readonly source?: "preferences";
  readonly startsNothing?: boolean;
}

/** Records contacts that joined or left a list, and updates segments. */
export async function announceMembers(
  tx: Tx,
  deps: ListDeps,
  list: ListRow,
  type: "list.joined" | "list.left",
  contacts: readonly HeldContact[],
  { startsNothing, ...cause }: ListCause = {},
): Promise<void> {
  if (contacts.length === 0) return;
  const at = deps.clock.now();
  const events = contacts.map(({ id }) => buildMemberEvent(list, type, { contactId: id, at, startsNothing }, cause));
  await recordEvents(tx, deps, events);
  const seqs = contacts.map((c) => c.seq);
  await deps.contactHooks.contactsChanged(tx, list.workspaceId, seqs, startsNothing);
}

function buildMemberEvent(
  { workspaceId, id: listId }: ListRow,
  type: "list.joined" | "list.left",
  event: { contactId: HeldContactId; at: number; startsNothing?: boolean | undefined },
  cause: Omit<ListCause, "startsNothing"> = {},
): NewEvent {
  return { workspaceId, type, data: { listId, ...cause }, ...event };
}

type Failure = ListAddition["failed"][number];

// Confirmation emails written in one transaction.
const CONFIRMATIONS = 50;

/**
 * Adds contacts, named by ids or addresses, to a list. Contacts that do not exist, or are suppressed and cannot be asked to
 * confirm, are reported in `failed`. Throws ApiError not_found or sender_not_verified.
 *
 * | membership                | without double opt-in | with double opt-in                 |
 * | ------------------------- | --------------------- | ---------------------------------- |
 * | none                      | MEMBER                | PENDING, confirmation email        |
 * | PENDING, link works       | MEMBER                | unchanged; another confirmation email for one contact that may be asked again |
 * | PENDING, link has expired | MEMBER                | PENDING, another confirmation email |
 * | MEMBER                    | unchanged             | unchanged                          |
 *
 * The emails are in `language`, that of the page on which people signed up; without it, in that of the contact, the list or the brand.
 * The confirmation page turns PENDING into MEMBER; removing a contact ends any membership.
 */
export async function addMembers(
  tx: Tx,
  deps: ListDeps,
  workspaceId: string,
  listId: string,
  refs: readonly string[],
  {
    confirms = false,
    language,
    ...cause
  }: Pick<ListCause, "startsNothing"> & { readonly confirms?: boolean; readonly language?: string } = {},
): Promise<ListAddition> {
  const found = await getListRow(tx, workspaceId, listId);
  // Whoever signs up may be asked to confirm although the list does not ask for that.
  const list = confirms ? { ...found, doubleOptIn: true } : found;
  if (list.doubleOptIn && list.confirmationFrom !== null)
    await assertVerified(tx, deps, workspaceId, parseMailbox(list.confirmationFrom), "confirmationFrom");
  const contacts = await resolveContacts(tx, workspaceId, refs);
  const unique = new Map(contacts.flatMap((c) => (c ? [[c.seq, c] as const] : [])));
  const before = await loadMembers(tx, list, [...unique.keys()]);
  const suppressed = list.doubleOptIn ? await findSuppressedContacts(tx, workspaceId, [...unique.values()]) : new Set<string>();
  const now = deps.clock.now();
  // A call about many contacts is no request of a person.
  const asksAgain = refs.length === 1 && cause.startsNothing !== true;
  const written = new Map<ContactRow, MemberRow>();
  const outcome: ListAddition = { added: 0, pending: 0, unchanged: 0, failed: [] };
  for (const [index, ref] of refs.entries()) {
    const contact = contacts[index];
    const member = contact ? before.get(contact.seq) : undefined;
    if (!contact) outcome.failed.push(toFailure(index, ref, "not_found", "Contact not found."));
    else if (
      written.has(unique.get(contact.seq) ?? contact) ||
      (member && staysAsIs(list, member, now) && !(asksAgain && mayAskAgain(member, now)))
    )
      outcome.unchanged += 1;
    else if (suppressed.has(contact.emailKey))
      outcome.failed.push(
        toFailure(index, ref, "recipient_suppressed", "This address is on the suppression list, so it cannot be asked to confirm."),
      );
    else written.set(unique.get(contact.seq) ?? contact, buildMember(list, contact.seq, member, now));
  }
  const held = new Map((await holdContacts(tx, workspaceId, [...written.keys()])).map((contact) => [contact.seq as number, contact]));
  const rows = [...written.values()];
  await replaceMembers(
    tx,
    list,
    rows.map((row) => ({ ...row, contactSeq: (held.get(row.contactSeq) as HeldContact).seq })),
    before,
  );
  await incrementCounters(
    tx,
    list.id,
    rows.flatMap(({ contactSeq: seq, status }): CounterChange[] => {
      const previous = before.get(seq);
      return [...(previous ? [{ kind: previous.status, seq, by: -1 } as const] : []), { kind: status, seq, by: 1 }];
    }),
  );
  const [joined, pending] = [rows.filter((row) => row.status === "MEMBER"), rows.filter((row) => row.status === "PENDING")];
  const members = joined.map((row) => held.get(row.contactSeq) as HeldContact);
  await announceMembers(tx, deps, list, "list.joined", members, cause);
  for (let i = 0; i < pending.length; i += CONFIRMATIONS) {
    const seqs = pending.slice(i, i + CONFIRMATIONS).map((row) => row.contactSeq);
    await deps.queue.enqueue(tx, {
      kind: CONFIRMATION_JOB,
      payload: { workspaceId, listId, seqs, ...(language !== undefined && { language }) },
    });
  }
  return { ...outcome, added: joined.length, pending: pending.length };
}

/** Lets contacts of an import join a list, as `addMembers` does. */
export async function joinList(
  tx: Tx,
  deps: ListDeps,
  workspaceId: string,
  listId: string,
  contacts: readonly ContactRow[],
  startsNothing: boolean,
): Promise<{ joined: number; asked: number; seqs: ReadonlySet<number> }> {
  const list = await getListRow(tx, workspaceId, listId);
  const seqs = contacts.map(({ seq }) => seq);
  const before = await loadMembers(tx, list, seqs);
  const ids = contacts.map(({ id }) => id);
  const { added, pending, failed } = await addMembers(tx, deps, workspaceId, listId, ids, { startsNothing });
  const refused = new Set(failed.map(({ index }) => seqs[index]));
  return { joined: added, asked: pending, seqs: new Set(seqs.filter((seq) => !before.has(seq) && !refused.has(seq))) };
}

/** The `seq`s of contacts, out of these, that are members of one of these lists. */
export async function findMembersOfAny(
  read: Reader,
  workspaceId: string,
  listIds: readonly string[],
  seqs: readonly number[],
): Promise<ReadonlySet<number>> {
  const { lists, listMembers: t } = read.t;
  const known = await findRows(read, lists, { workspaceId, id: [...listIds] });
  const members = await read
    .select({ seq: t.contactSeq })
    .from(t)
    .where(
      and(
        inArray(
          t.listSeq,
          known.map(({ seq }) => seq),
        ),
        inArray(t.contactSeq, [...seqs]),
        eq(t.status, "MEMBER"),
      ),
    );
  return new Set(members.map(({ seq }) => seq));
}

/** Ends the links in the confirmation emails of contacts whose addresses changed: who has the former address confirms nothing for the new one. */
export async function voidInvitations(tx: Tx, contacts: readonly Pick<ContactRow, "seq">[]): Promise<void> {
  const { listMembers: t } = tx.t;
  const seqs = contacts.map(({ seq }) => seq);
  await tx
    .update(t)
    .set({ tokenHash: null, expiresAt: 0 })
    .where(and(inArray(t.contactSeq, seqs), eq(t.status, "PENDING")));
}

/**
 * Foresees what `joinList` would do for contacts that may not be stored yet, and the events that it would record. Throws ApiError
 * not_found.
 */
export async function foreseeJoins(
  tx: Tx,
  deps: ListDeps,
  workspaceId: string,
  listId: string,
  contacts: readonly ContactRow[],
): Promise<{ joined: number; asked: number; events: NewEvent[] }> {
  const list = await getListRow(tx, workspaceId, listId);
  const now = deps.clock.now();
  const stored = contacts.flatMap(({ seq }) => (seq === 0 ? [] : [seq]));
  const before = await loadMembers(tx, list, stored);
  const suppressed = list.doubleOptIn ? await findSuppressedContacts(tx, workspaceId, contacts) : new Set<string>();
  const open = contacts.filter(({ seq, emailKey, status }) => {
    const member = before.get(seq);
    if (member && staysAsIs(list, member, now)) return false;
    return !list.doubleOptIn || (status !== "UNSUBSCRIBED" && !suppressed.has(emailKey));
  });
  if (list.doubleOptIn) return { joined: 0, asked: open.length, events: [] };
  // Nobody is held, because these events are not recorded.
  const events = open.map((contact) => buildMemberEvent(list, "list.joined", { contactId: assumeContactHeld(contact).id, at: now }));
  return { joined: open.length, asked: 0, events };
}

/** Ends memberships of contacts; of a list with double opt-in only those that were not confirmed. A list that is gone has none. */
export async function leaveList(
  tx: Tx,
  deps: ListDeps,
  workspaceId: string,
  listId: string,
  contacts: readonly ContactRow[],
): Promise<void> {
  const [list] = await findRows(tx, tx.t.lists, { workspaceId, id: listId });
  if (!list || list.deletedAt !== null) return;
  const members = await loadMembers(
    tx,
    list,
    contacts.map(({ seq }) => seq),
  );
  const leaving = contacts.filter(({ seq }) => members.get(seq)?.status === "PENDING" || (members.has(seq) && !list.doubleOptIn));
  await deleteMembers(tx, deps, list, leaving, { startsNothing: true });
}

/** Removes contacts from a list. Throws ApiError not_found for the list. */
export async function removeMembers(
  tx: Tx,
  deps: ListDeps,
  workspaceId: string,
  listId: string,
  refs: readonly string[],
  cause: ListCause = {},
): Promise<ListRemoval> {
  const list = await getListRow(tx, workspaceId, listId);
  const contacts = await resolveContacts(tx, workspaceId, refs);
  const unique = new Map(contacts.flatMap((c) => (c ? [[c.seq, c] as const] : [])));
  const removed = await deleteMembers(tx, deps, list, [...unique.values()], cause);
  const failed = refs.flatMap((ref, index) => {
    const contact = contacts[index];
    return contact && removed.has(contact.seq) ? [] : [toFailure(index, ref, "not_found", "This contact is not on the list.")];
  });
  return { removed: removed.size, failed };
}

/** One member, by the contact's id or address. Throws ApiError not_found. */
export async function getMember(
  q: Tx | Reader,
  workspaceId: string,
  listId: string,
  ref: string,
): Promise<{ list: ListRow; contact: ContactRow; member: MemberRow }> {
  const list = await getListRow(q, workspaceId, listId);
  const [contact] = await resolveContacts(q, workspaceId, [ref]);
  const member = contact ? (await loadMembers(q, list, [contact.seq])).get(contact.seq) : undefined;
  if (!contact || !member)
    throw new ApiError("not_found", `${JSON.stringify(ref.slice(0, 100))} is not on this list.`, {
      hint: "See: mailsvc lists contacts <list>",
    });
  return { list, contact, member };
}

/** Removes one contact from a list. Throws ApiError not_found. */
export async function removeMember(tx: Tx, deps: ListDeps, workspaceId: string, listId: string, ref: string): Promise<ListMember> {
  const { list, contact, member } = await getMember(tx, workspaceId, listId, ref);
  await deleteMembers(tx, deps, list, [contact]);
  return showMember(contact, member);
}

interface MemberQuery extends PageInput {
  status?: ListMemberStatus | undefined;
  search?: string | undefined;
}

/** A page of the members of a list, newest contacts first. Throws ApiError not_found. */
export async function listMembers(read: Reader, workspaceId: string, listId: string, input: MemberQuery): Promise<Page<ListMember>> {
  const list = await getListRow(read, workspaceId, listId);
  const { listMembers: m, contacts: c } = read.t;
  const text = toSearchTerm(input.search);
  const matching = text === "" ? undefined : read.sqlDialect.holds(c.searchText, read.sqlDialect.text(text));
  const inList = eq(m.listSeq, list.seq);
  const where = and(input.status && eq(m.status, input.status), matching);
  const count = async (): Promise<Total | number> => {
    if (!matching) {
      const counts = (await getCounters(read, [list.id])).get(list.id);
      return [...(counts ?? [])].reduce((sum, [kind, n]) => (input.status === undefined || kind === input.status ? sum + n : sum), 0);
    }
    return countQuery(read, read.select(ONE).from(m).innerJoin(c, eq(c.seq, m.contactSeq)).where(and(inList, where)));
  };
  return paginateBySeq(
    input,
    async ({ below, limit, offset }) => {
      const rows = await read
        .select({ contact: c, member: m })
        .from(m)
        .innerJoin(c, eq(c.seq, m.contactSeq))
        .where(and(inList, lt(m.contactSeq, below), where))
        .orderBy(desc(m.contactSeq))
        .limit(limit)
        .offset(offset);
      return rows.map((row) => ({ ...row, seq: row.member.contactSeq }));
    },
    count,
    ({ contact, member }) => showMember(contact, member),
  );
}

async function findSuppressedContacts(tx: Tx, workspaceId: string, contacts: readonly ContactRow[]): Promise<ReadonlySet<string>> {
  const emails = contacts.map((contact) => contact.emailKey);
  return findSuppressed(tx, workspaceId, emails);
}

/** True for a membership that adding the contact again does not change. */
function staysAsIs(list: ListRow, member: MemberRow, now: number): boolean {
  return member.status === "MEMBER" || (list.doubleOptIn && (member.expiresAt ?? 0) > now);
}

/**
 * True if a person who asks again gets another confirmation email: 15 minutes after the first, and later after as long as all of
 * them took so far. Nobody therefore gets more than eleven within the seven days of a link, however often an address is entered.
 */
function mayAskAgain({ status, addedAt, expiresAt }: MemberRow, now: number): boolean {
  if (status !== "PENDING" || expiresAt === null) return false;
  const sentAt = expiresAt - LIST_LIMITS.confirmDays * DAY;
  return now - sentAt >= Math.max(LIST_LIMITS.askAgainMinutes * MINUTE, sentAt - addedAt);
}

/** The membership of a contact that is added now; `before` is the one it replaces. */
function buildMember(list: ListRow, contactSeq: number, before: MemberRow | undefined, now: number): MemberRow {
  const row = { listSeq: list.seq, contactSeq, addedAt: before?.addedAt ?? now, tokenHash: null };
  return list.doubleOptIn
    ? { ...row, status: "PENDING", joinedAt: null, expiresAt: computeExpiry(now) }
    : { ...row, status: "MEMBER", joinedAt: now, expiresAt: null };
}

async function loadMembers(q: Tx | Reader, list: ListRow, seqs: readonly number[]): Promise<Map<number, MemberRow>> {
  const rows = await findRows(q, q.t.listMembers, { listSeq: list.seq, contactSeq: seqs });
  return new Map(rows.map((row) => [row.contactSeq, row]));
}

function toFailure(index: number, contact: string, code: string, message: string): Failure {
  return { index, contact: contact.slice(0, 254), code, message };
}

/** Writes members, in place of those of the same contacts as they were `before`. */
async function replaceMembers(
  tx: Tx,
  list: ListRow,
  rows: readonly (MemberRow & { contactSeq: HeldContactSeq })[],
  before: ReadonlyMap<number, MemberRow>,
): Promise<void> {
  const { listMembers: t } = tx.t;
  const replaced = rows.map(({ contactSeq }) => contactSeq).filter((seq) => before.has(seq));
  if (replaced.length > 0) await tx.delete(t).where(and(eq(t.listSeq, list.seq), inArray(t.contactSeq, replaced)));
  await tx.insertAll(t, rows);
}

async function deleteMembers(
  tx: Tx,
  deps: ListDeps,
  list: ListRow,
  contacts: readonly ContactRow[],
  cause: ListCause = {},
): Promise<Map<number, MemberRow>> {
  if (contacts.length === 0) return new Map();
  const { listMembers: t } = tx.t;
  const seqs = contacts.map((c) => c.seq);
  const rows = await tx
    .delete(t)
    .where(and(eq(t.listSeq, list.seq), inArray(t.contactSeq, seqs)))
    .returning();
  const removed = new Map(rows.map((row) => [row.contactSeq, row]));
  for (const [status, own] of Map.groupBy(rows, (row) => row.status)) await countEach(tx, list.id, status, own, -1);
  const left = contacts.filter((c) => removed.get(c.seq)?.status === "MEMBER");
  await announceMembers(tx, deps, list, "list.left", await holdContacts(tx, list.workspaceId, left), cause);
  return removed;
}

export type ListRow = ListTables["lists"]["$inferSelect"];

/** A list that is not deleted. Throws ApiError not_found. */
export async function getListRow(q: Tx | Reader, workspaceId: string, id: string): Promise<ListRow> {
  const [row] = await findRows(q, q.t.lists, { workspaceId, id });
  if (row?.deletedAt !== null) throw notFound("list", id);
  return row;
}
