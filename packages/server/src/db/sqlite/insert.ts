import { Column, getTableColumns, getTableName } from "drizzle-orm";
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import type { Tx } from "../db.ts";

// Rows inserted in one stretch: about ten milliseconds.
const ROWS_PER_TURN = 2000;
// Rows of one statement, the most first: with 50 instead of 10, an event costs 3.1 instead of 3.8 µs of SQLite.
const SIZES = [50, 10, 1] as const;

type Row = Readonly<Record<string, unknown>>;
type Run = (...params: unknown[]) => unknown;

interface InsertParts {
  /** Gives the function that runs a statement. */
  readonly compile: (sql: string) => Run;
  /** Gives the function that reads one number. */
  readonly compileNumber: (sql: string) => () => number | null;
  /** Called between many rows. */
  readonly breathe: Tx["breathe"];
}

/**
 * `insertAll`, `insertNumbered` and `nextNumbers` on SQLite, where running prepared statements for 50, 10 and single rows costs
 * less than building one for all rows.
 */
export function createInserts(parts: InsertParts): Pick<Tx, "insertAll" | "insertNumbered" | "nextNumbers"> {
  const tables = new Map<PgTable, TableInserts>();
  const findInserts = (table: PgTable): TableInserts => {
    let inserts = tables.get(table);
    if (!inserts) {
      inserts = new TableInserts(table, parts);
      tables.set(table, inserts);
    }
    return inserts;
  };
  return {
    insertAll: async (table, rows: readonly object[]) => {
      const inserts = findInserts(table);
      for (let at = 0; at < rows.length; at += ROWS_PER_TURN) {
        if (at > 0) await parts.breathe();
        inserts.insert(rows.slice(at, at + ROWS_PER_TURN) as readonly Row[]);
      }
    },
    insertNumbered: async (table, rows: readonly object[]) => {
      const inserts = findInserts(table);
      // There is no other writer, so SQLite gives the rows the numbers after the largest one.
      const numbers = inserts.nextNumbers(rows.length);
      inserts.insert(rows as readonly Row[]);
      return numbers;
    },
    nextNumbers: async (table, n) => findInserts(table).nextNumbers(n),
  };
}

/** Inserts rows into one table. Its columns are listed once: to do so for each send would cost 2 µs. */
class TableInserts {
  readonly #name: string;
  /** The property of the auto-incremented column; null in a table without one. */
  readonly #counter: string | null;
  /** For rows with all columns. */
  readonly #whole: RowInserts;
  /** For rows that leave their number to SQLite. */
  readonly #counted: RowInserts;
  /** Reads the largest number. */
  readonly #readLast: () => number | null;

  constructor(table: PgTable, { compile, compileNumber }: InsertParts) {
    const columns = Object.entries(getTableColumns(table));
    const name = getTableName(table);
    const fields = columns.map(([key, column]) => ({ key, name: column.name, encode: findEncoder(column) }));
    const [key, counter] = columns.find(([, column]) => column.primary && column.dataType === "number") ?? [];
    this.#name = name;
    this.#counter = key ?? null;
    this.#whole = new RowInserts(name, fields, compile);
    this.#counted = new RowInserts(
      name,
      fields.filter((field) => field.key !== key),
      compile,
    );
    this.#readLast = counter ? compileNumber(`select max("${counter.name}") as "last" from "${name}"`) : () => null;
  }

  /** Inserts rows, in their order. Values that they lack are null. */
  insert(rows: readonly Row[]): void {
    const [first] = rows;
    if (!first) return;
    const counted = this.#counter !== null && first[this.#counter] === undefined;
    (counted ? this.#counted : this.#whole).insert(rows);
  }

  /** The numbers that the next `n` rows get. */
  nextNumbers(n: number): number[] {
    if (this.#counter === null) throw new Error(`${this.#name} has no counter.`);
    if (n === 0) return [];
    const last = this.#readLast() ?? 0;
    return Array.from({ length: n }, (_, i) => last + 1 + i);
  }
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

/** Inserts rows with the same columns. */
class RowInserts {
  readonly #table: string;
  readonly #fields: readonly Field[];
  readonly #compile: (sql: string) => Run;
  /** The functions that insert 1, 10 or 50 rows. */
  readonly #statements = new Map<number, Run>();

  constructor(table: string, fields: readonly Field[], compile: (sql: string) => Run) {
    this.#table = table;
    this.#fields = fields;
    this.#compile = compile;
  }

  insert(rows: readonly Row[]): void {
    for (let at = 0; at < rows.length; ) {
      const size = SIZES.find((n) => n <= rows.length - at) ?? 1;
      const run = this.#statements.get(size) ?? this.#compile(this.#write(size));
      this.#statements.set(size, run);
      run(...toParams(rows.slice(at, at + size), this.#fields));
      at += size;
    }
  }

  /** The text of the statement for `n` rows. */
  #write(n: number): string {
    const columns = this.#fields.map(({ name }) => `"${name}"`);
    const values = `(${this.#fields.map(() => "?").join(", ")})`;
    return `insert into "${this.#table}" (${columns.join(", ")}) values ${Array(n).fill(values).join(", ")}`;
  }
}

function toParams(rows: readonly Row[], fields: readonly Field[]): unknown[] {
  const params: unknown[] = [];
  for (const row of rows)
    for (const { key, encode } of fields) {
      const value = row[key] ?? null;
      params.push(value === null || encode === null ? value : encode(value));
    }
  return params;
}

function findEncoder(column: PgColumn): Field["encode"] {
  return column.mapToDriverValue === Column.prototype.mapToDriverValue ? null : (value) => column.mapToDriverValue(value);
}
