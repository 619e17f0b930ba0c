import type { PgTable } from "drizzle-orm/pg-core";
import type { Tx } from "../db.ts";
import { UniqueViolation } from "../errors.ts";
import {
  encodeBytesArray,
  findCounter,
  listColumns,
  type NamedColumn,
  nameOf,
  quote,
  type Row,
  toArrayType,
  toElement,
  toValue,
} from "./arrays.ts";
import type { Run } from "./session.ts";

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
  /** Called when it has failed. */
  failed?(): void;
}

/** The insert of whole rows into a table. */
export interface TableInsert extends BulkInsert {
  toValues(row: Row): unknown[];
}

const inserts = new WeakMap<PgTable, { counted?: TableInsert; given?: TableInsert }>();

/** The insert into a table for rows like `first`: one that names a counter's value, or one that lets it count on. */
export function toTableInsert(table: PgTable, first: Row): TableInsert {
  const counter = findCounter(table);
  const kind = counter && first[counter.key] === undefined ? "counted" : "given";
  const known = inserts.get(table) ?? {};
  inserts.set(table, known);
  known[kind] ??= makeTableInsert(table, kind === "counted");
  return known[kind];
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

/** `insertAll`, `insertNumbered` and `nextNumbers` of an ordinary transaction. */
export function createInserts(run: Run): Pick<Tx, "insertAll" | "insertNumbered" | "nextNumbers"> {
  const insertRows = async (
    table: PgTable,
    rows: readonly object[],
    { newKeys = false, returning }: { newKeys?: boolean | undefined; returning?: string },
  ): Promise<{ n: string }[]> => {
    const [first] = rows;
    if (!first) return [];
    const insert = toTableInsert(table, first as Row);
    const values = rows.map((row) => insert.toValues(row as Row));
    // When two transactions insert the same key at once, the later one would fail for good without ON CONFLICT; with it, it runs again.
    const conflict = newKeys ? "" : " on conflict do nothing";
    const text = `${insert.build(listArrays(insert))}${conflict}${returning === undefined ? "" : ` returning ${quote(returning)} as n`}`;
    const name = `${returning === undefined ? (newKeys ? "new" : "all") : "numbered"}_${insert.name}`;
    const inserted = await run<{ n: string }>(text, toArrays(insert, values), name);
    if (inserted.rowCount !== rows.length) throw new UniqueViolation("A row with this unique key exists already.");
    return inserted.rows;
  };
  return {
    insertAll: async (table, rows, options) => void (await insertRows(table, rows, { newKeys: options?.newKeys })),
    insertNumbered: async (table, rows) => {
      const inserted = await insertRows(table, rows, { newKeys: true, returning: getCounter(table).column.name });
      return inserted.map(({ n }) => Number(n));
    },
    nextNumbers: async (table, n) => {
      const { rows } = await run<{ n: string }>(NEXT_NUMBERS, [quote(nameOf(table)), getCounter(table).column.name, n], "next_numbers");
      return rows.map((row) => Number(row.n)).sort((a, b) => a - b);
    },
  };
}

/** Takes numbers from the sequence of a column: the table, quoted; the column; how many. */
export const NEXT_NUMBERS = "select nextval(pg_get_serial_sequence($1, $2)) as n from generate_series(1, $3::int)";

/** The counter of a table that must have one. */
export function getCounter(table: PgTable): NamedColumn {
  const counter = findCounter(table);
  if (!counter) throw new Error(`${nameOf(table)} has no counter.`);
  return counter;
}

function makeTableInsert(table: PgTable, counted: boolean): TableInsert {
  const columns = listColumns(table).filter(({ column }) => !counted || column.getSQLType() !== "bigserial");
  return {
    name: `insert_${nameOf(table)}_${columns.length}`,
    types: columns.map(toArrayType),
    build: (arrays) =>
      `insert into ${quote(nameOf(table))} (${columns.map(({ column }) => quote(column.name)).join(", ")}) ` +
      `select ${columns.map((column, i) => toValue(`v.c${i}`, column)).join(", ")} ` +
      `from unnest(${arrays}) as v (${columns.map((_, i) => `c${i}`).join(", ")})`,
    toValues: (row) => columns.map((column) => toElement(row, column)),
  };
}
