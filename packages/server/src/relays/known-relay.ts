import type { Relay } from "@mailsvc/sdk/contract";
import type { Db } from "../db/db.ts";
import { type Clock, iso } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { Seal } from "../lib/seal.ts";
import { AccessTokens, type PostForm } from "../mail/access-tokens.ts";
import type { DkimKey } from "../mail/dkim.ts";
import type { Mailer } from "../mail/mailer.ts";
import type { SmtpTarget } from "../mail/smtp-url.ts";
import { LiveRelay } from "./live-relay.ts";
import { type GivenKey, type RelaySettings, showSettings, toDkimKeys, toTarget, toTokenRequest } from "./settings.ts";
import { RelayTokenStore } from "./token-store.ts";

/** A relay that this process knows. */
export interface KnownRelay {
  readonly settings: RelaySettings;
  readonly source: Relay["source"];
  readonly live: LiveRelay;
  readonly tokens: AccessTokens | null;
  /** Address and login of the relay. */
  readonly target: SmtpTarget;
  /** The keys that its mail is signed with: its own, or those of the server. */
  readonly dkim: readonly DkimKey[];
  /** Changes with the settings that the database holds; empty for a relay that it does not hold. */
  readonly revision: string;
}

/** Makes the mailer of a relay, which signs with these keys. */
export type MakeRelayMailer = (target: SmtpTarget, dkim: readonly DkimKey[]) => Promise<Mailer>;

/** The relay of --smtp-url. */
export interface GivenRelay {
  readonly settings: RelaySettings;
  /** Makes its mailer. */
  readonly make: (dkim: readonly DkimKey[]) => Promise<Mailer>;
}

export interface RelayMakerOptions {
  readonly db: () => Db;
  readonly seal: Seal;
  readonly clock: Clock;
  readonly log: Log;
  readonly makeMailer: MakeRelayMailer;
  /** The keys of the server, for relays without any of their own. */
  readonly dkim: readonly GivenKey[];
  readonly postForm: PostForm;
  readonly traced: (mailer: Mailer) => Mailer;
  /** The server processes that are alive, this one included. */
  readonly processes: () => number;
}

/** Makes relays of their settings. */
export class RelayMaker {
  readonly #options: RelayMakerOptions;
  readonly #firstWorkspace: string;

  /** `firstWorkspace` is the one whose mail keys sign that name no workspace. */
  constructor(options: RelayMakerOptions, firstWorkspace: string) {
    this.#options = options;
    this.#firstWorkspace = firstWorkspace;
  }

  /** A relay with a mailer and tokens of its own. */
  async make(settings: RelaySettings, source: Relay["source"], revision = ""): Promise<KnownRelay> {
    const tokens = this.#makeTokens(settings);
    const target = withLogin(toTarget(settings), settings, tokens);
    const dkim = this.#listKeys(settings);
    const mailer = await this.#options.makeMailer(target, dkim);
    return { settings, source, tokens, target, revision, dkim, live: this.#start(settings, mailer) };
  }

  /** The relay of --smtp-url. */
  async makeGiven({ settings, make }: GivenRelay): Promise<KnownRelay> {
    const target = withLogin(toTarget(settings), settings, null);
    const dkim = this.#listKeys(settings);
    return { settings, source: "smtp-url", tokens: null, target, revision: "", dkim, live: this.#start(settings, await make(dkim)) };
  }

  #listKeys(settings: RelaySettings): readonly DkimKey[] {
    return toDkimKeys(settings, this.#options.dkim, this.#firstWorkspace);
  }

  #start(settings: RelaySettings, mailer: Mailer): LiveRelay {
    const { clock, log, traced, processes } = this.#options;
    const { name, ratePerSecond = null } = settings;
    return new LiveRelay({ name, mailer, ratePerSecond, processes, clock, log, traced });
  }

  #makeTokens(settings: RelaySettings): AccessTokens | null {
    const request = toTokenRequest(settings);
    if (request === null) return null;
    const { db, clock, seal, postForm } = this.#options;
    const { refreshToken } = request;
    const store = new RelayTokenStore({ db, seal, clock, relay: settings.name, refreshToken });
    return new AccessTokens({ request, postForm, real: clock.real, store });
  }
}

/** Shows a relay as the API does. */
export function showRelay({ settings, source, live }: KnownRelay): Relay {
  const { state, reason, since } = live.state;
  return { ...showSettings(settings), source, state, reason, since: iso(since) };
}

/** Explains why a relay takes no mail, and the next step; null if it takes mail. */
export function explainFault({ settings: { name }, live }: KnownRelay): string | null {
  const { state, reason } = live.state;
  if (state === "paused") return reason;
  return state === "up" ? null : `The relay ${name} is out of service: ${reason} Next: mailsvc relays test ${name}`;
}

function withLogin(target: SmtpTarget, { user, password }: RelaySettings, tokens: AccessTokens | null): SmtpTarget {
  if (!user) return target;
  return { ...target, auth: tokens ? { user, tokens } : { user, pass: password ?? "" } };
}
