import { ROLE_PERMISSIONS, type Role } from "@mailsvc/sdk/contract";
import * as z from "zod";
import type { Reader } from "../db/db.ts";
import { findRows } from "../db/find.ts";
import type { BrowserRequest, DeveloperKey } from "../http/auth.ts";
import type { PageRequest, PageResponse, PublicPage } from "../http/public/public-pages.ts";
import type { Installation } from "../installation/installation.ts";
import { ApiError, notFound } from "../lib/api-error.ts";
import { getWorkspace, listWorkspaceIds, loadWorkspaceNames } from "../workspaces/workspaces.ts";
import { type BrowserAccess, isOperator } from "./access.ts";
import { assertKept, assertSameOrigin, buildCookie, readReached } from "./cookie.ts";
import type { DashboardDeps } from "./deps.ts";
import { json, readBody, toBrowser } from "./json-page.ts";
import { buildMemberSubject, redeemLink } from "./links.ts";
import {
  createSession,
  endSession,
  findOwnerKey,
  findSession,
  type LiveSession,
  type MemberRow,
  SESSION_MS,
  type Subject,
} from "./sessions.ts";
import { chooseRole, readProxyUser } from "./sso.ts";

// Built when somebody signs in: zod takes 3 ms for its first schema, and a start needs none.
const buildSignIn = () =>
  z.union([z.strictObject({ token: z.string().max(100) }), z.strictObject({ apiKey: z.string().max(200) })], {
    error: "Give token or apiKey.",
  });
// Far more than a laptop has.
const MAX_WORKSPACES = 1000;

const buildBecomeOperator = () => z.strictObject({ operatorKey: z.string().max(200) });
const buildEnterWorkspace = () => z.strictObject({ workspaceId: z.string().max(100) });
const buildSignOut = () => z.strictObject({ everywhere: z.boolean().default(false) });

/** A session by an API key: the person has no name, and the rights of the key. */
const OF_KEY = { role: "owner", way: "key", name: null, memberId: null, operator: null } as const;

/** Facts about the person that the dashboard loads before any page. */
interface State {
  readonly role: Role;
  readonly permissions: readonly string[];
  /** The name and the address of the person, as far as they are known. */
  readonly name: string | null;
  readonly email: string | null;
  /** True if the person has the rights of the operator key. */
  readonly operator: boolean;
  readonly workspace: { readonly id: string; readonly name: string };
  /** In dev mode, all workspaces; otherwise those of which the person is a member, if there are several. */
  readonly workspaces: readonly { readonly id: string; readonly name: string }[];
  readonly dev: boolean;
  readonly version: string;
  readonly mailer: string;
  /** True if no mail leaves the server, because it has nothing to send through. */
  readonly capturesMail: boolean;
  /** True if agents are offered on this server. */
  readonly marketplace: boolean;
  /** Id of this browser's session in the workspace; null in dev mode. */
  readonly sessionId: string | null;
}

export interface SignInParts {
  readonly deps: DashboardDeps;
  readonly access: BrowserAccess;
  readonly installation: Pick<Installation, "workspaceId">;
}

/** Signing in and out. They answer JSON, are open to everyone and refuse what another site sends. */
export function signInPages(parts: SignInParts): readonly PublicPage[] {
  return [
    { path: "/dashboard/session", methods: ["GET"], errors: "json", serve: (request) => showState(parts, request) },
    { path: "/dashboard/sign-in", methods: ["POST"], whenFull: true, errors: "json", serve: (request) => signIn(parts, request) },
    { path: "/dashboard/workspace", methods: ["POST"], whenFull: true, errors: "json", serve: (request) => enterWorkspace(parts, request) },
    { path: "/dashboard/operator", methods: ["POST"], whenFull: true, errors: "json", serve: (request) => becomeOperator(parts, request) },
    { path: "/dashboard/sign-out", methods: ["POST"], whenFull: true, errors: "json", serve: (request) => signOut(parts, request) },
  ];
}

