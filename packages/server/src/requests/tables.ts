import type { ErrorCode } from "@mailsvc/sdk/contract";
import type { ColumnTypes } from "../db/columns.ts";

export function requestTables(c: ColumnTypes) {
  return {
    requestRecords: c.table(
      "request_records",
      {
        seq: c.counter("seq"),
        /** Null for a request without a key that works. */
        workspaceId: c.text("workspace_id"),
        at: c.instant("at").notNull(),
        requestId: c.text("request_id").notNull(),
        method: c.text("method").notNull(),
        /** As `toSafePath` returns it. */
        path: c.text("path").notNull(),
        route: c.text("route"),
        status: c.int("status").notNull(),
        error: c.text("error").$type<ErrorCode>(),
        /** Tenths of a millisecond. */
        tenths: c.int("tenths").notNull(),
        keyId: c.text("key_id"),
        keyPreview: c.text("key_preview"),
      },
      (t) => [c.index("request_records_workspace").on(t.workspaceId, t.seq)],
    ),
  };
}

export type RequestTables = ReturnType<typeof requestTables>;

declare module "../lib/ids.ts" {
  interface IdPrefixes {
    readonly req: "requestRecords";
  }
}
