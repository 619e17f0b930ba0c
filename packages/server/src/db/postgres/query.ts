import type pg from "pg";

/** The part of a connection or a pool that drizzle uses. */
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
