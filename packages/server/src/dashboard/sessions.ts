import { hash } from "node:crypto";
import { type DashboardSession, type Page, ROLE_PERMISSIONS, type Role, SIGN_IN_LIMITS, type SignInWay } from "@mailsvc/sdk/contract";
import { and, asc, eq, gt, inArray, isNull, lte, or, type SQL } from "drizzle-orm";
import type { Db, Reader, Tx } from "../db/db.ts";
import { findRows } from "../db/find.ts";
import { listPage, type PageInput } from "../db/pagination.ts";
import type { DeveloperKey } from "../http/auth.ts";
import { notFound } from "../lib/api-error.ts";
import { type Clock, iso } from "../lib/clock.ts";
import { readNetworks } from "../lib/ip-network.ts";
import { RevocationWatch } from "../lib/revocation-watch.ts";
import { DAY, HOUR, MINUTE } from "../lib/units.ts";
import type { DashboardDeps, SessionDeps } from "./deps.ts";
import { chooseRole } from "./sso.ts";
import type { DashboardTables } from "./tables.ts";

type Row = DashboardTables["dashboardSessions"]["$inferSelect"];
export type MemberRow = DashboardTables["members"]["$inferSelect"];

/** Owner and rights of a session. */
export interface Subject {
  readonly workspaceId: string;
  readonly keyId: string;
  readonly role: Role;
  readonly way: SignInWay;
  /** The name that a proxy or a link gave. */
  readonly name: string | null;
  readonly memberId: string | null;
  /** The hash of the operator key that the person has given; null for sessions of one workspace. */
  readonly operator: string | null;
}

/** A session that is valid now, and the rights it gives. */
export interface LiveSession extends Subject {
  readonly id: string;
  readonly hash: string;
  readonly member: MemberRow | null;
  readonly key: DeveloperKey;
  readonly keyHash: string;
  readonly lastSeenAt: number;
}

export const SESSION_MS = SIGN_IN_LIMITS.sessionDays * DAY;
const IDLE_MS = SIGN_IN_LIMITS.idleHours * HOUR;
// A session's last request is stored this exactly: one write a minute, not one with each request.
const SEEN_MS = MINUTE;

/** Ends the connections of sessions that end. */
export class SessionWatch extends RevocationWatch {
  constructor(db: Db, clock: Clock) {
    super(async (hashes) => {
      const { dashboardSessions: t } = db.read.t;
      const live = await db.read
        .select({ hash: t.hash })
        .from(t)
        .where(and(inArray(t.hash, [...hashes]), gt(t.expiresAt, clock.now()), gt(t.lastSeenAt, clock.now() - IDLE_MS)));
      return new Set(live.map((row) => row.hash));
    }, clock.real);
  }
}

/** Begins a session. Its token is in the result and nowhere else; one that the browser had before is to be ended by the caller. */
export async function createSession(tx: Tx, deps: SessionDeps, subject: Subject): Promise<string> {
  const { dashboardSessions: t } = tx.t;
  const now = deps.clock.now();
  const token = makeToken(deps);
  await tx.delete(t).where(lte(t.expiresAt, now));
  if (subject.memberId !== null) {
    const { members } = tx.t;
    await tx.update(members).set({ lastSignInAt: now, mails: 0 }).where(eq(members.id, subject.memberId));
    await tx
      .update(members)
      .set({ joinedAt: now })
      .where(and(eq(members.id, subject.memberId), isNull(members.joinedAt)));
  }
  await tx.insert(t).values({
    id: deps.ids("ses"),
    hash: hashToken(token),
    ...{ workspaceId: subject.workspaceId, keyId: subject.keyId, role: subject.role, way: subject.way },
    ...{ name: subject.name, memberId: subject.memberId, operator: subject.operator },
    ...{ createdAt: now, lastSeenAt: now, expiresAt: now + SESSION_MS },
  });
  return token;
}

/**
 * Finds the session of a token; null when there is none, it has ended, its key was revoked, or its member was removed. The role is that
 * which the member has now, or the flags give now to whom a proxy names: both may have changed since the sign-in.
 */
