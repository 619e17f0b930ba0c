import { addressKey, type Member, type Page, PERMISSIONS, ROLE_PERMISSIONS, type Role } from "@mailsvc/sdk/contract";
import { and, eq, isNotNull, isNull, ne } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { findRows } from "../db/find.ts";
import { listPage, type PageInput } from "../db/pagination.ts";
import type { DeveloperKey } from "../http/auth.ts";
import { assertMayGrant, nameCaller } from "../keys/keys.ts";
import { ApiError, notFound } from "../lib/api-error.ts";
import { iso } from "../lib/clock.ts";
import { lockWorkspaces } from "../workspaces/workspaces.ts";
import type { SessionDeps } from "./deps.ts";
import { deleteLinksOfMember } from "./links.ts";
import { enqueueInvitation, type MemberMailDeps, reachesPeople } from "./member-mail.ts";
import { countSessions, endSessionsOfMember, type MemberRow } from "./sessions.ts";

// Far more than work for one brand; each may get mail.
const MAX_MEMBERS = 1000;

/** The members of a workspace, newest first. */
export async function listMembers(read: Reader, workspaceId: string, input: PageInput, now: number): Promise<Page<Member>> {
  const { members: t } = read.t;
  const sessions = await countSessions(read, workspaceId, now);
  const where = and(eq(t.workspaceId, workspaceId), isNull(t.removedAt));
  return listPage(read, input, { table: t, where, toItem: (row) => toMember(row, sessions) });
}

/** One member, by address or id. Throws ApiError not_found. */
export async function showMember(read: Reader, workspaceId: string, ref: string, now: number): Promise<Member> {
  return toMember(await getMember(read, workspaceId, ref), await countSessions(read, workspaceId, now));
}

/**
 * Invites a person, or sends the invitation again. Throws ApiError forbidden for a role that can do more than the caller, invalid_state for
 * a member with another role, and limit_reached.
 */
export async function inviteMember(
  tx: Tx,
  deps: MemberMailDeps,
  inviter: DeveloperKey,
  { email, role, name }: { readonly email: string; readonly role: Role; readonly name?: string | undefined },
  mailed: boolean,
): Promise<Member> {
  assertMayGive(inviter, role);
  const { workspaceId } = inviter;
  const before = await findMember(tx, workspaceId, email);
  if (before !== null && before.removedAt === null && before.role !== role)
    throw new ApiError("invalid_state", `${email} is a member already, as ${before.role}.`, {
      hint: "Change the role instead: mailsvc members set-role ADDRESS --role ROLE",
    });
  const wanted = { workspaceId, email, role, name: name ?? null, invitedBy: nameCaller(inviter) };
  const row =
    before === null
      ? await insertMember(tx, deps, wanted)
      : before.removedAt === null
        ? before
        : await admitAgain(tx, deps, before.id, wanted);
  if (mailed) await enqueueInvitation(tx, deps, row);
  return show(tx, deps, row);
}

/**
 * True if an invitation is mailed; false if the person can sign in at the provider without one. Throws ApiError invalid_state if nothing
 * would reach them.
 */
export async function assertReachable(read: Reader, deps: MemberMailDeps): Promise<boolean> {
  if (await reachesPeople(read, deps)) return true;
  if (deps.config.oidc !== null) return false;
  throw new ApiError("invalid_state", "This server sends no mail, so an invitation would reach nobody.", {
    hint: "Add a relay first, or make a link and pass it on: mailsvc open --role viewer --name NAME",
  });
}

interface NewMember {
  readonly workspaceId: string;
  readonly email: string;
  readonly role: Role;
  readonly name: string | null;
  readonly invitedBy: string;
}

/** Stores a member. Throws ApiError limit_reached. */
export async function insertMember(tx: Tx, deps: Pick<SessionDeps, "ids" | "clock">, wanted: NewMember): Promise<MemberRow> {
  const { members: t } = tx.t;
  const now = deps.clock.now();
  if ((await tx.$count(t, and(eq(t.workspaceId, wanted.workspaceId), isNull(t.removedAt)))) >= MAX_MEMBERS)
    throw new ApiError("limit_reached", `A workspace has at most ${MAX_MEMBERS} members.`, { hint: "Remove somebody first." });
  const row: MemberRow = {
    ...{ id: deps.ids("mbr"), workspaceId: wanted.workspaceId, email: wanted.email, emailKey: addressKey(wanted.email) },
    ...{ name: wanted.name, role: wanted.role, invitedBy: wanted.invitedBy, account: null, mails: 0, mailsSince: now, createdAt: now },
    ...{ joinedAt: null, lastSignInAt: null, removedAt: null },
  };
  await tx.insert(t).values(row);
  return row;
}

/** Makes somebody a member who was removed. Nothing of before counts, such as the account at the provider. */
async function admitAgain(tx: Tx, { clock }: Pick<SessionDeps, "clock">, id: string, wanted: NewMember): Promise<MemberRow> {
  const { members: t } = tx.t;
  const { email, role, name, invitedBy } = wanted;
  const [row] = await tx
    .update(t)
    .set({ email, role, name, invitedBy, account: null, createdAt: clock.now(), joinedAt: null, lastSignInAt: null, removedAt: null })
    .where(eq(t.id, id))
    .returning();
  if (!row) throw notFound("member", email);
  return row;
}

