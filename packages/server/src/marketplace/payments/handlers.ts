import type { callbacks, contract } from "@mailsvc/sdk/contract";
import type { Handlers } from "../../http/handler.ts";
import { readNews, takeNews } from "./news.ts";
import { confirmPayment } from "./payments.ts";
import { findPayment, listPayments, showPayment } from "./store.ts";

export const paymentHandlers: Handlers<typeof contract.payments> = {
  list: (input, { read, deps, workspaceId }) => listPayments(read, workspaceId, deps.clock.now(), input),
  get: async ({ id }, { read, deps, workspaceId }) => {
    const { payment, slug } = await findPayment(read, workspaceId, id);
    return showPayment(payment, slug, deps.clock.now());
  },
  confirm: ({ id }, { tx, deps, workspaceId }) => confirmPayment(tx, deps, workspaceId, id),
};

export const stripeHandlers: Handlers<(typeof callbacks)["stripe"]> = {
  webhook: async (_input, { deps, bytes, headers }) => {
    const news = readNews(deps, bytes, headers.get("stripe-signature"));
    await deps.db.tx((tx) => takeNews(tx, deps, news));
    return { received: true };
  },
};