/** Tells who is signed in: in dev mode anybody on this machine, behind a trusted proxy the user it names. Throws ApiError unauthorized. */
async function showState({ deps, access, installation }: SignInParts, request: PageRequest): Promise<PageResponse> {
  const browser = toBrowser(request);
  if (deps.config.dev) return json(await describeDev(deps, access, browser, request.query.get("workspace") ?? installation.workspaceId));
  const session = await access.find(browser).catch((error: unknown) => {
    // Also where others at this address failed too often: the page then asks to sign in, which a valid key can.
    if (error instanceof ApiError && (error.code === "unauthorized" || error.code === "rate_limited")) return null;
    throw error;
  });
  if (session !== null) return json(await describe(deps, session));
  const user = readProxyUser(deps.config.sso, browser);
  const owner = user === null ? null : await findOwnerKey(deps.db.read, installation.workspaceId);
  if (deps.config.sso === null || user === null || owner === null)
    throw new ApiError("unauthorized", "You are not signed in.", { hint: "Sign in with a link from mailsvc open, or with an API key." });
  return begin(deps, request, {
    workspaceId: installation.workspaceId,
    keyId: owner.id,
    role: chooseRole(deps.config.sso, user),
    ...{ way: "proxy", name: user, memberId: null, operator: null },
  });
}

async function signIn({ deps, access }: SignInParts, request: PageRequest): Promise<PageResponse> {
  const browser = toBrowser(request);
  assertSameOrigin(browser.headers, deps.baseUrl());
  assertKept(browser.headers, deps.baseUrl());
  const input = await readBody(request, buildSignIn());
  const before = await access.find(browser).catch(() => null);
  return countingFailures(deps, browser, async () => {
    if ("token" in input) return begin(deps, request, input, before);
    const key = await getKey(deps, input.apiKey);
    return begin(deps, request, { ...OF_KEY, workspaceId: key.workspaceId, keyId: key.id }, before);
  });
}

/** Counts failed logins by their address, with those by API keys. Only what a secret decides: looking a session up counts by itself. */
export async function countingFailures<T>({ failedLogins }: DashboardDeps, browser: BrowserRequest, logIn: () => Promise<T>): Promise<T> {
  try {
    return await logIn();
  } catch (error) {
    failedLogins.countRequest(error, browser);
    throw error;
  }
}

/** Gives the session of an owner the rights of the operator key, under a new token. Throws ApiError unauthorized or forbidden. */
async function becomeOperator({ deps, access }: SignInParts, request: PageRequest): Promise<PageResponse> {
  const browser = toBrowser(request);
  assertSameOrigin(browser.headers, deps.baseUrl());
  const { operatorKey } = await readBody(request, buildBecomeOperator());
  const session = await access.find(browser);
  if (session === null) throw new ApiError("unauthorized", "You are not signed in.");
  if (session.role !== "owner") throw new ApiError("forbidden", "Only an owner can become the operator.");
  const operator = deps.keyCache.hash(operatorKey.trim());
  await countingFailures(deps, browser, async () => {
    if (!(await deps.keyCache.isOperator(operator)))
      throw new ApiError("unauthorized", "This is not the operator key of this server.", {
        hint: "It begins with ms_op_. Make a new one on the server: mailsvc recover-key --operator",
      });
  });
  return begin(deps, request, { ...session, operator }, session);
}

/** Takes a member to another workspace in which the same address was invited. Throws ApiError unauthorized, or not_found. */
async function enterWorkspace({ deps, access }: SignInParts, request: PageRequest): Promise<PageResponse> {
  const browser = toBrowser(request);
  assertSameOrigin(browser.headers, deps.baseUrl());
  const { workspaceId } = await readBody(request, buildEnterWorkspace());
  const session = await access.find(browser);
  if (session === null) throw new ApiError("unauthorized", "You are not signed in.");
  const there = (await listMemberships(deps.db.read, session)).find((one) => one.workspaceId === workspaceId);
  if (!there) throw notFound("workspace", workspaceId);
  const subject = await deps.db.tx((tx) => buildMemberSubject(tx, there, session.way === "provider" ? "provider" : "mail"));
  return begin(deps, request, subject, session);
}

/** The rows of a member in all workspaces that this sign-in opens: the address is proven, and so is the account if it came by the provider. */
async function listMemberships(read: Reader, { member }: LiveSession): Promise<MemberRow[]> {
  if (member === null) return [];
  const rows = await findRows(read, read.t.members, { emailKey: member.emailKey });
  return rows.filter(({ removedAt, account }) => removedAt === null && (account === null || account === member.account));
}

