import type { Suppression } from "@mailsvc/sdk/contract";
import type { Kit } from "../db/postgres/columns.ts";

export function suppressionTables(k: Kit) {
  return {
    suppressions: k.table(
      "suppressions",
      {
        id: k.text("id").primaryKey(),
        workspaceId: k.text("workspace_id").notNull(),
        /** The address in the form addresses are compared in: lower case. */
        email: k.text("email").notNull(),
        reason: k.text("reason").$type<Suppression["reason"]>().notNull(),
        scope: k.text("scope").$type<Suppression["scope"]>().notNull(),
        source: k.text("source").$type<Suppression["source"]>().notNull(),
        emailId: k.text("email_id"),
        note: k.text("note"),
        createdAt: k.instant("created_at").notNull(),
        updatedAt: k.instant("updated_at").notNull(),
      },
      (t) => [k.uniqueIndex("suppressions_email").on(t.workspaceId, t.email), k.index("suppressions_workspace").on(t.workspaceId, t.id)],
    ),
  };
}
