import type { Relay, RelayCheck, RelayState } from "@mailsvc/sdk/contract";
import type { Db } from "../db/db.ts";
import type { Choice, MailLane } from "../delivery/delivery.ts";
import { type Clock, iso, withinTime } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import { type Rate, TokenBuckets } from "../lib/rate.ts";
import type { Seal } from "../lib/seal.ts";
import { MINUTE, SECOND } from "../lib/units.ts";
import { AccessTokens, type PostForm } from "../mail/access-tokens.ts";
import { Availability } from "../mail/availability.ts";
import { circuitBreaker } from "../mail/circuit-breaker.ts";
import type { DkimKey } from "../mail/dkim.ts";
import type { Mailer } from "../mail/mailer.ts";
import { simulator } from "../mail/simulator.ts";
import type { SmtpTarget } from "../mail/smtp-url.ts";
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
  const { state, reason, since, workedAt } = live.state;
  return { ...showSettings(settings), source, state, reason, since: iso(since), answeredAt: workedAt === null ? null : iso(workedAt) };
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

// While it refuses nearly everybody, one mail a minute tries whether it still does.
const PROBE_MS = MINUTE;

// Maximum duration of a check, and the time for which its result serves other callers: a login for each could offend the relay.
const CHECK_MS = 20 * SECOND;
const CHECK_AGE_MS = 10 * SECOND;

interface LiveRelayOptions {
  readonly name: string;
  readonly mailer: Mailer;
  readonly ratePerSecond: number | null;
  /** The server processes that are alive: they share the pace. */
  readonly processes: () => number;
  readonly clock: Clock;
  readonly log: Log;
  /** Makes spans of hand-overs. */
  readonly traced: (mailer: Mailer) => Mailer;
}

/** One relay of this process: its mailer with its own connections, circuit breaker, availability and pace. */
export class LiveRelay {
  readonly name: string;
  readonly mailer: Mailer;
  readonly #clock: Clock;
  readonly #availability: Availability;
  readonly #pace: Pace | null;
  /** Time (ms) of the last mail that tried if the relay still refuses nearly everybody, by the refused workspace; "" for all. */
  readonly #probedAt = new Map<string, number>();
  #retired = false;
  #checked: { readonly at: number; readonly result: Promise<RelayCheck> } | null = null;

