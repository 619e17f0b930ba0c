import { type AgentEventState, contract, type WebhookDelivery } from "@mailsvc/sdk/contract";
import { listResendTypes } from "../../developer-webhooks/developer-webhooks.ts";
import { toPartUuid } from "../../lib/uuids.ts";
import { type Operation, readOperation, writeOperation } from "../operation.ts";
import { answerList, answerPart, listQuery, partQuery } from "./lists.ts";

const STATUSES: Readonly<Record<AgentEventState, string>> = {
  pending: "pending",
  queued: "pending",
  delivered: "success",
  dead: "failed",
  superseded: "failed",
  cancelled: "failed",
};

/** Requests to a webhook and its responses. Their ids are those of deliveries. */
export const webhookEventOperations: readonly Operation[] = [
  readOperation({
    path: "/webhooks/:id/events",
    query: listQuery,
    run: ({ id, ...query }, { read }) => answerList(query, (page) => read(contract.webhooks.deliveries, { id, ...page }), showEvent),
  }),
  readOperation({
    path: "/webhooks/:id/events/:delivery",
    run: async (params, { read }) => {
      const delivery = await read(contract.webhooks.delivery, params);
      const payload: unknown = delivery.body === null ? null : JSON.parse(delivery.body);
      return { object: "webhook_event", ...showEvent(delivery), next_attempt_at: delivery.nextAttemptAt, payload };
    },
  }),
  readOperation({
    path: "/webhooks/:id/events/:delivery/attempts",
    note: "the latest 100 attempts, newest first",
    query: partQuery,
    run: async ({ id: webhook, delivery, ...query }, { read }) => {
      const { id, log } = await read(contract.webhooks.delivery, { id: webhook, delivery });
      return answerPart(query, log.toReversed(), ({ attempt, at, httpStatus, answer, message }) => ({
        ...{ id: toPartUuid(id, attempt), http_status_code: httpStatus },
        ...{ response: answer ?? message ?? "", sent_at: at },
      }));
    },
  }),
  writeOperation({
    method: "POST",
    path: "/webhooks/:id/events/:delivery/replay",
    prepare: (params, { prepare }) => prepare(contract.webhooks.redeliver, params),
    run: async (_params, { finish }, redeliver) => ({ object: "webhook_event", id: (await finish(redeliver)).id }),
  }),
];

function showEvent({ id, type, at, state }: Pick<WebhookDelivery, "id" | "type" | "at" | "state">) {
  return { id, type: listResendTypes([type])[0] ?? type, created_at: at, status: STATUSES[state] };
}
