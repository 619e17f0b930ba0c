import { Column, getTableColumns, getTableName } from "drizzle-orm";
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import type { Tx } from "../db.ts";
import { type HeldInsert, type HeldRows, type HeldTable, TOGETHER } from "./held-rows.ts";

// Rows inserted in one stretch: about ten milliseconds.
const ROWS_PER_TURN = 2000;
// Rows of one statement, the most first: with 50 instead of 10, an event costs 3.1 instead of 3.8 µs of SQLite.
const SIZES = [50, TOGETHER, 1] as const;

type Row = Readonly<Record<string, unknown>>;
type Run = (...params: unknown[]) => unknown;

// The nulls of a row are the bits of one number.
const MAX_COLUMNS = 52;
// Statements kept for one table: one for each set of columns that were null together.
const MAX_STATEMENTS = 64;

export interface InsertParts {
  /** Gives the function that runs a statement. */
  readonly compile: (sql: string) => Run;
  /** The same without a look at rows that are held back, for these rows themselves. */
  readonly compileHeld: (sql: string) => Run;
  /** Gives the function that reads one number. */
  readonly compileNumber: (sql: string) => () => number | null;
  /** Called between many rows. */
  readonly breathe: Tx["breathe"];
  /** Where the open transaction holds rows back; null when it does not. */
  readonly holding: () => HeldRows | null;
}

/**
 * `insertAll`, `insertNumbered` and `nextNumbers` on SQLite, where running prepared statements for 50, 10 and single rows costs
 * less than building one for all rows.
 */
export function createInserts({ compile, compileHeld, compileNumber, breathe, holding }: InsertParts): Pick<Tx, "nextNumbers"> & {
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
  /** The statement for rows, by the columns that are null in all of them: `nulls` has a bit for each. */
  const find = ({ table, fields, statements }: RowShape, nulls: number, rows: readonly Row[]): Insert => {
    const known = statements.get(nulls);
    if (known) return known;
    const values = `(${fields.map(({ key }) => (isNull(rows, key) ? "null" : "?")).join(", ")})`;
    const text = (n: number): string =>
      `insert into "${table}" (${fields.map(({ name }) => `"${name}"`).join(", ")}) values ${Array.from({ length: n }, () => values).join(", ")}`;
    const statement: Insert = {
      runs: new Map(),
      compileRun: (n) => compile(text(n)),
      compile: (n) => compileHeld(text(n)),
      one: null,
      ten: null,
      params: [],
      rows: 0,
    };
    if (statements.size >= MAX_STATEMENTS) statements.clear();
    statements.set(nulls, statement);
    return statement;
  };
  /** Inserts rows, in their order. Values that they lack are null. */
  const insert = (shape: RowShape, rows: readonly Row[]): void => {
    let nulls = 0;
    const written: Field[] = [];
    for (const field of shape.fields) {
      const absent = isNull(rows, field.key);
      nulls = nulls * 2 + (absent ? 1 : 0);
      if (!absent) written.push(field);
    }
    const statement = find(shape, nulls, rows);
    for (let at = 0; at < rows.length; ) {
      const size = SIZES.find((n) => n <= rows.length - at) ?? 1;
      const params: unknown[] = [];
      for (const end = at + size; at < end; at += 1) {
        const row = rows[at] as Row;
        for (const { key, encode } of written) {
          const value = row[key] ?? null;
          params.push(value === null || encode === null ? value : encode(value));
        }
      }
      let run = statement.runs.get(size);
      if (!run) {
        run = statement.compileRun(size);
        statement.runs.set(size, run);
      }
      run(...params);
    }
  };
  /** Holds a row back. Nulls are part of the statement: binding one costs as much as binding a value. */
  const hold = (shape: RowShape, row: Row, held: HeldRows): void => {
    let nulls = 0;
    const params: unknown[] = [];
    for (const { key, encode } of shape.fields) {
      const value = row[key] ?? null;
      nulls = nulls * 2 + (value === null ? 1 : 0);
      if (value !== null) params.push(encode === null ? value : encode(value));
    }
    held.hold(shape.held, find(shape, nulls, [row]), params);
  };
  const insertInTurns = async (shape: RowShape, rows: readonly Row[]): Promise<void> => {
    for (let i = 0; i < rows.length; i += ROWS_PER_TURN) {
      if (i > 0) await breathe();
      insert(shape, rows.slice(i, i + ROWS_PER_TURN));
    }
  };
  const findLast = (shape: TableShape): number => {
    shape.readLast ??= compileNumber(`select max("${shape.counter?.column.name}") as "last" from "${shape.name}"`);
    return shape.readLast() ?? 0;
  };
  return {
    insertAll: (table, rows) => {
      const [first] = rows as readonly Row[];
      if (!first) return;
      const { counter, whole, counted, held: ofTable } = shapeOf(table);
      const shape = counter !== null && first[counter.key] === undefined ? counted : whole;
      if (rows.length > ROWS_PER_TURN) return insertInTurns(shape, rows as readonly Row[]);
      const held = holding();
      // Its rows may bring or be given the next numbers.
      ofTable.lastNumber = null;
      if (held) for (const row of rows as readonly Row[]) hold(shape, row, held);
      else insert(shape, rows as readonly Row[]);
    },
    insertNumbered: (table, rows) => {
      const shape = shapeOf(table);
      const { counter, whole, counted } = shape;
      if (!counter) throw new Error(`${getTableName(table)} has no counter.`);
      if (rows.length === 0) return [];
      const held = holding();
      if (!held) {
        // There is no other writer, so SQLite gives the rows the numbers after the largest one.
        const last = findLast(shape);
        insert(counted, rows as readonly Row[]);
        return rows.map((_, i) => last + 1 + i);
      }
      return (rows as readonly Row[]).map((row) => {
        const number = held.nextNumber(shape.held, () => findLast(shape));
        hold(whole, { ...row, [counter.key]: number }, held);
        return number;
      });
    },
    nextNumbers: async (table, n) => {
      const shape = shapeOf(table);
      if (!shape.counter) throw new Error(`${getTableName(table)} has no counter.`);
      const last = findLast(shape);
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

/** The statements for one set of columns that were null. */
interface Insert extends HeldInsert {
  /** The function that inserts so many rows, by their number; compiled at its first use. */
  readonly runs: Map<number, Run>;
  compileRun(rows: number): Run;
}

/** The columns that are written, and a statement for each set of columns that were null. */
interface RowShape {
  readonly table: string;
  readonly fields: readonly Field[];
  readonly statements: Map<number, Insert>;
  /** Shared by all shapes of a table. */
  readonly held: HeldTable;
}

/** What inserts need to know of a table, found once: looking through its columns would cost a send 2 µs. */
interface TableShape {
  readonly name: string;
  readonly held: HeldTable;
  /** Reads the largest number; null before its first use. */
  readLast: (() => number | null) | null;
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
  const held: HeldTable = { held: null, lastNumber: null };
  const name = getTableName(table);
  const toRowShape = (own: readonly Field[]): RowShape => ({ table: name, fields: own, statements: new Map(), held });
  return {
    name,
    held,
    readLast: null,
    counter: counter ? { key: counter[0], column: counter[1] } : null,
    whole: toRowShape(fields),
    counted: toRowShape(fields.filter(({ key }) => key !== counter?.[0])),
  };
}

function isNull(rows: readonly Row[], key: string): boolean {
  return rows.every((row) => (row[key] ?? null) === null);
}

function findEncoder(column: PgColumn): Field["encode"] {
  return column.mapToDriverValue === Column.prototype.mapToDriverValue ? null : (value) => column.mapToDriverValue(value);
}
