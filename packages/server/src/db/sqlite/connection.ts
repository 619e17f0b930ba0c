import Database from "better-sqlite3";
import { sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/better-sqlite3";
import type { BuildStatement, DatabaseSchema, Queries, Schema } from "../db.ts";
import { storageError } from "../errors.ts";
import type { Scope } from "../scope.ts";
import { createSearchIndexes } from "../search-index.ts";
import { bindOnce } from "./bind.ts";
import { createSearchIndex, FOLD, foldText, sqliteDialect } from "./dialect.ts";
import { createInserts } from "./insert.ts";
import { createLookups } from "./lookup.ts";
import { createUpdates } from "./update.ts";

/** A connection without the writer in front of it, for what SQL alone can do. */
export type RawConnection = Database.Database;

/** Runs a statement with its parameters. */
type Call<Result = unknown> = (...params: unknown[]) => Result;

/** The part of a better-sqlite3 statement that drizzle uses. */
interface Statement {
  run: Call<Database.RunResult>;
  all: Call;
  get: Call;
  raw(): { all: Call; get: Call };
}

// Lists can be filtered in many ways; their statements must not fill the memory.
const MAX_STATEMENTS = 500;

/** Opens a connection with the settings that all connections of a database share. */
export function openConnection(file: string, synchronous: "NORMAL" | "OFF"): RawConnection {
  const connection = new Database(file);
  connection.pragma("busy_timeout = 5000");
  connection.pragma("journal_mode = WAL");
  connection.pragma(`synchronous = ${synchronous}`);
  // The default of 1000 pages causes pauses of 6 to 12 ms under load.
  connection.pragma("wal_autocheckpoint = 4000");
  // In KiB, for each of the two connections: what is held for good once the file is larger. The system caches the file as well.
  connection.pragma("cache_size = -16000");
  connection.pragma("temp_store = MEMORY");
  // Overwrites erased data, such as the copy of an agent's key after it was delivered, where its page is written anyway.
  connection.pragma("secure_delete = FAST");
  connection.function(FOLD, { deterministic: true }, foldText);
  return connection;
}

interface SessionParts {
  readonly connection: RawConnection;
  readonly schema: DatabaseSchema;
  /** Runs before each query and returns the open transaction, if there is one, which is marked when a query changes rows. */
  readonly guard: () => Scope | null;
  /** Called between many queries. */
  readonly breathe: () => Promise<void>;
}

/** Wraps a connection in queries with their own cache of prepared statements. */
export function createSession({ connection, schema, guard, breathe }: SessionParts) {
  const { tables, searched } = schema;
  const client = guardStatements(connection, guard);
  const queries = drizzle(client as unknown as RawConnection) as unknown as Queries;
  const statements = new Map<string, unknown>();
  const prepared = <Prepared>(name: string, build: BuildStatement<Schema, Prepared>): Prepared => {
    let statement = statements.get(name);
    if (statement === undefined) {
      statement = bindOnce(build(queries, tables, sql.placeholder).prepare(name));
      statements.set(name, statement);
    }
    return statement as Prepared;
  };
  const session = Object.assign(queries, { t: tables, sqlDialect: sqliteDialect, prepared });
  return Object.assign(
    session,
    { searchIndex: createSearchIndexes(searched, (one) => createSearchIndex(session, one)) },
    createInserts({
      compile: (text) => client.prepare(text).run,
      compileNumber: (text) => {
        const { get } = client.prepare(text);
        return () => (get() as { last: number | null }).last;
      },
      breathe,
    }),
    createUpdates((text) => client.prepare(text).run),
    createLookups((text) => client.prepare(text).raw().all),
    { breathe },
  );
}

/**
 * A connection as drizzle sees it: each SQL text is compiled once, and `guard` runs before each use.
 * `raw()` switches a better-sqlite3 statement permanently, so rows and raw rows have a statement each.
 */
function guardStatements(connection: RawConnection, guard: () => Scope | null): { prepare(sql: string): Statement } {
  const cache = new Map<string, Statement>();
  const guarded = <Result>({ readonly }: Database.Statement, call: Call<Result>): Call<Result> => {
    return (...params) => {
      const scope = guard();
      try {
        const result = call(...params);
        if (!readonly && scope !== null && !scope.wrote && changedRows(result)) scope.wrote = true;
        return result;
      } catch (error) {
        // Translated here and not at the end of the transaction: features catch a UniqueViolation inside it.
        throw storageError(error);
      }
    };
  };
  const waysOf = (statement: Database.Statement) => ({
    run: guarded(statement, statement.run.bind(statement)),
    all: guarded(statement, statement.all.bind(statement)),
    get: guarded(statement, statement.get.bind(statement)),
  });
  const compile = (sql: string): Statement => {
    const text = planOnce(sql);
    const first = connection.prepare(text);
    if (!first.reader) {
      const ways = waysOf(first);
      return { ...ways, raw: () => ways };
    }
    const raw = waysOf(first.raw());
    // Few statements are also read as objects.
    let rows: ReturnType<typeof waysOf> | undefined;
    const asObjects = () => {
      rows ??= waysOf(connection.prepare(text));
      return rows;
    };
    return {
      run: (...params) => asObjects().run(...params),
      all: (...params) => asObjects().all(...params),
      get: (...params) => asObjects().get(...params),
      raw: () => raw,
    };
  };
  return {
    prepare: (sql) => {
      guard();
      let statement = cache.get(sql);
      if (!statement) {
        if (cache.size >= MAX_STATEMENTS) cache.clear();
        statement = compile(sql);
        cache.set(sql, statement);
      }
      return statement;
    },
  };
}

/** True if a write changed rows, by its result: rows, or a count. */
function changedRows(result: unknown): boolean {
  return Array.isArray(result) ? result.length > 0 : (result as { changes?: number } | undefined)?.changes !== 0;
}

// SQLite plans a statement again on each run, for 8 to 15 µs, if it looked at a bare parameter while planning: at a limit, or at
// the value an ordered column is compared with. It does not look into a sum or a sign.
function planOnce(sql: string): string {
  return sql.replaceAll(/\b(limit|offset) \?/g, "$1 (? + 0)").replaceAll(/([<=>]) \?/g, "$1 +?");
}
