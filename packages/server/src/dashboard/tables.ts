import type { Role, SignInWay } from "@mailsvc/sdk/contract";
import type { ColumnTypes } from "../db/columns.ts";

export function dashboardTables(c: ColumnTypes) {
  return {
    /** People who may sign in to a workspace. One who was removed stays, so that single sign-on does not let them in again. */
    members: c.table(
      "members",
      {
        id: c.text("id").primaryKey(),
        workspaceId: c.text("workspace_id").notNull(),
        /** As it was written. */
        email: c.text("email").notNull(),
        /** The form under which it is compared. */
        emailKey: c.text("email_key").notNull(),
        name: c.text("name"),
        role: c.text("role").$type<Role>().notNull(),
        invitedBy: c.text("invited_by").notNull(),
        /** Issuer and subject at the provider of OpenID Connect, from the first sign-in by it: an address may get another owner there. */
        account: c.text("account"),
        /** Mails with links that were sent since `mailsSince`. */
        mails: c.int("mails").notNull(),
        mailsSince: c.instant("mails_since").notNull(),
        createdAt: c.instant("created_at").notNull(),
        joinedAt: c.instant("joined_at"),
        lastSignInAt: c.instant("last_sign_in_at"),
        removedAt: c.instant("removed_at"),
      },
      (t) => [
        c.uniqueIndex("members_address").on(t.workspaceId, t.emailKey),
        c.index("members_workspace").on(t.workspaceId, t.id),
        c.index("members_email").on(t.emailKey),
      ],
    ),
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
        way: c.text("way").$type<SignInWay>().notNull(),
        /** The name that a trusted proxy or the maker of a link gave; that of a member is in its row. */
        name: c.text("person_name"),
        memberId: c.text("member_id"),
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
      /** The key whose rights the session gets; of a mailed link the owner key, which is looked up when it is used. */
      keyId: c.text("key_id"),
      /** The role; of a mailed link that of the member. */
      role: c.text("role").$type<Role>(),
      name: c.text("person_name"),
      /** The member to whom it was mailed; null for a link that somebody passes on. */
      memberId: c.text("member_id"),
      expiresAt: c.instant("expires_at").notNull(),
    }),
  };
}

export type DashboardTables = ReturnType<typeof dashboardTables>;

declare module "../lib/ids.ts" {
  interface IdPrefixes {
    readonly ses: "dashboardSessions";
    readonly mbr: "members";
  }
}
