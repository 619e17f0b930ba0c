import type { PaymentState } from "@mailsvc/sdk/contract";
import type { ColumnTypes } from "../../db/columns.ts";

export function paymentTables(c: ColumnTypes) {
  return {
    /** A checkout of a listing. */
    payments: c.table(
      "payments",
      {
        id: c.text("id").primaryKey(),
        workspaceId: c.text("workspace_id").notNull(),
        listingId: c.text("listing_id").notNull(),
        provider: c.text("provider").notNull(),
        /** The provider's id of the checkout. */
        session: c.text("session").notNull(),
        state: c.text("state").$type<PaymentState>().notNull(),
        /** Cents. */
        amount: c.int("amount").notNull(),
        currency: c.text("currency").notNull(),
        checkoutUrl: c.text("checkout_url").notNull(),
        subscription: c.text("subscription"),
        createdAt: c.instant("created_at").notNull(),
        expiresAt: c.instant("expires_at").notNull(),
        paidAt: c.instant("paid_at"),
      },
      (t) => [
        c.uniqueIndex("payments_session").on(t.session),
        c.index("payments_listing").on(t.listingId, t.id),
        c.index("payments_workspace").on(t.workspaceId, t.id),
      ],
    ),
    /** Events of the provider that were applied, by the provider's id: a repeat is ignored. */
    paymentNotices: c.table(
      "payment_notices",
      {
        id: c.text("id").primaryKey(),
        type: c.text("type").notNull(),
        /** The subscription this event ended. A `paid` event of it that arrives later lists nothing. */
        ended: c.text("ended"),
        at: c.instant("at").notNull(),
        receivedAt: c.instant("received_at").notNull(),
      },
      (t) => [c.index("payment_notices_ended").on(t.ended)],
    ),
  };
}

export type PaymentTables = ReturnType<typeof paymentTables>;

declare module "../../lib/ids.ts" {
  interface IdPrefixes {
    readonly pay: "payments";
  }
}
