import type { callbacks, contract } from "@mailsvc/sdk/contract";
import type { Handlers } from "../../http/handler.ts";
import { confirmPayment, type OpenedCheckout, openCheckout, type PaymentDeps, startPayment } from "./payments.ts";
import { applyProviderEvent, parseProviderEvent } from "./provider-events.ts";
import { getPaymentRow, listPayments, showPayment } from "./store.ts";

export const paymentHandlers: Handlers<typeof contract.payments, PaymentDeps> = {
  list: (input, { read, deps, workspaceId }) => listPayments(read, workspaceId, deps.clock.now(), input),
  get: async ({ id }, { read, deps, workspaceId }) => {
    const { payment, slug } = await getPaymentRow(read, workspaceId, id);
    return showPayment(payment, slug, deps.clock.now());
  },
  confirm: ({ id }, { tx, deps, workspaceId }) => confirmPayment(tx, deps, workspaceId, id),
};

/** The endpoints of listings that payments handle. */
export const listingPaymentHandlers: Pick<Handlers<typeof contract.listings, PaymentDeps>, "checkout"> = {
  checkout: {
    prepare: ({ slug }, { read, deps, workspaceId }) => openCheckout(read, deps, workspaceId, slug),
    run: ({ slug }, { tx, deps, workspaceId }, opened: OpenedCheckout | null) => startPayment(tx, deps, workspaceId, slug, opened),
  },
};

export const stripeHandlers: Handlers<(typeof callbacks)["stripe"], PaymentDeps> = {
  webhook: async (_input, { deps, bytes, headers }) => {
    const event = parseProviderEvent(deps, bytes, headers.get("stripe-signature"));
    await deps.db.tx((tx) => applyProviderEvent(tx, deps, event));
    return { received: true };
  },
};
