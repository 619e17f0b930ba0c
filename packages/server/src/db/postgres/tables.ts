import { doublePrecision, pgTable, text, timestamp } from "drizzle-orm/pg-core";

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
