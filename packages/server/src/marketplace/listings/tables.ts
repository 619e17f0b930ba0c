import type { AgentScope, ListingState } from "@mailsvc/sdk/contract";
import type { Kit } from "../../db/postgres/columns.ts";

export function listingTables(k: Kit) {
  return {
    listings: k.table(
      "listings",
      {
        id: k.text("id").primaryKey(),
        /** The builder's. */
        workspaceId: k.text("workspace_id").notNull(),
        slug: k.text("slug").notNull(),
        name: k.text("name").notNull(),
        description: k.text("description").notNull(),
        webhookUrl: k.text("webhook_url").notNull(),
        /** Scopes a brand must agree to. Activations keep those they were made with. */
        permissions: k.json<AgentScope[]>("permissions").notNull(),
        state: k.text("state").$type<ListingState>().notNull(),
        /** Counts the times it was listed: keys of activations of an earlier period are dead. */
        period: k.int("period").notNull(),
        listedAt: k.instant("listed_at"),
        /** LISTED ends here, to the millisecond, whenever the job that notes it runs. */
        expiresAt: k.instant("expires_at"),
        endedAt: k.instant("ended_at"),
        /** The provider's name for what pays month by month. */
        subscription: k.text("subscription"),
        /** AGENT_WEBHOOK_SECRET, sealed. */
        secret: k.bytes("secret").notNull(),
        /** What takes the place of `secret` at `nextSecretAt`, sealed. */
        nextSecret: k.bytes("next_secret"),
        nextSecretAt: k.instant("next_secret_at"),
        createdAt: k.instant("created_at").notNull(),
        updatedAt: k.instant("updated_at").notNull(),
      },
      (t) => [
        k.uniqueIndex("listings_slug").on(t.slug),
        k.index("listings_workspace").on(t.workspaceId, t.id),
        k.index("listings_catalog").on(t.state, t.id),
        k.uniqueIndex("listings_subscription").on(t.subscription),
      ],
    ),
  };
}
