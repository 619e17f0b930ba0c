import type { InferInsertModel } from "drizzle-orm";
import type { PgDatabase, PgQueryResultHKT, PgTable } from "drizzle-orm/pg-core";
import type { Parts } from "./dialect.ts";
import type { Words } from "./search-index.ts";
import type { Tables } from "./tables.ts";

/**
 * What both databases can do, typed as Postgres: its types forbid the calls only SQLite knows, and SQLite conforms.
 * `.for()`, `distinctOn`, relational queries and raw SQL functions stay inside `db/`.
 */
export type Queries = Pick<PgDatabase<PgQueryResultHKT>, "select" | "selectDistinct" | "insert" | "update" | "delete" | "$count">;

interface Session<T> {
  /** The tables of the open database; a narrower `T` leaves the others out of reach. */
  readonly t: T;
  /** What the open database spells in its own way. */
  readonly words: Words;
  /** The index of parts of addresses and names. */
  readonly parts: Parts;
  /**
   * A statement built once per connection and kept: what drizzle costs is mostly the building (3.6x on writes, 15x on
   * point reads, against 1.2x prepared). `name` is unique in the product.
   */
  prepared<S>(name: string, build: (q: Queries, t: T) => S): S;
}

/** Reads of committed rows. Never inside a transaction: there, use the transaction. */
export interface Reader<T = Tables> extends Session<T>, Pick<Queries, "select" | "selectDistinct" | "$count"> {}

/**
 * An open transaction. Whatever is awaited inside must be a query of this transaction: a network, timer or file wait
 * would stop every other writer.
 */
export interface Tx<T = Tables> extends Session<T>, Queries {
  /**
   * Writes many rows of one table: a prepared statement run row by row on SQLite, one statement for all on Postgres, at
   * a few µs a row on both. A unique key that another transaction has just taken makes this one run again.
   */
  insertAll<Table extends PgTable>(table: Table, rows: readonly InferInsertModel<Table>[]): Promise<void>;
  /** The next `n` numbers of a table's counter, for rows that others written with them refer to. */
  nextNumbers(table: PgTable, n: number): Promise<number[]>;
  /** Runs once the rows are durable; not at all if the transaction rolls back. For waking workers and refreshing caches. */
  afterCommit(fn: () => void): void;
}

/** An open database. */
export interface Db {
  readonly dialect: "sqlite" | "postgres";
  readonly read: Reader;
  /**
   * Runs `fn` in a transaction; the promise settles only after COMMIT (durable) or rollback. `fn` may be run twice, when
   * its neighbours fail or a collision is tried again, so it does nothing but its queries.
   */
  tx<T>(fn: (tx: Tx) => Promise<T>): Promise<T>;
  /** Throws when the database does not answer. */
  ping(): Promise<void>;
  close(): Promise<void>;
}
