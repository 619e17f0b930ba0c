import type { Clock } from "../lib/clock.ts";
import { MINUTE, SECOND } from "../lib/units.ts";
import { peerText } from "./smtp-reply.ts";
import type { TokenSource } from "./smtp-url.ts";

/** Where access tokens come from, and what proves that we may have them (RFC 6749). */
export interface TokenRequest {
  readonly tokenUrl: string;
  readonly clientId: string;
  /** Null for a public client. */
  readonly clientSecret: string | null;
  /** Selects the refresh token grant; null for client credentials. */
  readonly refreshToken: string | null;
  readonly scope: string | null;
}

/** The answer of a token server. */
export interface TokenResponse {
  readonly status: number;
  readonly text: string;
}

/** Sends a form to a token server. Throws if it cannot be reached. */
export type PostForm = (url: string, form: URLSearchParams) => Promise<TokenResponse>;

/** No token could be got. The message is for operators and holds no secret. */
export class TokenError extends Error {
  override name = "TokenError";
}

interface AccessTokenOptions {
  readonly request: TokenRequest;
  readonly postForm: PostForm;
  /** Real time: the token server's clock does not stop. */
  readonly now: Clock["real"]["now"];
  /** Where refresh tokens that replace the first one are kept, for all processes. */
  readonly stored?: StoredRefreshToken;
}

/** The newest refresh token. A token server may take back the one before as soon as it gives a new one. */
export interface StoredRefreshToken {
  /** Null while the first one counts. */
  read(): Promise<string | null>;
  write(refreshToken: string): Promise<void>;
}

// A token is renewed this long before its end, or when a tenth of its life is left, whichever is shorter.
const RENEW_BEFORE_MS = 5 * MINUTE;
// What a server means that does not say how long its token lives (RFC 6749 5.1).
const DEFAULT_LIFE_S = 3600;
// After a failure all who ask get the same answer for this long.
const FAILED_MS = 5 * SECOND;

/** What a token server grants. */
interface Granted {
  readonly token: string;
  readonly lifeMs: number;
  readonly refreshToken: string | null;
}

interface Token {
  readonly value: string;
  readonly renewAt: number;
  readonly endsAt: number;
}

/**
 * The access tokens of one relay.
 *
 * | Token                          | `get`                                                             |
 * | ------------------------------ | ----------------------------------------------------------------- |
 * | none, ended, or refused        | waits for a new one; all who ask meanwhile wait for the same one  |
 * | valid                          | it                                                                |
 * | valid, but near its end        | it; a new one is fetched meanwhile, one at a time                 |
 * | could not be got 5 s ago       | the same error                                                    |
 */
export class AccessTokens implements TokenSource {
  readonly #options: AccessTokenOptions;
  #refreshToken: string | null;
  /** True while the newest refresh token is known to this process alone. */
  #unstored = false;
  #token: Token | null = null;
  #renewing: Promise<Token> | null = null;
  #failure: { readonly error: unknown; readonly until: number } | null = null;

  constructor(options: AccessTokenOptions) {
    this.#options = options;
    this.#refreshToken = options.request.refreshToken;
  }

  async get(refused?: string): Promise<string> {
    const now = this.#options.now();
    if (this.#token && this.#token.value !== refused && now < this.#token.endsAt) {
      // Nobody waits for it; a failure is met by those who come when the token has ended.
      if (now >= this.#token.renewAt) void this.#renew().catch(() => {});
      return this.#token.value;
    }
    return (await this.#renew()).value;
  }

  /** When the token that is kept ends, ms from now; null without one. */
  get endsIn(): number | null {
    return this.#token && this.#token.endsAt - this.#options.now();
  }

  async #renew(): Promise<Token> {
    if (this.#failure && this.#options.now() < this.#failure.until) throw this.#failure.error;
    this.#renewing ??= this.#fetch().finally(() => {
      this.#renewing = null;
    });
    return this.#renewing;
  }

  async #fetch(): Promise<Token> {
    const { now } = this.#options;
    const asked = now();
    try {
      await this.#syncRefreshToken();
      const { token, lifeMs, refreshToken } = await this.#ask();
      this.#token = { value: token, renewAt: asked + lifeMs - Math.min(RENEW_BEFORE_MS, lifeMs / 10), endsAt: asked + lifeMs };
      this.#failure = null;
      if (this.#refreshToken !== null && refreshToken !== null && refreshToken !== this.#refreshToken) {
        this.#refreshToken = refreshToken;
        this.#unstored = true;
        await this.#syncRefreshToken();
      }
      return this.#token;
    } catch (error) {
      this.#failure = { error, until: now() + FAILED_MS };
      throw error;
    }
  }

  /** Stores the newest refresh token, or reads it: another process may have got it. */
  async #syncRefreshToken(): Promise<void> {
    const { stored, request } = this.#options;
    if (!stored || this.#refreshToken === null) return;
    if (this.#unstored) await stored.write(this.#refreshToken);
    else this.#refreshToken = (await stored.read()) ?? request.refreshToken;
    this.#unstored = false;
  }

  async #ask(): Promise<Granted> {
    const { request, postForm } = this.#options;
    const { host } = new URL(request.tokenUrl);
    const answer = await postForm(request.tokenUrl, this.#buildForm()).catch((error: Error & { cause?: { code?: string } }) => {
      throw new TokenError(`The token server ${host} cannot be reached (${error.cause?.code ?? error.name}).`);
    });
    const fields = parseFields(answer.text);
    const granted = answer.status === 200 ? readGrant(fields) : null;
    if (granted) return granted;
    const said = [fields.error, fields.error_description].filter((text) => typeof text === "string");
    const why = said.length > 0 ? said.join(": ") : `HTTP ${answer.status}`;
    throw new TokenError(`The token server ${host} gave no access token: ${peerText(this.#hideSecrets(why))}`);
  }

  #buildForm(): URLSearchParams {
    const { clientId, clientSecret, scope } = this.#options.request;
    const grant =
      this.#refreshToken === null
        ? { grant_type: "client_credentials" }
        : { grant_type: "refresh_token", refresh_token: this.#refreshToken };
    return new URLSearchParams({
      ...grant,
      client_id: clientId,
      ...(clientSecret !== null && { client_secret: clientSecret }),
      ...(scope !== null && { scope }),
    });
  }

  /** A server may repeat what it was sent. */
  #hideSecrets(text: string): string {
    const { clientSecret } = this.#options.request;
    return [clientSecret, this.#refreshToken, this.#options.request.refreshToken]
      .filter((secret) => secret !== null)
      .reduce((shown, secret) => shown.replaceAll(secret, "…"), text);
  }
}

const TIMEOUT_MS = 15 * SECOND;
const MAX_CHARS = 64 * 1024;

/** Posts a form over HTTP: follows no redirect, and waits 15 seconds at most. */
export const postForm: PostForm = async (url, form) => {
  const response = await fetch(url, { method: "POST", body: form, redirect: "manual", signal: AbortSignal.timeout(TIMEOUT_MS) });
  return { status: response.status, text: (await response.text()).slice(0, MAX_CHARS) };
};

function readGrant({
  access_token: token,
  expires_in: seconds,
  refresh_token: refreshToken,
}: Readonly<Record<string, unknown>>): Granted | null {
  if (typeof token !== "string" || token === "") return null;
  const life = Number(seconds);
  return {
    token,
    lifeMs: (life > 0 ? life : DEFAULT_LIFE_S) * SECOND,
    refreshToken: typeof refreshToken === "string" && refreshToken !== "" ? refreshToken : null,
  };
}

/** The fields of a JSON object; none for any other text. */
function parseFields(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
