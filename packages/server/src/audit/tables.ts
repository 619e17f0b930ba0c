import type { AUDIT_ACTORS, AuditChange } from "@mailsvc/sdk/contract";
import type { ColumnTypes } from "../db/columns.ts";

export function auditTables(c: ColumnTypes) {
  return {
    auditEntries: c.table(
      "audit_entries",
      {
        id: c.text("id").primaryKey(),
        /** Null for what the operator changed that is of no workspace. */
        workspaceId: c.text("workspace_id"),
        at: c.instant("at").notNull(),
        action: c.text("action").notNull(),
        actorKind: c.text("actor_kind").$type<(typeof AUDIT_ACTORS)[number]>().notNull(),
        actorId: c.text("actor_id"),
        actorName: c.text("actor_name"),
        objectId: c.text("object_id"),
        objectName: c.text("object_name"),
        changes: c.json<AuditChange[]>("changes").notNull(),
        requestId: c.text("request_id").notNull(),
      },
      (t) => [c.index("audit_entries_workspace").on(t.workspaceId, t.id), c.index("audit_entries_object").on(t.objectId, t.id)],
    ),
  };
}

export type AuditTables = ReturnType<typeof auditTables>;

declare module "../lib/ids.ts" {
  interface IdPrefixes {
    readonly aud: "auditEntries";
  }
}
