import { drizzle } from "drizzle-orm/node-postgres";
import type pg from "pg";
import type { Queries } from "../db.ts";
import { storageError } from "../errors.ts";
import * as schema from "../schema.pg.ts";
import type { Tables } from "../tables.ts";
import { partsOf } from "./dialect.ts";
import { insertsOf } from "./insert.ts";
import { words } from "./search-index.ts";

/** What drizzle uses of a connection, or of a pool of them. */
export interface Queryable {
  query(config: pg.QueryConfig, values?: unknown[]): Promise<pg.QueryResult>;
}

type Prepare = (...args: unknown[]) => { queryWithCache?: unknown };

const tables = schema as unknown as Tables;

/**
 * The queries of a connection (or of the pool), with their own store of prepared statements. `guard` runs before each
 * query. Statements made with `.prepare(name)` are prepared on the server too, once per connection: it parses and plans
 * them once.
 */
export function sessionOf(connection: Queryable, guard: () => void, onError: (error: unknown) => void) {
  const guarded: Queryable = {
    query: async (config, values) => {
      guard();
      try {
        return await connection.query(config, values);
      } catch (error) {
        onError(error);
        // Here and not at the end of the transaction: features catch a UniqueViolation inside it.
        throw storageError(error);
      }
    },
  };
  const database = drizzle({ client: guarded as unknown as pg.Pool, schema });
  const { session } = database as unknown as { session: { prepareQuery: Prepare } };
  const prepareQuery = session.prepareQuery.bind(session);
  session.prepareQuery = (...args) => {
    const prepared = prepareQuery(...args);
    // drizzle would wrap what is thrown in an error whose message holds the SQL and its parameters.
    prepared.queryWithCache = (_sql: string, _params: unknown[], run: () => unknown) => run();
    return prepared;
  };
  const built = new Map<string, unknown>();
  const queries = database as unknown as Queries;
  /** SQL as it is, for what drizzle cannot say. A `name` has it prepared. */
  const raw = async <R extends pg.QueryResultRow>(text: string, values: unknown[] = [], name?: string): Promise<R[]> =>
    (await guarded.query(name === undefined ? { text, values } : { name, text, values })).rows as R[];
  return Object.assign(queries, {
    t: tables,
    words,
    parts: partsOf(queries, tables),
    prepared: <S>(name: string, build: (q: Queries, t: Tables) => S): S => {
      let statement = built.get(name);
      if (statement === undefined) {
        statement = build(queries, tables);
        built.set(name, statement);
      }
      return statement as S;
    },
    raw,
    ...insertsOf(raw),
  });
}

export type PgSession = ReturnType<typeof sessionOf>;
