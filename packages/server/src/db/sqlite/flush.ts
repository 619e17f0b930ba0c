import { closeSync, fdatasync, openSync } from "node:fs";
import { realTime } from "../../lib/clock.ts";

type Sync = (fd: number, done: (error: Error | null) => void) => void;

/**
 * Flushes a file to the disk on a thread of the runtime: it takes 0.1 to 5 ms, which the event loop need not wait for. One flush
 * covers everything written before it began, so at most one is running and one requested, however many callers there are.
 *
 * | flusher is         | trigger       | becomes                                            |
 * | ------------------ | ------------- | -------------------------------------------------- |
 * | idle               | `flush`       | running                                            |
 * | running            | `flush`       | running, next requested                            |
 * | running, requested | `flush`       | unchanged: the caller shares the requested flush   |
 * | running            | it ends       | idle                                               |
 * | running, requested | it succeeds   | running                                            |
 * | running, requested | it fails      | idle; the requested flush fails with it            |
 */
export class Flusher {
  readonly #fd: number;
  readonly #sync: Sync;
  #running: Promise<void> | null = null;
  #next: Promise<void> | null = null;
  /** Flushes so far, and the time they took. */
  readonly stats = { flushes: 0, ms: 0 };

  /** `file` must exist and must not be replaced while this is open. */
  constructor(file: string, sync: Sync = fdatasync) {
    this.#sync = sync;
    // Windows flushes only files opened for writing.
    this.#fd = openSync(file, "r+");
  }

  /** The last flush that is running or requested; null when there is none. */
  get pending(): Promise<void> | null {
    return this.#next ?? this.#running;
  }

  /** Resolves when everything written before the call is on the disk; rejects when the disk did not store it. */
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

  /** Closes the file. Call it when no flush is running. */
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
