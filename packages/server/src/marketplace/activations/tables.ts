import type { ActivationStatus, AgentScope, DeactivationReason, PauseReason, WebhookError } from "@mailsvc/sdk/contract";
import type { Kit } from "../../db/postgres/columns.ts";

export function activationTables(k: Kit) {
  return {
    /** One brand's use of one agent. */
    activations: k.table(
      "activations",
      {
        id: k.text("id").primaryKey(),
        /** The brand's. */
        workspaceId: k.text("workspace_id").notNull(),
        listingId: k.text("listing_id").notNull(),
        /** The listing's period in which it began. */
        period: k.int("period").notNull(),
        /** The listing while it lives, else null: one living activation per workspace and listing. */
        living: k.text("living"),
        status: k.text("status").$type<ActivationStatus>().notNull(),
        /** Empty when active; kept when deactivated. */
        pauseReasons: k.json<PauseReason[]>("pause_reasons").notNull(),
        /** What the brand agreed to. */
        scopes: k.json<AgentScope[]>("scopes").notNull(),
        /** SHA-256 of its one key, hex. */
        keyHash: k.text("key_hash").notNull(),
        keyPreview: k.text("key_preview").notNull(),
        /** When the builder's webhook has acknowledged agent.activated. */
        keyDeliveredAt: k.instant("key_delivered_at"),
        /** The last event's sequence and timestamp. */
        sequence: k.int("sequence").notNull(),
        lastEventAt: k.instant("last_event_at").notNull(),
        /** The last message's sequence in the inbox. */
        messageSequence: k.int("message_sequence").notNull(),
        webhookLastError: k.json<WebhookError>("webhook_last_error"),
        /** Since when the plan does not cover it: after 30 days it is deactivated. */
        uncoveredAt: k.instant("uncovered_at"),
        /** Credits it may use in a month, by the brand's choice. */
        creditLimit: k.int("credit_limit"),
        /** Credits used in the month that ends at `creditsResetAt`. */
        creditsUsed: k.int("credits_used").notNull(),
        creditsResetAt: k.instant("credits_reset_at").notNull(),
        createdAt: k.instant("created_at").notNull(),
        pausedAt: k.instant("paused_at"),
        deactivatedAt: k.instant("deactivated_at"),
        deactivationReason: k.text("deactivation_reason").$type<DeactivationReason>(),
      },
      (t) => [
        k.uniqueIndex("activations_key").on(t.keyHash),
        k.uniqueIndex("activations_living").on(t.workspaceId, t.living),
        k.index("activations_workspace").on(t.workspaceId, t.id),
        k.index("activations_listing").on(t.listingId, t.id),
      ],
    ),
  };
}
