import type { PgTable } from "drizzle-orm/pg-core";
import { listByteKeys } from "../stretches.ts";
import { encodeBytesArray, listColumns, nameOf, quote, type Row, toArrayType, toElement, toValue } from "./arrays.ts";

/**
 * The insert of any number of whole rows into a table. Its parameters are arrays, one for each value of a row, so that its text never
 * changes.
 */
export interface TableInsert {
  /** Unique in the product. */
  readonly name: string;
  /** The types of the arrays: `text[]`. */
  readonly types: readonly string[];
  /** The text, given the arrays as they stand in `unnest(…)`. */
  build(arrays: string): string;
  readonly byteKeys: readonly string[];
  toValues(row: Row): unknown[];
}

/** The parameters of an insert as they stand in `unnest(…)`. */
export function listArrays({ types }: TableInsert): string {
  return types.map((type, i) => `$${i + 1}::${type}`).join(", ");
}

/** An array for each value of a row. */
export function toArrays({ types }: TableInsert, rows: readonly (readonly unknown[])[]): (unknown[] | Buffer)[] {
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
