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
  /** The statement for rows like `first`, and the names of its values. */
  const prepare = (table: PgTable, first: Row, returning: readonly [name: string, column: PgColumn] | undefined) => {
    const counter = findCounter(table)?.[0];
    const names = Object.keys(getTableColumns(table)).filter((name) => name !== counter || first[name] !== undefined);
    const name = `${returning ? "insert_numbered" : "insert_all"}_${getTableName(table)}_${names.length}`;
    const statement = session.prepared(name, (q) => {
      const insert = q.insert(table).values(Object.fromEntries(names.map((column) => [column, sql.placeholder(column)])) as never);
      return returning ? insert.returning({ [returning[0]]: returning[1] }).prepare(name) : insert.prepare(name);
    });
    return {
      names,
      execute: (row: Row): unknown => statement.execute(names.length > Object.keys(row).length ? fillMissing(names, row) : row),
    };
  };
  return {
    insertAll: async (table, rows) => {
      const [first] = rows as readonly Row[];
      if (!first) return;
      const { execute } = prepare(table, first, undefined);
      // Without awaiting each: they run at once, in order.
      await Promise.all((rows as readonly Row[]).map(execute));
    },
    insertNumbered: (table, rows) => {
      const [first] = rows as readonly Row[];
      if (!first) return [];
      const counter = findCounter(table);
      if (!counter) throw new Error(`${getTableName(table)} has no counter.`);
      const { execute } = prepare(table, first, counter);
      return (rows as readonly Row[]).map((row) => (execute(row) as [Record<string, number>])[0][counter[0]] as number);
    },
    // There is no other writer, so the numbers after the largest one are free.
    nextNumbers: async (table, n) => {
      const column = findCounter(table)?.[1];
      if (!column) throw new Error(`${getTableName(table)} has no counter.`);
      const [row] = await session.select({ last: max(column) }).from(table);
      const last = Number(row?.last ?? 0);
      return Array.from({ length: n }, (_, i) => last + 1 + i);
    },
  };
}

/** The auto-incremented column of a table. */
function findCounter(table: PgTable): [name: string, column: PgColumn] | undefined {
  return Object.entries(getTableColumns(table)).find(([, column]) => column.primary && column.dataType === "number");
}

function fillMissing(names: readonly string[], row: Row): Row {
  return Object.fromEntries(names.map((name) => [name, row[name] ?? null]));
}
