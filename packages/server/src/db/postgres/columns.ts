import { bigint, bigserial, boolean, customType, index, integer, pgTable, primaryKey, text, uniqueIndex } from "drizzle-orm/pg-core";

const bytea = customType<{ data: Uint8Array; driverData: Uint8Array }>({ dataType: () => "bytea" });

// `json` and not `jsonb`: it keeps the text, so the order of keys, in which custom headers are sent, as SQLite does.
const json = customType<{ data: unknown; driverData: unknown }>({
  dataType: () => "json",
  toDriver: (value) => (value === null ? null : JSON.stringify(value)),
  fromDriver: (value) => value,
});

/**
 * The columns a table may use. Postgres is the honest kit, whose types everybody sees; `kit.sqlite.ts` has the same
 * names and gives the same JavaScript values. No column has an SQL default: ids, times and defaults are made in
 * TypeScript, so that they are the same on both databases and the same again in a seeded test.
 */
export const kit = {
  table: pgTable,
  text: (name: string) => text(name),
  int: (name: string) => integer(name),
  /** An instant: milliseconds since 1970. A number, so that no time zone can get at it. */
  instant: (name: string) => bigint(name, { mode: "number" }),
  flag: (name: string) => boolean(name),
  json: <T>(name: string) => json(name).$type<T>(),
  bytes: (name: string) => bytea(name),
  /** A primary key that counts up in the order of insertion. */
  counter: (name: string) => bigserial(name, { mode: "number" }).primaryKey(),
  /** The value of another table's counter. */
  reference: (name: string) => bigint(name, { mode: "number" }),
  index,
  uniqueIndex,
  primaryKey,
};

export type Kit = typeof kit;
