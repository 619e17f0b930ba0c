import type { AgentScope, ListingState, SettingsSchema } from "@mailsvc/sdk/contract";
import type { ColumnTypes } from "../../db/columns.ts";

export function listingTables(c: ColumnTypes) {
  return {
    listings: c.table(
      "listings",
      {
        id: c.text("id").primaryKey(),
        /** The builder's. */
        workspaceId: c.text("workspace_id").notNull(),
        slug: c.text("slug").notNull(),
        name: c.text("name").notNull(),
        description: c.text("description").notNull(),
        webhookUrl: c.text("webhook_url").notNull(),
        /** Scopes a brand must accept. */
        permissions: c.json<AgentScope[]>("permissions").notNull(),
        /** Addresses to which an install link may lead back, compared as they are written. */
        installRedirects: c.json<string[]>("install_redirects").notNull(),
        settingsSchema: c.json<SettingsSchema>("settings_schema"),
        /** Counts the changes of what a brand accepts, from 1. */
        version: c.int("version").notNull(),
        /** The version since which each of `permissions` is asked for without a break: what was accepted before it does not count. */
        permissionsSince: c.json<Partial<Record<AgentScope, number>>>("permissions_since").notNull(),
        state: c.text("state").$type<ListingState>().notNull(),
        /** Counts how often it was listed. Activations belong to a period; keys of earlier ones are refused. */
        period: c.int("period").notNull(),
        listedAt: c.instant("listed_at"),
        /** The end of the paid time, to the millisecond, even when no job has stored EXPIRED yet. */
        expiresAt: c.instant("expires_at"),
        endedAt: c.instant("ended_at"),
        /** The provider's id of the monthly subscription. */
        subscription: c.text("subscription"),
        /** AGENT_WEBHOOK_SECRET, sealed. */
        secret: c.bytes("secret").notNull(),
        /** Replaces `secret` at `nextSecretAt`; sealed. */
        nextSecret: c.bytes("next_secret"),
        nextSecretAt: c.instant("next_secret_at"),
        createdAt: c.instant("created_at").notNull(),
        updatedAt: c.instant("updated_at").notNull(),
      },
      (t) => [
        c.uniqueIndex("listings_slug").on(t.slug),
        c.index("listings_workspace").on(t.workspaceId, t.id),
        c.index("listings_catalog").on(t.state, t.id),
        c.uniqueIndex("listings_subscription").on(t.subscription),
      ],
    ),
  };
}

export type ListingTables = ReturnType<typeof listingTables>;

declare module "../../lib/ids.ts" {
  interface IdPrefixes {
    readonly lst: "listings";
  }
}
