import type { contract, WebhookTest } from "@mailsvc/sdk/contract";
import type { Handlers } from "../../http/handler.ts";
import type { Attempt } from "../../webhooks/attempt.ts";
import { findListing } from "../listings/store.ts";
import { findEvent, listDeliveries } from "./list.ts";
import { noteAgain, sendAgain } from "./redeliver.ts";
import { showDetail } from "./show.ts";
import { testWebhook } from "./test-webhook.ts";

export const deliveryHandlers: Handlers<typeof contract.deliveries> = {
  list: async ({ slug, ...input }, { read, workspaceId }) => listDeliveries(read, await findListing(read, workspaceId, slug), input),
  get: async ({ slug, id }, { read, workspaceId }) =>
    showDetail(read, await findEvent(read, await findListing(read, workspaceId, slug), id)),
  redeliver: {
    prepare: ({ slug, id }, { read, deps, workspaceId }) => sendAgain(read, deps, workspaceId, slug, id),
    run: ({ slug, id }, { tx, deps, workspaceId }, attempt: Attempt) => noteAgain(tx, deps, workspaceId, slug, id, attempt),
  },
  test: {
    prepare: ({ slug }, { read, deps, workspaceId }) => testWebhook(read, deps, workspaceId, slug),
    run: async (_input, _context, tested: WebhookTest) => tested,
  },
};
