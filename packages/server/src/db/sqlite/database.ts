import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { type BetterSQLite3Database, drizzle } from "drizzle-orm/better-sqlite3";
import type { Db, Queries, Reader, Tx } from "../db.ts";
import { MisplacedQuery, StorageUnavailable, storageError } from "../errors.ts";
import { lockFolder } from "../lock.ts";
import * as schema from "../schema.sqlite.ts";
import type { Tables } from "../tables.ts";
import { currentScope, Gate, type GateOptions, type Gathering, type Scope } from "../writer.ts";
import { bindOnce } from "./bind.ts";
import { Checkpoints } from "./checkpoints.ts";
import { partsOf } from "./dialect.ts";
import { Flusher } from "./flush.ts";
import { insertsOf } from "./insert.ts";
import { migrateSqlite } from "./migrate.ts";
import { FOLD, foldText, words } from "./search-index.ts";

export interface SqliteOptions extends GateOptions {
  /** `FULL` (the default) lets a transaction end only when its rows survive a power cut; `OFF` is for tests. */
  synchronous?: "FULL" | "OFF";
}

/** A connection without the gate before it, for what SQL alone can do. */
export type RawConnection = Database.Database;

/** A SQLite database, and what only its owner may do. */
export interface SqliteDb extends Db {
  readonly dialect: "sqlite";
  readonly gate: Gate;
  readonly file: string;
  /** The jobs table, which only SQLite has. */
  readonly jobs: typeof schema.jobs;
  /**
   * Leaves `item` to be written at the end of the open transaction, together with those of all others that commit with it:
   * one row for a hundred callers.
   */
  gather<T>(gathering: Gather<T>, item: T): void;
  /** Runs `work` on the raw writer connection while no transaction is open: snapshots, integrity checks. */
  alone<T>(work: (connection: RawConnection) => T): Promise<T>;
}

/** How items of many transactions become rows. */
export interface Gather<T> {
  write(tx: Tx, items: T[]): Promise<void>;
}

type Run = (...params: unknown[]) => unknown;

/** What drizzle uses of a better-sqlite3 statement. */
interface Statement {
  run: Run;
  all: Run;
  get: Run;
  raw(): { all: Run; get: Run };
}

type Drizzle = BetterSQLite3Database<typeof schema>;
const tables = schema as unknown as Tables;

/**
 * Opens `folder/mailsvc.db`, creating and migrating it as needed. One process per folder: a second one is refused with
 * a StorageUnavailable that says so.
 */
