import type { PaymentState } from "@mailsvc/sdk/contract";
import type { Kit } from "../../db/postgres/columns.ts";

export function paymentTables(k: Kit) {
  return {
    /** A checkout of a listing. */
    payments: k.table(
      "payments",
      {
        id: k.text("id").primaryKey(),
        workspaceId: k.text("workspace_id").notNull(),
        listingId: k.text("listing_id").notNull(),
        provider: k.text("provider").notNull(),
        /** The provider's id of the checkout. */
        session: k.text("session").notNull(),
        state: k.text("state").$type<PaymentState>().notNull(),
        /** Cents. */
        amount: k.int("amount").notNull(),
        currency: k.text("currency").notNull(),
        checkoutUrl: k.text("checkout_url").notNull(),
        subscription: k.text("subscription"),
        createdAt: k.instant("created_at").notNull(),
        expiresAt: k.instant("expires_at").notNull(),
        paidAt: k.instant("paid_at"),
      },
      (t) => [
        k.uniqueIndex("payments_session").on(t.session),
        k.index("payments_listing").on(t.listingId, t.id),
        k.index("payments_workspace").on(t.workspaceId, t.id),
      ],
    ),
    /** Events of the provider that were applied, by the provider's id: a repeat is ignored. */
    paymentNotices: k.table(
      "payment_notices",
      {
        id: k.text("id").primaryKey(),
        type: k.text("type").notNull(),
        /** The subscription this event ended. A `paid` event of it that arrives later lists nothing. */
        ended: k.text("ended"),
        at: k.instant("at").notNull(),
        receivedAt: k.instant("received_at").notNull(),
      },
      (t) => [k.index("payment_notices_ended").on(t.ended)],
    ),
  };
}
