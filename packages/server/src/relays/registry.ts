import { createHash } from "node:crypto";
import { DEFAULT_RELAY, type Relay, type RelayCheck, type RelayState } from "@mailsvc/sdk/contract";
import type { Db, Reader } from "../db/db.ts";
import type { Choice, Mailers, PendingMail } from "../delivery/delivery.ts";
import { type Clock, iso } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { Seal } from "../lib/seal.ts";
import { AccessTokens, type PostForm } from "../mail/access-tokens.ts";
import type { DkimKey } from "../mail/dkim.ts";
import type { Mailer } from "../mail/mailer.ts";
import type { SmtpTarget } from "../mail/smtp-url.ts";
import type { SenderRelay } from "./deps.ts";
import { LiveRelay } from "./live-relay.ts";
import { missingRelay } from "./missing-relay.ts";
import { isOpenTo } from "./relays.ts";
import { findNamedRelays, listNames } from "./routes.ts";
import { joinSecrets, type RelaySettings, showSettings, toDkimKeys, toTarget, toTokenRequest } from "./settings.ts";
import { RelayTokenStore } from "./token-store.ts";

type RoutedMail = Pick<PendingMail, "email" | "contents">;

/** Makes the mailer of a relay. `dkim` undefined: with the keys of the server. */
export type MakeRelayMailer = (target: SmtpTarget, dkim: readonly DkimKey[] | undefined) => Promise<Mailer>;

interface RegistryOptions {
  readonly db: () => Db;
  readonly seal: Seal;
  readonly clock: Clock;
  readonly log: Log;
  /** How long what is known of the database counts, ms: other processes may change it. */
  readonly maxAgeMs: number;
  /** Takes mail that names no relay while none is called default. */
  readonly capture: Mailer;
  /** The default relay as --smtp-url describes it; null without one. */
  readonly given: { readonly settings: RelaySettings; readonly mailer: Mailer } | null;
  /** The relays of --relays. */
  readonly file: readonly RelaySettings[];
  readonly makeMailer: MakeRelayMailer;
  /** The keys of the server, for relays without any of their own. */
  readonly dkim: readonly DkimKey[];
  readonly postForm: PostForm;
  readonly traced: (mailer: Mailer) => Mailer;
  /** The server processes that are alive, this one included. */
  readonly processes: () => number;
}

/** A relay that this process knows. */
export interface KnownRelay {
  readonly settings: RelaySettings;
  readonly source: Relay["source"];
  readonly live: LiveRelay;
  readonly tokens: AccessTokens | null;
  /** Where it is, with the login. */
  readonly target: SmtpTarget;
  /** The keys that its mail is signed with: its own, or those of the server. */
  readonly dkim: readonly DkimKey[];
  /** Changes with the settings. */
  readonly revision: string;
}

/**
 * The relays of this process, and which of them takes a mail. A relay that the API changes is replaced by another one; its mail under
 * way ends on the old one.
 *
 * | mail                                          | taken by                                                        |
 * | --------------------------------------------- | --------------------------------------------------------------- |
 * | may have arrived (in doubt)                   | the relay that had it, whether it is in service or not          |
 * | the same, and that relay was removed          | as below; it is listed as in doubt                              |
 * | names a relay                                 | the first in service of that relay and its fallbacks            |
 * | names none                                    | the same of the relay called default; without one it is captured |
 * | names one that does not exist any more        | nobody: it is deferred, and says why                            |
 * | no relay of the route is in service           | the first one                                                   |
 */
export class RelayRegistry implements Mailers {
  readonly #options: RegistryOptions;
  readonly #relays = new Map<string, KnownRelay>();
  readonly #missing = new Map<string, Choice>();
  readonly #capture: Choice;
  #all: readonly Mailer[] = [];
  #readAt: number | null = null;
  /** How often the rows of the database have changed, as this process knows. */
  #changes = 0;
  #reading: Promise<void> | null = null;
  /** True if something names a relay that was there before this process started. */
  #hasLostNames = false;

  constructor(options: RegistryOptions) {
    this.#options = options;
    this.#capture = { mailer: options.capture, relay: null, isOutOfService: () => false, takeTurn: () => null };
    const { given } = options;
    if (given) this.#relays.set(DEFAULT_RELAY, { ...this.#build(given.settings, "smtp-url", given.mailer, null), revision: "" });
    this.#listAll();
  }

