import { DEFAULT_RELAY, type RelayCheck, type RelayState } from "@mailsvc/sdk/contract";
import type { Reader } from "../db/db.ts";
import type { Choice, Mailers, PendingMail } from "../delivery/delivery.ts";
import { keysOf } from "../mail/dkim.ts";
import type { Mailer } from "../mail/mailer.ts";
import { deferred } from "../mail/smtp-reply.ts";
import type { SenderRelay } from "./deps.ts";
import { explainFault, type KnownRelay, RelayMaker, type RelayMakerOptions } from "./known-relay.ts";
import { RelayStore, type RelayStoreOptions } from "./relay-store.ts";
import { isOpenTo } from "./relays.ts";
import { findNamedRelays, listNames } from "./routes.ts";

type RoutedMail = Pick<PendingMail, "email" | "contents">;

interface RegistryOptions extends RelayMakerOptions, RelayStoreOptions {
  /** Takes mail that names no relay while none is called default. */
  readonly capture: Mailer;
}

/**
 * Decides which relay takes a mail.
 *
 * | mail                                          | taken by                                                        |
 * | --------------------------------------------- | --------------------------------------------------------------- |
 * | may have arrived (in doubt)                   | the relay that had it, whether it is in service or not          |
 * | the same, and that relay was removed          | as below; it is listed as in doubt                              |
 * | names a relay                                 | the first in service of that relay and its fallbacks            |
 * | names none                                    | the same of the relay called default; without one it is captured |
 * | names one that is not there, or not for it    | nobody: it is deferred, and says why                            |
 * | no relay of the route is in service           | the first one                                                   |
 */
export class RelayRegistry implements Mailers {
  readonly #options: RegistryOptions;
  readonly #store: RelayStore;
  readonly #missing = new Map<string, Choice>();
  readonly #capture: Choice;
  /** `all`, made of the mailers of the store as they were then. */
  #all: { readonly of: readonly Mailer[]; readonly list: readonly Mailer[] } = { of: [], list: [] };
  /** True if something names a relay that was there before this process started. */
  #hasLostNames = false;

  constructor(options: RegistryOptions) {
    this.#options = options;
    this.#store = new RelayStore(options);
    this.#capture = { mailer: options.capture, relay: null, isOutOfService: () => false, takeTurn: () => null };
  }

  /**
   * Makes the relays of flags and of the file, and reads those of the database. DKIM keys that name no workspace sign mail of the first
   * one.
   */
  async open(firstWorkspace: string): Promise<void> {
    const { read } = this.#options.db();
    await this.#store.open(read, new RelayMaker(this.#options, firstWorkspace));
    const lost = (await listNames(read)).filter((name) => this.find(name) === null);
    if (lost.length === 0) return;
    this.#hasLostNames = true;
    this.#options.log.error("relays that mail names are not there any more; their mail is deferred", { relays: lost });
  }

  get main(): Mailer {
    return this.find(DEFAULT_RELAY)?.live.mailer ?? this.#options.capture;
  }

