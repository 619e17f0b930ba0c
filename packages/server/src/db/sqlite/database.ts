import { join } from "node:path";
import type { DatabaseSchema, Db, DbHealth, Reader, Tx } from "../db.ts";
import { MisplacedQuery, StorageUnavailable } from "../errors.ts";
import type { CheckBefore } from "../migrations.ts";
import { currentScope, type Scope } from "../scope.ts";
import { Checkpoints } from "./checkpoints.ts";
import { createSession, openConnection, type RawConnection } from "./connection.ts";
import { Flusher, type Sync } from "./flush.ts";
import { assertNotEmptied, createDataFolder, DATABASE_FILE, lockFolder, openError } from "./folder.ts";
import { migrateSqlite } from "./migrate.ts";
import { Writer, type WriterConnection, type WriterOptions } from "./writer.ts";

export type { RawConnection };

export interface SqliteOptions extends WriterOptions {
  /** `FULL` (the default): a transaction ends only when its rows survive a power cut. `OFF` is for data that is thrown away. */
  synchronous?: "FULL" | "OFF";
  /** Function that flushes the log; tests replace it to see what each flush covers. */
  sync?: Sync;
  checkBefore?: CheckBefore | undefined;
}

/** A SQLite database, and what only its owner may do. */
export interface SqliteDb extends Db {
  readonly engine: "sqlite";
  readonly writer: Writer;
  readonly file: string;
  /** Flushes of the write-ahead log so far, and the time they took in ms; null when nothing is flushed. */
  readonly flushes: { readonly flushes: number; readonly ms: number } | null;
  /** Runs `work` on the raw writer connection while no transaction is open: snapshots, integrity checks. */
  exclusive<T>(work: (connection: RawConnection) => T): Promise<T>;
}

/**
 * Opens `folder/mailsvc.db`, creating and migrating it as needed. Throws StorageUnavailable when another process uses the
 * folder.
 */
export async function openSqlite(folder: string, schema: DatabaseSchema, options: SqliteOptions = {}): Promise<SqliteDb> {
  createDataFolder(folder);
  assertNotEmptied(folder);
  const unlock = lockFolder(folder);
  const file = join(folder, DATABASE_FILE);
  try {
    return new SqliteDatabase(file, schema, await openFile(file, schema.version, options), options, unlock);
  } catch (error) {
    unlock();
    throw openError(error, file);
  }
}

/** Open handles of a database file. */
interface OpenFile {
  readonly connection: RawConnection;
  readonly reader: RawConnection;
  /** Undefined where rows need not survive a power cut, as are the checkpoints. */
  readonly disk: Flusher | undefined;
  readonly checkpoints: Checkpoints | undefined;
}

async function openFile(file: string, version: string, { synchronous, sync, checkBefore }: SqliteOptions): Promise<OpenFile> {
  // At NORMAL, COMMIT writes the log without flushing it. The flush that FULL would do inside COMMIT is ours then, outside the
  // event loop. Before a checkpoint SQLite flushes the log itself.
  const level = synchronous === "OFF" ? "OFF" : "NORMAL";
  const connection = openConnection(file, level);
  migrateSqlite(connection, version, checkBefore);
  const reader = openConnection(file, level);
  reader.pragma("query_only = ON");
  if (level === "OFF") return { connection, reader, disk: undefined, checkpoints: undefined };
  // The first write creates the log, which stays until the last connection is closed.
  connection.exec("BEGIN IMMEDIATE; COMMIT");
  const disk = new Flusher(`${file}-wal`, sync);
  const checkpoints = new Checkpoints(connection);
  await disk.flush();
  return { connection, reader, disk, checkpoints };
}

function toWriterConnection({ connection, disk, checkpoints }: OpenFile): WriterConnection {
  const command = (sql: string): (() => void) => {
    const statement = connection.prepare(sql);
    return () => void statement.run();
  };
  const commit = command("COMMIT");
  return {
    get active() {
      return connection.inTransaction;
    },
    begin: command("BEGIN IMMEDIATE"),
    commit: () => {
      commit();
      checkpoints?.committed();
    },
    rollback: command("ROLLBACK"),
    savepoint: command("SAVEPOINT caller"),
    release: command("RELEASE caller"),
    rollbackToSavepoint: command("ROLLBACK TO caller"),
    disk,
    get backlog() {
      return checkpoints?.backlog ?? null;
    },
  };
}

class SqliteDatabase implements SqliteDb {
  readonly engine = "sqlite";
  readonly file: string;
  readonly read: Reader;
  readonly writer: Writer;
  readonly #open: OpenFile;
  readonly #unlock: () => void;
  /** The queries of a transaction, but for its hooks. */
  readonly #write: Omit<Tx, "afterCommit">;
  #closed = false;

  // `tx` and `isUnavailable` are passed on alone, so they are bound.
  readonly tx: Db["tx"] = (fn, options) => this.writer.run((scope) => fn(this.#bindTx(scope)), options);
  readonly isUnavailable: Db["isUnavailable"] = (error) => error instanceof StorageUnavailable;
  readonly isAway: Db["isAway"] = (error) => error instanceof StorageUnavailable && error.isAway;

  constructor(file: string, schema: DatabaseSchema, open: OpenFile, options: SqliteOptions, unlock: () => void) {
    this.file = file;
    this.#open = open;
    this.#unlock = unlock;
    this.writer = new Writer(toWriterConnection(open), options);
    const breathe = (): Promise<void> => this.writer.breathe();
    this.read = createSession({ connection: open.reader, schema, guard: () => this.#assertReadable(), breathe });
    this.#write = createSession({ connection: open.connection, schema, guard: () => this.writer.findScope(), breathe });
  }

  async exclusive<T>(work: (connection: RawConnection) => T): Promise<T> {
    await this.writer.idle();
    this.writer.assertHealthy();
    // `work` is synchronous and the writer starts transactions only in later turns of the event loop, so none can interleave.
    const result = work(this.#open.connection);
    await this.#open.disk?.flush();
    return result;
  }

  get flushes(): SqliteDb["flushes"] {
    return this.#open.disk?.stats ?? null;
  }

  health(): DbHealth {
    const { refusal } = this.writer;
    return { writable: refusal === null, reason: refusal?.message ?? null };
  }

  watchRefusals(hear: (error: StorageUnavailable) => void): void {
    this.writer.onRefusal = hear;
  }

  async ping(): Promise<void> {
    this.#assertOpen();
    this.writer.assertHealthy();
    this.#open.reader.prepare("SELECT 1").get();
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.writer.close();
    const { checkpoints, disk, reader, connection } = this.#open;
    await checkpoints?.close();
    disk?.close();
    reader.close();
    connection.close();
    this.#unlock();
  }

  #bindTx(scope: Scope): Tx {
    return Object.assign(Object.create(this.#write) as Omit<Tx, "afterCommit">, {
      afterCommit: (hook: () => void) => void scope.afterCommit.push(hook),
    });
  }

  #assertOpen(): void {
    if (this.#closed) throw new StorageUnavailable("The database is closed.");
  }

  #assertReadable(): null {
    this.#assertOpen();
    if (currentScope.getStore()?.open)
      throw new MisplacedQuery("A query was made outside the open transaction: use the transaction you were given.");
    return null;
  }
}
