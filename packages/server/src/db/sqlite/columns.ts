import { blob, index, integer, primaryKey, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import type { ColumnTypes } from "../columns.ts";

/** The column types of Postgres on SQLite: the same names, the same JavaScript values. */
export const columnTypes = {
  table: sqliteTable,
  text: (name: string) => text(name),
  int: (name: string) => integer(name),
  number: (name: string) => real(name),
  instant: (name: string) => integer(name),
  flag: (name: string) => integer(name, { mode: "boolean" }),
  json: <T>(name: string) => text(name, { mode: "json" }).$type<T>(),
  bytes: (name: string) => blob(name, { mode: "buffer" }),
  // Without AUTOINCREMENT, which would write to a second table on every insert. A number is reused only after the newest row
  // was deleted, and no reference to a row outlives it. Ids of events do: see `deleteEvents`.
  counter: (name: string) => integer(name).primaryKey(),
  reference: (name: string) => integer(name),
  index,
  uniqueIndex,
  primaryKey,
} as unknown as ColumnTypes; // The only cast between the databases.
