import { sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import type pg from "pg";
import type { BuildStatement, DatabaseSchema, Queries, Schema } from "../db.ts";
import { storageError } from "../errors.ts";
import { createSearchIndexes } from "../search-index.ts";
import { postgresDialect } from "./dialect.ts";
import { createInserts } from "./insert.ts";
import { createLookups } from "./lookup.ts";
import { createSearchIndex } from "./search-index.ts";
import { createUpdates } from "./update.ts";

/** What drizzle uses of a connection or a pool. */
export interface Queryable {
  query(config: pg.QueryConfig, values?: unknown[]): Promise<pg.QueryResult>;
}

/** Runs SQL that drizzle cannot express. With a `name` it is prepared. */
export type Run = <R extends pg.QueryResultRow>(text: string, values?: unknown[], name?: string) => Promise<pg.QueryResult<R>>;

/** The same, for the rows alone. */
export type Raw = <R extends pg.QueryResultRow>(text: string, values?: unknown[], name?: string) => Promise<R[]>;

// Longer than a statement waits for a lock, because the database then tells what became of it.
const SHARED_MS = 15_000;

/** A query for many callers, given up after 15 seconds, so that they are told while the database hangs. */
export function withTimeout(query: pg.QueryConfig): pg.QueryConfig {
  const bounded: pg.QueryConfig & { query_timeout: number } = { ...query, query_timeout: SHARED_MS };
  return bounded;
}

type Prepare = (...args: unknown[]) => { queryWithCache?: unknown };

/**
 * Wraps a connection or a pool in queries with their own cache of prepared statements. `guard` runs before each query,
 * `onError` sees the driver's error. Statements made with `.prepare(name)` are also prepared on the server, which parses and
 * plans them once per connection.
 */
export function createSession(connection: Queryable, schema: DatabaseSchema, guard: () => void, onError: (error: unknown) => void) {
  const { tables, searched } = schema;
  const guarded: Queryable = {
    query: async (config, values) => {
      guard();
      try {
        return await connection.query(config, values);
      } catch (error) {
        onError(error);
        // Translated here and not at the end of the transaction: features catch a UniqueViolation inside it.
        throw storageError(error);
      }
    },
  };
  const database = drizzle({ client: guarded as unknown as pg.Pool });
  const { session } = database as unknown as { session: { prepareQuery: Prepare } };
  const prepareQuery = session.prepareQuery.bind(session);
  session.prepareQuery = (...args) => {
    const prepared = prepareQuery(...args);
    // drizzle would wrap errors in one whose message contains the SQL and its parameters.
    prepared.queryWithCache = (_sql: string, _params: unknown[], run: () => unknown) => run();
    return prepared;
  };
  const statements = new Map<string, unknown>();
  const queries = database as unknown as Queries;
  const run: Run = async <R extends pg.QueryResultRow>(text: string, values: unknown[] = [], name?: string) =>
    (await guarded.query(name === undefined ? { text, values } : { name, text, values })) as pg.QueryResult<R>;
  const raw: Raw = async <R extends pg.QueryResultRow>(text: string, values?: unknown[], name?: string) =>
    (await run<R>(text, values, name)).rows;
  return Object.assign(queries, {
    t: tables,
    sqlDialect: postgresDialect,
    searchIndex: createSearchIndexes(searched, (one) => createSearchIndex(queries, one)),
    prepared: <Prepared>(name: string, build: BuildStatement<Schema, Prepared>): Prepared => {
      let statement = statements.get(name);
      if (statement === undefined) {
        statement = build(queries, tables, sql.placeholder).prepare(name);
        statements.set(name, statement);
      }
      return statement as Prepared;
    },
    raw,
    ...createInserts(run),
    ...createUpdates(raw),
    ...createLookups(raw),
  });
}

export type PgSession = ReturnType<typeof createSession>;
