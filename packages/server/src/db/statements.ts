import { getTableColumns, type SQL, sql } from "drizzle-orm";
import type { PgTable } from "drizzle-orm/pg-core";

/**
 * The SET clause of a prepared update that writes all columns of a table from placeholders of the same names, except `fixed`
 * ones. Derived from the table, so that a new column cannot be forgotten: execute the statement with a whole row.
 */
export function setAllBut<Table extends PgTable>(
  table: Table,
  fixed: readonly (keyof Table["$inferSelect"] & string)[],
): { [Column in keyof Table["$inferInsert"]]?: SQL } {
  const names: readonly string[] = fixed;
  const columns = Object.entries(getTableColumns(table)).filter(([name]) => !names.includes(name));
  return Object.fromEntries(columns.map(([name, column]) => [name, sql`${sql.param(sql.placeholder(name), column)}`])) as {
    [Column in keyof Table["$inferInsert"]]?: SQL;
  };
}
