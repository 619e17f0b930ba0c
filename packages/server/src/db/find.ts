import type { InferSelectModel } from "drizzle-orm";
import type { PgTable } from "drizzle-orm/pg-core";
import type { Reader } from "./db.ts";

/** What can look rows up: a reader or a transaction. */
type LookUp = Pick<Reader, "lookUp">;

/** The rows whose columns have these values, in any order; an index serves the columns. */
export async function findRows<Table extends PgTable>(
  q: LookUp,
  table: Table,
  key: Partial<InferSelectModel<Table>>,
): Promise<InferSelectModel<Table>[]> {
  return findAmong(q, table, [key]);
}

/** The same for each of many keys, which name the same columns, in the order of the keys. A key that is given twice finds its rows twice. */
export async function findAmong<Table extends PgTable>(
  q: LookUp,
  table: Table,
  keys: readonly Partial<InferSelectModel<Table>>[],
): Promise<InferSelectModel<Table>[]> {
  return (await q.lookUp(table, keys)).flat();
}