  get all(): readonly Mailer[] {
    const of = this.#store.mailers;
    if (this.#all.of !== of) this.#all = { of, list: this.find(DEFAULT_RELAY) ? of : [this.#options.capture, ...of] };
    return this.#all.list;
  }

  /** True while this process knows no relay, so that no mail leaves. */
  get capturesAll(): boolean {
    return this.#store.size === 0;
  }

  /** True if no mail leaves: there is no relay, and no other process has added one. */
  async capturesMail(read: Reader): Promise<boolean> {
    await this.refresh(read);
    return this.capturesAll;
  }

  /** All relays, by name. */
  list(): KnownRelay[] {
    return this.#store.list();
  }

  find(name: string): KnownRelay | null {
    return this.#store.find(name);
  }

  async choose(read: Reader, mails: readonly RoutedMail[]): Promise<readonly Choice[]> {
    await this.refresh(read);
    if (this.#isSimple) {
      const choice = this.find(DEFAULT_RELAY)?.live.choose([]) ?? this.#capture;
      return mails.map(() => choice);
    }
    const named = await findNamedRelays(read, mails);
    return mails.map(({ email }, i) => this.#chooseFor(email, named[i] ?? null));
  }

  /** The relay that mail of a workspace takes first, if no campaign names one; null if it is captured. `from` is the sender's address. */
  async findRelayOf(read: Reader, workspaceId: string, from: string): Promise<SenderRelay | null> {
    await this.refresh(read);
    const [named = null] = await findNamedRelays(read, [{ email: { workspaceId, campaignId: null }, contents: { from } }]);
    const known = this.find(named ?? DEFAULT_RELAY);
    return known && isOpenTo(known.settings, workspaceId)
      ? { name: known.settings.name, host: known.settings.host, dkim: keysOf(known.dkim, workspaceId) }
      : null;
  }

  /** Reads what the database holds, if it may have changed. */
  async refresh(read: Reader): Promise<void> {
    await this.#store.refresh(read);
  }

  /** The rows of the database have changed. */
  clear(): void {
    this.#store.clear();
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

  /** Reason the mail that names no relay waits; null if it does not. */
  fault(): string | null {
    const known = this.find(DEFAULT_RELAY);
    return known ? explainFault(known) : null;
  }

  /** Closes all relays. */
  async close(graceMs?: number): Promise<void> {
    await Promise.all(this.list().map(({ live }) => live.mailer.close(graceMs)));
  }

  /** True while all mail goes one way: then nothing is looked up. */
  get #isSimple(): boolean {
    const { size } = this.#store;
    if (this.#hasLostNames || this.#store.hasRemoved) return false;
    const main = this.find(DEFAULT_RELAY);
    return size === 0 || (size === 1 && main !== null && !main.settings.workspaceId);
  }

  #chooseFor({ workspaceId, inDoubt, attempts, relay }: RoutedMail["email"], named: string | null): Choice {
    if (inDoubt && attempts > 0) {
      const had = relay === null ? null : this.find(relay);
      if (had) return had.live.choose([]);
    }
    const first = this.find(named ?? DEFAULT_RELAY);
    if (!first && named === null) return this.#capture;
    if (!first || !isOpenTo(first.settings, workspaceId)) return this.#chooseMissing(named ?? DEFAULT_RELAY);
    const route = [first, ...(first.settings.fallback ?? []).flatMap((name) => this.find(name) ?? [])]
      .filter(({ settings }) => isOpenTo(settings, workspaceId))
      .map(({ live }) => live);
    const chosen = route.find((one) => one.takesMail(workspaceId)) ?? first.live;
    return chosen.choose(
      route.filter((one) => one !== chosen),
      workspaceId,
    );
  }

  #chooseMissing(name: string): Choice {
    const known = this.#missing.get(name);
    if (known) return known;
    const made: Choice = { mailer: missingRelay(name), relay: name, isOutOfService: () => false, takeTurn: () => null };
    this.#missing.set(name, made);
    return made;
  }
}

/** Takes the mail that names a relay which is not there: sending it another way could break what receivers check. */
function missingRelay(name: string): Mailer {
  const reason = `There is no relay ${name} that this mail may take. Add it (mailsvc relays add ${name}), or name another one.`;
  return {
    name: "smtp",
    transactional: false,
    concurrency: 5,
    send: async () => deferred(reason),
    check: async () => reason,
    fault: () => reason,
    close: async () => {},
  };
}

/** The mailer of the service's own mail: that of the default relay, whichever that is at the moment. Closing it closes all relays. */
export function mainMailer(relays: RelayRegistry): Mailer {
  return {
    get name() {
      return relays.main.name;
    },
    get transactional() {
      return relays.main.transactional;
    },
    get concurrency() {
      return relays.main.concurrency;
    },
    send: (mail) => relays.main.send(mail),
    check: () => relays.main.check(),
    fault: () => relays.fault(),
    close: (graceMs) => relays.close(graceMs),
  };
}
