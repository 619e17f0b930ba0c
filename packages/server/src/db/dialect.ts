import { type SQL, type SQLWrapper, sql } from "drizzle-orm";

/** SQL expressions that the databases spell differently and that mean the same on both. Each is null for a null argument. */
export interface SqlDialect {
  /** A bound text. */
  text(value: string): SQLWrapper;
  /**
   * Folds a text as `lib/fold.ts` does, in all scripts. Fold both sides of a comparison in SQL: Postgres may know another
   * version of Unicode than Node does.
   */
  fold(text: SQLWrapper): SQL;
  /** True when a text contains, starts with or ends with a part: an expression, or a text to bind. There are no wildcards. */
  holds(text: SQLWrapper, part: SQLWrapper | string): SQL;
  starts(text: SQLWrapper, part: SQLWrapper | string): SQL;
  /** `starts` for an indexed column that is compared by code points. */
  startsKey(column: SQLWrapper, part: string): SQL;
  ends(text: SQLWrapper, part: SQLWrapper | string): SQL;
  /** The value of a JSON object under a key, if it is a text, a number or a boolean respectively; null otherwise. */
  jsonText(object: SQLWrapper, key: string): SQL;
  jsonNumber(object: SQLWrapper, key: string): SQL;
  jsonFlag(object: SQLWrapper, key: string): SQL;
  /** The JSON object under a key. */
  jsonObject(object: SQLWrapper, key: string): SQL;
  /** True when the key has a value other than null. */
  jsonHas(object: SQLWrapper, key: string): SQL;
  /** True when a JSON value has a text somewhere in it that is a given id. */
  jsonNames(json: SQLWrapper, id: string): SQL;
  /**
   * A date (`2026-01-31`, midnight) or an instant in UTC as `2026-01-31T00:00:00.000Z`, which sorts by time; null for other
   * texts.
   */
  dateText(text: SQLWrapper): SQL;
  /** True for a text that is in a list, which is bound as JSON: one statement for lists of any length. */
  among(text: SQLWrapper, list: SQLWrapper): SQL;
  /** The same of a whole number and a JSON array of numbers. */
  amongNumbers(number: SQLWrapper, list: SQLWrapper): SQL;
  /** True for a number that one of these queries finds. */
  amongFound(number: SQLWrapper, queries: readonly SQLWrapper[]): SQL;
  /** The whole numbers of a group as one text, with commas between them, in any order. */
  joinNumbers(number: SQLWrapper): SQL;
  /** `expression is not true`: maps true to false, and false and null to true. */
  notTrue(expression: SQLWrapper): SQL;
  /**
   * A condition that few rows satisfy, whose index is therefore the one to use: without statistics SQLite cannot tell which of
   * several indexes narrows a query most. Postgres has statistics and decides by itself.
   */
  rarely(condition: SQLWrapper): SQL;
  /** A condition that most rows satisfy, whose index would be of no use. */
  usually(condition: SQLWrapper): SQL;
  /**
   * True where transactions run at the same time. As a condition of an update that changes nothing, and only makes two transactions
   * collide: SQLite has a single writer, which would write each row and the entries of its indexes for nothing.
   */
  readonly concurrent: SQL;
  /** True where what belongs to many rows is found at less cost by one pass of an index than by a look-up for each row. */
  readonly findsManyAtOnce: boolean;
  /** True where one transaction writes at a time, so that all commit in the order in which they insert. */
  readonly singleWriter: boolean;
  /** Makes a query for rows to update skip the rows that another transaction has locked. SQLite has a single writer, so none are. */
  passingLocked<Q>(query: Q): Q;
  /** Makes a query for rows to update lock them, and wait for those that another transaction has locked. */
  awaitingLocked<Q>(query: Q): Q;
}

/** True for texts that contain `part`, ignoring case in all scripts. There are no wildcards. */
export function contains(dialect: SqlDialect, text: SQLWrapper, part: string): SQL {
  return dialect.holds(dialect.fold(text), dialect.fold(dialect.text(part)));
}

/**
 * True for a row of which a query about it finds `n` rows or more. Each row asks for itself and stops at the n-th: Postgres would join an
 * `exists` without an offset, and then reads all that the query finds for any row, again for each part of a table that is read in parts.
 */
export function finds(query: SQLWrapper, n = 1): SQL {
  return sql`exists (${query.getSQL()} limit 1 offset ${n - 1})`;
}
