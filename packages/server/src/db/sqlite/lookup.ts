import { and, eq, getTableColumns, getTableName } from "drizzle-orm";
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import type { Tx } from "../db.ts";

/** `lookUp` on SQLite: a prepared statement for each key. */
export function createLookups(session: Pick<Tx, "prepared">): Pick<Tx, "lookUp"> {
  return {
    lookUp: async (table, keys) => {
      const [first] = keys;
      if (!first) return [];
      const names = Object.keys(first);
      const name = `look_up_${getTableName(table)}_${names.join(",")}`;
      const statement = session.prepared(name, (q, _, arg) => {
        const columns = getTableColumns(table) as Record<string, PgColumn>;
        return q
          .select()
          .from(table as PgTable)
          .where(and(...names.map((column) => eq(columns[column] as PgColumn, arg(column)))));
      });
      return (await Promise.all(keys.map((key) => statement.execute(key)))) as never;
    },
  };
}
