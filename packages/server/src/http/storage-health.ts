import type { StorageUnavailable } from "../db/errors.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";

// A server counts as unable to write for this long after a request failed for that reason.
const FAILURE_MS = 10_000;
// The log mentions a database that cannot work at most this often; a full disk would otherwise log each request.
const LOG_MS = 10_000;
// Probes write at most this often, however often they are asked for.
const PROBE_MS = 1000;

/** Origin of a refused write: the id of a request, or the action of a mail server. */
type Facts = Readonly<Record<string, string>>;

/**
 * Tells if the database can take writes, by the results of recent requests and background work and by the watch on the disk. `/readyz`
 * reports it, and writes are refused while the disk is nearly full.
 *
 *   state     | trigger                           | next
 *   ----------|-----------------------------------|----------
 *   healthy   | a request fails: storage          | failing
 *   healthy   | a write of background work is     | failing
 *             | refused: disk full, read-only     |
 *   healthy   | free space below the watermark    | low disk
 *   failing   | 10 s without such a failure       | healthy
 *   failing   | a probe writes, except where the  | healthy
 *             | disk is full: small writes may    |
 *             | still succeed while others fail   |
 *   low disk  | free space above the watermark    | healthy
 */
export class StorageHealth {
  readonly #real: Clock["real"];
  readonly #log: Log;
  #failure: { error: StorageUnavailable; at: number } | null = null;
  #loggedAt = Number.NEGATIVE_INFINITY;
  #unlogged = 0;
  #probe: { result: Promise<void>; at: number } | null = null;
  /** Reason writes are refused: the disk is nearly full. Null while there is room. */
  lowDisk: string | null = null;

  constructor(real: Clock["real"], log: Log) {
    this.#real = real;
    this.#log = log;
  }

  /** Reason the database cannot take writes at the moment; null when it can. */
  get problem(): string | null {
    if (this.lowDisk !== null) return this.lowDisk;
    return this.#failure !== null && this.#real.now() - this.#failure.at < FAILURE_MS ? this.#failure.error.message : null;
  }

  /** Notes that a request or a message failed because of the database, and logs it with `facts`, at most every 10 s. */
  failed(error: StorageUnavailable, facts: Facts): void {
    this.#failure = { error, at: this.#real.now() };
    this.mention(error.message, facts);
  }

  /** Notes that the database refused a write of background work, which logs that itself. */
  refused(error: StorageUnavailable): void {
    this.#failure = { error, at: this.#real.now() };
  }

  /** Logs that a request was refused because of the storage, at most every 10 s. */
  mention(message: string, facts: Facts): void {
    const at = this.#real.now();
    if (at - this.#loggedAt < LOG_MS) {
      this.#unlogged += 1;
      return;
    }
    this.#log.error(message, { ...facts, ...(this.#unlogged > 0 && { further: this.#unlogged }) });
    this.#loggedAt = at;
    this.#unlogged = 0;
  }

  /** Finds out by a small write whether the database takes one; a second's worth of callers share it. Throws what `write` throws. */
  probe(write: () => Promise<void>): Promise<void> {
    const at = this.#real.now();
    if (this.#probe === null || at - this.#probe.at >= PROBE_MS) this.#probe = { result: write().then(() => this.#written(at)), at };
    return this.#probe.result;
  }

  /** A probe that began at `since` has written. */
  #written(since: number): void {
    if (this.#failure !== null && this.#failure.at < since && !this.#failure.error.refusesWrites) this.#failure = null;
  }
}
