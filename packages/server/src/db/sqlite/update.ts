import { and, eq, getTableColumns, getTableName, type SQL, sql } from "drizzle-orm";
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import type { Tx } from "../db.ts";

/** `updateAll` on SQLite: a prepared statement for each row, all of which run at once, in order. */
export function createUpdates(session: Pick<Tx, "prepared">): Pick<Tx, "updateAll"> {
  return {
    updateAll: async (table, changes) => {
      const [first] = changes;
      if (!first) return [];
      const where = Object.keys(first.where);
      const set = Object.keys(first.set);
      const name = `update_all_${getTableName(table)}_${where.join(",")}_${set.join(",")}`;
      const statement = session.prepared(name, (q) => {
        const columns = getTableColumns(table) as Record<string, PgColumn>;
        const [returned] = where.map((key) => columns[key] as PgColumn);
        return q
          .update(table as PgTable)
          .set(Object.fromEntries(set.map((key) => [key, bind(`set_${key}`, columns[key] as PgColumn)])))
          .where(and(...where.map((key) => isValue(columns[key] as PgColumn, `where_${key}`))))
          .returning({ returned: returned as PgColumn })
          .prepare(name);
      });
      const results = changes.map((change) => {
        const values: Record<string, unknown> = {};
        for (const key of where) values[`where_${key}`] = (change.where as Record<string, unknown>)[key] ?? null;
        for (const key of set) values[`set_${key}`] = (change.set as Record<string, unknown>)[key] ?? null;
        return statement.execute(values);
      });
      return (await Promise.all(results)).map((rows) => rows.length > 0);
    },
  };
}

function bind(name: string, column: PgColumn): SQL {
  return sql`${sql.param(sql.placeholder(name), column)}`;
}

function isValue(column: PgColumn, name: string): SQL {
  return column.notNull ? eq(column, bind(name, column)) : sql`${column} is ${bind(name, column)}`;
}
