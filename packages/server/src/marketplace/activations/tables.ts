import type { ActivationStatus, AgentScope, DeactivationReason, PauseReason, Settings, WebhookError } from "@mailsvc/sdk/contract";
import type { ColumnTypes } from "../../db/columns.ts";

export function activationTables(c: ColumnTypes) {
  return {
    /** An activation: one brand has turned one agent on. */
    activations: c.table(
      "activations",
      {
        id: c.text("id").primaryKey(),
        /** The brand's. */
        workspaceId: c.text("workspace_id").notNull(),
        listingId: c.text("listing_id").notNull(),
        /** The period of the listing in which it was activated. */
        period: c.int("period").notNull(),
        /** The id of the listing until it ends, then null: unique, so that a workspace has one activation of a listing at a time. */
        living: c.text("living"),
        status: c.text("status").$type<ActivationStatus>().notNull(),
        /** Empty when active; kept when deactivated. */
        pauseReasons: c.json<PauseReason[]>("pause_reasons").notNull(),
        /** The scopes the brand accepted; which of them count now: scopes.ts. */
        scopes: c.json<AgentScope[]>("scopes").notNull(),
        /** The version of the listing that the brand accepted. */
        acceptedVersion: c.int("accepted_version").notNull(),
        /** The last version that the brand decided not to accept, and when. */
        keptVersion: c.int("kept_version"),
        keptAt: c.instant("kept_at"),
        /** Values the brand has set; which of it counts: settings.ts. */
        settings: c.json<Settings>("settings").notNull(),
        /** SHA-256 of its one key, hex. */
        keyHash: c.text("key_hash").notNull(),
        keyPreview: c.text("key_preview").notNull(),
        /** Time at which the builder's webhook acknowledged agent.activated. */
        keyDeliveredAt: c.instant("key_delivered_at"),
        /** The last event's sequence and timestamp. */
        sequence: c.int("sequence").notNull(),
        lastEventAt: c.instant("last_event_at").notNull(),
        /** The last message's sequence in the inbox. */
        messageSequence: c.int("message_sequence").notNull(),
        webhookLastError: c.json<WebhookError>("webhook_last_error"),
        /** Time since which the plan does not cover it; after 30 days it is deactivated. */
        uncoveredAt: c.instant("uncovered_at"),
        /** Credits it may use in a month, set by the brand; null for no limit. */
        creditLimit: c.int("credit_limit"),
        /** Credits used in the month that ends at `creditsResetAt`. */
        creditsUsed: c.int("credits_used").notNull(),
        creditsResetAt: c.instant("credits_reset_at").notNull(),
        createdAt: c.instant("created_at").notNull(),
        pausedAt: c.instant("paused_at"),
        deactivatedAt: c.instant("deactivated_at"),
        deactivationReason: c.text("deactivation_reason").$type<DeactivationReason>(),
      },
      (t) => [
        c.uniqueIndex("activations_key").on(t.keyHash),
        c.uniqueIndex("activations_living").on(t.workspaceId, t.living),
        c.index("activations_workspace").on(t.workspaceId, t.id),
        c.index("activations_listing").on(t.listingId, t.id),
      ],
    ),
  };
}

export type ActivationTables = ReturnType<typeof activationTables>;

declare module "../../lib/ids.ts" {
  interface IdPrefixes {
    readonly act: "activations";
  }
}
