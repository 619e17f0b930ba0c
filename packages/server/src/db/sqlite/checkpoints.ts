import { Worker } from "node:worker_threads";
import type Database from "better-sqlite3";
import { driverExpression } from "./driver.ts";

// Pages in the log (4 KB each) from which on they are moved into the database file.
const PAGES = 4000;
// Commits wait for a worker that is this far behind: the log must not fill the disk.
const FAR_BEHIND = 8 * PAGES;
// Without a worker that could do it, the writer moves them itself.
const LOST = 4 * FAR_BEHIND;
// This many pages the writer moves itself at the end: a few milliseconds.
const LAST_PAGES = 500;
// Reading the length of the log takes 10 µs. A commit can hold the 30 MB of a large request.
const CHECK_EVERY = 4;

interface Log {
  /** 1 when another checkpoint was running. */
  busy: 0 | 1;
  /** Pages in the log. */
  log: number;
  /** Pages of the log that are in the database file already. */
  checkpointed: number;
}

// As text, so that it stays with this file wherever that is bundled. It has its own thread and connection.
const WORK = `
  const { parentPort, workerData } = require("node:worker_threads");
  const connection = new Database(workerData.file);
  connection.pragma("synchronous = NORMAL");
  parentPort.on("message", () => parentPort.postMessage(connection.pragma("wal_checkpoint(PASSIVE)")[0]));`;

/*
 * Beside `flush.ts` the riskiest code of the server: it decides when the log may be overwritten.
 *
 * Guaranteed: pages are moved by SQLite's own `wal_checkpoint(PASSIVE)` at synchronous = NORMAL, which flushes the log before it
 * writes the database file, and the file before the log may restart. So no page is overwritten before it is safe, whichever thread
 * runs it. A checkpoint that fails or whose thread dies loses nothing: its rows stay in the log.
 *
 * Bounded: the log restarts at about 16 MB under load; at 128 MB commits wait for the thread, at 512 MB the writer does the work.
 *
 * Proved by checkpoints.test.ts (the log stays small, failures harm no commit) and test/crash.test.ts (kills under load).
 */

/**
 * Moves the log into the database file on its own thread: writing and flushing 16 MB takes 10 to 100 ms, for which the event
 * loop would stop. The log can restart only when all of it has been moved, and under load new pages arrive meanwhile: the worker
 * goes on until only few are left, which the writer moves itself. While the log is far too long, commits wait.
 */
export class Checkpoints {
  readonly #writer: Database.Database;
  readonly #length: Database.Statement<[], Log>;
  #worker: Worker | null = null;
  #running = false;
  /** Pages that the last checkpoint of the worker left in the database file. */
  #checkpointed = 0;
  #farBehind = false;
  readonly #waiting: (() => void)[] = [];
  #commits = 0;
  #closed = false;

  constructor(writer: Database.Database) {
    this.#writer = writer;
    writer.pragma("wal_autocheckpoint = 0");
    this.#length = writer.prepare("PRAGMA wal_checkpoint(NOOP)");
  }

  /** Call this after each COMMIT. It never throws. */
  committed(): void {
    this.#commits += 1;
    if (this.#commits % CHECK_EVERY !== 0) return;
    this.#try(() => {
      const { log } = this.#length.get() as Log;
      if (log >= LOST) this.#checkpointHere();
      else if (log >= PAGES) this.#checkpointInWorker();
      this.#farBehind = this.#running && log >= FAR_BEHIND;
    });
  }

  /** Resolves when commits may go on; null when they need not wait. */
  get backlog(): Promise<void> | null {
    if (!this.#farBehind) return null;
    // Somebody waits for it, so the process must not end before.
    this.#worker?.ref();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Ends the worker after its current checkpoint. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#worker?.terminate();
  }

  /** A checkpoint that fails, such as on a full disk, loses nothing: the rows are safe in the log, and the next one tries again. */
  #try(work: () => void): void {
    try {
      work();
    } catch (error) {
      process.emitWarning(`The log of the database could not be moved: ${(error as { code?: string }).code ?? String(error)}.`);
    }
  }

  #checkpointHere(): void {
    this.#checkpointed = 0;
    this.#try(() => {
      if (!this.#writer.inTransaction) this.#writer.pragma("wal_checkpoint(PASSIVE)");
    });
  }

  #checkpointInWorker(): void {
    if (this.#running) return;
    this.#running = true;
    this.#worker ??= this.#start();
    this.#worker.postMessage("checkpoint");
  }

  #start(): Worker {
    const work = `const Database = ${driverExpression()};${WORK}`;
    const worker = new Worker(work, { eval: true, name: "checkpoints", workerData: { file: this.#writer.name } });
    worker.unref();
    worker.on("message", ({ checkpointed }: Log) => {
      this.#running = false;
      this.#try(() => this.#continue(checkpointed));
      if (!this.#running) this.#letCommitsGoOn();
    });
    // Until there is a new worker the writer does it: nothing is lost, it only takes longer.
    worker.on("error", () => this.#workerEnded());
    worker.on("exit", () => this.#workerEnded());
    return worker;
  }

  /** Goes on after a checkpoint if pages came meanwhile. Pages that a reader or another checkpoint keeps in the log are not tried again. */
  #continue(checkpointed: number): void {
    if (this.#closed) return;
    const { log } = this.#length.get() as Log;
    if (log - checkpointed <= LAST_PAGES) {
      this.#checkpointHere();
      return;
    }
    const hasMoved = checkpointed > this.#checkpointed;
    this.#checkpointed = checkpointed;
    if (hasMoved) this.#checkpointInWorker();
  }

  #letCommitsGoOn(): void {
    this.#farBehind = false;
    this.#worker?.unref();
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  #workerEnded(): void {
    this.#worker = null;
    this.#running = false;
    if (!this.#closed) this.#checkpointHere();
    this.#letCommitsGoOn();
  }
}
