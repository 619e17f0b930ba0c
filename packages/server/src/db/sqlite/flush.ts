import { closeSync, fdatasync, openSync } from "node:fs";
import { realTime } from "../../lib/clock.ts";

type Sync = (fd: number, done: (error: Error | null) => void) => void;

/**
 * Brings what was written to a file to the disk, on a thread of the runtime: a disk takes 0.1 to 5 ms for it, in which the
 * event loop has better things to do. One flush covers all that was written before it began, so at most one is under way
 * and one asked for, however many ask.
 */
export class Flusher {
  readonly #fd: number;
  readonly #sync: Sync;
  #running: Promise<void> | null = null;
  #next: Promise<void> | null = null;
  /** Flushes so far, and the time they took. */
  readonly stats = { flushes: 0, ms: 0 };

  /** `file` must be there already, and not be replaced while this is open. */
  constructor(file: string, sync: Sync = fdatasync) {
    this.#sync = sync;
    // Windows flushes only what may be written.
    this.#fd = openSync(file, "r+");
  }

  /** The last flush that is under way or asked for; null when there is none. */
  get pending(): Promise<void> | null {
    return this.#next ?? this.#running;
  }

  /** Settles when all that was written before the call is on the disk; fails when the disk did not take it. */
  flush(): Promise<void> {
    if (this.#running === null) return this.#start();
    this.#next ??= this.#running.then(
      () => this.#start(),
      (error: unknown) => {
        this.#next = null;
        throw error;
      },
    );
    return this.#next;
  }

  /** To be called when nothing is under way. */
  close(): void {
    closeSync(this.#fd);
  }

  #start(): Promise<void> {
    this.#next = null;
    const startedAt = realTime.now();
    this.#running = new Promise((resolve, reject) => {
      this.#sync(this.#fd, (error) => {
        this.#running = null;
        this.stats.flushes += 1;
        this.stats.ms += realTime.now() - startedAt;
        if (error) reject(error);
        else resolve();
      });
    });
    return this.#running;
  }
}
