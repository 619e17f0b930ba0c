import type { PgTable } from "drizzle-orm/pg-core";
import { listByteKeys } from "../stretches.ts";
import { encodeBytesArray, listColumns, nameOf, quote, type Row, toArrayType, toElement, toValue } from "./arrays.ts";

/**
 * Inserts any number of rows. Its parameters are arrays, one for each value of a row, so that its text never changes and several
 * such inserts can be parts of one statement. It fails when it cannot insert all rows.
 */
export interface BulkInsert {
  /** Unique in the product. */
  readonly name: string;
  /** The types of the arrays: `text[]`. */
  readonly types: readonly string[];
  /** The text, given the arrays as they stand in `unnest(…)`. */
  build(arrays: string): string;
}

/** The insert of whole rows into a table. */
export interface TableInsert extends BulkInsert {
  readonly byteKeys: readonly string[];
  toValues(row: Row): unknown[];
}

/** The rows of several inserts, by their inserts. */
export type CollectedRows = Map<BulkInsert, unknown[][]>;

/** Adds a row to those of its insert. */
export function collectRow(rows: CollectedRows, insert: BulkInsert, values: unknown[]): void {
  const list = rows.get(insert);
  if (list) list.push(values);
  else rows.set(insert, [values]);
}

/** The parameters of an insert as they stand in `unnest(…)`, numbered from `start` + 1. */
export function listArrays({ types }: BulkInsert, start = 0): string {
  return types.map((type, i) => `$${start + i + 1}::${type}`).join(", ");
}

/** An array for each value of a row. */
export function toArrays({ types }: BulkInsert, rows: readonly (readonly unknown[])[]): (unknown[] | Buffer)[] {
  return types.map((type, i) => {
    const values = rows.map((row) => row[i]);
    return type === "bytea[]" ? encodeBytesArray(values as (Uint8Array | null)[]) : values;
  });
}

/** The insert of whole rows into a table; a `counted` one leaves out the counter, which counts on. */
export function makeTableInsert(table: PgTable, counted: boolean): TableInsert {
  const columns = listColumns(table).filter(({ column }) => !counted || column.getSQLType() !== "bigserial");
  return {
    name: `insert_${nameOf(table)}_${columns.length}`,
    byteKeys: listByteKeys(table),
    types: columns.map(toArrayType),
    build: (arrays) =>
      `insert into ${quote(nameOf(table))} (${columns.map(({ column }) => quote(column.name)).join(", ")}) ` +
      `select ${columns.map((column, i) => toValue(`v.c${i}`, column)).join(", ")} ` +
      `from unnest(${arrays}) as v (${columns.map((_, i) => `c${i}`).join(", ")})`,
    toValues: (row) => columns.map((column) => toElement(row, column)),
  };
}
