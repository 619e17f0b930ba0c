import { hash } from "node:crypto";
import { type DashboardSession, type Page, ROLE_PERMISSIONS, type Role, SIGN_IN_LIMITS } from "@mailsvc/sdk/contract";
import { and, asc, eq, gt, inArray, isNull, lte, or } from "drizzle-orm";
import type { Db, Reader, Tx } from "../db/db.ts";
import { listPage, type PageInput } from "../db/pagination.ts";
import type { DeveloperKey } from "../http/auth.ts";
import { ApiError, notFound } from "../lib/api-error.ts";
import { type Clock, iso } from "../lib/clock.ts";
import { readNetworks } from "../lib/ip-network.ts";
import { RevocationWatch } from "../lib/revocation-watch.ts";
import { DAY, HOUR, MINUTE } from "../lib/units.ts";
import type { DashboardDeps, SessionDeps } from "./deps.ts";
import { chooseRole } from "./sso.ts";
import type { DashboardTables } from "./tables.ts";

type Row = DashboardTables["dashboardSessions"]["$inferSelect"];

/** Owner and rights of a session. */
export interface Subject {
  readonly workspaceId: string;
  readonly keyId: string;
  readonly role: Role;
  readonly user: string | null;
  /** The hash of the operator key that the person has given; null for sessions of one workspace. */
  readonly operator: string | null;
}

/** A session that is valid now, and the rights it gives. */
export interface LiveSession extends Subject {
  readonly id: string;
  readonly hash: string;
  readonly key: DeveloperKey;
  readonly keyHash: string;
  readonly lastSeenAt: number;
}

export const SESSION_MS = SIGN_IN_LIMITS.sessionDays * DAY;
const IDLE_MS = SIGN_IN_LIMITS.idleHours * HOUR;
/** Path of a sign-in link. Its token is in the fragment, so the browser does not send it to the server in an address. */
export const SIGN_IN_PATH = "/dashboard#:token";
const LINK_MS = SIGN_IN_LIMITS.linkMinutes * MINUTE;
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
  await tx.insert(t).values({
    id: deps.ids("ses"),
    hash: hashToken(token),
    ...{ workspaceId: subject.workspaceId, keyId: subject.keyId, role: subject.role, user: subject.user, operator: subject.operator },
    ...{ createdAt: now, lastSeenAt: now, expiresAt: now + SESSION_MS },
  });
  return token;
}

/**
 * Finds the session of a token; null when there is none, it has ended, or its key was revoked. A person who came by single sign-on has the
 * role that the server's flags give them now, which may have changed since their sign-in.
 */
