import type { Clock } from "../lib/clock.ts";
import { MINUTE, SECOND } from "../lib/units.ts";
import { peerText } from "./smtp-reply.ts";
import type { TokenSource } from "./smtp-url.ts";

/** Request for access tokens: the token server, and the credentials for it (RFC 6749). */
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
interface TokenResponse {
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
  readonly real: Pick<Clock["real"], "now" | "sleep">;
  /** Store for the tokens of a refresh token, shared by all processes. */
  readonly store?: TokenStore;
}

/** The tokens that all processes share. */
export interface StoredTokens {
  /** Null while the first one counts. */
  readonly refreshToken: string | null;
  /** Null without one. Times in ms from now. */
  readonly access: { readonly value: string; readonly renewIn: number; readonly endsIn: number } | null;
}

/**
 * Keeps the tokens, and lets one process at a time ask for new ones: a token server may take back a refresh token as soon as it gives a new
 * one, and all of them when an old one is used again.
 */
export interface TokenStore {
  /** Begins a renewal; null while another process is at it, and for half a minute after one that died at it. */
  begin(): Promise<StoredTokens | null>;
  /** Ends it, with new tokens or null to keep those that are stored. */
  end(tokens: StoredTokens | null): Promise<void>;
}

// A token is renewed this long before its end, or when a tenth of its life is left, whichever is shorter.
const RENEW_BEFORE_MS = 5 * MINUTE;
// Life of a token if the server does not name one (RFC 6749 5.1).
const DEFAULT_LIFE_S = 3600;
// Interval at which this process looks for tokens that another one has renewed, and the time after which it stops.
const LOOK_MS = 250;
const WAIT_MS = 45 * SECOND;
// After a failure the token server is left alone for this long: who asks meanwhile waits, and shares the next request.
const PAUSE_MS = SECOND;

/** Tokens that a token server grants. */
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
 * | could not be got a moment ago  | waits for the end of a second, and then for a new one             |
 */
export class AccessTokens implements TokenSource {
  readonly #options: AccessTokenOptions;
  #refreshToken: string | null;
  /** True while the newest tokens are known to this process alone. */
  #unstored = false;
  #token: Token | null = null;
  #renewing: Promise<Token> | null = null;
  #failedAt = Number.NEGATIVE_INFINITY;

  constructor(options: AccessTokenOptions) {
    this.#options = options;
    this.#refreshToken = options.request.refreshToken;
  }

  async get(refused?: string): Promise<string> {
    const now = this.#options.real.now();
    if (this.#token && this.#token.value !== refused && now < this.#token.endsAt) {
      // Nobody waits for it; a failure is met by those who come when the token has ended.
      if (now >= this.#token.renewAt) void this.#renew(refused).catch(() => {});
      return this.#token.value;
    }
    return (await this.#renew(refused)).value;
  }

  /** Remaining life of the current token, ms; null without one. */
  get endsIn(): number | null {
    return this.#token && this.#token.endsAt - this.#options.real.now();
  }

  async #renew(refused: string | undefined): Promise<Token> {
    this.#renewing ??= this.#fetch(refused).finally(() => {
      this.#renewing = null;
    });
    return this.#renewing;
  }

  async #fetch(refused: string | undefined): Promise<Token> {
    const { real, store } = this.#options;
    const pause = this.#failedAt + PAUSE_MS - real.now();
    if (pause > 0) await real.sleep(pause);
    try {
      this.#token = await (store && this.#refreshToken !== null ? this.#fetchAlone(store, refused) : this.#grant());
      return this.#token;
    } catch (error) {
      this.#failedAt = real.now();
      throw error;
    }
  }

  /** Takes the token that another process got meanwhile, or asks for one while no other process does. */
  async #fetchAlone(store: TokenStore, refused: string | undefined): Promise<Token> {
    const { real, request } = this.#options;
    if (this.#unstored) await this.#store(store);
    const stored = await this.#begin(store);
    this.#refreshToken = stored.refreshToken ?? request.refreshToken;
    if (stored.access && stored.access.value !== refused && stored.access.renewIn > 0) {
      await store.end(null);
      const { value, renewIn, endsIn } = stored.access;
      return { value, renewAt: real.now() + renewIn, endsAt: real.now() + endsIn };
    }
    try {
      this.#token = await this.#grant();
    } catch (error) {
      await store.end(null);
      throw error;
    }
    this.#unstored = true;
    await this.#store(store);
    return this.#token;
  }

  async #begin(store: TokenStore): Promise<StoredTokens> {
    const { real, request } = this.#options;
    for (const until = real.now() + WAIT_MS; real.now() < until; await real.sleep(LOOK_MS)) {
      const stored = await store.begin();
      if (stored) return stored;
    }
    throw new TokenError(`Another process has been waiting for the token server ${new URL(request.tokenUrl).host} too long.`);
  }

  async #store(store: TokenStore): Promise<void> {
    const now = this.#options.real.now();
    const { value, renewAt, endsAt } = this.#token ?? { value: null, renewAt: 0, endsAt: 0 };
    const access = value === null ? null : { value, renewIn: renewAt - now, endsIn: endsAt - now };
    await store.end({ refreshToken: this.#refreshToken, access });
    this.#unstored = false;
  }

  /** Asks for a token, and remembers the refresh token that came with it. */
  async #grant(): Promise<Token> {
    const asked = this.#options.real.now();
    const { token, lifeMs, refreshToken } = await this.#ask();
    if (this.#refreshToken !== null && refreshToken !== null) this.#refreshToken = refreshToken;
    return { value: token, renewAt: asked + lifeMs - Math.min(RENEW_BEFORE_MS, lifeMs / 10), endsAt: asked + lifeMs };
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
