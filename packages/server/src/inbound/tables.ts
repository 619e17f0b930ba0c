import type { ColumnTypes } from "../db/columns.ts";

export function inboundTables(c: ColumnTypes) {
  return {
    /** Reports about emails that were applied, so that one that comes again changes nothing. */
    inboundReports: c.table("inbound_reports", {
      key: c.text("key").primaryKey(),
      receivedAt: c.instant("received_at").notNull(),
    }),
  };
}
