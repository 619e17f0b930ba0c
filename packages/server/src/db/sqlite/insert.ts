import { getTableColumns, getTableName, max, sql } from "drizzle-orm";
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import type { Tx } from "../db.ts";

type Row = Readonly<Record<string, unknown>>;

/** `insertAll` and `nextNumbers` on SQLite: to run a prepared statement for each row costs less there than to build one for all. */
export function createInserts(session: Pick<Tx, "prepared" | "select">): Pick<Tx, "insertAll" | "nextNumbers"> {
  return {
    insertAll: async (table, rows) => {
      const first = rows[0] as Row | undefined;
      if (!first) return;
      const counter = counterOf(table)?.[0];
      const names = Object.keys(getTableColumns(table)).filter((name) => name !== counter || first[name] !== undefined);
      const name = `insert_all_${getTableName(table)}_${names.length}`;
      const statement = session.prepared(name, (q) =>
        q
          .insert(table)
          .values(Object.fromEntries(names.map((column) => [column, sql.placeholder(column)])) as never)
          .prepare(name),
      );
      // Not awaited one by one: they run at once, in order.
      await Promise.all(
        (rows as readonly Row[]).map((row) => statement.execute(names.length > Object.keys(row).length ? filled(names, row) : row)),
      );
    },
    // Nobody else writes meanwhile, so what follows the largest number is free.
    nextNumbers: async (table, n) => {
      const column = counterOf(table)?.[1];
      if (!column) throw new Error(`${getTableName(table)} has no counter.`);
      const [row] = await session.select({ last: max(column) }).from(table);
      const last = Number(row?.last ?? 0);
      return Array.from({ length: n }, (_, i) => last + 1 + i);
    },
  };
}

/** The column of a table that counts by itself. */
function counterOf(table: PgTable): [name: string, column: PgColumn] | undefined {
  return Object.entries(getTableColumns(table)).find(([, column]) => column.primary && column.dataType === "number");
}

function filled(names: readonly string[], row: Row): Row {
  return Object.fromEntries(names.map((name) => [name, row[name] ?? null]));
}
