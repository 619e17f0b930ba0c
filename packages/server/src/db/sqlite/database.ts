import { join } from "node:path";
import type { DatabaseSchema, Db, Reader, Tx } from "../db.ts";
import { MisplacedQuery, StorageUnavailable } from "../errors.ts";
import { type CoalescedWrite, currentScope, type Scope, Writer, type WriterOptions } from "../writer.ts";
import { Checkpoints } from "./checkpoints.ts";
import { createSession, openConnection, type RawConnection, writeHeld } from "./connection.ts";
import { Flusher } from "./flush.ts";
import { assertNotEmptied, createDataFolder, DATABASE_FILE, lockFolder, openError } from "./folder.ts";
import { HeldRows } from "./held-rows.ts";
import { migrateSqlite } from "./migrate.ts";

export type { RawConnection };

export interface SqliteOptions extends WriterOptions {
  /** `FULL` (the default): a transaction ends only when its rows survive a power cut. `OFF` is for tests. */
  synchronous?: "FULL" | "OFF";
}

/** A SQLite database, and what only its owner may do. */
export interface SqliteDb extends Db {
  readonly engine: "sqlite";
  readonly writer: Writer;
  readonly file: string;
  /** Flushes of the write-ahead log so far, and the time they took in ms; null when nothing is flushed. */
  readonly flushes: { readonly flushes: number; readonly ms: number } | null;
  /**
   * Defers `item` to the end of the commit, where it is written together with the items of all transactions in that commit:
   * one row for a hundred callers.
   */
  coalesce<T>(coalescer: Coalescer<T>, item: T): void;
  /** Runs `work` on the raw writer connection while no transaction is open: snapshots, integrity checks. */
  exclusive<T>(work: (connection: RawConnection) => T): Promise<T>;
}

/** Writes the items that several transactions of one commit deferred. */
export interface Coalescer<T> {
  write(tx: Tx, items: T[]): Promise<void>;
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
  // At NORMAL, COMMIT writes the log without flushing it. The flush that FULL would do inside COMMIT is ours then, beside the
  // event loop. Before a checkpoint SQLite flushes the log itself.
  const level = options.synchronous === "OFF" ? "OFF" : "NORMAL";
  let connection: RawConnection;
  let reader: RawConnection;
  let disk: Flusher | undefined;
  let checkpoints: Checkpoints | undefined;
  try {
    connection = openConnection(file, level);
    migrateSqlite(connection, schema.version);
    reader = openConnection(file, level);
    reader.pragma("query_only = ON");
    if (level === "NORMAL") {
      // The first write creates the log, which stays until the last connection is closed.
      connection.exec("BEGIN IMMEDIATE; COMMIT");
      disk = new Flusher(`${file}-wal`);
      checkpoints = new Checkpoints(connection);
      await disk.flush();
    }
  } catch (error) {
    unlock();
    throw openError(error, file);
  }

  const command = (sql: string): (() => void) => {
    const statement = connection.prepare(sql);
    return () => void statement.run();
  };
  const begin = command("BEGIN IMMEDIATE");
  const commit = command("COMMIT");
  const rollback = command("ROLLBACK");
  const held = new HeldRows();
  const writer = new Writer(
    {
      get active() {
        return connection.inTransaction;
      },
      begin: (savepoints) => {
        begin();
        held.begin(!savepoints);
      },
      complete: () => held.write(),
      commit: () => {
        held.write();
        commit();
        checkpoints?.committed();
      },
      rollback: () => {
        held.drop();
        rollback();
      },
      savepoint: command("SAVEPOINT caller"),
      release: command("RELEASE caller"),
      rollbackToSavepoint: command("ROLLBACK TO caller"),
      disk,
      get backlog() {
        return checkpoints?.backlog ?? null;
      },
    },
    options,
  );

  let closed = false;
  const assertOpen = (): void => {
    if (closed) throw new StorageUnavailable("The database is closed.");
  };
  const breathe = (): Promise<void> => writer.breathe();
  const assertReadable = (): null => {
    assertOpen();
    if (currentScope.getStore()?.open)
      throw new MisplacedQuery("A query was made beside the open transaction: use the transaction you were given.");
    return null;
  };
  const getScope = (): Scope => {
    const scope = currentScope.getStore();
    if (!scope?.open) throw new MisplacedQuery("A query was made after its transaction had ended.");
    return scope;
  };
  const read: Reader = createSession({ connection: reader, schema, guard: assertReadable, breathe, held: null });
  const write = createSession({ connection, schema, guard: getScope, breathe, held });
  const bindTx = (scope: Scope): Tx => {
    const tx = Object.create(write) as Tx;
    // Rows that are held back are written now: at COMMIT they would be written in one turn with all that follow.
    tx.breathe = () => {
      writeHeld(held, scope);
      return breathe();
    };
    tx.afterCommit = (fn) => void scope.afterCommit.push(fn);
    return tx;
  };

  const coalescedWrites = new Map<Coalescer<unknown>, CoalescedWrite<unknown>>();
  const toCoalescedWrite = (coalescer: Coalescer<unknown>): CoalescedWrite<unknown> => {
    let known = coalescedWrites.get(coalescer);
    if (!known) {
      known = { write: (scope, items) => coalescer.write(bindTx(scope), items) };
      coalescedWrites.set(coalescer, known);
    }
    return known;
  };

  return {
    engine: "sqlite",
    isUnavailable: (error) => error instanceof StorageUnavailable,
    writer,
    flushes: disk?.stats ?? null,
    file,
    read,
    health: () => ({ writable: writer.refusal === null, reason: writer.refusal?.message ?? null }),
    tx: (fn, kind) =>
      writer.run((scope) => {
        scope.light = kind !== undefined;
        return fn(bindTx(scope));
      }),
    coalesce: (coalescer, item) => {
      const scope = currentScope.getStore();
      if (!scope?.open) throw new MisplacedQuery("A write was deferred to a transaction that has ended.");
      scope.coalesced.push([toCoalescedWrite(coalescer as Coalescer<unknown>), item]);
    },
    exclusive: async (work) => {
      await writer.idle();
      writer.assertHealthy();
      // `work` is synchronous and the writer starts transactions only in later turns of the event loop, so none can interleave.
      const result = work(connection);
      await disk?.flush();
      return result;
    },
    ping: async () => {
      assertOpen();
      writer.assertHealthy();
      reader.prepare("SELECT 1").get();
    },
    close: async () => {
      if (closed) return;
      closed = true;
      await writer.close();
      await checkpoints?.close();
      disk?.close();
      reader.close();
      connection.close();
      unlock();
    },
  };
}