export async function findSession(
  read: Reader,
  { clock, config }: Pick<DashboardDeps, "clock" | "config">,
  token: string,
): Promise<LiveSession | null> {
  const { dashboardSessions: t, keys } = read.t;
  const now = clock.now();
  const isNotExpired = or(isNull(keys.expiresAt), gt(keys.expiresAt, now));
  const [found] = await read
    .select({ session: t, key: keys })
    .from(t)
    .innerJoin(keys, eq(keys.id, t.keyId))
    .where(and(eq(t.hash, hashToken(token)), gt(t.expiresAt, now), gt(t.lastSeenAt, now - IDLE_MS), isNull(keys.revokedAt), isNotExpired));
  if (!found) return null;
  const { session, key } = found;
  const { user } = session;
  const role = user !== null && config.sso !== null ? chooseRole(config.sso, user) : session.role;
  return { ...session, role, keyHash: key.hash, key: limitKey(key, role) };
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

/**
 * Ends a session, or with `everywhere` all of the same person: those of the same name, or for those without one all by the same key with
 * the same role, for nothing else tells who they are.
 */
export async function endSession(tx: Tx, deps: SessionDeps, session: LiveSession, everywhere: boolean): Promise<void> {
  const { dashboardSessions: t } = tx.t;
  const same = and(
    eq(t.keyId, session.keyId),
    session.user === null ? and(isNull(t.user), eq(t.role, session.role)) : eq(t.user, session.user),
  );
  await tx.delete(t).where(everywhere ? same : eq(t.hash, session.hash));
  tx.afterCommit(() => deps.sessionWatch.checkNow());
}

/** The sessions of a workspace, newest first. */
export function listSessions(read: Reader, workspaceId: string, input: PageInput, now: number): Promise<Page<DashboardSession>> {
  const { dashboardSessions: t } = read.t;
  const where = and(eq(t.workspaceId, workspaceId), gt(t.expiresAt, now), gt(t.lastSeenAt, now - IDLE_MS));
  return listPage(read, input, { table: t, where, toItem: toSession });
}

/** Ends a session of a workspace by its id. Throws ApiError not_found. */
export async function endSessionById(tx: Tx, deps: SessionDeps, workspaceId: string, id: string): Promise<DashboardSession> {
  const { dashboardSessions: t } = tx.t;
  const [ended] = await tx
    .delete(t)
    .where(and(eq(t.workspaceId, workspaceId), eq(t.id, id)))
    .returning();
  if (!ended) throw notFound("session", id);
  tx.afterCommit(() => deps.sessionWatch.checkNow());
  return toSession(ended);
}

/** Ends all sessions of a workspace, and its links. Returns how many sessions they were. */
export async function endAllSessions(tx: Tx, deps: SessionDeps, workspaceId: string): Promise<number> {
  const { dashboardSessions: t, dashboardLinks } = tx.t;
  await tx.delete(dashboardLinks).where(eq(dashboardLinks.workspaceId, workspaceId));
  const ended = await tx.delete(t).where(eq(t.workspaceId, workspaceId)).returning({ id: t.id });
  tx.afterCommit(() => deps.sessionWatch.checkNow());
  return ended.length;
}

/** Makes a link that signs one browser in. Its token stands behind the #, so it gets into no log. */
export async function createLink(
  tx: Tx,
  deps: SessionDeps,
  subject: Pick<Subject, "workspaceId" | "keyId" | "role">,
): Promise<{ url: string; role: Role; expiresAt: string }> {
  const { dashboardLinks: t } = tx.t;
  const now = deps.clock.now();
  const token = makeToken(deps);
  await tx.delete(t).where(lte(t.expiresAt, now));
  const { workspaceId, keyId, role } = subject;
  await tx.insert(t).values({ hash: hashToken(token), workspaceId, keyId, role, expiresAt: now + LINK_MS });
  return { url: `${deps.baseUrl()}${SIGN_IN_PATH.replace(":token", token)}`, role, expiresAt: iso(now + LINK_MS) };
}

/** Makes a link that signs the owner of a workspace in; null when it has no owner key. */
export async function createOwnerLink(deps: SessionDeps, workspaceId: string): Promise<string | null> {
  return deps.db.tx(async (tx) => {
    const owner = await findOwnerKey(tx, workspaceId);
    return owner && (await createLink(tx, deps, { workspaceId, keyId: owner.id, role: "owner" })).url;
  });
}

/** Uses a link up. Throws ApiError unauthorized when it was used, is too old, or its key was revoked. */
export async function redeemLink(tx: Tx, { clock }: SessionDeps, token: string): Promise<Subject> {
  const { dashboardLinks: t, keys } = tx.t;
  const [link] = await tx
    .delete(t)
    .where(and(eq(t.hash, hashToken(token)), gt(t.expiresAt, clock.now())))
    .returning();
  const [key] = link
    ? await tx
        .select({ id: keys.id })
        .from(keys)
        .where(and(eq(keys.id, link.keyId), isNull(keys.revokedAt)))
    : [];
  if (!link || !key)
    throw new ApiError("unauthorized", "This link does not work any more.", {
      hint: `A link works once, within ${SIGN_IN_LIMITS.linkMinutes} minutes. Make another one with mailsvc open.`,
    });
  return { workspaceId: link.workspaceId, keyId: link.keyId, role: link.role, user: null, operator: null };
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
  key: Omit<DeveloperKey, "permissions" | "networks"> & {
    readonly permissions: readonly string[];
    readonly networks: readonly string[] | null;
  },
  role: Role,
): DeveloperKey {
  const { id, workspaceId, test, revokedAt, expiresAt, senders } = key;
  const of = new Set<string>(key.permissions);
  const permissions = new Set(ROLE_PERMISSIONS[role].filter((one) => key.owner || of.has(one)));
  return {
    id,
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

function toSession({ id, role, keyId, user, createdAt, lastSeenAt, expiresAt }: Row): DashboardSession {
  return { id, role, keyId, user, createdAt: iso(createdAt), lastSeenAt: iso(lastSeenAt), expiresAt: iso(expiresAt) };
}

/** 256 random bits: 43 characters that need no encoding in addresses and cookies. */
function makeToken({ random }: Pick<SessionDeps, "random">): string {
  return Buffer.from(random.bytes(32)).toString("base64url");
}

function hashToken(token: string): string {
  return hash("sha256", token, "hex");
}
