import { addressKey, parseAddress } from "@mailsvc/sdk/contract";
import type * as OAuth from "oauth4webapi";
import * as z from "zod";
import type { Tx } from "../db/db.ts";
import { findRows } from "../db/find.ts";
import type { PageRequest, PageResponse, PublicPage } from "../http/public/public-pages.ts";
import type { Log } from "../lib/log.ts";
import { MINUTE } from "../lib/units.ts";
import { buildProviderCookie, readCookie, readReached } from "./cookie.ts";
import { toBrowser } from "./json-page.ts";
import { buildMemberSubject } from "./links.ts";
import { insertMember } from "./members.ts";
import type { OidcConfig } from "./oidc-config.ts";
import type { MemberRow } from "./sessions.ts";
import { beginSession, type SignInParts } from "./sign-in.ts";

const CALLBACK = "/dashboard/provider/callback";
// Time to log in at the provider, with a second factor.
const UNDER_WAY_MS = 10 * MINUTE;
const ANSWER_MS = 10_000;
const PLACE = "dashboard:provider";

/** Reasons why the provider signs somebody in and this server does not. The dashboard has a sentence for each. */
type Problem = "not-invited" | "not-verified" | "other-account" | "too-late" | "failed";

/** Ends a sign-in with a reason that the person is told. */
class Refused extends Error {
  readonly problem: Problem;

  constructor(problem: Problem, cause?: unknown) {
    super(problem, { cause });
    this.problem = problem;
  }
}

/** A sign-in that is under way at the provider, as the browser keeps it, sealed. */
const buildUnderWay = () => z.object({ state: z.string(), nonce: z.string(), verifier: z.string(), back: z.string(), until: z.number() });
type UnderWay = z.infer<ReturnType<typeof buildUnderWay>>;

/** An account at the provider. */
interface Account {
  readonly subject: string;
  readonly email: string;
  readonly name: string | null;
}

/** Signing in at the provider of OpenID Connect: the authorization code flow with PKCE, state and nonce. None without a provider. */
export function providerPages(parts: SignInParts, log: Log): readonly PublicPage[] {
  const { oidc } = parts.deps.config;
  if (oidc === null) return [];
  const provider = new Provider(parts, oidc, log);
  return [
    { path: "/dashboard/provider", methods: ["GET"], serve: (request) => provider.start(request) },
    { path: CALLBACK, methods: ["GET"], secretQuery: ["code", "state"], serve: (request) => provider.finish(request) },
  ];
}

class Provider {
  readonly #parts: SignInParts;
  readonly #oidc: OidcConfig;
  readonly #log: Log;

  constructor(parts: SignInParts, oidc: OidcConfig, log: Log) {
    this.#parts = parts;
    this.#oidc = oidc;
    this.#log = log;
  }

