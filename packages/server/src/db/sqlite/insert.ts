import { Column, getTableColumns, getTableName, max } from "drizzle-orm";
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import type { Tx } from "../db.ts";

// Rows inserted in one stretch: about ten milliseconds.
const ROWS_PER_TURN = 2000;

type Row = Readonly<Record<string, unknown>>;
type Run = (...params: unknown[]) => unknown;

// The nulls of a row are the bits of one number.
const MAX_COLUMNS = 52;
// Statements kept for one table: one for each set of columns that were null together.
const MAX_STATEMENTS = 64;

/**
 * `insertAll`, `insertNumbered` and `nextNumbers` on SQLite, where running a prepared statement per row costs less than building
 * one for all rows. `compile` gives the function that runs a statement; `breathe` is called between many rows.
 */
export function createInserts(
  session: Pick<Tx, "select">,
  compile: (sql: string) => Run,
  breathe: Tx["breathe"],
): Pick<Tx, "nextNumbers"> & {
  insertAll(table: PgTable, rows: readonly object[]): void | Promise<void>;
  insertNumbered(table: PgTable, rows: readonly object[]): number[];
} {
  const shapes = new Map<PgTable, TableShape>();
  const shapeOf = (table: PgTable): TableShape => {
    let shape = shapes.get(table);
    if (!shape) {
      shape = toShape(table);
      shapes.set(table, shape);
    }
    return shape;
  };
  /** Inserts a row; values that it lacks are null. Nulls are part of the statement: binding one costs as much as binding a value. */
  const insert = ({ table, fields, statements }: RowShape, row: Row): unknown => {
    let nulls = 0;
    const params: unknown[] = [];
    for (const { key, encode } of fields) {
      const value = row[key] ?? null;
      nulls = nulls * 2 + (value === null ? 1 : 0);
      if (value !== null) params.push(encode === null ? value : encode(value));
    }
    let run = statements.get(nulls);
    if (!run) {
      const values = fields.map(({ key }) => ((row[key] ?? null) === null ? "null" : "?"));
      run = compile(`insert into "${table}" (${fields.map(({ name }) => `"${name}"`).join(", ")}) values (${values.join(", ")})`);
      if (statements.size >= MAX_STATEMENTS) statements.clear();
      statements.set(nulls, run);
    }
    return run(...params);
  };
  const insertInTurns = async (shape: RowShape, rows: readonly Row[]): Promise<void> => {
    for (const [i, row] of rows.entries()) {
      if (i > 0 && i % ROWS_PER_TURN === 0) await breathe();
      insert(shape, row);
    }
  };
  return {
    insertAll: (table, rows) => {
      const [first] = rows as readonly Row[];
      if (!first) return;
      const { counter, whole, counted } = shapeOf(table);
      const shape = counter !== null && first[counter.key] === undefined ? counted : whole;
      if (rows.length > ROWS_PER_TURN) return insertInTurns(shape, rows as readonly Row[]);
      for (const row of rows as readonly Row[]) insert(shape, row);
    },
    insertNumbered: (table, rows) => {
      const { counter, counted } = shapeOf(table);
      if (!counter) throw new Error(`${getTableName(table)} has no counter.`);
      return (rows as readonly Row[]).map((row) => Number((insert(counted, row) as { lastInsertRowid: number }).lastInsertRowid));
    },
    // There is no other writer, so the numbers after the largest one are free.
    nextNumbers: async (table, n) => {
      const { counter } = shapeOf(table);
      if (!counter) throw new Error(`${getTableName(table)} has no counter.`);
      const [row] = await session.select({ last: max(counter.column) }).from(table);
      const last = Number(row?.last ?? 0);
      return Array.from({ length: n }, (_, i) => last + 1 + i);
    },
  };
}

/** A column that an insert writes. */
interface Field {
  /** Its name in a row. */
  readonly key: string;
  /** Its name in the database. */
  readonly name: string;
  /** Converts a value for the driver; null where nothing is to be converted. */
  readonly encode: ((value: unknown) => unknown) | null;
}

/** The columns that are written, and a statement for each set of columns that were null. */
interface RowShape {
  readonly table: string;
  readonly fields: readonly Field[];
  readonly statements: Map<number, Run>;
}

/** What inserts need to know of a table, found once: looking through its columns would cost a send 2 µs. */
interface TableShape {
  /** The auto-incremented column; null in a table without one. */
  readonly counter: { readonly key: string; readonly column: PgColumn } | null;
  /** For rows with all columns. */
  readonly whole: RowShape;
  /** For rows without the counter. */
  readonly counted: RowShape;
}

function toShape(table: PgTable): TableShape {
  const columns = Object.entries(getTableColumns(table));
  if (columns.length > MAX_COLUMNS) throw new Error(`${getTableName(table)} has more than ${MAX_COLUMNS} columns.`);
  const fields = columns.map(([key, column]) => ({ key, name: column.name, encode: findEncoder(column) }));
  const counter = columns.find(([, column]) => column.primary && column.dataType === "number");
  const toRowShape = (own: readonly Field[]): RowShape => ({ table: getTableName(table), fields: own, statements: new Map() });
  return {
    counter: counter ? { key: counter[0], column: counter[1] } : null,
    whole: toRowShape(fields),
    counted: toRowShape(fields.filter(({ key }) => key !== counter?.[0])),
  };
}

function findEncoder(column: PgColumn): Field["encode"] {
  return column.mapToDriverValue === Column.prototype.mapToDriverValue ? null : (value) => column.mapToDriverValue(value);
}
