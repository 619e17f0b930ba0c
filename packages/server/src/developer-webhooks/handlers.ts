import type { contract, WebhookTest } from "@mailsvc/sdk/contract";
import type { Handlers } from "../http/handler.ts";
import type { Attempt } from "../webhooks/webhooks.ts";
import { getDelivery, listDeliveries, recordAgain, sendAgain, testWebhook } from "./deliveries.ts";
import {
  createWebhook,
  type DeveloperWebhookDeps,
  deleteWebhook,
  getWebhook,
  listWebhooks,
  pauseWebhook,
  resumeWebhook,
  rotateSecret,
  updateWebhook,
} from "./developer-webhooks.ts";
import { catchUpWebhooks } from "./fan-out.ts";
import { type PlannedRedelivery, planRedelivery, startRedelivery } from "./redelivery.ts";
import { getWebhookRow } from "./webhook.ts";

export const webhookHandlers: Handlers<typeof contract.webhooks, DeveloperWebhookDeps> = {
  list: (input, { read, deps, workspaceId }) => listWebhooks(read, deps, workspaceId, input),
  create: (input, { tx, deps, workspaceId }) => createWebhook(tx, deps, workspaceId, input),
  get: ({ id }, { read, deps, workspaceId }) => getWebhook(read, deps, workspaceId, id),
  update: ({ id, ...input }, { tx, deps, workspaceId }) => updateWebhook(tx, deps, workspaceId, id, input),
  delete: ({ id }, { tx, deps, workspaceId }) => deleteWebhook(tx, deps, workspaceId, id),
  pause: ({ id }, { tx, deps, workspaceId }) => pauseWebhook(tx, deps, workspaceId, id),
  resume: ({ id }, { tx, deps, workspaceId }) => resumeWebhook(tx, deps, workspaceId, id),
  rotateSecret: ({ id, overlapHours }, { tx, deps, workspaceId }) => rotateSecret(tx, deps, workspaceId, id, overlapHours),
  test: {
    prepare: ({ id }, { read, deps, workspaceId }) => testWebhook(read, deps, workspaceId, id),
    run: async (_input, _context, tested: WebhookTest) => tested,
  },
  deliveries: async ({ id, ...input }, { read, deps, workspaceId }) => {
    const webhook = await getWebhookRow(read, workspaceId, id);
    await catchUpWebhooks(read, deps, workspaceId);
    return listDeliveries(read, webhook, input);
  },
  delivery: async ({ id, delivery }, { read, workspaceId }) => getDelivery(read, await getWebhookRow(read, workspaceId, id), delivery),
  redeliver: {
    prepare: ({ id, delivery }, { read, deps, workspaceId }) => sendAgain(read, deps, workspaceId, id, delivery),
    run: ({ id, delivery }, { tx, deps, workspaceId }, attempt: Attempt) => recordAgain(tx, deps, workspaceId, id, delivery, attempt),
  },
  redeliverSince: {
    prepare: ({ id, ...span }, { read, deps, workspaceId }) => planRedelivery(read, deps, workspaceId, id, span),
    run: ({ id }, { tx, deps, workspaceId }, planned: PlannedRedelivery) => startRedelivery(tx, deps, workspaceId, id, planned),
  },
};
