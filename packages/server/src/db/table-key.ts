import { type Column, getTableColumns, is } from "drizzle-orm";
import { getTableConfig as configOfPostgres, type PgColumn, PgTable } from "drizzle-orm/pg-core";
import { getTableConfig as configOfSqlite, type SQLiteTable } from "drizzle-orm/sqlite-core";

/** A table, and the column by whose order it is walked. */
export interface KeyedTable {
  readonly table: PgTable;
  readonly key: PgColumn;
}

interface Named {
  readonly name: string;
}

/** The properties of a table's rows that make its primary key, in order. */
export function listKey(table: PgTable): string[] {
  const { columns, primaryKeys } = readConfig(table);
  const all: readonly (Named & { readonly primary: boolean })[] = columns;
  const own = all.filter(({ primary }) => primary);
  return toProperties(table, own.length > 0 ? own : (primaryKeys[0]?.columns ?? []));
}

/** True if an index of all rows leads to those with a value of a property, in the order of the primary key. */
export function leadsTo(table: PgTable, property: string): boolean {
  const key = listKey(table);
  const wanted = key[0] === property ? key : [property, ...key];
  const indexes: readonly { readonly config: { readonly where?: unknown; readonly columns: readonly unknown[] } }[] =
    readConfig(table).indexes;
  const lists = indexes.filter(({ config }) => !config.where).map(({ config }) => toProperties(table, config.columns as Named[]));
  return [key, ...lists].some((list) => wanted.every((name, i) => list[i] === name));
}

function readConfig(table: PgTable): ReturnType<typeof configOfPostgres> | ReturnType<typeof configOfSqlite> {
  return is(table, PgTable) ? configOfPostgres(table) : configOfSqlite(table as unknown as SQLiteTable);
}

function toProperties(table: PgTable, columns: readonly Named[]): string[] {
  const properties = Object.entries<Column>(getTableColumns(table));
  return columns.map(({ name }) => properties.find(([, column]) => column.name === name)?.[0] ?? name);
}
