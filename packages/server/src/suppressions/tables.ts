import type { Suppression } from "@mailsvc/sdk/contract";
import type { ColumnTypes } from "../db/columns.ts";

export function suppressionTables(c: ColumnTypes) {
  return {
    suppressions: c.table(
      "suppressions",
      {
        /** The key inside the database: in indexes and the search index. Newer suppressions have larger ones. */
        seq: c.counter("seq"),
        id: c.text("id").notNull(),
        workspaceId: c.text("workspace_id").notNull(),
        /** The address as `addressKey` returns it, or its hash once the person was erased. */
        email: c.text("email").notNull(),
        reason: c.text("reason").$type<Suppression["reason"]>().notNull(),
        scope: c.text("scope").$type<Suppression["scope"]>().notNull(),
        source: c.text("source").$type<Suppression["source"]>().notNull(),
        emailId: c.text("email_id"),
        note: c.text("note"),
        /** Time at which the person unsubscribed, whatever else suppresses the address; null if they did not. */
        unsubscribedAt: c.instant("unsubscribed_at"),
        /** Source of that unsubscribe. */
        unsubscribedSource: c.text("unsubscribed_source").$type<Suppression["source"]>(),
        createdAt: c.instant("created_at").notNull(),
        updatedAt: c.instant("updated_at").notNull(),
      },
      (t) => [
        c.uniqueIndex("suppressions_id").on(t.id),
        c.uniqueIndex("suppressions_email").on(t.workspaceId, t.email),
        c.index("suppressions_workspace").on(t.workspaceId, t.seq),
        // For the filters of the list: those that name fewer than these three columns read one range for each value of the others.
        c.index("suppressions_filter").on(t.workspaceId, t.reason, t.scope, t.source, t.seq),
        c.index("suppressions_since").on(t.workspaceId, t.createdAt, t.seq),
      ],
    ),
  };
}

export type SuppressionTables = ReturnType<typeof suppressionTables>;

declare module "../lib/ids.ts" {
  interface IdPrefixes {
    readonly sup: "suppressions";
  }
}