export async function findSession(
  read: Reader,
  { clock, config }: Pick<DashboardDeps, "clock" | "config">,
  token: string,
): Promise<LiveSession | null> {
  const { dashboardSessions: t, keys, members } = read.t;
  const now = clock.now();
  const isNotExpired = or(isNull(keys.expiresAt), gt(keys.expiresAt, now));
  const [found] = await read
    .select({ session: t, key: keys, member: members })
    .from(t)
    .innerJoin(keys, eq(keys.id, t.keyId))
    .leftJoin(members, and(eq(members.id, t.memberId), isNull(members.removedAt)))
    .where(and(eq(t.hash, hashToken(token)), isLive(t, now), isNull(keys.revokedAt), isNotExpired));
  if (!found) return null;
  const { session, key, member } = found;
  if (session.memberId !== null && member === null) return null;
  const { way, name } = session;
  const role = member?.role ?? (way === "proxy" && name !== null && config.sso !== null ? chooseRole(config.sso, name) : session.role);
  const person = { name: member?.name ?? name, email: member?.email ?? null, memberId: session.memberId };
  return { ...session, role, member, keyHash: key.hash, key: { ...limitKey(key, role), person } };
}

/** The condition of sessions that have not ended. */
function isLive(t: DashboardTables["dashboardSessions"], now: number): SQL | undefined {
  return and(gt(t.expiresAt, now), gt(t.lastSeenAt, now - IDLE_MS));
}

/** Keeps a session from becoming idle. */
export async function touchSession({ db, clock }: Pick<SessionDeps, "db" | "clock">, session: LiveSession): Promise<void> {
  const now = clock.now();
  if (now - session.lastSeenAt < SEEN_MS) return;
  await db.tx(async (tx) => {
    const { dashboardSessions: t } = tx.t;
    await tx.update(t).set({ lastSeenAt: now, role: session.role }).where(eq(t.hash, session.hash));
  });
}

type Ended = Pick<Row, "hash" | "workspaceId" | "keyId" | "memberId" | "name" | "way" | "role">;

/** Ends a session, or with `everywhere` all of the same person. Returns how many. */
export async function endSession(tx: Tx, deps: Pick<SessionDeps, "sessionWatch">, session: Ended, everywhere: boolean): Promise<number> {
  const { dashboardSessions: t } = tx.t;
  const ended = await tx
    .delete(t)
    .where(everywhere ? isOfPerson(t, session) : eq(t.hash, session.hash))
    .returning({ id: t.id });
  tx.afterCommit(() => deps.sessionWatch.checkNow());
  return ended.length;
}

/**
 * The condition of all sessions of the person of one: of the member, or by the same key with the same name; without a name those of the
 * same role, for nothing else tells who they are.
 */
function isOfPerson(t: DashboardTables["dashboardSessions"], { workspaceId, keyId, memberId, name, way, role }: Ended): SQL | undefined {
  if (memberId !== null) return and(eq(t.workspaceId, workspaceId), eq(t.memberId, memberId));
  const same = and(eq(t.workspaceId, workspaceId), eq(t.keyId, keyId), isNull(t.memberId));
  if (name !== null) return and(same, eq(t.name, name), way === "proxy" ? eq(t.way, "proxy") : eq(t.way, "link"));
  return and(same, isNull(t.name), eq(t.role, role));
}

/** Ends all sessions of a member, and the links that were mailed to them. Returns how many sessions they were. */
export async function endSessionsOfMember(tx: Tx, deps: Pick<SessionDeps, "sessionWatch">, memberId: string): Promise<number> {
  const { dashboardSessions: t, dashboardLinks } = tx.t;
  await tx.delete(dashboardLinks).where(eq(dashboardLinks.memberId, memberId));
  const ended = await tx.delete(t).where(eq(t.memberId, memberId)).returning({ id: t.id });
  tx.afterCommit(() => deps.sessionWatch.checkNow());
  return ended.length;
}

/** The sessions of a workspace, newest first. */
export async function listSessions(read: Reader, workspaceId: string, input: PageInput, now: number): Promise<Page<DashboardSession>> {
  const { dashboardSessions: t } = read.t;
  const rows = await listPage(read, input, {
    table: t,
    where: and(eq(t.workspaceId, workspaceId), isLive(t, now)),
    toItem: (row: Row) => row,
  });
  const members = await loadMembers(read, rows.data);
  return { ...rows, data: rows.data.map((row) => toSession(row, members)) };
}

