import type { ListAddition, ListMember, ListMemberStatus, ListRemoval, Page } from "@mailsvc/sdk/contract";
import { addressKey, LIST_LIMITS, parseMailbox } from "@mailsvc/sdk/contract";
import { and, desc, eq, inArray, lt } from "drizzle-orm";
import { type ContactRow, showContact } from "../contacts/contacts.ts";
import { type CounterChange, getCounters, incrementCounters } from "../counters/counters.ts";
import type { Reader, Tx } from "../db/db.ts";
import { countQuery, ONE, type PageInput, paginateBySeq, type Total } from "../db/pagination.ts";
import type { Deps } from "../deps.ts";
import { type ContactEvent, recordOfContacts } from "../events/events.ts";
import { ApiError } from "../lib/api-error.ts";
import { iso } from "../lib/clock.ts";
import { fold } from "../lib/fold.ts";
import type { Tables } from "../schema.ts";
import { assertVerified } from "../senders/senders.ts";
import { findSuppressed } from "../suppressions/suppressions.ts";
import { findList, type ListRow } from "./lists.ts";

export type MemberRow = Tables["listMembers"]["$inferSelect"];

/** Sends confirmation mails; `jobs.ts` does it. */
export const INVITE_JOB = "lists.invite";

const DAY = 86_400_000;

export function showMember(contact: ContactRow, row: MemberRow): ListMember {
  return {
    contact: showContact(contact),
    status: row.status,
    addedAt: iso(row.addedAt),
    joinedAt: row.joinedAt === null ? null : iso(row.joinedAt),
    expiresAt: row.status === "MEMBER" || row.expiresAt === null ? null : iso(row.expiresAt),
  };
}

/** Until when a link that is sent now works, ms. */
export function computeExpiry(now: number): number {
  return now + LIST_LIMITS.confirmDays * DAY;
}

/** Tells of contacts that joined or left, and lets segments follow. */
export async function announceMembers(
  tx: Tx,
  deps: Deps,
  list: ListRow,
  type: "list.joined" | "list.left",
  contacts: readonly Pick<ContactRow, "id" | "seq">[],
): Promise<void> {
  if (contacts.length === 0) return;
  const at = deps.clock.now();
  const events = contacts.map(
    ({ id }): ContactEvent => ({ workspaceId: list.workspaceId, type, contactId: id, at, data: { listId: list.id } }),
  );
  await recordOfContacts(tx, events);
  await deps.audience.contactsChanged(
    tx,
    deps,
    list.workspaceId,
    contacts.map((c) => c.seq),
  );
}

type Failure = ListAddition["failed"][number];

// Confirmation mails that are made in one transaction.
const INVITES = 50;

/**
 * Adds contacts to a list; with double opt-in they are pending until they confirm. Those that do not exist, or may get no
 * mail that asks them, are reported. Throws ApiError not_found or sender_not_verified.
 */
