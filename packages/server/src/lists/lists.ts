import type { ContactMembership, List, Page, PersonList } from "@mailsvc/sdk/contract";
import { parseMailbox } from "@mailsvc/sdk/contract";
import { and, desc, eq, isNull } from "drizzle-orm";
import { getCounters } from "../counters/counters.ts";
import type { Reader, Tx } from "../db/db.ts";
import { contains } from "../db/dialect.ts";
import { listPage, type PageInput } from "../db/pagination.ts";
import { invalid } from "../lib/api-error.ts";
import { iso } from "../lib/clock.ts";
import { removeContactFromGroups } from "../memberships/memberships.ts";
import { assertVerified } from "../senders/senders.ts";
import type { ListDeps } from "./deps.ts";
import { getListRow, type ListRow } from "./store.ts";
import type { ListTables } from "./tables.ts";

export { addMembers, removeMembers } from "./members.ts";
export { getListRow } from "./store.ts";

/** Job kind: deletes the members of a deleted list. */
export const CLEAR_JOB = "lists.clear";

type Counts = ReadonlyMap<string, number> | undefined;

export async function getList(q: Tx | Reader, workspaceId: string, id: string): Promise<List> {
  return showWithCounts(q, await getListRow(q, workspaceId, id));
}

/** The `seq`s of all lists of a workspace, by their ids. */
export async function loadListSeqs(q: Tx | Reader, workspaceId: string): Promise<Map<string, number>> {
  const { lists: t } = q.t;
  const rows = await q
    .select({ id: t.id, seq: t.seq })
    .from(t)
    .where(and(eq(t.workspaceId, workspaceId), isNull(t.deletedAt)));
  return new Map(rows.map(({ id, seq }) => [id, seq]));
}

interface ListSettings {
  name?: string | undefined;
  description?: string | null | undefined;
  doubleOptIn?: boolean | undefined;
  confirmationFrom?: string | null | undefined;
  confirmationSubject?: string | null | undefined;
  public?: boolean | undefined;
  language?: string | null | undefined;
}

/** Creates a list. Throws ApiError validation_error or sender_not_verified. */
export async function createList(tx: Tx, deps: ListDeps, workspaceId: string, input: ListSettings & { name: string }): Promise<List> {
  const now = deps.clock.now();
  const [seq = 0] = await tx.nextNumbers(tx.t.lists, 1);
  const row: ListRow = {
    seq,
    id: deps.ids("list"),
    workspaceId,
    name: input.name,
    description: input.description ?? null,
    doubleOptIn: input.doubleOptIn ?? false,
    confirmationFrom: input.confirmationFrom ?? null,
    confirmationSubject: input.confirmationSubject ?? null,
    public: input.public ?? true,
    language: input.language ?? null,
    createdAt: now,
    updatedAt: now,
    deletedAt: null,
  };
  await assertSender(tx, deps, row);
  await tx.insert(tx.t.lists).values(row);
  return showList(row, undefined);
}

/** Changes the fields that were sent. Throws ApiError not_found, validation_error or sender_not_verified. */
export async function updateList(tx: Tx, deps: ListDeps, workspaceId: string, id: string, input: ListSettings): Promise<List> {
  const before = await getListRow(tx, workspaceId, id);
  const changes = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined)) as Partial<ListRow>;
  const row: ListRow = { ...before, ...changes, updatedAt: deps.clock.now() };
  if (input.doubleOptIn !== undefined || input.confirmationFrom !== undefined) await assertSender(tx, deps, row);
  await tx
    .update(tx.t.lists)
    .set({ ...changes, updatedAt: row.updatedAt })
    .where(eq(tx.t.lists.seq, row.seq));
  return showWithCounts(tx, row);
}

