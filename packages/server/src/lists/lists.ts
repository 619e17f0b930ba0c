import { type ContactMembership, type contract, type List, type PersonList, parseMailbox } from "@mailsvc/sdk/contract";
import { and, desc, eq, inArray, isNull } from "drizzle-orm";
import { findContactByEmail } from "../contacts/contacts.ts";
import type { ContactDeps } from "../contacts/deps.ts";
import { getCounters } from "../counters/counters.ts";
import type { Reader, Tx } from "../db/db.ts";
import type { EmailDeps } from "../emails/deps.ts";
import type { Handlers } from "../http/handler.ts";
import { ApiError, invalid } from "../lib/api-error.ts";
import { iso } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import { clearMembers, deleteGroup, listGroups, type MembershipDeps, removeContactFromGroups } from "../memberships/memberships.ts";
import type { JobHandler } from "../queue/queue.ts";
import { assertVerified } from "../senders/senders.ts";
import type { LinkDeps, SubscriberLists } from "../unsubscribe/unsubscribe.ts";
import { confirm, getInvitation, invite, renderConfirmation } from "./confirmation.ts";
import { addMembers, getListRow, getMember, type ListRow, listMembers, removeMember, removeMembers, showMember } from "./members.ts";
import type { ListTables } from "./tables.ts";

export { addMembers, findMembersOfAny, getListRow, removeMembers } from "./members.ts";

/** Job kind: deletes the members of a deleted list. */
export const CLEAR_JOB = "lists.clear";

type Counts = ReadonlyMap<string, number> | undefined;

export async function getList(q: Tx | Reader, workspaceId: string, id: string): Promise<List> {
  return showWithCounts(q, await getListRow(q, workspaceId, id));
}

/** The lists of these ids that exist, by id, with what pages and mails say by them. For agents as well: no address is read. */
export async function findLists(
  q: Reader<Pick<ListTables, "lists">> | Tx<Pick<ListTables, "lists">>,
  workspaceId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Pick<ListRow, "doubleOptIn" | "language">>> {
  if (ids.length === 0) return new Map();
  const { lists: t } = q.t;
  const rows = await q
    .select({ id: t.id, doubleOptIn: t.doubleOptIn, language: t.language })
    .from(t)
    .where(and(eq(t.workspaceId, workspaceId), inArray(t.id, [...ids]), isNull(t.deletedAt)));
  return new Map(rows.map(({ id, ...list }) => [id, list]));
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
async function createList(tx: Tx, deps: ListDeps, workspaceId: string, input: ListSettings & { name: string }): Promise<List> {
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
async function updateList(tx: Tx, deps: ListDeps, workspaceId: string, id: string, input: ListSettings): Promise<List> {
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
async function deleteList(tx: Tx, deps: ListDeps, workspaceId: string, id: string): Promise<List> {
  const row = await getListRow(tx, workspaceId, id);
  const list = await showWithCounts(tx, row);
  await deleteGroup(tx, deps, tx.t.lists, row, CLEAR_JOB);
  return list;
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
function pickListTables({ lists, listMembers }: ListTables) {
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

/** Sends confirmation emails to contacts that were just added, except to those that have one or need none any more. */
export function sendConfirmations(deps: ListDeps): JobHandler {
  return async ({ payload }) => ({
    commit: async (tx) => {
      const { listMembers: m, lists: l, contacts: c } = tx.t;
      const found = await tx
        .select({ member: m, list: l, contact: c })
        .from(m)
        .innerJoin(l, eq(l.seq, m.listSeq))
        .innerJoin(c, eq(c.seq, m.contactSeq))
        .where(and(eq(l.id, String(payload.listId)), inArray(m.contactSeq, payload.seqs as number[]), eq(m.status, "PENDING")));
      for (const one of found) {
        if (one.member.tokenHash !== null || one.list.deletedAt !== null) continue;
        try {
          await invite(tx, deps, one, typeof payload.language === "string" ? payload.language : null);
        } catch (error) {
          // Suppressed since, or the sender is no longer verified. The membership stays pending, and can be resent.
          if (!(error instanceof ApiError)) throw error;
          deps.log.warn("confirmation email not sent", { listId: one.list.id, contactId: one.contact.id, code: error.code });
        }
      }
    },
  });
}

/** Deletes the members of a deleted list. */
export function clearList(deps: ListDeps): JobHandler {
  return clearMembers(deps, pickListTables, (tx, workspaceId, contactSeqs) =>
    deps.contactHooks.contactsChanged(tx, workspaceId, contactSeqs),
  );
}

/** The lists that people see on their preference page: those they are members of, without private ones. */
export function subscriberLists(deps: ListDeps): SubscriberLists {
  return {
    find: async (q, { workspaceId, email }) => {
      const contact = await findContactByEmail(q, workspaceId, email);
      if (!contact) return [];
      const { lists: t, listMembers: m } = q.t;
      return q
        .select({ id: t.id, name: t.name })
        .from(m)
        .innerJoin(t, eq(t.seq, m.listSeq))
        .where(and(eq(m.contactSeq, contact.seq), eq(m.status, "MEMBER"), isNull(t.deletedAt), eq(t.public, true)))
        .orderBy(desc(t.id));
    },
    leave: async (tx, { workspaceId, email }, listId) =>
      void (await removeMembers(tx, deps, workspaceId, listId, [email], { source: "preferences" })),
  };
}

export const listHandlers: Handlers<typeof contract.lists, ListDeps> = {
  list: (input, { read, workspaceId }) => listGroups(read, read.t.lists, workspaceId, input, showList),
  create: (input, { tx, deps, workspaceId }) => createList(tx, deps, workspaceId, input),
  get: ({ id }, { read, workspaceId }) => getList(read, workspaceId, id),
  update: ({ id, ...input }, { tx, deps, workspaceId }) => updateList(tx, deps, workspaceId, id, input),
  delete: ({ id }, { tx, deps, workspaceId }) => deleteList(tx, deps, workspaceId, id),
  contacts: ({ id, ...input }, { read, workspaceId }) => listMembers(read, workspaceId, id, input),
  add: ({ id, contacts, startAutomations }, { tx, deps, workspaceId }) =>
    addMembers(tx, deps, workspaceId, id, contacts, { startsNothing: !startAutomations }),
  remove: ({ id, contacts, startAutomations }, { tx, deps, workspaceId }) =>
    removeMembers(tx, deps, workspaceId, id, contacts, { startsNothing: !startAutomations }),
  removeOne: ({ id, contact }, { tx, deps, workspaceId }) => removeMember(tx, deps, workspaceId, id, contact),
  resend: async ({ id, contact }, { tx, deps, workspaceId }) => {
    const found = await getMember(tx, workspaceId, id, contact);
    if (found.member.status !== "PENDING") throw new ApiError("invalid_state", "This contact is already a member.");
    return showMember(found.contact, await invite(tx, deps, found));
  },
  confirmPage: async ({ token, lang = null }, { deps, header }) => {
    const { read } = deps.db;
    return renderConfirmation(read, deps, await getInvitation(read, deps, token), { menu: lang, browser: header("accept-language") });
  },
  confirm: ({ token, lang = null }, { deps, header }) =>
    deps.db.tx((tx) => confirm(tx, deps, token, { menu: lang, browser: header("accept-language") })),
};

export interface ListDeps extends ContactDeps, EmailDeps, LinkDeps, MembershipDeps {
  readonly log: Log;
  readonly config: EmailDeps["config"];
}
