import { Worker } from "node:worker_threads";
import type Database from "better-sqlite3";
import { driverExpression } from "./driver.ts";

// Pages in the log (4 KB each) from which on they are moved into the database file.
const PAGES = 4000;
// When the worker is this far behind, the writer moves them itself: the log must not fill the disk.
const FAR_BEHIND = 8 * PAGES;
// Reading the length of the log takes 10 µs.
const CHECK_EVERY = 16;

interface Log {
  /** 1 when another checkpoint was running. */
  busy: 0 | 1;
  /** Pages in the log. */
  log: number;
  /** Of these, pages that are in the database file already. */
  checkpointed: number;
}

// As text, so that it stays with this file wherever that is bundled. It has a thread and a connection of its own.
const WORK = `
  const { parentPort, workerData } = require("node:worker_threads");
  const connection = new Database(workerData.file);
  connection.pragma("synchronous = NORMAL");
  parentPort.on("message", () => parentPort.postMessage(connection.pragma("wal_checkpoint(PASSIVE)")[0]));`;

/**
 * Moves the log into the database file on a thread of its own: writing and flushing 16 MB takes 10 to 100 ms, for which the event
 * loop would stop. The log can restart only when all of it has been moved, and under load new pages arrive meanwhile: the writer
 * moves those last few hundred itself.
 */
export class Checkpoints {
  readonly #writer: Database.Database;
  readonly #length: Database.Statement<[], Log>;
  #worker: Worker | null = null;
  #running = false;
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
      if (log >= FAR_BEHIND) this.#checkpointHere();
      else if (log >= PAGES) this.#checkpointInWorker();
    });
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
    worker.on("message", ({ log, checkpointed }: Log) => {
      this.#running = false;
      if (!this.#closed && checkpointed === log) this.#checkpointHere();
    });
    // Until there is a new worker the writer does it: nothing is lost, it only takes longer.
    worker.on("error", () => this.#workerEnded());
    worker.on("exit", () => this.#workerEnded());
    return worker;
  }

  #workerEnded(): void {
    this.#worker = null;
    this.#running = false;
    if (!this.#closed) this.#checkpointHere();
  }
}
