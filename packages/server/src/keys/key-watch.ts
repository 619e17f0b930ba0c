import { and, inArray, isNull } from "drizzle-orm";
import type { Db } from "../db/db.ts";
import type { Clock, Timer } from "../lib/clock.ts";

// Another process may have revoked a key: look this often while a connection of any key is open (real time).
const CHECK_MS = 1000;

interface Watched {
  readonly revoked: AbortController;
  watchers: number;
}

/**
 * Watches the keys of connections that live longer than a request: a key is checked when the connection opens, and may be revoked a second
 * later. What this process revokes ends at once, what another one revokes within `CHECK_MS`; all keys are read with one query.
 */
export class KeyWatch {
  readonly #db: Db;
  readonly #real: Clock["real"];
  /** By the hash of the key. */
  readonly #watched = new Map<string, Watched>();
  #timer: Timer | null = null;

  constructor(db: Db, real: Clock["real"]) {
    this.#db = db;
    this.#real = real;
  }

  /** A signal that aborts once the key with this hash is revoked. It is watched until `until` aborts. */
  watch(hash: string, until: AbortSignal): AbortSignal {
    const watched = this.#watched.get(hash) ?? { revoked: new AbortController(), watchers: 0 };
    if (until.aborted) return watched.revoked.signal;
    watched.watchers += 1;
    this.#watched.set(hash, watched);
    const release = (): void => {
      watched.watchers -= 1;
      if (watched.watchers === 0 && this.#watched.get(hash) === watched) this.#watched.delete(hash);
    };
    until.addEventListener("abort", release, { once: true });
    this.#schedule();
    return watched.revoked.signal;
  }

  /** Looks at once whether watched keys are revoked: this process has revoked one. */
  checkNow(): void {
    // What fails now is looked at again by the timer.
    this.#check().catch(() => {});
  }

  async #check(): Promise<void> {
    const hashes = [...this.#watched.keys()];
    if (hashes.length === 0) return;
    const { keys } = this.#db.read.t;
    const live = await this.#db.read
      .select({ hash: keys.hash })
      .from(keys)
      .where(and(inArray(keys.hash, hashes), isNull(keys.revokedAt)));
    const left = new Set(live.map(({ hash }) => hash));
    for (const hash of hashes) {
      if (left.has(hash)) continue;
      this.#watched.get(hash)?.revoked.abort();
      this.#watched.delete(hash);
    }
  }

  #schedule(): void {
    if (this.#timer !== null || this.#watched.size === 0) return;
    this.#timer = this.#real.after(CHECK_MS, () => {
      // While the database is unavailable nothing is read for the connections either; the next check follows.
      void this.#check()
        .catch(() => {})
        .finally(() => {
          this.#timer = null;
          this.#schedule();
        });
    });
  }
}
