import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import { startOfMonth } from "../lib/month.ts";

/** A key of rows: ids sort by time as text, counters as numbers. */
export type MonthKey = string | number;

/** A table whose rows belong to months, and the column that tells to which. */
export interface MonthlyTable {
  readonly table: PgTable;
  readonly key: PgColumn;
}

/** Tables whose rows go together, by the month in which they were made: all are divided by one kind of key, which rises with time. */
export interface MonthlyTables {
  readonly tables: readonly [MonthlyTable, ...MonthlyTable[]];
  /** The smallest key of rows that are made in the month of an instant (ms), or later. */
  firstKey(ms: number): MonthKey;
  /** Keys from this one on belong to no month; null if all do. */
  readonly apart: string | null;
  /** True for the keys of a counter, which goes on at the first key of each month. */
  readonly counted: boolean;
}

/** Rows of a table to keep when its months are dropped: values of its columns, which have an index. */
export interface Kept {
  readonly table: PgTable;
  readonly keys: readonly Readonly<Record<string, unknown>>[];
}

/** `locked`: other transactions were using the tables; the caller tries again later. */
export type Attempt = "done" | "locked";

/** Tables that are divided by months, so that old rows go at once. Only Postgres has them; on SQLite rows are deleted. */
export interface Months {
  /** Divides tables by months, if they are not yet, and makes the months to come. */
  prepare(group: MonthlyTables, now: number): Promise<Attempt>;
  /**
   * Lets a counter go on at the first number of a month, where it is behind. Months of a counter are dropped only after that, a day later
   * at the earliest: what has taken a number before may not be stored yet. If another process is changing parts, the next call does it.
   */
  advance(group: MonthlyTables, now: number): Promise<void>;
  /** The key below which all rows are older than the month of an instant (ms); null if none of their months is left to be dropped. */
  findEnd(group: MonthlyTables, before: number): Promise<MonthKey | null>;
  /**
   * Takes all rows below a key that `findEnd` gave out of the tables, except for those that are kept, in one transaction that waits for no
   * other one, and then deletes their files.
   */
  drop(group: MonthlyTables, end: MonthKey, kept: readonly Kept[]): Promise<Attempt>;
  /** Deletes the files of rows that a `drop` took out of the tables and did not get to the end of. */
  clear(group: MonthlyTables): Promise<Attempt>;
  /** Tells who has used the tables for longest, in words; null if nobody does. */
  findUser(group: MonthlyTables): Promise<string | null>;
}

// JavaScript adds up exactly below 2^53. This gives each month as many numbers as 400,000 a second would use.
const NUMBERS = 2 ** 40;

/** The first number that a counter gives in the month of an instant (ms). */
export function firstNumberOfMonth(ms: number): number {
  const date = new Date(startOfMonth(ms));
  return ((date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth()) * NUMBERS;
}
