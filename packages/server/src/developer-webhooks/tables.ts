import type { WebhookFormat, WebhookStatus } from "@mailsvc/sdk/contract";
import type { ColumnTypes } from "../db/columns.ts";
import type { LastError } from "./webhook.ts";

export function developerWebhookTables(c: ColumnTypes) {
  return {
    /** Webhooks that developers have registered. Their events are in webhookDeliveries, under the webhook's id as endpoint. */
    developerWebhooks: c.table(
      "developer_webhooks",
      {
        id: c.text("id").primaryKey(),
        workspaceId: c.text("workspace_id").notNull(),
        url: c.text("url").notNull(),
        description: c.text("description"),
        /** Patterns of types. */
        events: c.json<string[]>("events").notNull(),
        /** Format of events for its receiver. */
        format: c.text("format").$type<WebhookFormat>().notNull(),
        status: c.text("status").$type<WebhookStatus>().notNull(),
        alertEmail: c.text("alert_email"),
        /** Sealed. */
        secret: c.bytes("secret").notNull(),
        /** Replaces `secret` at `nextSecretAt`; sealed. */
        nextSecret: c.bytes("next_secret"),
        nextSecretAt: c.instant("next_secret_at"),
        /** Since when all attempts have failed. */
        failingSince: c.instant("failing_since"),
        lastError: c.json<LastError>("last_error"),
        /** The number in the stream of its workspace up to which it has read. */
        position: c.reference("position").notNull(),
        createdAt: c.instant("created_at").notNull(),
        updatedAt: c.instant("updated_at").notNull(),
      },
      (t) => [c.index("developer_webhooks_workspace").on(t.workspaceId, t.id)],
    ),
  };
}

export type DeveloperWebhookTables = ReturnType<typeof developerWebhookTables>;

declare module "../lib/ids.ts" {
  interface IdPrefixes {
    readonly whk: "developerWebhooks";
  }
}
