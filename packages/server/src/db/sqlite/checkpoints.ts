import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import type Database from "better-sqlite3";

// Pages of the log (4 KB each) after which they are brought into the database file.
const PAGES = 4000;
// When the worker falls this far behind, the writer does it itself: the log must not fill the disk.
const FAR_BEHIND = 8 * PAGES;
// Asking how long the log is takes 10 µs.
const ASK_EVERY = 16;

interface Log {
  /** 1 when another checkpoint was under way. */
  busy: 0 | 1;
  /** Pages in the log. */
  log: number;
  /** Of these, pages that are in the database file. */
  checkpointed: number;
}

// In one piece with this file wherever it is bundled to. A connection of its own, on a thread of its own.
const WORK = `
  const { parentPort, workerData } = require("node:worker_threads");
  const Database = require(workerData.driver);
  const connection = new Database(workerData.file);
  connection.pragma("synchronous = NORMAL");
  parentPort.on("message", () => parentPort.postMessage(connection.pragma("wal_checkpoint(PASSIVE)")[0]));`;

/**
 * Moves the log into the database file on a thread of its own: 16 MB to write and to flush, 10 to 100 ms in which the event
 * loop would stand still. The log can begin anew only when all of it is moved, which under load never is so in the end:
 * what came in meanwhile, some hundred pages, the writer then moves itself.
 */
export class Checkpoints {
  readonly #writer: Database.Database;
  readonly #length: Database.Statement<[], Log>;
  #worker: Worker | null = null;
  #under = false;
  #commits = 0;
  #closed = false;

  constructor(writer: Database.Database) {
    this.#writer = writer;
    writer.pragma("wal_autocheckpoint = 0");
    this.#length = writer.prepare("PRAGMA wal_checkpoint(NOOP)");
  }

  /** To be called after each COMMIT, which it never makes fail. */
  committed(): void {
    this.#commits += 1;
    if (this.#commits % ASK_EVERY !== 0) return;
    this.#try(() => {
      const { log } = this.#length.get() as Log;
      if (log >= FAR_BEHIND) this.#here();
      else if (log >= PAGES) this.#there();
    });
  }

  /** Ends the worker, after what it does now. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#worker?.terminate();
  }

  /** A checkpoint that fails, on a disk that is full, costs nothing: the rows are safe in the log, and the next one tries again. */
  #try(work: () => void): void {
    try {
      work();
    } catch (error) {
      process.emitWarning(`The log of the database could not be moved: ${(error as { code?: string }).code ?? String(error)}.`);
    }
  }

  #here(): void {
    this.#try(() => {
      if (!this.#writer.inTransaction) this.#writer.pragma("wal_checkpoint(PASSIVE)");
    });
  }

  #there(): void {
    if (this.#under) return;
    this.#under = true;
    this.#worker ??= this.#start();
    this.#worker.postMessage("checkpoint");
  }

  #start(): Worker {
    const driver = createRequire(import.meta.url).resolve("better-sqlite3");
    const worker = new Worker(WORK, { eval: true, name: "checkpoints", workerData: { driver, file: this.#writer.name } });
    worker.unref();
    worker.on("message", ({ log, checkpointed }: Log) => {
      this.#under = false;
      if (!this.#closed && checkpointed === log) this.#here();
    });
    // The writer does it until there is a new one: nothing is lost, it only takes its time.
    worker.on("error", () => this.#gone());
    worker.on("exit", () => this.#gone());
    return worker;
  }

  #gone(): void {
    this.#worker = null;
    this.#under = false;
    if (!this.#closed) this.#here();
  }
}
