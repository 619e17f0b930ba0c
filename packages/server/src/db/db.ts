import type { InferInsertModel, InferSelectModel, sql } from "drizzle-orm";
import type { PgDatabase, PgQueryResultHKT, PgTable } from "drizzle-orm/pg-core";
import type { SqlDialect } from "./dialect.ts";
import type { StorageUnavailable } from "./errors.ts";
import type { InsertInto, NewRow } from "./held.ts";
import type { FindSearchIndex, SearchedText } from "./search-index.ts";

/** The tables of the product by name. `schema.ts` composes them from all features and declares them here (module augmentation). */
// biome-ignore lint/suspicious/noEmptyInterface: filled in by schema.ts
export interface Schema {}

/** Options for opening a database. */
export interface DatabaseSchema {
  readonly tables: Schema;
  /** The texts that have a substring index. */
  readonly searched: readonly SearchedText[];
  /** The version of mailsvc, which is recorded in the database. */
  readonly version: string;
}

/**
 * The queries both databases support, with Postgres' types: they forbid the calls only SQLite has, and SQLite conforms.
 * `.for()`, `distinctOn`, relational queries and raw SQL functions stay inside `db/`.
 */
export type Queries = Pick<
  PgDatabase<PgQueryResultHKT>,
  "select" | "selectDistinct" | "insert" | "update" | "delete" | "with" | "$with" | "$count"
>;

/** Names a value of a prepared statement, which is given when it is executed. */
export type Arg = typeof sql.placeholder;

/** Builds a statement from the tables `t`. `arg("id")` stands for a value that `execute({ id })` gives. */
export type BuildStatement<T, Prepared> = (q: Queries, t: T, arg: Arg) => { prepare(name: string): Prepared };

interface Session<T> {
  /** The tables of the open database; a narrower `T` puts the others out of reach. */
  readonly t: T;
  /** SQL expressions that the two databases spell differently. */
  readonly sqlDialect: SqlDialect;
  /** The index for substring searches in addresses and names. */
  readonly searchIndex: FindSearchIndex;
  /**
   * A statement that is built once per connection and kept under `name`, which is unique in the product. Building is most of what
   * drizzle costs: compared with the driver alone, a write takes 3.6 times as long, a point read 15 times; prepared, both take 1.2 times.
   */
  prepared<Prepared>(name: string, build: BuildStatement<T, Prepared>): Prepared;
  /**
   * For each key the rows whose columns have its values. All keys name the same columns, which have an index. On Postgres lookups that
   * are made together share a statement.
   */
  lookUp<Table extends PgTable>(table: Table, keys: readonly Partial<InferSelectModel<Table>>[]): Promise<InferSelectModel<Table>[][]>;
}

/** Reads committed rows. Not allowed inside a transaction: query the transaction there. */
export interface Reader<T = Schema> extends Session<T>, Pick<Queries, "select" | "selectDistinct" | "$count"> {}

/** A change of one row: what identifies it and must still be so, and the new values. */
export interface RowChange<Table extends PgTable> {
  readonly where: Partial<InferSelectModel<Table>>;
  readonly set: Partial<InferInsertModel<Table>>;
}

/**
 * An open transaction. Inside it, await only its own queries and `breathe`: waiting for the network, a timer or a file would block every
 * other writer.
 */
export interface Tx<T = Schema> extends Session<T>, Omit<Queries, "insert"> {
  insert: InsertInto;
  /**
   * Inserts many rows into one table, at a few µs a row; yields to the event loop for large batches. Throws UniqueViolation if one of the
   * unique keys exists; if another transaction has just taken it, this one runs again.
   *
   * With `newKeys` the caller asserts that no other transaction writes these keys, because they are random or assigned under a lock.
   * Postgres then inserts without ON CONFLICT, at three fifths of the cost; a key that exists still throws.
   */
  insertAll<Table extends PgTable>(table: Table, rows: readonly NewRow<Table>[], options?: { readonly newKeys: boolean }): Promise<void>;
  /** Inserts rows into a table whose only unique key is a counter, and returns their numbers in the order of the rows. */
  insertNumbered<Table extends PgTable>(table: Table, rows: readonly NewRow<Table>[]): Promise<number[]>;
  /**
   * Updates many rows of one table and tells for each whether it was updated. A row is updated only if it has the values of `where`:
   * its key, and columns that must not have changed since they were read. All changes name the same columns; no two name the
   * same row.
   */
  updateAll<Table extends PgTable>(table: Table, changes: readonly RowChange<Table>[]): Promise<boolean[]>;
  /**
   * Deletes many rows of one table, each if it has these values, and tells for each whether it was deleted. All rows name the same
   * columns, a key first.
   */
  deleteAll<Table extends PgTable>(table: Table, rows: readonly Partial<InferSelectModel<Table>>[]): Promise<boolean[]>;
  /** Reserves the next `n` values of a table's counter, for rows that refer to each other. */
  nextNumbers(table: PgTable, n: number): Promise<number[]>;
  /**
   * Lets the event loop serve others between chunks of long work; the transaction stays open and other writers wait. Loops over
   * hundreds of rows call it every few milliseconds. Not needed in short transactions, where it would cost a turn.
   */
  breathe(): Promise<void>;
  /** Runs a hook once the rows are durable, and not at all after a rollback. For waking workers and refreshing caches. */
  afterCommit(fn: () => void): void;
}

/** Result of the last writes: tells if the database takes writes. */
export interface DbHealth {
  readonly writable: boolean;
  /** Reason it does not; null while it does. */
  readonly reason: string | null;
}

export interface TxOptions {
  readonly mayBeLost?: boolean;
}

/** An open database. */
export interface Db {
  readonly engine: "sqlite" | "postgres";
  readonly read: Reader;
  /**
   * Runs `fn` in a transaction. The promise settles only after COMMIT (durable) or rollback. `fn` may run twice, when another
   * transaction of the same commit fails or after a conflict, so it must do nothing but its queries.
   *
   * With `mayBeLost` nobody relies on its rows after a power cut: on SQLite the promise settles without a flush of its own. What others had
   * committed before it is on the disk by then.
   */
  tx<T>(fn: (tx: Tx) => Promise<T>, options?: TxOptions): Promise<T>;
  /** Tells if writes succeed at the moment: `writable` is false while the disk is full or the database is read-only. */
  health(): DbHealth;
  /** True for an error which says that the database cannot work at the moment. */
  isUnavailable(error: unknown): boolean;
  /** True for one which says nothing about the query: the database is away, full, or refuses its user. */
  isAway(error: unknown): boolean;
  /** Calls `hear` for each transaction that fails because the database takes no writes. There is one listener. */
  watchRefusals(hear: (error: StorageUnavailable) => void): void;
  /** Throws StorageUnavailable when the database does not answer. */
  ping(): Promise<void>;
  close(): Promise<void>;
}
