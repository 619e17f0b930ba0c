import type { Sender } from "@mailsvc/sdk/contract";
import { sql } from "drizzle-orm";
import type { ColumnTypes } from "../db/columns.ts";

/** A domain that is verified: in one workspace only. */
export const IS_VERIFIED_DOMAIN = sql`kind = 'domain' AND status = 'VERIFIED'`;

export function senderTables(c: ColumnTypes) {
  return {
    senders: c.table(
      "senders",
      {
        id: c.text("id").primaryKey(),
        workspaceId: c.text("workspace_id").notNull(),
        kind: c.text("kind").$type<Sender["kind"]>().notNull(),
        value: c.text("value").notNull(),
        status: c.text("status").$type<Sender["status"]>().notNull(),
        /** The secret that proves control: in the link of the confirmation email, or in the TXT record. */
        token: c.text("token").notNull(),
        /** The relay of mail from it; null for that of the workspace. */
        relay: c.text("relay"),
        lastError: c.text("last_error"),
        /**
         * Time of the latest check of its record after it had been found; null for a sender verified without DNS, which is never
         * checked.
         */
        checkedAt: c.instant("checked_at"),
        /** Time since which its record is missing; null while it is there. */
        failingSince: c.instant("failing_since"),
        createdAt: c.instant("created_at").notNull(),
        verifiedAt: c.instant("verified_at"),
      },
      (t) => [
        c.uniqueIndex("senders_verified_domain").on(t.value).where(IS_VERIFIED_DOMAIN),
        c.uniqueIndex("senders_value").on(t.workspaceId, t.value),
        c.uniqueIndex("senders_token").on(t.token),
        c.index("senders_list").on(t.workspaceId, t.id),
      ],
    ),
  };
}

export type SenderTables = ReturnType<typeof senderTables>;

declare module "../lib/ids.ts" {
  interface IdPrefixes {
    readonly snd: "senders";
  }
}