async function signOut({ deps, access }: SignInParts, request: PageRequest): Promise<PageResponse> {
  const browser = toBrowser(request);
  assertSameOrigin(browser.headers, deps.baseUrl());
  const { everywhere } = await readBody(request, buildSignOut());
  const session = await access.find(browser).catch(() => null);
  if (session !== null) await deps.db.tx((tx) => endSession(tx, deps, session, everywhere));
  const cookie = buildCookie("", readReached(browser.headers, deps.baseUrl()), 0);
  return json({ signedOut: session !== null }, [["set-cookie", cookie]]);
}

/**
 * Begins a session with a token that the browser did not have before, and ends the one it had: a token that somebody else put there gives
 * no access to what follows.
 */
async function begin(
  deps: DashboardDeps,
  request: PageRequest,
  by: Subject | { readonly token: string },
  before: LiveSession | null = null,
): Promise<PageResponse> {
  const { session, cookie } = await beginSession(deps, request, by, before);
  return json(await describe(deps, session), [["set-cookie", cookie]]);
}

/** The same, for an answer of another kind. */
export async function beginSession(
  deps: DashboardDeps,
  request: PageRequest,
  by: Subject | { readonly token: string },
  before: LiveSession | null,
): Promise<{ session: LiveSession; cookie: string }> {
  const token = await deps.db.tx(async (tx) => {
    const subject = "keyId" in by ? by : await redeemLink(tx, deps, by.token);
    if (before !== null) await endSession(tx, deps, before, false);
    return createSession(tx, deps, subject);
  });
  const session = await findSession(deps.db.read, deps, token);
  if (session === null) throw new ApiError("unauthorized", "The key of this session was revoked.");
  const reached = readReached({ get: request.header }, deps.baseUrl());
  return { session, cookie: buildCookie(token, reached, SESSION_MS / 1000) };
}

async function getKey({ keyCache, clock }: DashboardDeps, text: string): Promise<DeveloperKey> {
  const key = await keyCache.load(keyCache.hash(text.trim()));
  if (key === null || key.revokedAt !== null || (key.expiresAt !== null && key.expiresAt <= clock.now()))
    throw new ApiError("unauthorized", "This API key is not valid.", {
      hint: "Copy the whole key: it begins with ms_live_, ms_test_ or ms_dev_.",
    });
  return key;
}

async function describe(deps: DashboardDeps, session: LiveSession): Promise<State> {
  const { workspaceId, role, key } = session;
  const { read } = deps.db;
  const { id, name } = await getWorkspace(read, workspaceId);
  const operator = await isOperator(deps, session);
  const others = await Promise.all((await listMemberships(read, session)).map((one) => getWorkspace(read, one.workspaceId)));
  return {
    ...{ role, name: key.person?.name ?? null, email: key.person?.email ?? null, operator, workspace: { id, name }, dev: false },
    workspaces: others.length > 1 ? others.map((one) => ({ id: one.id, name: one.name })) : [],
    permissions: [...key.permissions],
    ...(await describeServer(deps)),
    sessionId: session.id,
  };
}

async function describeDev(deps: DashboardDeps, access: BrowserAccess, browser: BrowserRequest, wanted: string): Promise<State> {
  access.guard(browser);
  const { read } = deps.db;
  const names = await loadWorkspaceNames(read, await listWorkspaceIds(read, MAX_WORKSPACES));
  const workspaces = [...names].map(([id, name]) => ({ id, name })).sort((one, other) => (one.id < other.id ? -1 : 1));
  const [first] = workspaces;
  const workspace = workspaces.find(({ id }) => id === wanted) ?? first;
  if (!workspace) throw new ApiError("not_found", "There is no workspace on this server.");
  return {
    ...{ role: "owner", name: null, email: null, operator: true, workspace, workspaces, dev: true },
    permissions: ROLE_PERMISSIONS.owner,
    ...(await describeServer(deps)),
    sessionId: null,
  };
}

async function describeServer({ version, mailer, relays, showsMarketplace, db: { read } }: DashboardDeps) {
  const [capturesMail, marketplace] = [await relays.capturesMail(read), await showsMarketplace(read)];
  return { version, mailer: mailer.name, capturesMail, marketplace };
}