  /** Makes the relays of the file, and reads those of the database. */
  async open(): Promise<void> {
    const { db, file } = this.#options;
    const { read } = db();
    for (const settings of file) {
      const made = await this.#make(settings, "file");
      this.#relays.set(settings.name, { ...made, revision: "" });
    }
    await this.refresh(read);
    const lost = (await listNames(read)).filter((name) => !this.#relays.has(name));
    if (lost.length === 0) return;
    this.#hasLostNames = true;
    this.#options.log.error("relays that mail names are not there any more; their mail is deferred", { relays: lost });
  }

  get main(): Mailer {
    return this.#relays.get(DEFAULT_RELAY)?.live.mailer ?? this.#options.capture;
  }

  /** True while there is no relay, so that no mail leaves. */
  get capturesAll(): boolean {
    return this.#relays.size === 0;
  }

  /** Whether no mail leaves: there is no relay, also none that another process has added. */
  async capturesMail(read: Reader): Promise<boolean> {
    await this.refresh(read);
    return this.capturesAll;
  }

  get all(): readonly Mailer[] {
    return this.#all;
  }

  /** All relays, by name. */
  list(): KnownRelay[] {
    return [...this.#relays.values()].sort((a, b) => (a.settings.name < b.settings.name ? -1 : 1));
  }

  find(name: string): KnownRelay | null {
    return this.#relays.get(name) ?? null;
  }

  async choose(read: Reader, mails: readonly RoutedMail[]): Promise<readonly Choice[]> {
    await this.refresh(read);
    if (this.#isSimple) {
      const choice = this.#relays.get(DEFAULT_RELAY)?.live.choose([]) ?? this.#capture;
      return mails.map(() => choice);
    }
    const named = await findNamedRelays(read, mails);
    return mails.map(({ email }, i) => this.#chooseFor(email, named[i] ?? null));
  }

  /** The relay that mail of a workspace takes first, if no campaign names one; null if it is captured. `from` is the sender's address. */
  async findRelayOf(read: Reader, workspaceId: string, from: string): Promise<SenderRelay | null> {
    await this.refresh(read);
    const [named = null] = await findNamedRelays(read, [{ email: { workspaceId, campaignId: null }, contents: { from } }]);
    const known = this.#relays.get(named ?? DEFAULT_RELAY);
    return known && isOpenTo(known.settings, workspaceId)
      ? { name: known.settings.name, host: known.settings.host, dkim: known.dkim }
      : null;
  }

  /** Reads what the database holds, if it may have changed. */
  async refresh(read: Reader): Promise<void> {
    const { maxAgeMs, clock } = this.#options;
    if (this.#readAt !== null && (maxAgeMs === Number.POSITIVE_INFINITY || clock.real.now() - this.#readAt < maxAgeMs)) return;
    // Again if the rows changed meanwhile: what was read may be older.
    do {
      this.#reading ??= this.#read(read).finally(() => {
        this.#reading = null;
      });
      await this.#reading;
    } while (this.#readAt === null);
  }

  /** The rows of the database have changed. */
  clear(): void {
    this.#readAt = null;
    this.#changes += 1;
  }

  /** Connects to the relays that mail of a workspace may take, and logs in. */
  async check(read: Reader, workspaceId: string): Promise<RelayCheck[]> {
    await this.refresh(read);
    const open = this.list().filter(({ settings }) => isOpenTo(settings, workspaceId));
    return Promise.all(open.map(({ live }) => live.check()));
  }

  /** The state of each relay, by name. */
  states(): Record<string, RelayState> {
    return Object.fromEntries(this.list().map(({ settings, live }) => [settings.name, live.state.state]));
  }

  /** Why the mail that names no relay waits; null if it does not. */
  fault(): string | null {
    const known = this.#relays.get(DEFAULT_RELAY);
    return known ? explain(known) : null;
  }

  /** Closes all relays. */
  async close(graceMs?: number): Promise<void> {
    await Promise.all([...this.#relays.values()].map(({ live }) => live.mailer.close(graceMs)));
  }

  /** True while all mail goes one way: then nothing is looked up. */
  get #isSimple(): boolean {
    return !this.#hasLostNames && (this.#relays.size === 0 || (this.#relays.size === 1 && this.#relays.has(DEFAULT_RELAY)));
  }

  #chooseFor({ workspaceId, inDoubt, attempts, relay }: RoutedMail["email"], named: string | null): Choice {
    if (inDoubt && attempts > 0) {
      const had = this.#relays.get(relay ?? DEFAULT_RELAY);
      if (had) return had.live.choose([]);
    }
    const first = this.#relays.get(named ?? DEFAULT_RELAY);
    if (!first || !isOpenTo(first.settings, workspaceId)) return named === null ? this.#capture : this.#chooseMissing(named);
    const route = [first, ...(first.settings.fallback ?? []).flatMap((name) => this.#relays.get(name) ?? [])]
      .filter(({ settings }) => isOpenTo(settings, workspaceId))
      .map(({ live }) => live);
    const chosen = route.find((one) => one.takesMail()) ?? first.live;
    return chosen.choose(route.filter((one) => one !== chosen));
  }

  #chooseMissing(name: string): Choice {
    const known = this.#missing.get(name);
    if (known) return known;
    const made: Choice = { mailer: missingRelay(name), relay: name, isOutOfService: () => false, takeTurn: () => null };
    this.#missing.set(name, made);
    return made;
  }

  async #read(read: Reader): Promise<void> {
    const { clock, seal, log } = this.#options;
    const at = clock.real.now();
    const changes = this.#changes;
    const rows = await read.select().from(read.t.relays);
    const stored = new Map(rows.map((row) => [row.name, row]));
    for (const [name, { source }] of this.#relays) if (source === "api" && !stored.has(name)) this.#drop(name);
    for (const { name, settings, secrets, updatedAt } of rows) {
      const known = this.#relays.get(name);
      if (known && known.source !== "api") {
        if (this.#readAt === null)
          log.warn("a relay of the database is not used: a flag or file defines one of the same name", { relay: name });
        continue;
      }
      const revision = `${updatedAt} ${createHash("sha256").update(secrets).digest("hex")}`;
      if (known?.revision === revision) continue;
      const made = await this.#make(joinSecrets(settings, seal.open(secrets, sealPlace(name))), "api");
      if (known) this.#drop(name);
      this.#relays.set(name, { ...made, revision });
    }
    this.#readAt = changes === this.#changes ? at : null;
    this.#listAll();
  }

  #drop(name: string): void {
    void this.#relays.get(name)?.live.retire();
    this.#relays.delete(name);
  }

  #listAll(): void {
    const mailers = [...this.#relays.values()].map(({ live }) => live.mailer);
    this.#all = this.#relays.has(DEFAULT_RELAY) ? mailers : [this.#options.capture, ...mailers];
  }

  async #make(settings: RelaySettings, source: Relay["source"]): Promise<Omit<KnownRelay, "revision">> {
    const tokens = this.#makeTokens(settings);
    const target = withLogin(toTarget(settings), settings, tokens);
    const mailer = await this.#options.makeMailer(target, toDkimKeys(settings));
    return this.#build(settings, source, mailer, tokens);
  }

  #build(settings: RelaySettings, source: Relay["source"], mailer: Mailer, tokens: AccessTokens | null): Omit<KnownRelay, "revision"> {
    const { clock, log, traced, processes, dkim } = this.#options;
    const { name, ratePerSecond = null } = settings;
    const stored = name === DEFAULT_RELAY ? null : name;
    const live = new LiveRelay({ name, stored, mailer, ratePerSecond, processes, clock, log, traced });
    const target = withLogin(toTarget(settings), settings, tokens);
    return { settings, source, live, tokens, target, dkim: toDkimKeys(settings) ?? dkim };
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

/** Why a relay takes no mail, and what to do next; null if it does. */
function explain({ settings: { name }, live }: KnownRelay): string | null {
  const { state, reason } = live.state;
  if (state === "paused") return reason;
  return state === "up" ? null : `The relay ${name} is out of service: ${reason} Next: mailsvc relays test ${name}`;
}

/** Where the secrets of a relay are sealed for. */
export function sealPlace(name: string): string {
  return `relay:${name}`;
}

/** What the API shows of a relay. */
export function showRelay({ settings, source, live }: KnownRelay): Relay {
  const { state, reason, since } = live.state;
  return { ...showSettings(settings), source, state, reason, since: iso(since) };
}

function withLogin(target: SmtpTarget, { user, password }: RelaySettings, tokens: AccessTokens | null): SmtpTarget {
  if (!user) return target;
  return { ...target, auth: tokens ? { user, tokens } : { user, pass: password ?? "" } };
}
