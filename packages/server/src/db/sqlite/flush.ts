import { closeSync, fdatasync, openSync } from "node:fs";
import { realTime } from "../../lib/clock.ts";

/** Flushes an open file, and calls `done` when it is on the disk. */
export type Sync = (fd: number, done: (error: Error | null) => void) => void;

/*
 * The riskiest code of the server: SQLite runs at synchronous = NORMAL, where COMMIT does not flush its log, and durability is ours.
 *
 * Guaranteed: what was committed before `flush` was called is on the disk when its promise resolves. The writer answers no caller
 * before the flush that covers everything this caller wrote or read. A flush that fails is never tried again, because the system
 * may have dropped the pages: all callers are rejected, and nothing is written until the next start.
 *
 * Not guaranteed: rows of callers that were not answered may or may not be there after a power cut, each commit whole or not at all.
 *
 * Proved by power-cut.test.ts (what the last flush covered is all that is left), flush.test.ts, writer.test.ts (who is answered when),
 * ../../disk-failure.test.ts (the process ends), and test/crash.test.ts (kills under load).
 */

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