export async function addMembers(tx: Tx, deps: Deps, workspaceId: string, listId: string, refs: readonly string[]): Promise<ListAddition> {
  const list = await findList(tx, workspaceId, listId);
  if (list.doubleOptIn && list.confirmationFrom !== null)
    await assertVerified(tx, deps, workspaceId, parseMailbox(list.confirmationFrom), "confirmationFrom");
  const contacts = await resolve(tx, workspaceId, refs);
  const unique = new Map(contacts.flatMap((c) => (c ? [[c.seq, c] as const] : [])));
  const members = await membersOf(tx, list, [...unique.keys()]);
  const suppressed =
    list.doubleOptIn && unique.size > 0
      ? await findSuppressed(
          tx,
          deps,
          workspaceId,
          [...unique.values()].map((c) => c.emailKey),
        )
      : new Set<string>();
  const now = deps.clock.now();
  const outcome: ListAddition = { added: 0, pending: 0, unchanged: 0, failed: [] };
  const rows: MemberRow[] = [];
  const changes: CounterChange[] = [];
  const joined: ContactRow[] = [];
  const invited: number[] = [];
  refs.forEach((ref, index) => {
    const contact = contacts[index];
    if (!contact) {
      outcome.failed.push(failure(index, ref, "not_found", "There is no such contact in this workspace."));
      return;
    }
    const { seq } = contact;
    const before = members.get(seq);
    if (before?.status === "MEMBER" || (before && list.doubleOptIn && (before.expiresAt ?? 0) > now)) {
      outcome.unchanged += 1;
      return;
    }
    if (suppressed.has(contact.emailKey)) {
      outcome.failed.push(
        failure(index, ref, "recipient_suppressed", "This address is on the suppression list: it cannot be asked to confirm."),
      );
      return;
    }
    const status: ListMemberStatus = list.doubleOptIn ? "PENDING" : "MEMBER";
    const row: MemberRow = {
      listSeq: list.seq,
      contactSeq: seq,
      status,
      addedAt: before?.addedAt ?? now,
      joinedAt: status === "MEMBER" ? now : null,
      tokenHash: null,
      expiresAt: status === "MEMBER" ? null : computeExpiry(now),
    };
    rows.push(row);
    members.set(seq, row);
    if (before?.status !== status) {
      if (before) changes.push({ kind: before.status, seq, by: -1 });
      changes.push({ kind: status, seq, by: 1 });
    }
    if (status === "MEMBER") {
      joined.push(contact);
      outcome.added += 1;
    } else {
      invited.push(seq);
      outcome.pending += 1;
    }
  });
  await putMembers(tx, list, rows);
  await incrementCounters(tx, list.id, changes);
  await announceMembers(tx, deps, list, "list.joined", joined);
  for (let i = 0; i < invited.length; i += INVITES)
    await deps.queue.enqueue(tx, { kind: INVITE_JOB, payload: { workspaceId, listId, seqs: invited.slice(i, i + INVITES) } });
  return outcome;
}

/** Takes contacts off a list. Throws ApiError not_found for the list. */
export async function removeMembers(
  tx: Tx,
  deps: Deps,
  workspaceId: string,
  listId: string,
  refs: readonly string[],
): Promise<ListRemoval> {
  const list = await findList(tx, workspaceId, listId);
  const contacts = await resolve(tx, workspaceId, refs);
  const unique = new Map(contacts.flatMap((c) => (c ? [[c.seq, c] as const] : [])));
  const gone = await takeOff(tx, deps, list, [...unique.values()]);
  const failed = refs.flatMap((ref, index) => {
    const contact = contacts[index];
    return contact && gone.has(contact.seq) ? [] : [failure(index, ref, "not_found", "This contact is not on the list.")];
  });
  return { removed: gone.size, failed };
}

/** One member, by the contact's id or address. Throws ApiError not_found. */
export async function findMember(
  q: Tx | Reader,
  workspaceId: string,
  listId: string,
  ref: string,
): Promise<{ list: ListRow; contact: ContactRow; member: MemberRow }> {
  const list = await findList(q, workspaceId, listId);
  const [contact] = await resolve(q, workspaceId, [ref]);
  const member = contact ? (await membersOf(q, list, [contact.seq])).get(contact.seq) : undefined;
  if (!contact || !member)
    throw new ApiError("not_found", `${JSON.stringify(ref.slice(0, 100))} is not on this list.`, {
      hint: "See: mailsvc lists contacts <list>",
    });
  return { list, contact, member };
}

/** Takes one contact off a list. Throws ApiError not_found. */
export async function removeMember(tx: Tx, deps: Deps, workspaceId: string, listId: string, ref: string): Promise<ListMember> {
  const { list, contact, member } = await findMember(tx, workspaceId, listId, ref);
  await takeOff(tx, deps, list, [contact]);
  return showMember(contact, member);
}

export interface MemberFilter extends PageInput {
  status?: ListMemberStatus | undefined;
  search?: string | undefined;
}