/** Changes the role of a member. Sessions with rights that the new role lacks end. Throws ApiError not_found, forbidden or invalid_state. */
export async function setMemberRole(tx: Tx, deps: SessionDeps, changer: DeveloperKey, ref: string, role: Role): Promise<Member> {
  const row = await getMember(tx, changer.workspaceId, ref);
  assertMayGive(changer, row.role);
  assertMayGive(changer, role);
  if (row.role === role) return show(tx, deps, row);
  if (row.role === "owner") await assertNotLastOwner(tx, changer, row);
  await tx.update(tx.t.members).set({ role }).where(eq(tx.t.members.id, row.id));
  if (ROLE_PERMISSIONS[row.role].some((one) => !ROLE_PERMISSIONS[role].includes(one))) await endSessionsOfMember(tx, deps, row.id);
  return show(tx, deps, { ...row, role });
}

/** Removes a member, with their sessions and the links that were mailed to them. Throws ApiError not_found, forbidden or invalid_state. */
export async function removeMember(tx: Tx, deps: SessionDeps, remover: DeveloperKey, ref: string): Promise<Member> {
  const row = await getMember(tx, remover.workspaceId, ref);
  assertMayGive(remover, row.role);
  if (row.role === "owner") await assertNotLastOwner(tx, remover, row);
  await tx.update(tx.t.members).set({ removedAt: deps.clock.now() }).where(eq(tx.t.members.id, row.id));
  await endSessionsOfMember(tx, deps, row.id);
  await deleteLinksOfMember(tx, row.id);
  return toMember(row, new Map());
}

/** Signs a member out everywhere. Throws ApiError not_found, or forbidden for one who can do more than the caller. */
export async function signMemberOut(tx: Tx, deps: SessionDeps, caller: DeveloperKey, ref: string): Promise<{ ended: number }> {
  const row = await getMember(tx, caller.workspaceId, ref);
  assertMayGive(caller, row.role);
  return { ended: await endSessionsOfMember(tx, deps, row.id) };
}

/** The row of an address, also of somebody who was removed; null if there is none. */
async function findMember(q: Reader | Tx, workspaceId: string, email: string): Promise<MemberRow | null> {
  const [row] = await findRows(q, q.t.members, { workspaceId, emailKey: addressKey(email) });
  return row ?? null;
}

/** A member by address or id. Throws ApiError not_found. */
async function getMember(q: Reader | Tx, workspaceId: string, ref: string): Promise<MemberRow> {
  const row = ref.includes("@") ? await findMember(q, workspaceId, ref) : (await findRows(q, q.t.members, { workspaceId, id: ref }))[0];
  if (!row || row.removedAt !== null) throw notFound("member", ref);
  return row;
}

/** Throws ApiError forbidden for a role that can do more than the caller: who invites must not outrank who creates keys. */
function assertMayGive(caller: DeveloperKey, role: Role): void {
  if (role === "owner" && !caller.owner)
    throw new ApiError("forbidden", "Only an owner can invite, change or remove owners.", {
      details: [{ path: "role", code: "owner_only", message: "an owner can do more than this key" }],
    });
  assertMayGrant(caller, role === "owner" ? PERMISSIONS : ROLE_PERMISSIONS[role]);
}

/**
 * Throws ApiError invalid_state when a person would leave the workspace without an owner who has signed in. An owner key may: it can invite
 * the next one.
 */
async function assertNotLastOwner(tx: Tx, { person }: DeveloperKey, { id, workspaceId }: MemberRow): Promise<void> {
  if (person === null) return;
  const { members: t } = tx.t;
  // Of two such changes at once, each would still see the other's owner.
  await lockWorkspaces(tx, [workspaceId]);
  const isOtherOwner = and(eq(t.workspaceId, workspaceId), eq(t.role, "owner"), isNull(t.removedAt), isNotNull(t.joinedAt), ne(t.id, id));
  if ((await tx.$count(t, isOtherOwner)) > 0) return;
  throw new ApiError("invalid_state", "This is the last owner who has signed in.", {
    hint: "Make another member an owner first. On the server, an owner key can do it anyway: mailsvc members remove ADDRESS",
  });
}

async function show(tx: Tx, { clock }: Pick<SessionDeps, "clock">, row: MemberRow): Promise<Member> {
  return toMember(row, await countSessions(tx, row.workspaceId, clock.now()));
}

function toMember(row: MemberRow, sessions: ReadonlyMap<string, number>): Member {
  const { id, email, name, role, invitedBy, createdAt, joinedAt, lastSignInAt } = row;
  return {
    ...{ id, email, name, role, invitedBy, createdAt: iso(createdAt) },
    joinedAt: joinedAt === null ? null : iso(joinedAt),
    lastSignInAt: lastSignInAt === null ? null : iso(lastSignInAt),
    sessions: sessions.get(id) ?? 0,
  };
}