/** Counts the sessions of members. */
export async function countSessions(read: Reader | Tx, workspaceId: string, now: number): Promise<ReadonlyMap<string, number>> {
  const { dashboardSessions: t } = read.t;
  const rows = await read
    .select({ memberId: t.memberId })
    .from(t)
    .where(and(eq(t.workspaceId, workspaceId), isLive(t, now)));
  const counts = new Map<string, number>();
  for (const { memberId } of rows) if (memberId !== null) counts.set(memberId, (counts.get(memberId) ?? 0) + 1);
  return counts;
}

/** Ends a session of a workspace by its id. Throws ApiError not_found. */
export async function endSessionById(tx: Tx, deps: SessionDeps, workspaceId: string, id: string): Promise<DashboardSession> {
  const session = await getSession(tx, workspaceId, id);
  await endSession(tx, deps, session, false);
  return toSession(session, await loadMembers(tx, [session]));
}

/** A session of a workspace by its id. Throws ApiError not_found. */
export async function getSession(tx: Tx, workspaceId: string, id: string): Promise<Row> {
  const { dashboardSessions: t } = tx.t;
  const [row] = await tx
    .select()
    .from(t)
    .where(and(eq(t.workspaceId, workspaceId), eq(t.id, id)));
  if (!row) throw notFound("session", id);
  return row;
}

/** The members of sessions, by their ids. */
async function loadMembers(q: Reader | Tx, sessions: readonly Pick<Row, "memberId">[]): Promise<ReadonlyMap<string, MemberRow>> {
  const ids = [...new Set(sessions.flatMap(({ memberId }) => memberId ?? []))];
  return new Map((await findRows(q, q.t.members, { id: ids })).map((row) => [row.id, row]));
}

/** Ends all sessions of a workspace, and its links. Returns how many sessions they were. */
export async function endAllSessions(tx: Tx, deps: SessionDeps, workspaceId: string): Promise<number> {
  const { dashboardSessions: t, dashboardLinks } = tx.t;
  await tx.delete(dashboardLinks).where(eq(dashboardLinks.workspaceId, workspaceId));
  const ended = await tx.delete(t).where(eq(t.workspaceId, workspaceId)).returning({ id: t.id });
  tx.afterCommit(() => deps.sessionWatch.checkNow());
  return ended.length;
}

/** The oldest valid owner key of a workspace, to which sessions without a key of their own belong; null if there is none. */
export async function findOwnerKey(read: Reader | Tx, workspaceId: string): Promise<{ id: string; hash: string } | null> {
  const { keys } = read.t;
  const [row] = await read
    .select({ id: keys.id, hash: keys.hash })
    .from(keys)
    .where(and(eq(keys.workspaceId, workspaceId), eq(keys.owner, true), isNull(keys.revokedAt)))
    .orderBy(asc(keys.id))
    .limit(1);
  return row ?? null;
}

/** The rights of a key that a role leaves. */
function limitKey(
  key: Omit<DeveloperKey, "permissions" | "networks" | "person"> & {
    readonly permissions: readonly string[];
    readonly networks: readonly string[] | null;
  },
  role: Role,
): Omit<DeveloperKey, "person"> {
  const { id, name, workspaceId, test, revokedAt, expiresAt, senders } = key;
  const of = new Set<string>(key.permissions);
  const permissions = new Set(ROLE_PERMISSIONS[role].filter((one) => key.owner || of.has(one)));
  return {
    id,
    name,
    workspaceId,
    owner: key.owner && role === "owner",
    test,
    revokedAt,
    expiresAt,
    senders,
    permissions,
    networks: readNetworks(key.networks),
  };
}

function toSession(row: Row, members: ReadonlyMap<string, MemberRow>): DashboardSession {
  const { id, role, keyId, way, memberId, name, createdAt, lastSeenAt, expiresAt } = row;
  const member = members.get(memberId ?? "");
  return {
    ...{ id, role: member?.role ?? role, keyId, way, memberId, name: member?.name ?? name, email: member?.email ?? null },
    ...{ createdAt: iso(createdAt), lastSeenAt: iso(lastSeenAt), expiresAt: iso(expiresAt) },
  };
}

/** 256 random bits: 43 characters that need no encoding in addresses and cookies. */
export function makeToken({ random }: Pick<SessionDeps, "random">): string {
  return Buffer.from(random.bytes(32)).toString("base64url");
}

export function hashToken(token: string): string {
  return hash("sha256", token, "hex");
}
