import type { Provider } from "@mailsvc/sdk/contract";
import type { ColumnTypes } from "../db/columns.ts";

export function inboundTables(c: ColumnTypes) {
  return {
    /** Reports about emails that were applied, so that one that comes again changes nothing. */
    inboundReports: c.table("inbound_reports", {
      /** A hash: what it is made of may name the recipient. */
      key: c.text("key").primaryKey(),
      receivedAt: c.instant("received_at").notNull(),
    }),
    /** The accounts of workspaces at mail providers, whose webhooks are accepted. */
    providerConnections: c.table(
      "provider_connections",
      {
        id: c.text("id").primaryKey(),
        workspaceId: c.text("workspace_id").notNull(),
        provider: c.text("provider").$type<Provider>().notNull(),
        /** In the URL that the provider calls. */
        token: c.text("token").notNull(),
        /** Secret that verifies its webhooks, such as a signing key; sealed. */
        key: c.bytes("key").notNull(),
        description: c.text("description"),
        createdAt: c.instant("created_at").notNull(),
      },
      (t) => [c.uniqueIndex("provider_connections_token").on(t.token), c.index("provider_connections_workspace").on(t.workspaceId, t.id)],
    ),
  };
}

export type InboundTables = ReturnType<typeof inboundTables>;

declare module "../lib/ids.ts" {
  interface IdPrefixes {
    readonly prv: "providerConnections";
  }
}
