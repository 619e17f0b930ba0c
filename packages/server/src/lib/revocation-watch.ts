import type { Clock, Timer } from "./clock.ts";

// Another process may have revoked something: look this often while a connection is open (real time).
const CHECK_MS = 1000;

interface Watched {
  readonly revoked: AbortController;
  watchers: number;
}

/**
 * Watches the rights of connections that live longer than a request, such as keys: they are checked when the connection opens,
 * and may be revoked a second later. A revocation by this process takes effect at once, one by another process within `CHECK_MS`;
 * one query reads all.
 */
export class RevocationWatch {
  readonly #findLive: (hashes: readonly string[]) => Promise<ReadonlySet<string>>;
  readonly #real: Clock["real"];
  readonly #watched = new Map<string, Watched>();
  #timer: Timer | null = null;

  /** `findLive` gives those of the hashes that are still valid. */
  constructor(findLive: (hashes: readonly string[]) => Promise<ReadonlySet<string>>, real: Clock["real"]) {
    this.#findLive = findLive;
    this.#real = real;
  }

  /** A signal that aborts once what has this hash is revoked. It is watched until `until` aborts. */
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

  /** Looks at once whether something watched is revoked: this process has revoked one. */
  checkNow(): void {
    // The timer tries again after a failure.
    this.#check().catch(() => {});
  }

  async #check(): Promise<void> {
    const hashes = [...this.#watched.keys()];
    if (hashes.length === 0) return;
    const live = await this.#findLive(hashes);
    for (const hash of hashes) {
      if (live.has(hash)) continue;
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
