import { type AnyColumn, type SQL, sql } from "drizzle-orm";

/** True for texts that hold `part`, whatever the case; `%` and `_` in it stand for themselves. SQLite has no escape character unless told. */
export const contains = (column: AnyColumn, part: string): SQL => {
  const pattern = `%${part.toLowerCase().replace(/[\\%_]/g, "\\$&")}%`;
  return sql`lower(${column}) like ${pattern} escape '\\'`;
};
