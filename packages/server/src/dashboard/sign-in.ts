import { ROLE_PERMISSIONS, type Role } from "@mailsvc/sdk/contract";
import { asc } from "drizzle-orm";
import * as z from "zod";
import type { BrowserRequest, DeveloperKey } from "../http/auth.ts";
import type { PageRequest, PageResponse, PublicPage } from "../http/public/public-pages.ts";
import type { Installation } from "../installation/installation.ts";
import { ApiError } from "../lib/api-error.ts";
import { getWorkspace } from "../workspaces/workspaces.ts";
import { type BrowserAccess, isOperator } from "./access.ts";
import { buildCookie, readReached } from "./cookie.ts";
import type { DashboardDeps } from "./deps.ts";
import { assertKept, assertSameOrigin } from "./origin.ts";
import {
  createSession,
  endSession,
  findOwnerKey,
  findSession,
  type LiveSession,
  redeemLink,
  SESSION_MS,
  type Subject,
} from "./sessions.ts";
import { chooseRole, readProxyUser } from "./sso.ts";

const MAX_BODY = 4096;

// Built when somebody signs in: zod takes 3 ms for its first schema, and a start needs none.
const buildSignIn = () =>
  z.union([z.strictObject({ token: z.string().max(100) }), z.strictObject({ apiKey: z.string().max(200) })], {
    error: "Give token or apiKey.",
  });
const buildBecomeOperator = () => z.strictObject({ operatorKey: z.string().max(200) });
const buildSignOut = () => z.strictObject({ everywhere: z.boolean().default(false) });

/** Facts about the person that the dashboard loads before any page. */
interface State {
  readonly role: Role;
  readonly permissions: readonly string[];
  readonly user: string | null;
  /** True if the person has the rights of the operator key. */
  readonly operator: boolean;
  readonly workspace: { readonly id: string; readonly name: string };
  /** In dev mode, all workspaces; otherwise none. */
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
    user,
    operator: null,
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
    return begin(deps, request, { workspaceId: key.workspaceId, keyId: key.id, role: "owner", user: null, operator: null }, before);
  });
}

/** Counts failed logins by their address, with those by API keys. Only what a secret decides: looking a session up counts by itself. */
async function countingFailures<T>({ failedLogins }: DashboardDeps, browser: BrowserRequest, logIn: () => Promise<T>): Promise<T> {
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
  const { workspaceId, keyId, role, user } = session;
  return begin(deps, request, { workspaceId, keyId, role, user, operator }, session);
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
  const token = await deps.db.tx(async (tx) => {
    const subject = "keyId" in by ? by : await redeemLink(tx, deps, by.token);
    if (before !== null) await endSession(tx, deps, before, false);
    return createSession(tx, deps, subject);
  });
  const session = await findSession(deps.db.read, deps, token);
  if (session === null) throw new ApiError("unauthorized", "The key of this session was revoked.");
  const reached = readReached({ get: request.header }, deps.baseUrl());
  return json(await describe(deps, session), [["set-cookie", buildCookie(token, reached, SESSION_MS / 1000)]]);
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
  const { workspaceId, role, user, key } = session;
  const { id, name } = await getWorkspace(deps.db.read, workspaceId);
  const operator = await isOperator(deps, session);
  return {
    ...{ role, user, operator, workspace: { id, name }, workspaces: [], dev: false },
    permissions: [...key.permissions],
    ...(await describeServer(deps)),
    sessionId: session.id,
  };
}

async function describeDev(deps: DashboardDeps, access: BrowserAccess, browser: BrowserRequest, wanted: string): Promise<State> {
  access.guard(browser);
  const { workspaces: t } = deps.db.read.t;
  const workspaces = await deps.db.read.select({ id: t.id, name: t.name }).from(t).orderBy(asc(t.id)).limit(1000);
  const [first] = workspaces;
  const workspace = workspaces.find(({ id }) => id === wanted) ?? first;
  if (!workspace) throw new ApiError("not_found", "There is no workspace on this server.");
  return {
    ...{ role: "owner", user: null, operator: true, workspace, workspaces, dev: true },
    permissions: ROLE_PERMISSIONS.owner,
    ...(await describeServer(deps)),
    sessionId: null,
  };
}

async function describeServer({ version, mailer, relays, showsMarketplace, db: { read } }: DashboardDeps) {
  const [capturesMail, marketplace] = [await relays.capturesMail(read), await showsMarketplace(read)];
  return { version, mailer: mailer.name, capturesMail, marketplace };
}

function toBrowser({ method, header, peer }: PageRequest): BrowserRequest {
  return { method, headers: { get: header }, remoteAddress: peer };
}

/** Throws ApiError validation_error. */
async function readBody<T>(request: PageRequest, schema: z.ZodType<T>): Promise<T> {
  if (!/^application\/json\b/i.test(request.header("content-type") ?? ""))
    throw new ApiError("unsupported_media_type", "Send application/json.");
  const text = new TextDecoder().decode(await request.body(MAX_BODY));
  const { success, data, error } = schema.safeParse(parse(text));
  if (success) return data;
  throw new ApiError("validation_error", error.issues[0]?.message ?? "Invalid request.");
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function json(value: unknown, headers: PageResponse["headers"] = []): PageResponse {
  return {
    status: 200,
    headers: [
      ["content-type", "application/json; charset=utf-8"],
      ["cache-control", "no-store"],
      ["content-security-policy", "sandbox; default-src 'none'"],
      ...headers,
    ],
    body: JSON.stringify(value),
  };
}
