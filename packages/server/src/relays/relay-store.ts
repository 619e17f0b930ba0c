import { createHash } from "node:crypto";
import type { Reader } from "../db/db.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { Seal } from "../lib/seal.ts";
import type { Mailer } from "../mail/mailer.ts";
import type { GivenRelay, KnownRelay, RelayMaker } from "./known-relay.ts";
import { joinSecrets, type RelaySettings, relaySecretsPlace } from "./settings.ts";

export interface RelayStoreOptions {
  readonly seal: Seal;
  readonly clock: Clock;
  readonly log: Log;
  /** Maximum age of the rows read from the database, ms: other processes may change them. */
  readonly maxAgeMs: number;
  /** The default relay as --smtp-url describes it; null without one. */
  readonly given: GivenRelay | null;
  /** The relays of --relays. */
  readonly file: readonly RelaySettings[];
}

/**
 * The relays that this process knows: of flags and files, and those of the database as it last read them. A relay that the API changes is
 * replaced by another one; its mail under way ends on the old one.
 */
export class RelayStore {
  readonly #options: RelayStoreOptions;
  #maker: RelayMaker | null = null;
  readonly #relays = new Map<string, KnownRelay>();
  #mailers: readonly Mailer[] = [];
  #hasRemoved = false;
  #readAt: number | null = null;
  /** Number of changes to the rows of the database that this process has seen. */
  #changes = 0;
  #reading: Promise<void> | null = null;

  constructor(options: RelayStoreOptions) {
    this.#options = options;
  }

  /** Makes the relays of flags and of the file, and reads those of the database. */
  async open(read: Reader, maker: RelayMaker): Promise<void> {
    this.#maker = maker;
    const { given, file } = this.#options;
    if (given) this.#relays.set(given.settings.name, await maker.makeGiven(given));
    for (const settings of file) this.#relays.set(settings.name, await maker.make(settings, "file"));
    await this.refresh(read);
  }

  /** True if a relay that this process knew was removed: mail may still name it. */
  get hasRemoved(): boolean {
    return this.#hasRemoved;
  }

  get size(): number {
    return this.#relays.size;
  }

  /** The mailers of all relays. The list is another one whenever it changes. */
  get mailers(): readonly Mailer[] {
    return this.#mailers;
  }

  find(name: string): KnownRelay | null {
    return this.#relays.get(name) ?? null;
  }

  /** All relays, by name. */
  list(): KnownRelay[] {
    return [...this.#relays.values()].sort((a, b) => (a.settings.name < b.settings.name ? -1 : 1));
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

  async #read(read: Reader): Promise<void> {
    const { clock, seal, log } = this.#options;
    const maker = this.#maker;
    if (maker === null) throw new Error("The relays are not open yet.");
    const at = clock.real.now();
    const changes = this.#changes;
    const rows = await read.select().from(read.t.relays);
    const stored = new Set(rows.map(({ name }) => name));
    for (const [name, { source }] of this.#relays) {
      if (source !== "api" || stored.has(name)) continue;
      this.#drop(name);
      this.#hasRemoved = true;
    }
    for (const { name, settings, secrets, updatedAt } of rows) {
      const known = this.#relays.get(name);
      if (known && known.source !== "api") {
        if (this.#readAt === null)
          log.warn("a relay of the database is not used: a flag or file defines one of the same name", { relay: name });
        continue;
      }
      const revision = `${updatedAt} ${createHash("sha256").update(secrets).digest("hex")}`;
      if (known?.revision === revision) continue;
      const made = await maker.make(joinSecrets(settings, seal.open(secrets, relaySecretsPlace(name))), "api", revision);
      if (known) this.#drop(name);
      this.#relays.set(name, made);
    }
    this.#readAt = changes === this.#changes ? at : null;
    this.#listMailers();
  }

  #drop(name: string): void {
    void this.#relays.get(name)?.live.retire();
    this.#relays.delete(name);
  }

  #listMailers(): void {
    this.#mailers = [...this.#relays.values()].map(({ live }) => live.mailer);
  }
}
