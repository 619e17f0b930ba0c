import { doublePrecision, pgTable, text, timestamp } from "drizzle-orm/pg-core";

/** What only many server processes need, so only Postgres has. Their times are the database's own, which all processes share. */

/** The server processes that live, by the name under which they hold jobs. */
export const workers = pgTable("workers", {
  name: text("name").primaryKey(),
  seenAt: timestamp("seen_at", { withTimezone: true }).notNull(),
});

/** What is left of each rate limit, for all processes together.. */
export const rateBuckets = pgTable("rate_buckets", {
  name: text("name").primaryKey(),
  tokens: doublePrecision("tokens").notNull(),
  /** How many the last taker got. */
  granted: doublePrecision("granted").notNull(),
  at: doublePrecision("at").notNull(),
});
