import { type AgentEventState, contract, type Webhook, type WebhookDelivery } from "@mailsvc/sdk/contract";
import * as z from "zod";
import { listResendTypes, RESEND_EVENTS, readWebhookSecret } from "../../developer-webhooks/developer-webhooks.ts";
import { invalid } from "../../lib/api-error.ts";
import { toPartUuid } from "../../lib/uuids.ts";
import { type Operation, readOperation, type Writes, writeOperation } from "../operation.ts";
import { answerList, answerPart, listQuery, partQuery } from "./lists.ts";

const Events = z.array(z.string()).min(1).max(50);

const NOTE =
  "there are no events of domains, topics and shared inboxes; contact.deleted and suppression.removed name the id only, because events hold no personal data";

/** Webhooks. Webhooks registered here get events in Resend's format, with the headers of Svix. */
export const webhookOperations: readonly Operation[] = [
  writeOperation({
    method: "POST",
    path: "/webhooks",
    note: NOTE,
    body: z.object({ endpoint: z.string(), events: Events }),
    status: 201,
    confidential: true,
    run: async ({ endpoint, events }, calls) => {
      const { id, secret } = await calls.write(contract.webhooks.create, { url: endpoint, events: toOwnTypes(events), format: "resend" });
      return { object: "webhook", id, signing_secret: secret };
    },
  }),
  readOperation({
    path: "/webhooks",
    query: listQuery,
    run: (query, { read }) => answerList(query, (page) => read(contract.webhooks.list, page), showWebhook),
  }),
  readOperation({
    path: "/webhooks/:id",
    run: async ({ id }, { read, rows, deps, workspaceId }) => {
      const shown = showWebhook(await read(contract.webhooks.get, { id }));
      return { object: "webhook", ...shown, signing_secret: await readWebhookSecret(rows, deps, workspaceId, id) };
    },
  }),
  writeOperation({
    method: "PATCH",
    path: "/webhooks/:id",
    note: NOTE,
    body: z.object({ endpoint: z.string().nullish(), events: Events.nullish(), status: z.enum(["enabled", "disabled"]).nullish() }),
    run: async ({ id, endpoint, events, status }, calls) => {
      await calls.write(contract.webhooks.update, {
        id,
        ...(endpoint && { url: endpoint }),
        ...(events && { events: toOwnTypes(events) }),
      });
      if (status) await switchWebhook(id, status, calls);
      return { object: "webhook", id };
    },
  }),
  writeOperation({
    method: "POST",
    path: "/webhooks/:id/signing-secret/rotate",
    note: "for a day, the old secret signs too",
    confidential: true,
    run: async ({ id }, { write }) => {
      const { secret } = await write(contract.webhooks.rotateSecret, { id });
      return { object: "webhook", id, signing_secret: secret };
    },
  }),
  writeOperation({
    method: "DELETE",
    path: "/webhooks/:id",
    run: async ({ id }, { write }) => {
      await write(contract.webhooks.delete, { id });
      return { object: "webhook", id, deleted: true };
    },
  }),
];

/** A webhook that is disabled there is paused here: what happens meanwhile waits for it. */
async function switchWebhook(id: string, status: "enabled" | "disabled", { write }: Writes): Promise<void> {
  await write(status === "enabled" ? contract.webhooks.resume : contract.webhooks.pause, { id });
}

/** Our types of events for those of Resend. Throws ApiError validation_error for one that Resend does not have, or when none is left. */
function toOwnTypes(events: readonly string[]): string[] {
  const own = events.flatMap((type, i) => {
    const found = Object.hasOwn(RESEND_EVENTS, type) ? RESEND_EVENTS[type] : undefined;
    if (found) return found;
    throw invalid(
      `events[${i}]`,
      "unknown_event_type",
      `events[${i}]: ${JSON.stringify(type.slice(0, 60))} is no type of event of Resend.`,
    );
  });
  if (own.length === 0) throw invalid("events", "unsupported", "events: there are no events of domains, topics and shared inboxes here.");
  return own;
}

function showWebhook({ id, url, events, status, createdAt }: Webhook) {
  return {
    id,
    endpoint: url,
    events: listResendTypes(events),
    status: status === "enabled" ? "enabled" : "disabled",
    created_at: createdAt,
  };
}

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
