import { and, asc, type Column, eq, getTableColumns, inArray, or, type SQL, sql } from "drizzle-orm";
import type { Reader } from "../db/db.ts";
import { leadsTo, listKey } from "../db/table-key.ts";
import type { OwnedTable, Parent } from "./declarations.ts";

// Rows looked at where no index leads to those of a workspace: a few ms.
const WINDOW = 2000;

/** A key of a row: the values of its columns, in order. */
export type RowKey = readonly (string | number | boolean)[];

/** Rows of a workspace that follow each other in the order of their keys. */
interface Slice {
  /** Holds for these rows only; null for none. */
  readonly where: SQL | null;
  readonly count: number;
  /** Start of the next slice; null at the end of the table. */
  readonly next: RowKey | null;
}

// biome-ignore lint/suspicious/noExplicitAny: a table that is chosen by its name.
type AnyTable = any;
type Row = Readonly<Record<string, string | number | boolean>>;

/** Finds the next rows of a workspace in a table behind a key, some at most. */
export async function findSlice(read: Reader, table: OwnedTable, workspaceId: string, after: RowKey | null, limit: number): Promise<Slice> {
  const t: AnyTable = read.t[table.name];
  const columns: Readonly<Record<string, Column>> = getTableColumns(t);
  const key = listKey(t);
  const place = keyOrder(key.map((name) => columns[name] as Column));
  const behind = after === null ? undefined : place(">", after);
  const order = key.map((name) => asc(columns[name] as Column));
  const toKey = (row: Row): RowKey => key.map((name) => row[name] as string | number | boolean);
  const upTo = (row: Row, owned: SQL | undefined) => and(owned, behind, place("<=", toKey(row))) as SQL;
  const ofKey = Object.fromEntries(key.map((name) => [name, columns[name]]));

  if (table.of.length === 0 && table.workspace !== null && leadsTo(t, table.workspace)) {
    const owned = eq(columns[table.workspace] as Column, workspaceId);
    const rows: Row[] = await read
      .select(ofKey as AnyTable)
      .from(t)
      .where(and(owned, behind))
      .orderBy(...order)
      .limit(limit);
    const last = rows.at(-1);
    return { where: last ? upTo(last, owned) : null, count: rows.length, next: last && rows.length === limit ? toKey(last) : null };
  }

  const naming = [...(table.workspace === null ? [] : [table.workspace]), ...table.of.map(({ column }) => column)];
  const shown = { ...ofKey, ...Object.fromEntries(naming.map((name) => [name, columns[name]])) };
  const window: Row[] = await read
    .select(shown as AnyTable)
    .from(t)
    .where(behind)
    .orderBy(...order)
    .limit(WINDOW);
  const conditions: { readonly column: string; readonly values: ReadonlySet<unknown> }[] = [];
  if (table.workspace !== null) conditions.push({ column: table.workspace, values: new Set([workspaceId]) });
  for (const parent of table.of)
    conditions.push({ column: parent.column, values: await findOwnedParents(read, parent, workspaceId, window) });
  const own = window.filter((row) => conditions.some(({ column, values }) => values.has(row[column]))).slice(0, limit);
  const last = own.at(-1);
  const isCut = own.length === limit;
  const end = isCut ? last : window.length === WINDOW ? window.at(-1) : undefined;
  const owned = or(
    ...conditions.filter(({ values }) => values.size > 0).map(({ column, values }) => inArray(columns[column] as Column, [...values])),
  );
  return { where: last ? upTo(last, owned) : null, count: own.length, next: end ? toKey(end) : null };
}

/** Returns the values of a column that name rows of a workspace. */
async function findOwnedParents(
  read: Reader,
  { table, column, key = "id", suffix = "" }: Parent,
  workspaceId: string,
  window: readonly Row[],
): Promise<Set<unknown>> {
  const named = [...new Set(window.map((row) => row[column]))].filter((value) => value !== null && value !== undefined);
  const values = suffix === "" ? named : named.flatMap((v) => (String(v).endsWith(suffix) ? String(v).slice(0, -suffix.length) : []));
  if (values.length === 0) return new Set();
  const t: AnyTable = read.t[table];
  const rows: { value: unknown }[] = await read
    .select({ value: t[key] })
    .from(t)
    .where(and(inArray(t[key], values), eq(t["workspaceId"], workspaceId)));
  return new Set(rows.map(({ value }) => (suffix === "" ? value : `${value}${suffix}`)));
}

/** Compares keys of several columns as a whole. */
function keyOrder(columns: readonly Column[]): (operator: ">" | "<=", values: RowKey) => SQL {
  const list = sql.join(
    columns.map((column) => sql`${column}`),
    sql`, `,
  );
  return (operator, values) => {
    const bound = sql.join(
      values.map((value, i) => sql`${sql.param(value, columns[i])}`),
      sql`, `,
    );
    return sql`(${list}) ${sql.raw(operator)} (${bound})`;
  };
}
