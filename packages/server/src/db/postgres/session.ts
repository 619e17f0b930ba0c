import { sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import type pg from "pg";
import type { BuildStatement, DatabaseSchema, Queries, Schema } from "../db.ts";
import { storageError } from "../errors.ts";
import { createSearchIndexes } from "../search-index.ts";
import { createInserts, createLookups, createUpdates } from "./bulk.ts";
import { createSearchIndex, postgresDialect } from "./dialect.ts";
import type { Queryable, Raw, Run } from "./pool.ts";
import type { TableStatements } from "./table-statements.ts";

type Prepare = (...args: unknown[]) => { queryWithCache?: unknown };

interface SessionParts {
  readonly connection: Queryable;
  readonly schema: DatabaseSchema;
  readonly statements: TableStatements;
  /** Runs before each query. */
  readonly guard: () => void;
  /** Sees the driver's errors. */
  readonly onError?: (error: unknown) => void;
}

/**
 * Wraps a connection or a pool in queries with their own cache of prepared statements, which are also prepared on the server: it
 * parses and plans them once per connection.
 */
export function createSession({ connection, schema, statements: tableStatements, guard, onError = () => {} }: SessionParts) {
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
    ...createInserts(run, raw, tableStatements),
    ...createUpdates(raw),
    ...createLookups(raw, tableStatements, guard),
  });
}

export type PgSession = ReturnType<typeof createSession>;