/** Deletes a list at once; a job deletes its members. Throws ApiError not_found. */
export async function deleteList(tx: Tx, deps: ListDeps, workspaceId: string, id: string): Promise<List> {
  const row = await getListRow(tx, workspaceId, id);
  const list = await showWithCounts(tx, row);
  await tx.update(tx.t.lists).set({ deletedAt: deps.clock.now() }).where(eq(tx.t.lists.seq, row.seq));
  await deps.queue.enqueue(tx, { kind: CLEAR_JOB, payload: { workspaceId, groupId: id, seq: row.seq } });
  return list;
}

/** A page of lists with their member counts, newest first. */
export async function listLists(
  read: Reader,
  workspaceId: string,
  input: PageInput & { search?: string | undefined },
): Promise<Page<List>> {
  const { lists: t } = read.t;
  const where = and(
    eq(t.workspaceId, workspaceId),
    isNull(t.deletedAt),
    input.search === undefined ? undefined : contains(read.sqlDialect, t.name, input.search),
  );
  const page = await listPage(read, input, { table: t, where, toItem: (row) => row });
  const counts = await getCounters(
    read,
    page.data.map((row) => row.id),
  );
  return { ...page, data: page.data.map((row) => showList(row, counts.get(row.id))) };
}

/** The lists a contact is a member of; pending memberships do not count. */
export async function listListsOfContact(q: Tx | Reader, contactSeq: number): Promise<ContactMembership[]> {
  const { lists: t, listMembers: m } = q.t;
  return q
    .select({ id: t.id, name: t.name })
    .from(m)
    .innerJoin(t, eq(t.seq, m.listSeq))
    .where(and(eq(m.contactSeq, contactSeq), eq(m.status, "MEMBER"), isNull(t.deletedAt)))
    .orderBy(desc(t.id));
}

/** All memberships of a contact, pending ones too. */
export async function listMembershipsOfContact(q: Tx | Reader, contactSeq: number): Promise<PersonList[]> {
  const { lists: t, listMembers: m } = q.t;
  const rows = await q
    .select({ id: t.id, name: t.name, status: m.status, addedAt: m.addedAt, joinedAt: m.joinedAt })
    .from(m)
    .innerJoin(t, eq(t.seq, m.listSeq))
    .where(and(eq(m.contactSeq, contactSeq), isNull(t.deletedAt)))
    .orderBy(desc(t.id));
  return rows.map((row) => ({ ...row, addedAt: iso(row.addedAt), joinedAt: row.joinedAt === null ? null : iso(row.joinedAt) }));
}

/** Removes a deleted contact from all lists. */
export function removeFromLists(tx: Tx, { seq }: { seq: number }): Promise<void> {
  return removeContactFromGroups(tx, seq, pickListTables);
}

/** The tables that make a list a group of contacts. */
export function pickListTables({ lists, listMembers }: ListTables) {
  return { groups: lists, members: listMembers, groupSeq: listMembers.listSeq };
}

function showList(row: ListRow, counts: Counts): List {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    doubleOptIn: row.doubleOptIn,
    confirmationFrom: row.confirmationFrom,
    confirmationSubject: row.confirmationSubject,
    public: row.public,
    language: row.language,
    memberCount: counts?.get("MEMBER") ?? 0,
    pendingCount: counts?.get("PENDING") ?? 0,
    createdAt: iso(row.createdAt),
    updatedAt: iso(row.updatedAt),
  };
}

async function showWithCounts(q: Tx | Reader, row: ListRow): Promise<List> {
  return showList(row, (await getCounters(q, [row.id])).get(row.id));
}

/** Double opt-in needs a verified sender. Throws ApiError validation_error or sender_not_verified. */
async function assertSender(tx: Tx, deps: ListDeps, row: ListRow): Promise<void> {
  if (row.confirmationFrom !== null)
    await assertVerified(tx, deps, row.workspaceId, parseMailbox(row.confirmationFrom), "confirmationFrom");
  else if (row.doubleOptIn)
    throw invalid(
      "confirmationFrom",
      "required",
      "confirmationFrom is required for double opt-in: the verified sender of the confirmation email.",
    );
}
