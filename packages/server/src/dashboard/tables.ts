import type { Role } from "@mailsvc/sdk/contract";
import type { ColumnTypes } from "../db/columns.ts";

export function dashboardTables(c: ColumnTypes) {
  return {
    /** Browsers that are signed in. A session that ended is deleted. */
    dashboardSessions: c.table(
      "dashboard_sessions",
      {
        id: c.text("id").primaryKey(),
        workspaceId: c.text("workspace_id").notNull(),
        /** SHA-256 of the token in the cookie, hex. */
        hash: c.text("hash").notNull(),
        keyId: c.text("key_id").notNull(),
        role: c.text("role").$type<Role>().notNull(),
        /** The name that a trusted proxy gave. */
        user: c.text("user_name"),
        /** The hash of the operator key that the person has given; the session has its rights for as long as it is the key. */
        operator: c.text("operator_hash"),
        createdAt: c.instant("created_at").notNull(),
        lastSeenAt: c.instant("last_seen_at").notNull(),
        expiresAt: c.instant("expires_at").notNull(),
      },
      (t) => [c.uniqueIndex("dashboard_sessions_hash").on(t.hash), c.index("dashboard_sessions_workspace").on(t.workspaceId, t.id)],
    ),
    /** Links to sign in. One that was used is deleted. */
    dashboardLinks: c.table("dashboard_links", {
      /** SHA-256 of the token in the link, hex. */
      hash: c.text("hash").primaryKey(),
      workspaceId: c.text("workspace_id").notNull(),
      keyId: c.text("key_id").notNull(),
      role: c.text("role").$type<Role>().notNull(),
      expiresAt: c.instant("expires_at").notNull(),
    }),
  };
}

export type DashboardTables = ReturnType<typeof dashboardTables>;
