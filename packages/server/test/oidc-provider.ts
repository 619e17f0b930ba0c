import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** The person who logs in at the provider, as its tokens say. */
export interface Login {
  readonly sub: string;
  readonly email?: string;
  readonly email_verified?: boolean;
  readonly name?: string;
}

interface Grant {
  readonly login: Login;
  readonly nonce: string;
  readonly challenge: string;
  readonly redirectUri: string;
}

const CLIENT = { id: "mailsvc", secret: "s3cret:with&signs" };

/**
 * A provider of OpenID Connect on this machine, strict where the standard is: codes work once, for the client, the redirect address and the
 * verifier that they were asked for with.
 */
export class OidcProvider {
  readonly client = CLIENT;
  /** The claims of the next login, which a test may forge. */
  claims: (claims: Record<string, unknown>) => Record<string, unknown> = (claims) => claims;
  /** True to answer the address by the userinfo endpoint only. */
  hidesAddress = false;
  /** Signs with another key than the one it publishes. */
  forges = false;
  url = "";
  readonly #keys = generateKeyPairSync("rsa", { modulusLength: 2048 });
  readonly #others = generateKeyPairSync("rsa", { modulusLength: 2048 });
  readonly #grants = new Map<string, Grant>();
  readonly #tokens = new Map<string, Login>();
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  #codes = 0;

  static async start(): Promise<OidcProvider> {
    const provider = new OidcProvider();
    await new Promise<void>((done) => provider.#server.listen(0, "127.0.0.1", done));
    provider.url = `http://127.0.0.1:${(provider.#server.address() as AddressInfo).port}`;
    return provider;
  }

  /** The address that the provider leads back to after a login. */
  logIn(authorization: string, login: Login): URL {
    const { searchParams: asked } = new URL(authorization);
    const text = (name: string): string => asked.get(name) ?? "";
    if (text("client_id") !== CLIENT.id || text("response_type") !== "code" || text("code_challenge_method") !== "S256")
      throw new Error(`The request is not what the client is registered for: ${authorization}`);
    const code = `code-${(this.#codes += 1)}`;
    this.#grants.set(code, { login, nonce: text("nonce"), challenge: text("code_challenge"), redirectUri: text("redirect_uri") });
    const back = new URL(text("redirect_uri"));
    back.searchParams.set("code", code);
    back.searchParams.set("state", text("state"));
    return back;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((done) => this.#server.close(() => done()));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? "/", this.url);
    if (pathname === "/.well-known/openid-configuration")
      return send(response, {
        issuer: this.url,
        authorization_endpoint: `${this.url}/authorize`,
        token_endpoint: `${this.url}/token`,
        userinfo_endpoint: `${this.url}/userinfo`,
        jwks_uri: `${this.url}/jwks`,
        id_token_signing_alg_values_supported: ["RS256"],
      });
    if (pathname === "/jwks")
      return send(response, { keys: [{ ...this.#keys.publicKey.export({ format: "jwk" }), kid: "1", use: "sig", alg: "RS256" }] });
    if (pathname === "/userinfo") return send(response, this.#tokens.get((request.headers.authorization ?? "").slice(7)) ?? {});
    return this.#exchange(request, response);
  }

  async #exchange(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const form = new URLSearchParams(Buffer.concat(await request.toArray()).toString());
    const [, basic = ""] = (request.headers.authorization ?? "").split(" ");
    const [id, secret] = Buffer.from(basic, "base64").toString().split(":").map(decodeURIComponent);
    const code = form.get("code") ?? "";
    const grant = this.#grants.get(code);
    this.#grants.delete(code);
    const challenge = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    const isRight =
      id === CLIENT.id && secret === CLIENT.secret && grant?.challenge === challenge && grant.redirectUri === form.get("redirect_uri");
    if (!grant || !isRight) return send(response, { error: "invalid_grant" }, 400);
    const now = Math.floor(Date.now() / 1000);
    const { email, email_verified, name, sub } = grant.login;
    const claims = { iss: this.url, aud: CLIENT.id, sub, nonce: grant.nonce, iat: now, exp: now + 300 };
    const shown = this.hidesAddress ? claims : { ...claims, email, email_verified, name };
    this.#tokens.set(code, grant.login);
    send(response, { access_token: code, token_type: "Bearer", id_token: this.#signed(this.claims(shown)) });
  }

  #signed(claims: Record<string, unknown>): string {
    const [head, body] = [{ alg: "RS256", kid: "1" }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"));
    const { privateKey } = this.forges ? this.#others : this.#keys;
    return `${head}.${body}.${sign("sha256", Buffer.from(`${head}.${body}`), privateKey).toString("base64url")}`;
  }
}

function send(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
}
