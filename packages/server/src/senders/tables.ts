import type { Sender } from "@mailsvc/sdk/contract";
import type { Kit } from "../db/postgres/columns.ts";

export function senderTables(k: Kit) {
  return {
    senders: k.table(
      "senders",
      {
        id: k.text("id").primaryKey(),
        workspaceId: k.text("workspace_id").notNull(),
        kind: k.text("kind").$type<Sender["kind"]>().notNull(),
        value: k.text("value").notNull(),
        status: k.text("status").$type<Sender["status"]>().notNull(),
        /** What proves control: the end of the link in the confirmation mail, or of the TXT record. */
        token: k.text("token").notNull(),
        lastError: k.text("last_error"),
        createdAt: k.instant("created_at").notNull(),
        verifiedAt: k.instant("verified_at"),
      },
      (t) => [k.uniqueIndex("senders_value").on(t.workspaceId, t.value), k.uniqueIndex("senders_token").on(t.token)],
    ),
  };
}
