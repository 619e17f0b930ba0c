import { getTableColumns, getTableName, max, sql } from "drizzle-orm";
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import type { Tx } from "../db.ts";

type Row = Readonly<Record<string, unknown>>;

/**
 * `insertAll`, `insertNumbered` and `nextNumbers` on SQLite, where running a prepared statement per row costs less than building
 * one for all rows.
 */
export function createInserts(
  session: Pick<Tx, "prepared" | "select">,
): Pick<Tx, "insertAll" | "nextNumbers"> & { insertNumbered(table: PgTable, rows: readonly object[]): number[] } {
  const shapes = new Map<PgTable, TableShape>();
  const shapeOf = (table: PgTable): TableShape => {
    let shape = shapes.get(table);
    if (!shape) {
      shape = toShape(table);
      shapes.set(table, shape);
    }
    return shape;
  };
  /** The statement that inserts a row; values that the row lacks are null. */
  const prepare = (table: PgTable, name: string, columns: readonly string[], returning?: Counter) =>
    session.prepared(name, (q) => {
      const insert = q.insert(table).values(Object.fromEntries(columns.map((column) => [column, sql.placeholder(column)])) as never);
      return returning ? insert.returning({ [returning.name]: returning.column }).prepare(name) : insert.prepare(name);
    });
  return {
    insertAll: async (table, rows) => {
      const [first] = rows as readonly Row[];
      if (!first) return;
      const { names, columns, others, counter } = shapeOf(table);
      const counts = counter !== undefined && first[counter.name] === undefined;
      const statement = prepare(table, counts ? names.counted : names.whole, counts ? others : columns);
      for (const row of rows as readonly Row[]) statement.execute(row);
    },
    insertNumbered: (table, rows) => {
      if (rows.length === 0) return [];
      const { names, others, counter } = shapeOf(table);
      if (!counter) throw new Error(`${getTableName(table)} has no counter.`);
      const statement = prepare(table, names.numbered, others, counter);
      return (rows as readonly Row[]).map(
        (row) => (statement.execute(row) as unknown as [Record<string, number>])[0][counter.name] as number,
      );
    },
    // There is no other writer, so the numbers after the largest one are free.
    nextNumbers: async (table, n) => {
      const column = shapeOf(table).counter?.column;
      if (!column) throw new Error(`${getTableName(table)} has no counter.`);
      const [row] = await session.select({ last: max(column) }).from(table);
      const last = Number(row?.last ?? 0);
      return Array.from({ length: n }, (_, i) => last + 1 + i);
    },
  };
}

/** The auto-incremented column of a table. */
interface Counter {
  readonly name: string;
  readonly column: PgColumn;
}

/** What inserts need to know of a table, found once: looking through its columns would cost a send 2 µs. */
interface TableShape {
  readonly columns: readonly string[];
  readonly counter: Counter | undefined;
  /** The columns without the counter. */
  readonly others: readonly string[];
  /** The names of the statements for rows with all columns, without the counter, and without the counter but returning it. */
  readonly names: { readonly whole: string; readonly counted: string; readonly numbered: string };
}

function toShape(table: PgTable): TableShape {
  const entries = Object.entries(getTableColumns(table));
  const columns = entries.map(([name]) => name);
  const found = entries.find(([, column]) => column.primary && column.dataType === "number");
  const counter = found && { name: found[0], column: found[1] };
  const name = getTableName(table);
  return {
    columns,
    counter,
    others: columns.filter((column) => column !== counter?.name),
    names: { whole: `insert_whole_${name}`, counted: `insert_counted_${name}`, numbered: `insert_numbered_${name}` },
  };
}
