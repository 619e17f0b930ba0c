import { and, asc, eq, gt, isNotNull, type SQL } from "drizzle-orm";
import type { Db, Reader, Schema, Tx } from "../db/db.ts";
import type { RingSeal } from "../lib/seal.ts";
import { SEAL_CHECK } from "./installation.ts";

/**
 * Columns of a table that hold sealed bytes, the column that names its rows, and what they are sealed for. Stored answers to confidential
 * requests are not declared: they are gone after a day, for which the old key stays.
 */
export interface SealedColumns<Name extends keyof Schema = keyof Schema> {
  readonly id: keyof Schema[Name]["$inferSelect"] & string;
  readonly columns: readonly (keyof Schema[Name]["$inferSelect"] & string)[];
  readonly placeOf: (id: string) => string;
}

/** A table with sealed columns. */
export interface SealedTable extends SealedColumns {
  readonly table: keyof Schema;
}

const ROWS = 200;

/**
 * Seals with the current key what an older one has sealed, and returns how many values that were. A kill leaves the rest for the next
 * call.
 */
export async function sealAnew(db: Db, seal: RingSeal, tables: readonly SealedTable[]): Promise<number> {
  let renewed = 0;
  for (const entry of tables) for (const column of entry.columns) renewed += await renewColumn(db, seal, entry, column);
  return renewed + (await renewCheck(db, seal));
}

/** Tables and columns by their names, which only this file needs. */
// biome-ignore lint/suspicious/noExplicitAny: the columns of a table that is chosen by its name.
type Columns = any;

async function renewColumn(db: Db, seal: RingSeal, { table, id, placeOf }: SealedTable, column: string): Promise<number> {
  let after = "";
  let renewed = 0;
  for (;;) {
    const rows = await listSealed(db.read, { table, id, column, after });
    for (const row of rows) {
      const bytes = seal.renew(row.bytes, placeOf(row.id));
      if (bytes === null) continue;
      // A value that changed since it was read was sealed anew, or the next pass renews it.
      renewed += await db.tx((tx) => replaceSealed(tx, { table, id, column }, row, bytes));
    }
    const last = rows.at(-1);
    if (!last) return renewed;
    after = last.id;
  }
}

interface ColumnOf {
  readonly table: keyof Schema;
  readonly id: string;
  readonly column: string;
}

async function listSealed(
  read: Reader,
  { table, id, column, after }: ColumnOf & { after: string },
): Promise<{ id: string; bytes: Uint8Array }[]> {
  const t: Columns = read.t[table];
  const rest: SQL | undefined = and(isNotNull(t[column]), gt(t[id], after));
  return read.select({ id: t[id], bytes: t[column] }).from(t).where(rest).orderBy(asc(t[id])).limit(ROWS) as never;
}

async function replaceSealed(
  tx: Tx,
  { table, id, column }: ColumnOf,
  row: { readonly id: string; readonly bytes: Uint8Array },
  bytes: Uint8Array,
): Promise<number> {
  const t: Columns = tx.t[table];
  const changed = (await tx
    .update(t)
    .set({ [column]: bytes })
    .where(and(eq(t[id], row.id), eq(t[column], row.bytes)))
    .returning({ id: t[id] })) as unknown[];
  return changed.length;
}

async function renewCheck(db: Db, seal: RingSeal): Promise<number> {
  const { meta } = db.read.t;
  const [row] = await db.read.select().from(meta).where(eq(meta.name, SEAL_CHECK));
  const bytes = row === undefined ? null : seal.renew(Buffer.from(row.value, "base64"), SEAL_CHECK);
  if (bytes === null) return 0;
  const value = Buffer.from(bytes).toString("base64");
  await db.tx(async (tx) => void (await tx.update(tx.t.meta).set({ value }).where(eq(tx.t.meta.name, SEAL_CHECK))));
  return 1;
}
