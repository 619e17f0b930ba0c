import {
  bigint,
  bigserial,
  boolean,
  customType,
  doublePrecision,
  index,
  integer,
  pgTable,
  primaryKey,
  text,
  timestamp,
  uniqueIndex,
} from "drizzle-orm/pg-core";

const bytea = customType<{ data: Uint8Array; driverData: Uint8Array }>({ dataType: () => "bytea" });

// `json` and not `jsonb`: it keeps the order of keys, as SQLite does. Custom headers are sent in that order.
const json = customType<{ data: unknown; driverData: unknown }>({
  dataType: () => "json",
  toDriver: (value) => (value === null ? null : JSON.stringify(value)),
  fromDriver: (value) => value,
});

/**
 * The column types of tables. `sqlite/columns.ts` has the same names and yields the same JavaScript values. No column has an
 * SQL default: ids, times and defaults are made in TypeScript, so that both databases and every seeded test get the same.
 */
export const columnTypes = {
  table: pgTable,
  text: (name: string) => text(name),
  int: (name: string) => integer(name),
  /** A number that may have a fraction. */
  number: (name: string) => doublePrecision(name),
  /** An instant in milliseconds since 1970: a number, so that no time zone applies. */
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

/** Tables that only several server processes need. Their times come from the database, whose clock all processes share. */

/** The live server processes, by the name under which they claim jobs. */
export const workers = pgTable("workers", {
  name: text("name").primaryKey(),
  seenAt: timestamp("seen_at", { withTimezone: true }).notNull(),
});

/** The rate limits, shared by all processes. */
export const rateBuckets = pgTable("rate_buckets", {
  name: text("name").primaryKey(),
  tokens: doublePrecision("tokens").notNull(),
  /** Number of tokens the last request got. */
  granted: doublePrecision("granted").notNull(),
  at: doublePrecision("at").notNull(),
});
