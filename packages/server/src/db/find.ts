import type { InferSelectModel } from "drizzle-orm";
import type { PgTable } from "drizzle-orm/pg-core";
import type { Reader } from "./db.ts";

/** Gives a table another name, for a query that needs it twice. */
export { alias } from "drizzle-orm/pg-core";

/** Values of columns; of one column several, each of which may be that of a row. */
type Key<Row> = { readonly [Column in keyof Row]?: Row[Column] | readonly Row[Column][] };

/**
 * The rows whose columns have these values: `{ workspaceId, id }` for one row, `{ workspaceId, id: ids }` for many, in the order of
 * `ids`. A value that is given twice finds its rows twice. The columns have an index.
 */
export async function findRows<Table extends PgTable>(
  q: Pick<Reader, "lookUp">,
  table: Table,
  key: Key<InferSelectModel<Table>>,
): Promise<InferSelectModel<Table>[]> {
  type One = Partial<InferSelectModel<Table>>;
  const several = Object.entries(key).find((entry): entry is [string, unknown[]] => Array.isArray(entry[1]));
  const keys = several ? several[1].map((value) => ({ ...key, [several[0]]: value }) as One) : [key as One];
  return (await q.lookUp(table, keys)).flat();
}
