import { getTableColumns, getTableName } from "drizzle-orm";
import type { PgTable } from "drizzle-orm/pg-core";
import type { Tx } from "../db.ts";
import { cutIntoStretches, listByteKeys } from "../stretches.ts";
import { type Convert, convertValue, findEncoder } from "./bind.ts";

// Rows inserted in one stretch: about ten milliseconds.
const ROWS_PER_TURN = 2000;
// Rows of one statement, the most first: among 50 an event costs 3.1 µs of SQLite, among 10 it costs 3.8.
const SIZES = [50, 20, 10, 5, 4, 3, 2, 1] as const;

type Row = Readonly<Record<string, unknown>>;
/** Runs a statement, and tells the number of the last row that was inserted into a table with a counter. */
type Run = (...params: unknown[]) => { readonly lastInsertRowid: number | bigint };

interface InsertParts {
  /** Gives the function that runs a statement. */
  readonly compile: (sql: string) => Run;
  /** Gives the function that reads one number. */
  readonly compileNumber: (sql: string) => () => number | null;
  /** Called between many rows, and after much has been written. */
  readonly breathe: Tx["breathe"];
}

/**
 * `insertAll`, `insertNumbered` and `nextNumbers` on SQLite, where running prepared statements for some numbers of rows costs
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
      for (const stretch of cutIntoStretches(rows, inserts.byteKeys, ROWS_PER_TURN)) {
        inserts.insert(stretch.rows as readonly Row[]);
        if (stretch.isLong) await parts.breathe();
      }
    },
    insertNumbered: async (table, rows: readonly object[]) => {
      // There is no other writer, so the rows get numbers in a row.
      const last = findInserts(table).insert(rows as readonly Row[]);
      return rows.map((_, i) => last - rows.length + 1 + i);
    },
    nextNumbers: async (table, n) => findInserts(table).nextNumbers(n),
  };
}

/** Inserts rows into one table. Its columns are listed once: to do so for each send would cost 2 µs. */
class TableInserts {
  readonly byteKeys: readonly string[];
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
    const fields = columns.map(([key, column]) => ({ key, name: column.name, convert: findEncoder(column) }));
    const [key, counter] = columns.find(([, column]) => column.primary && column.dataType === "number") ?? [];
    this.byteKeys = listByteKeys(table);
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

  /** Inserts rows, in their order, and returns the number of the last one. Values that they lack are null. */
  insert(rows: readonly Row[]): number {
    const counted = this.#counter !== null && rows[0]?.[this.#counter] === undefined;
    return (counted ? this.#counted : this.#whole).insert(rows);
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
  readonly convert: Convert;
}

/** Inserts rows with the same columns. */
class RowInserts {
  readonly #table: string;
  readonly #fields: readonly Field[];
  readonly #compile: (sql: string) => Run;
  /** The functions that insert a number of rows, by this number. */
  readonly #statements = new Map<number, Run>();

  constructor(table: string, fields: readonly Field[], compile: (sql: string) => Run) {
    this.#table = table;
    this.#fields = fields;
    this.#compile = compile;
  }

  insert(rows: readonly Row[]): number {
    let last = 0;
    for (let at = 0; at < rows.length; ) {
      const size = SIZES.find((n) => n <= rows.length - at) ?? 1;
      const run = this.#statements.get(size) ?? this.#compile(this.#write(size));
      this.#statements.set(size, run);
      last = Number(run(...toParams(rows.slice(at, at + size), this.#fields)).lastInsertRowid);
      at += size;
    }
    return last;
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
  for (const row of rows) for (const { key, convert } of fields) params.push(convertValue(convert, row[key]));
  return params;
}