  /** Leads to the provider. A page of another site that leads here gets the dashboard instead: nobody signs others in. */
  async start(request: PageRequest): Promise<PageResponse> {
    const { deps } = this.#parts;
    const site = request.header("sec-fetch-site");
    if (site !== null && site !== "same-origin" && site !== "none") return redirect("/dashboard");
    return this.#explained(async () => {
      const oauth = await import("oauth4webapi");
      const server = await this.#discover(oauth);
      const underWay: UnderWay = {
        ...{ state: this.#makeSecret(), nonce: this.#makeSecret(), verifier: this.#makeSecret() },
        back: readBack(request.query.get("back"), deps.baseUrl()),
        until: deps.clock.real.now() + UNDER_WAY_MS,
      };
      const to = new URL(server.authorization_endpoint ?? "");
      for (const [name, value] of [
        ["client_id", this.#oidc.clientId],
        ["redirect_uri", this.#redirectUri()],
        ["response_type", "code"],
        ["scope", "openid email profile"],
        ["state", underWay.state],
        ["nonce", underWay.nonce],
        ["code_challenge", await oauth.calculatePKCECodeChallenge(underWay.verifier)],
        ["code_challenge_method", "S256"],
      ] as const)
        to.searchParams.set(name, value);
      const sealed = Buffer.from(deps.seal.seal(JSON.stringify(underWay), PLACE)).toString("base64url");
      return redirect(to.href, buildProviderCookie(sealed, this.#reached(request), UNDER_WAY_MS / 1000));
    });
  }

  /** Signs the person in whom the provider names, in the browser in which it began. */
  async finish(request: PageRequest): Promise<PageResponse> {
    const { deps, access, installation } = this.#parts;
    return this.#explained(async () => {
      const underWay = this.#readUnderWay(request);
      const account = await this.#ask(request, underWay);
      const before = await access.find(toBrowser(request)).catch(() => null);
      const subject = await deps.db.tx(async (tx) => {
        const member = await this.#findMember(tx, account, installation.workspaceId);
        return buildMemberSubject(tx, member, "provider");
      });
      const { cookie } = await beginSession(deps, request, subject, before);
      return redirect(underWay.back, cookie, buildProviderCookie("", this.#reached(request), 0));
    });
  }

  /** Exchanges the code of the answer and checks who that is. Throws Refused. */
  async #ask(request: PageRequest, { state, nonce, verifier }: UnderWay): Promise<Account> {
    const oauth = await import("oauth4webapi");
    const server = await this.#discover(oauth);
    const { clientId, clientSecret } = this.#oidc;
    const client: OAuth.Client = { client_id: clientId };
    const options = this.#options(oauth);
    const params = oauth.validateAuthResponse(server, client, new URLSearchParams(request.query), state);
    const proof = clientSecret === null ? oauth.None() : chooseProof(oauth, server, clientSecret);
    const response = await oauth.authorizationCodeGrantRequest(server, client, proof, params, this.#redirectUri(), verifier, options);
    const tokens = await oauth.processAuthorizationCodeResponse(server, client, response, { expectedNonce: nonce, requireIdToken: true });
    await oauth.validateApplicationLevelSignature(server, response, options);
    const claims = oauth.getValidatedIdTokenClaims(tokens);
    if (claims === undefined) throw new Refused("failed");
    if (claims["email"] !== undefined) return toAccount(claims.sub, claims);
    const told = await oauth.userInfoRequest(server, client, tokens.access_token, options);
    return toAccount(claims.sub, await oauth.processUserInfoResponse(server, client, claims.sub, told));
  }

  /**
   * The member of an address; one who signs in for the first time is bound to the account. People of the allowed domains become members of
   * the first workspace. Throws Refused.
   */
  async #findMember(tx: Tx, { subject, email, name }: Account, firstWorkspace: string): Promise<MemberRow> {
    const { members: t } = tx.t;
    const { domains, role, issuer } = this.#oidc;
    const account = `${issuer} ${subject}`;
    const rows = await findRows(tx, t, { emailKey: addressKey(email) });
    const present = rows.filter(({ removedAt }) => removedAt === null);
    const [member] = present
      .filter((row) => row.account === null || row.account === account)
      .sort((a, b) => (b.lastSignInAt ?? 0) - (a.lastSignInAt ?? 0));
    if (member) {
      await tx.updateAll(t, [{ where: { id: member.id }, set: { account } }]);
      return { ...member, account };
    }
    if (present.length > 0) throw new Refused("other-account");
    const wasRemoved = rows.some(({ workspaceId }) => workspaceId === firstWorkspace);
    if (role === null || wasRemoved || !domains.includes(parseAddress(email).domain)) throw new Refused("not-invited");
    const wanted = { workspaceId: firstWorkspace, email, role, name, invitedBy: new URL(issuer).host };
    const row = await insertMember(tx, this.#parts.deps, wanted);
    await tx.updateAll(t, [{ where: { id: row.id }, set: { account } }]);
    return { ...row, account };
  }

  async #discover(oauth: typeof OAuth): Promise<OAuth.AuthorizationServer> {
    const issuer = new URL(this.#oidc.issuer);
    const response = await oauth.discoveryRequest(issuer, { algorithm: "oidc", ...this.#options(oauth) });
    return oauth.processDiscoveryResponse(issuer, response);
  }

  #options(oauth: typeof OAuth): { readonly [oauth.allowInsecureRequests]: boolean; readonly signal: () => AbortSignal } {
    const { real } = this.#parts.deps.clock;
    return {
      // The flags allow http for a provider on this machine only.
      [oauth.allowInsecureRequests]: this.#oidc.issuer.startsWith("http://"),
      signal: () => {
        const late = new AbortController();
        real.after(ANSWER_MS, () => late.abort());
        return late.signal;
      },
    };
  }

  /** The sign-in that this browser has begun. Throws Refused. */
  #readUnderWay(request: PageRequest): UnderWay {
    const sealed = readCookie("mailsvc-provider", { get: request.header }, this.#reached(request));
    if (sealed === null || sealed === "") throw new Refused("too-late");
    try {
      const underWay = buildUnderWay().parse(JSON.parse(this.#parts.deps.seal.open(Buffer.from(sealed, "base64url"), PLACE)));
      if (underWay.until > this.#parts.deps.clock.real.now()) return underWay;
    } catch (error) {
      throw new Refused("too-late", error);
    }
    throw new Refused("too-late");
  }

  /** Runs a step; what goes wrong leads to the sign-in page, which says it. The log has the cause, without addresses. */
  async #explained(step: () => Promise<PageResponse>): Promise<PageResponse> {
    try {
      return await step();
    } catch (error) {
      const problem = error instanceof Refused ? error.problem : "failed";
      const { code, message } = error as { code?: string; message: string };
      this.#log.warn("sign-in by the provider refused", { problem, ...(problem === "failed" && { error: code ?? message }) });
      return redirect(`/dashboard#problem=${problem}`);
    }
  }

  #reached(request: PageRequest): ReturnType<typeof readReached> {
    return readReached({ get: request.header }, this.#parts.deps.baseUrl());
  }

  #redirectUri(): string {
    return `${this.#parts.deps.baseUrl()}${CALLBACK}`;
  }

  #makeSecret(): string {
    return Buffer.from(this.#parts.deps.random.bytes(32)).toString("base64url");
  }
}

/** The way to prove the client: by the header where the provider takes it, which is the default, else in the body. */
function chooseProof(oauth: typeof OAuth, server: OAuth.AuthorizationServer, secret: string): OAuth.ClientAuth {
  const taken = server.token_endpoint_auth_methods_supported;
  const takesHeader = taken === undefined || taken.includes("client_secret_basic");
  return takesHeader ? oauth.ClientSecretBasic(secret) : oauth.ClientSecretPost(secret);
}

/** Throws Refused for an address that the provider does not vouch for: anybody could have entered it there. */
function toAccount(subject: string, { email, email_verified, name }: Readonly<Record<string, unknown>>): Account {
  if (typeof email !== "string" || email_verified !== true) throw new Refused("not-verified");
  try {
    parseAddress(email);
  } catch (error) {
    throw new Refused("not-verified", error);
  }
  const shown =
    typeof name === "string"
      ? name
          .replaceAll(/\p{Cc}/gu, "")
          .trim()
          .slice(0, 100)
      : "";
  return { subject, email, name: shown === "" ? null : shown };
}

/** The page of the dashboard to come back to. Addresses of other sites, and of other pages of this server, are none. */
function readBack(text: string | null, baseUrl: string): string {
  const url = text !== null && URL.canParse(text, baseUrl) ? new URL(text, baseUrl) : null;
  if (url === null || url.origin !== new URL(baseUrl).origin || !/^\/dashboard(?:\/|$)/.test(url.pathname)) return "/dashboard";
  return url.pathname + url.search;
}

function redirect(to: string, ...cookies: readonly string[]): PageResponse {
  return {
    status: 302,
    headers: [["location", to], ["cache-control", "no-store"], ...cookies.map((cookie): [string, string] => ["set-cookie", cookie])],
    body: null,
  };
}
