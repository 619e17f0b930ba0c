import { blob, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import type { Kit } from "../postgres/columns.ts";

/** The columns of `kit.pg.ts` on SQLite: same names, same JavaScript values. */
export const kit = {
  table: sqliteTable,
  text: (name: string) => text(name),
  int: (name: string) => integer(name),
  instant: (name: string) => integer(name),
  flag: (name: string) => integer(name, { mode: "boolean" }),
  json: <T>(name: string) => text(name, { mode: "json" }).$type<T>(),
  bytes: (name: string) => blob(name, { mode: "buffer" }),
  // Without AUTOINCREMENT, which would write a second table on every insert: a number comes again only when the newest
  // row was deleted, and nothing that names a row outlives it.
  counter: (name: string) => integer(name).primaryKey(),
  reference: (name: string) => integer(name),
  index,
  uniqueIndex,
  primaryKey,
} as unknown as Kit; // The one cast between the dialects.