/** A page of the members of a list, newest contacts first. Throws ApiError not_found. */
export async function listMembers(read: Reader, workspaceId: string, listId: string, input: MemberFilter): Promise<Page<ListMember>> {
  const list = await findList(read, workspaceId, listId);
  const { listMembers: m, contacts: c } = read.t;
  const part = input.search === undefined ? "" : fold(input.search.trim());
  const searched = part === "" ? undefined : read.sqlDialect.holds(c.searchText, read.sqlDialect.text(part));
  const where = and(eq(m.listSeq, list.seq), input.status && eq(m.status, input.status));
  const count = async (): Promise<Total | number> => {
    if (!searched) {
      const counts = (await getCounters(read, [list.id])).get(list.id);
      return [...(counts ?? [])].reduce((sum, [kind, n]) => (input.status === undefined || kind === input.status ? sum + n : sum), 0);
    }
    return countQuery(read, read.select(ONE).from(m).innerJoin(c, eq(c.seq, m.contactSeq)).where(and(where, searched)));
  };
  return paginateBySeq(
    input,
    async ({ below, limit, offset }) => {
      const rows = await read
        .select({ contact: c, member: m })
        .from(m)
        .innerJoin(c, eq(c.seq, m.contactSeq))
        .where(and(where, lt(m.contactSeq, below), searched))
        .orderBy(desc(m.contactSeq))
        .limit(limit)
        .offset(offset);
      return rows.map((row) => ({ ...row, seq: row.member.contactSeq }));
    },
    count,
    ({ contact, member }) => showMember(contact, member),
  );
}

/** The contacts that ids and addresses name, each in its place; null where there is none. A thousand at most. */
async function resolve(q: Tx | Reader, workspaceId: string, refs: readonly string[]): Promise<(ContactRow | null)[]> {
  const { contacts: t } = q.t;
  const keys = refs.map((ref) => (ref.includes("@") ? addressKey(ref) : null));
  const found = new Map<string, ContactRow>();
  const take = async (column: typeof t.id | typeof t.emailKey, values: string[]): Promise<void> => {
    if (values.length === 0) return;
    const rows = await q
      .select()
      .from(t)
      .where(and(eq(t.workspaceId, workspaceId), inArray(column, values)));
    for (const row of rows) found.set(column === t.id ? row.id : row.emailKey, row);
  };
  await take(t.id, [...new Set(refs.filter((_, i) => keys[i] === null))]);
  await take(t.emailKey, [...new Set(keys.filter((key) => key !== null))]);
  return refs.map((ref, i) => found.get(keys[i] ?? ref) ?? null);
}

async function membersOf(q: Tx | Reader, list: ListRow, seqs: readonly number[]): Promise<Map<number, MemberRow>> {
  if (seqs.length === 0) return new Map();
  const { listMembers: t } = q.t;
  const rows = await q
    .select()
    .from(t)
    .where(and(eq(t.listSeq, list.seq), inArray(t.contactSeq, [...seqs])));
  return new Map(rows.map((row) => [row.contactSeq, row]));
}

function failure(index: number, contact: string, code: string, message: string): Failure {
  return {
    index,
    contact: contact.slice(0, 254),
    code,
    message,
  };
}

/** Writes members over what is known of the same contacts. */
async function putMembers(tx: Tx, list: ListRow, rows: readonly MemberRow[]): Promise<void> {
  if (rows.length === 0) return;
  const { listMembers: t } = tx.t;
  await tx.delete(t).where(
    and(
      eq(t.listSeq, list.seq),
      inArray(
        t.contactSeq,
        rows.map((r) => r.contactSeq),
      ),
    ),
  );
  await tx.insertAll(t, rows);
}

async function takeOff(tx: Tx, deps: Deps, list: ListRow, contacts: readonly ContactRow[]): Promise<Map<number, MemberRow>> {
  if (contacts.length === 0) return new Map();
  const { listMembers: t } = tx.t;
  const rows = await tx
    .delete(t)
    .where(
      and(
        eq(t.listSeq, list.seq),
        inArray(
          t.contactSeq,
          contacts.map((c) => c.seq),
        ),
      ),
    )
    .returning();
  const gone = new Map(rows.map((row) => [row.contactSeq, row]));
  await incrementCounters(
    tx,
    list.id,
    rows.map(({ status, contactSeq }) => ({ kind: status, seq: contactSeq, by: -1 })),
  );
  await announceMembers(
    tx,
    deps,
    list,
    "list.left",
    contacts.filter((c) => gone.get(c.seq)?.status === "MEMBER"),
  );
  return gone;
}