  constructor({ name, mailer, ratePerSecond, processes, clock, log, traced }: LiveRelayOptions) {
    this.name = name;
    this.#clock = clock;
    this.#availability = new Availability(mailer, { name, clock, log });
    this.mailer = traced(simulator(circuitBreaker(this.#availability.watched(), { now: clock.now, log })));
    this.#pace = ratePerSecond === null ? null : new Pace({ perSecond: ratePerSecond, processes, now: clock.now });
  }

  get state() {
    const paused = this.mailer.fault();
    const { reason, since, workedAt } = this.#availability;
    const state: RelayState = paused !== null ? "paused" : reason !== null ? "down" : "up";
    return { state, reason: paused ?? reason, since, workedAt };
  }

  /** True if this relay should get a mail of a workspace that another relay could take instead. */
  takesMail(workspaceId: string): boolean {
    if (this.#retired) return false;
    if (this.mailer.fault(workspaceId) === null) {
      this.#probedAt.delete(workspaceId);
      return this.#availability.reason === null;
    }
    const refused = this.mailer.fault() === null ? workspaceId : "";
    const age = this.#clock.now() - (this.#probedAt.get(refused) ?? Number.NEGATIVE_INFINITY);
    // One in the future says nothing: the clock was set back.
    if (age >= 0 && age < PROBE_MS) return false;
    this.#probedAt.set(refused, this.#clock.now());
    return true;
  }

  /** True if another relay should take mail of a workspace. Unlike `takesMail`, it changes nothing. */
  isOutOfService(workspaceId?: string): boolean {
    return this.#retired || this.mailer.fault(workspaceId) !== null || this.#availability.reason !== null;
  }

  /** The choice of this relay for a mail of a workspace. `others` could take it instead. */
  choose(others: readonly LiveRelay[], workspaceId?: string): Choice {
    return {
      mailer: this.mailer,
      relay: this.name,
      isOutOfService: () =>
        this.#retired || (this.isOutOfService(workspaceId) && others.some((other) => !other.isOutOfService(workspaceId))),
      takeTurn: (lane) => this.#pace?.take(lane) ?? null,
    };
  }

  /** Connects and logs in, within 20 seconds (real time), unless it did so in the last ten. */
  check(): Promise<RelayCheck> {
    const now = this.#clock.real.now();
    if (this.#checked === null || now - this.#checked.at > CHECK_AGE_MS) this.#checked = { at: now, result: this.#connect() };
    return this.#checked.result;
  }

  async #connect(): Promise<RelayCheck> {
    const { real } = this.#clock;
    const startedAt = real.now();
    const late = `It did not answer within ${CHECK_MS / SECOND} seconds.`;
    const reason = await withinTime(real, CHECK_MS, this.mailer.check(), late).catch((error: Error) => error.message);
    return { name: this.name, ok: reason === null, reason, ms: Math.round(real.now() - startedAt) };
  }

  /** It was changed or removed: gives its waiting mail back, and closes once the mail under way has ended. */
  async retire(): Promise<void> {
    this.#retired = true;
    await this.mailer.close();
  }
}

// Mails leave in groups of a tenth of a second, so that a fast pace does not need a timer for each.
const GROUP_MS = 100;
// Time for which bulk mail makes way for single mails that are due.
const YIELD_MS = 50;
// The last turn that is foreseen: a pace may change, and mails may be cancelled.
const MAX_WAIT_MS = 300 * SECOND;

interface PaceOptions {
  /** Mails per second of all server processes together. */
  readonly perSecond: number;
  /** The server processes that are alive, this one included. */
  readonly processes: () => number;
  readonly now: () => number;
}

/**
 * The turns of a relay's mails, at `perSecond` by the clock: single mails before bulk mail. A turn that cannot be taken now is
 * not reserved; the mail asks again at the instant it is told. Each process takes an equal share of the relay's pace: all of them claim
 * from the same queue, so each has mail for its share.
 */
export class Pace {
  readonly #perSecond: number;
  readonly #processes: () => number;
  readonly #now: () => number;
  readonly #bucket: TokenBuckets;
  /** Time at which the last of the waiting mails will ask again, ms. */
  readonly #lastTurn: Record<MailLane, number> = { single: 0, bulk: 0 };

  constructor({ perSecond, processes, now }: PaceOptions) {
    this.#perSecond = perSecond;
    this.#processes = processes;
    this.#now = now;
    this.#bucket = new TokenBuckets(now);
  }

  /** Takes a turn: null if it is now, else when to ask again, ms. */
  take(lane: MailLane): number | null {
    const now = this.#now();
    const rate = this.#share();
    const makesWay = lane === "bulk" && now < this.#lastTurn.single + YIELD_MS && this.#lastTurn.single > 0;
    if (!makesWay && this.#bucket.take("mails", rate).allowed) return null;
    const spacing = SECOND / rate.perSecond;
    const first = lane === "bulk" ? Math.max(now, this.#lastTurn.single) : now;
    const turn = Math.min(Math.max(first, this.#lastTurn[lane]) + spacing, now + Math.max(MAX_WAIT_MS, spacing));
    this.#lastTurn[lane] = turn;
    return Math.max(now + 1, Math.ceil(turn / GROUP_MS) * GROUP_MS);
  }

  /** Returns the share of this process in the relay's rate. */
  #share(): Rate {
    const perSecond = this.#perSecond / this.#processes();
    return { perSecond, burst: Math.max(1, Math.floor((perSecond * GROUP_MS) / SECOND)) };
  }
}
