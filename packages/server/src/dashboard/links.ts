import { MEMBER_LIMITS, type Role, SIGN_IN_LIMITS } from "@mailsvc/sdk/contract";
import { and, eq, gt, isNull, lte } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { findRows } from "../db/find.ts";
import { ApiError } from "../lib/api-error.ts";
import { iso } from "../lib/clock.ts";
import { HOUR, MINUTE } from "../lib/units.ts";
import { getWorkspace } from "../workspaces/workspaces.ts";
import type { SessionDeps } from "./deps.ts";
import { findOwnerKey, hashToken, type MemberRow, makeToken, type Subject } from "./sessions.ts";
import type { DashboardTables } from "./tables.ts";

type LinkRow = DashboardTables["dashboardLinks"]["$inferSelect"];

/** Path of a sign-in link. Its token is in the fragment, so the browser does not send it to the server in an address. */
export const SIGN_IN_PATH = "/dashboard#:token";
/** Time for which a link that somebody asks for works, ms. */
export const LINK_MS = SIGN_IN_LIMITS.linkMinutes * MINUTE;
const INVITATION_MS = MEMBER_LIMITS.invitationHours * HOUR;

/** Makes a link that signs one browser in. Its token stands behind the #, so it gets into no log. */
export async function createLink(
  tx: Tx,
  deps: SessionDeps,
  { workspaceId, keyId, role, name }: Pick<Subject, "workspaceId" | "keyId" | "role" | "name">,
): Promise<{ url: string; role: Role; name: string | null; expiresAt: string }> {
  const { url, expiresAt } = await insertLink(tx, deps, { workspaceId, keyId, role, name, memberId: null }, LINK_MS);
  return { url, role, name, expiresAt };
}

/** Makes a link that signs the owner of a workspace in; null when it has no owner key. */
export async function createOwnerLink(deps: SessionDeps, workspaceId: string): Promise<string | null> {
  return deps.db.tx(async (tx) => {
    const owner = await findOwnerKey(tx, workspaceId);
    return owner && (await createLink(tx, deps, { workspaceId, keyId: owner.id, role: "owner", name: null })).url;
  });
}

/** Makes a link for the mail to a member. Opening it signs nobody in, because mail scanners open links too; a button does. */
export async function createMailedLink(tx: Tx, deps: SessionDeps, { workspaceId, id }: MemberRow, isInvitation: boolean): Promise<string> {
  const link = { workspaceId, keyId: null, role: null, name: null, memberId: id };
  return (await insertLink(tx, deps, link, isInvitation ? INVITATION_MS : LINK_MS)).url;
}

/** Deletes the links that were mailed to a member, so that none works if the person is invited again. */
export async function deleteLinksOfMember(tx: Tx, memberId: string): Promise<void> {
  const { dashboardLinks: t } = tx.t;
  await tx.delete(t).where(eq(t.memberId, memberId));
}

async function insertLink(
  tx: Tx,
  deps: SessionDeps,
  link: Omit<LinkRow, "hash" | "expiresAt">,
  ms: number,
): Promise<{ url: string; expiresAt: string }> {
  const { dashboardLinks: t } = tx.t;
  const now = deps.clock.now();
  const token = makeToken(deps);
  await tx.delete(t).where(lte(t.expiresAt, now));
  await tx.insert(t).values({ ...link, hash: hashToken(token), expiresAt: now + ms });
  const named = link.memberId === null ? token : `mail=${token}`;
  return { url: `${deps.baseUrl()}${SIGN_IN_PATH.replace(":token", named)}`, expiresAt: iso(now + ms) };
}

/** The person whom a mailed link signs in, and the workspace. Throws ApiError unauthorized for a link that does not work. */
export async function describeMailedLink(
  read: Reader,
  { clock }: Pick<SessionDeps, "clock">,
  token: string,
): Promise<{ email: string; name: string | null; workspace: string }> {
  const { dashboardLinks: t } = read.t;
  const [link] = await read
    .select()
    .from(t)
    .where(and(eq(t.hash, hashToken(token)), gt(t.expiresAt, clock.now())));
  const [member] = link?.memberId ? await findRows(read, read.t.members, { id: link.memberId }) : [];
  if (!member || member.removedAt !== null) throw refuse();
  return { email: member.email, name: member.name, workspace: (await getWorkspace(read, member.workspaceId)).name };
}

/** Uses a link up. Throws ApiError unauthorized when it was used, is too old, or its key was revoked or its member removed. */
export async function redeemLink(tx: Tx, { clock }: SessionDeps, token: string): Promise<Subject> {
  const { dashboardLinks: t } = tx.t;
  const [link] = await tx
    .delete(t)
    .where(and(eq(t.hash, hashToken(token)), gt(t.expiresAt, clock.now())))
    .returning();
  if (!link) throw refuse();
  return link.memberId === null ? toSubject(tx, link) : toMemberSubject(tx, link.memberId);
}

async function toSubject(tx: Tx, { workspaceId, keyId, role, name }: LinkRow): Promise<Subject> {
  const { keys } = tx.t;
  const [key] = await tx
    .select({ id: keys.id })
    .from(keys)
    .where(and(eq(keys.id, keyId ?? ""), isNull(keys.revokedAt)));
  if (!key || role === null) throw refuse();
  return { workspaceId, keyId: key.id, role, way: "link", name, memberId: null, operator: null };
}

async function toMemberSubject(tx: Tx, memberId: string): Promise<Subject> {
  const [member] = await findRows(tx, tx.t.members, { id: memberId });
  if (!member || member.removedAt !== null) throw refuse();
  return buildMemberSubject(tx, member, "mail");
}

/** A session of a member, with the rights of the owner key as far as the role lets it. Throws ApiError unauthorized without such a key. */
export async function buildMemberSubject(tx: Tx, member: MemberRow, way: "mail" | "provider"): Promise<Subject> {
  const { workspaceId, id, role } = member;
  const owner = await findOwnerKey(tx, workspaceId);
  if (owner === null) throw new ApiError("unauthorized", "This workspace does not exist any more.");
  return { workspaceId, keyId: owner.id, role, way, name: null, memberId: id, operator: null };
}

function refuse(): ApiError {
  return new ApiError("unauthorized", "This link does not work any more.", {
    hint: `A link works once, within ${SIGN_IN_LIMITS.linkMinutes} minutes. Ask for another one on this page, or make one with mailsvc open.`,
  });
}
