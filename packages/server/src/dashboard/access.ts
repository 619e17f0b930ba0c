import type { AdmittedSession, BrowserRequest, SessionLookup } from "../http/auth.ts";
import { ApiError } from "../lib/api-error.ts";
import { assertSameOrigin, readReached, readToken } from "./cookie.ts";
import type { DashboardDeps } from "./deps.ts";
import { findOwnerKey, findSession, type LiveSession, touchSession } from "./sessions.ts";
import { readProxyUser } from "./sso.ts";

/** The header by which the dashboard of dev mode names the workspace it looks at. A page of another site cannot send it without asking. */
const WORKSPACE_HEADER = "x-mailsvc-workspace";

/** Throws ApiError forbidden for a request that does not come from this machine. */
type LocalGuard = (request: Pick<BrowserRequest, "headers">, remoteAddress: string | undefined) => void;

interface AccessParts {
  readonly deps: DashboardDeps;
  readonly guardLocal: LocalGuard;
}

/** Says which requests come from a signed-in browser. In dev mode every browser on this machine counts as one of the owner. */
export class BrowserAccess implements SessionLookup {
  readonly #deps: DashboardDeps;
  readonly #guardLocal: LocalGuard;

  constructor({ deps, guardLocal }: AccessParts) {
    this.#deps = deps;
    this.#guardLocal = guardLocal;
  }

  async admit(request: BrowserRequest): Promise<AdmittedSession | null> {
    const workspaceId = this.#deps.config.dev ? request.headers.get(WORKSPACE_HEADER) : null;
    if (workspaceId !== null) return this.admitLocal(request, workspaceId);
    const session = await this.find(request);
    if (session === null) return null;
    if (request.method !== "GET" && request.method !== "HEAD") assertSameOrigin(request.headers, this.#deps.baseUrl());
    await touchSession(this.#deps, session);
    const { keyWatch, sessionWatch } = this.#deps;
    return {
      key: session.key,
      hasShownOperatorKey: () => isOperator(this.#deps, session),
      recheck: async () => {
        if ((await this.find(request)) === null) throw buildEnded();
      },
      watch: (until) => AbortSignal.any([keyWatch.watch(session.keyHash, until), sessionWatch.watch(session.hash, until)]),
    };
  }

  async admitOperator(request: BrowserRequest): Promise<boolean> {
    if (this.#deps.config.dev && request.headers.get(WORKSPACE_HEADER) !== null) {
      this.guard(request);
      return true;
    }
    const session = await this.find(request);
    if (session === null) return false;
    if (request.method !== "GET" && request.method !== "HEAD") assertSameOrigin(request.headers, this.#deps.baseUrl());
    if (!(await isOperator(this.#deps, session)))
      throw new ApiError("forbidden", "This needs the operator key.", { hint: "Give it in the dashboard: Operator." });
    await touchSession(this.#deps, session);
    return true;
  }

  /** Throws ApiError forbidden for a browser that is not on this machine. */
  guard(request: BrowserRequest): void {
    this.#guardLocal(request, request.remoteAddress);
  }

  /** Admits a browser on this machine to a workspace, as its owner; dev mode only. Throws ApiError forbidden or unauthorized. */
  async admitLocal(request: BrowserRequest, workspaceId: string): Promise<AdmittedSession> {
    const { db, keyCache } = this.#deps;
    this.guard(request);
    const owner = await findOwnerKey(db.read, workspaceId);
    const key = owner && (await keyCache.load(owner.hash));
    if (!owner || !key) throw new ApiError("unauthorized", "This workspace does not exist any more. Load the page again.");
    return {
      key,
      hasShownOperatorKey: async () => true,
      recheck: async () => {},
      watch: (until) => this.#deps.keyWatch.watch(owner.hash, until),
    };
  }

  /** The session that the cookie of a request names; null without one. Throws ApiError unauthorized when it has ended, or rate_limited. */
  async find(request: BrowserRequest): Promise<LiveSession | null> {
    const { db, config, baseUrl, failedLogins } = this.#deps;
    const token = readToken(request.headers, readReached(request.headers, baseUrl()));
    if (token === null) return null;
    const session = await findSession(db.read, this.#deps, token);
    if (session === null) {
      const refusal = buildEnded();
      failedLogins.countRequest(refusal, request);
      throw refusal;
    }
    // Behind a trusted proxy, each request must name the user who signed in.
    if (session.way === "proxy" && readProxyUser(config.sso, request) !== session.name) throw buildEnded();
    return session;
  }
}

/** True if a session has the rights of the operator key, and that key is still the server's. */
export async function isOperator({ keyCache }: Pick<DashboardDeps, "keyCache">, { operator, role }: LiveSession): Promise<boolean> {
  return operator !== null && role === "owner" && (await keyCache.isOperator(operator));
}

function buildEnded(): ApiError {
  return new ApiError("unauthorized", "Your session has ended.", { hint: "Sign in again." });
}
