import type { Event, WebhookDeliveryDetail, WebhookTest } from "@mailsvc/sdk/contract";
import type { Reader, Tx } from "../db/db.ts";
import { ApiError } from "../lib/api-error.ts";
import { iso } from "../lib/clock.ts";
import { perMinute, type Rate } from "../lib/rate.ts";
import { type Attempt, explainAttempt, recordManualAttempt } from "../webhooks/webhooks.ts";
import { getDelivery, getDeliveryRow } from "./deliveries.ts";
import type { DeveloperWebhookDeps } from "./deps.ts";
import { composeEvents, toEndpointByHand } from "./endpoint.ts";
import { getWebhookRow } from "./webhook.ts";

// Both bypass all limits of the engine, so without their own limits they could flood any address, or scan the ports of hosts.
const REDELIVERIES = perMinute(120);
const TESTS = perMinute(10);

/** Sends webhook.test to a webhook. Writes nothing. Throws ApiError not_found or rate_limited. */
export async function testWebhook(read: Reader, deps: DeveloperWebhookDeps, workspaceId: string, id: string): Promise<WebhookTest> {
  const webhook = await getWebhookRow(read, workspaceId, id);
  await assertRate(deps, `webhook-test:${workspaceId}`, TESTS, "You can send at most ten test events a minute.");
  const at = deps.clock.now();
  const eventId = deps.ids("evt");
  const type = "webhook.test";
  const nobody = { emailId: null, to: null, recipient: null, contactId: null, externalId: null, campaignId: null, automationId: null };
  const about = { id: eventId, sequence: 0, at: iso(at), ...nobody, test: false, machine: null, tags: {} } satisfies Omit<
    Event,
    "type" | "data"
  >;
  const body = JSON.stringify({ ...about, type, data: { webhookId: id } });
  const attempt = await deps.webhooks.send(toEndpointByHand(deps, webhook), { id: eventId, type, at, attempt: 1, body });
  const { ms, class: kind, httpStatus, message, answer } = attempt;
  return { ok: kind === "ok", eventId, ms, class: kind, httpStatus, message, hint: explainAttempt({ class: kind, answer }), answer };
}

/** Sends an event by hand, before the transaction. Throws ApiError not_found, invalid_state or rate_limited. */
export async function sendAgain(
  read: Reader,
  deps: DeveloperWebhookDeps,
  workspaceId: string,
  id: string,
  deliveryId: string,
): Promise<Attempt> {
  const webhook = await getWebhookRow(read, workspaceId, id);
  const delivery = await getDeliveryRow(read, webhook, deliveryId);
  const key = delivery.eventKey ?? 0;
  const composed = (await composeEvents(read, webhook, [key])).get(key);
  if (!composed)
    throw new ApiError("invalid_state", "This event has been deleted, so it cannot be sent again.", {
      hint: "Events are kept for as long as the server's --keep says, and deleted with the person they are about.",
    });
  await assertRate(deps, `webhook-redeliver:${workspaceId}`, REDELIVERIES, "You can redeliver at most 120 events a minute.");
  const { type, at, attempts } = delivery;
  return deps.webhooks.send(toEndpointByHand(deps, webhook), { ...composed, type, at, attempt: attempts + 1 });
}

/** Records the attempt that `sendAgain` made. */
export async function recordAgain(
  tx: Tx,
  deps: DeveloperWebhookDeps,
  workspaceId: string,
  id: string,
  deliveryId: string,
  attempt: Attempt,
): Promise<WebhookDeliveryDetail> {
  const webhook = await getWebhookRow(tx, workspaceId, id);
  await recordManualAttempt(tx, deps, toEndpointByHand(deps, webhook), await getDeliveryRow(tx, webhook, deliveryId), attempt);
  return getDelivery(tx, webhook, deliveryId);
}

async function assertRate({ limiter }: DeveloperWebhookDeps, bucket: string, rate: Rate, message: string): Promise<void> {
  const { allowed, reset } = await limiter.take(bucket, rate);
  if (!allowed) throw new ApiError("rate_limited", message, { headers: { "retry-after": String(reset) } });
}