export async function openSqlite(folder: string, options: SqliteOptions = {}): Promise<SqliteDb> {
  if (!existsSync(folder)) mkdirSync(folder, { recursive: true, mode: 0o700 });
  const unlock = lockFolder(folder);
  const file = join(folder, "mailsvc.db");
  // At NORMAL a COMMIT writes the log and leaves it to us when it is flushed: what SQLite does at FULL, but beside the event
  // loop. Before a checkpoint it flushes the log itself.
  const level = options.synchronous === "OFF" ? "OFF" : "NORMAL";
  let writer: Database.Database;
  let reader: Database.Database;
  let disk: Flusher | undefined;
  let checkpoints: Checkpoints | undefined;
  try {
    writer = open(file, level);
    migrateSqlite(writer);
    reader = open(file, level);
    reader.pragma("query_only = ON");
    if (level === "NORMAL") {
      // The log is made by the first write, and stays until the last connection is closed.
      writer.exec("BEGIN IMMEDIATE; COMMIT");
      disk = new Flusher(`${file}-wal`);
      checkpoints = new Checkpoints(writer);
      await disk.flush();
    }
  } catch (error) {
    unlock();
    throw error;
  }

  const command = (sql: string): (() => void) => {
    const statement = writer.prepare(sql);
    return () => void statement.run();
  };
  const commit = command("COMMIT");
  const gate = new Gate(
    {
      get active() {
        return writer.inTransaction;
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
    },
    options,
  );

  let closed = false;
  const assertOpen = (): void => {
    if (closed) throw new StorageUnavailable("The database is closed.");
  };
  const read: Reader = session(reader, () => {
    assertOpen();
    if (currentScope.getStore()?.open)
      throw new MisplacedQuery("A query was made beside the open transaction: use the transaction you were given.");
    return null;
  });
  const write = session(writer, () => {
    const scope = currentScope.getStore();
    if (!scope?.open) throw new MisplacedQuery("A query was made after its transaction had ended.");
    return scope;
  });
  const begin = (scope: Scope): Tx =>
    Object.assign(Object.create(write) as typeof write, { afterCommit: (fn: () => void) => void scope.afterCommit.push(fn) });

  const gatherings = new Map<Gather<unknown>, Gathering<unknown>>();
  const gatheringOf = (gather: Gather<unknown>): Gathering<unknown> => {
    let known = gatherings.get(gather);
    if (!known) {
      known = { write: (scope, items) => gather.write(begin(scope), items) };
      gatherings.set(gather, known);
    }
    return known;
  };

  return {
    dialect: "sqlite",
    gate,
    file,
    jobs: schema.jobs,
    read,
    tx: (fn) => gate.run((scope) => fn(begin(scope))),
    gather: (gathering, item) => {
      const scope = currentScope.getStore();
      if (!scope?.open) throw new MisplacedQuery("Nothing can be left to a transaction that has ended.");
      scope.gathered.push([gatheringOf(gathering as Gather<unknown>), item]);
    },
    alone: async (work) => {
      await gate.idle();
      gate.assertHealthy();
      // Nothing can slip in between: work is synchronous, and the gate only moves in turns of its own.
      const result = work(writer);
      await disk?.flush();
      return result;
    },
    ping: async () => {
      assertOpen();
      gate.assertHealthy();
      reader.prepare("SELECT 1").get();
    },
    close: async () => {
      if (closed) return;
      closed = true;
      await gate.close();
      await checkpoints?.close();
      disk?.close();
      reader.close();
      writer.close();
      unlock();
    },
  };
}

/** Whether a write changed rows: `result` is what it gave back, rows or a count. */
function changedRows(result: unknown): boolean {
  return Array.isArray(result) ? result.length > 0 : (result as { changes?: number } | undefined)?.changes !== 0;
}

// SQLite plans a statement anew on each run, for 8 to 15 µs, when it has looked at a bare parameter while it planned: at a limit,
// or at what an ordered column is compared with. A sum or a sign is not looked into.
function plannedOnce(sql: string): string {
  return sql.replaceAll(/\b(limit|offset) \?/g, "$1 (? + 0)").replaceAll(/([<=>]) \?/g, "$1 +?");
}

/**
 * A connection as drizzle sees it: statements are compiled once per SQL text, and `guard` runs before each use. It gives
 * the open transaction, in which is noted that rows were changed.
 * `raw()` switches a better-sqlite3 statement for good, so rows and raw rows have a statement each.
 */
function guarded(connection: Database.Database, guard: () => Scope | null): { prepare(sql: string): Statement } {
  const cache = new Map<string, Statement>();
  const through = (statement: Database.Statement, method: "run" | "all" | "get"): Run => {
    const call = statement[method].bind(statement) as Run;
    const { readonly } = statement;
    return (...params) => {
      const scope = guard();
      try {
        const result = call(...params);
        if (!readonly && scope !== null && !scope.wrote && changedRows(result)) scope.wrote = true;
        return result;
      } catch (error) {
        // Here and not at the end of the transaction: features catch a UniqueViolation inside it.
        throw storageError(error);
      }
    };
  };
  const make = (sql: string): Statement => {
    const planned = plannedOnce(sql);
    const rows = connection.prepare(planned);
    const rawRows = rows.reader ? connection.prepare(planned).raw() : rows;
    const raw = { all: through(rawRows, "all"), get: through(rawRows, "get") };
    return { run: through(rows, "run"), all: through(rows, "all"), get: through(rows, "get"), raw: () => raw };
  };
  return {
    prepare: (sql) => {
      guard();
      let statement = cache.get(sql);
      if (!statement) {
        // Lists with many forms of filter must not fill the memory.
        if (cache.size >= 500) cache.clear();
        statement = make(sql);
        cache.set(sql, statement);
      }
      return statement;
    },
  };
}

/** The queries of a connection, with its own store of prepared statements. */
function session(connection: Database.Database, guard: () => Scope | null) {
  const client = guarded(connection, guard);
  const queries = drizzle(client as unknown as Database.Database, { schema }) as Drizzle as unknown as Queries;
  const built = new Map<string, unknown>();
  const prepared = <S>(name: string, build: (q: Queries, t: Tables) => S): S => {
    let statement = built.get(name);
    if (statement === undefined) {
      statement = bindOnce(build(queries, tables), client.prepare);
      built.set(name, statement);
    }
    return statement as S;
  };
  const made = Object.assign(queries, { t: tables, words, prepared });
  return Object.assign(made, { parts: partsOf(made, tables) }, insertsOf(made));
}

function open(file: string, synchronous: "NORMAL" | "OFF"): Database.Database {
  const connection = new Database(file);
  connection.pragma("busy_timeout = 5000");
  connection.pragma("journal_mode = WAL");
  connection.pragma(`synchronous = ${synchronous}`);
  // The default of 1000 pages shows as 6 to 12 ms pauses under load.
  connection.pragma("wal_autocheckpoint = 4000");
  connection.pragma("cache_size = -32000");
  connection.pragma("temp_store = MEMORY");
  // What is erased, such as the copy of an agent's key once it has arrived, is overwritten where its page is written anyway.
  connection.pragma("secure_delete = FAST");
  connection.function(FOLD, { deterministic: true }, foldText);
  return connection;
}
