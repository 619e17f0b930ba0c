import type { Webhook, WebhookDeliveryDetail, WebhookTest } from "@mailsvc/sdk/contract";
import { and, asc, eq, gt, gte, inArray, isNotNull, lt } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { findRows } from "../db/find.ts";
import { ApiError, invalid } from "../lib/api-error.ts";
import { iso } from "../lib/clock.ts";
import { perMinute, type Rate } from "../lib/rate.ts";
import type { JobHandler } from "../queue/queue.ts";
import { type Attempt, explainAttempt, recordManualAttempt, reviveEvents } from "../webhooks/webhooks.ts";
import { getDelivery, getDeliveryRow } from "./deliveries.ts";
import type { DeveloperWebhookDeps } from "./deps.ts";
import { composeEvents, toEndpointByHand } from "./endpoint.ts";
import { ADDRESSED, listWanted, type SentEvent, sentColumns, toDeliveryId, writeForWebhooks } from "./fan-out.ts";
import { getWebhookRow, showWebhook, type WebhookRow } from "./webhook.ts";

/** The job that sends events again, some at a time. */
export const REDELIVER_JOB = "webhooks.redeliver";

// Both bypass all limits of the engine, so without their own limits they could flood any address, or scan the ports of hosts.
const REDELIVERIES = perMinute(120);
const TESTS = perMinute(10);
// Events that one run of the job examines: a few ms of work, during which other writers wait.
const CHUNK = 500;

/** Sends webhook.test to a webhook. Writes nothing. Throws ApiError not_found or rate_limited. */
export async function testWebhook(read: Reader, deps: DeveloperWebhookDeps, workspaceId: string, id: string): Promise<WebhookTest> {
  const webhook = await getWebhookRow(read, workspaceId, id);
  await assertRate(deps, `webhook-test:${workspaceId}`, TESTS, "You can send at most ten test events a minute.");
  const at = deps.clock.now();
  const eventId = deps.ids("evt");
  const type = "webhook.test";
  const nobody = { emailId: null, to: null, contactId: null, campaignId: null, automationId: null, machine: null };
  const body = JSON.stringify({ id: eventId, sequence: 0, type, at: iso(at), ...nobody, data: { webhookId: id } });
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
  const composed = (await composeEvents(read, [key])).get(key);
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

/** Lets a job send the events of a span of time again. Throws ApiError not_found, invalid_state or validation_error. */
export async function redeliverSince(
  tx: Tx,
  deps: DeveloperWebhookDeps,
  workspaceId: string,
  id: string,
  { since, until, all }: { since: string; until?: string | undefined; all: boolean },
): Promise<Webhook> {
  const webhook = await getWebhookRow(tx, workspaceId, id);
  if (webhook.status === "disabled")
    throw new ApiError("invalid_state", "This webhook is disabled, so nothing can be sent to it.", { hint: "Resume it first." });
  const now = deps.clock.now();
  const [from, to] = [Date.parse(since), until === undefined ? now : Math.min(Date.parse(until), now)];
  if (from >= to) throw invalid("since", "invalid_range", "since must be before until, and in the past.");
  await deps.queue.enqueue(tx, { kind: REDELIVER_JOB, payload: { webhookId: id, from, to, all, after: 0 }, runAt: now });
  return showWebhook(webhook, now);
}

/** Sends events again, some at a time: each run schedules the next one. */
export function redeliverEvents(deps: DeveloperWebhookDeps): JobHandler {
  return async ({ payload }) => ({
    commit: async (tx) => {
      const { webhookId, from, to, all, after } = payload as { webhookId: string; from: number; to: number; all: boolean; after: number };
      const { developerWebhooks: w } = tx.t;
      const [webhook] = await findRows(tx, w, { id: webhookId });
      if (!webhook || webhook.status === "disabled") return;
      const events = await listEvents(tx, webhook, { from, to, after });
      await sendEvents(tx, deps, webhook, events, all);
      const last = events.at(-1)?.position;
      if (events.length === CHUNK && last)
        await deps.queue.enqueue(tx, { kind: REDELIVER_JOB, payload: { ...payload, after: last }, runAt: deps.clock.now() });
    },
  });
}

/** The next events of the workspace in a span of time. */
function listEvents(tx: Tx, { workspaceId }: WebhookRow, { from, to, after }: { from: number; to: number; after: number }) {
  const { events: e, eventNumbers: n } = tx.t;
  // The walk follows the numbers: times may lie a little out of their order.
  const inSpan = tx.sqlDialect.usually(and(gte(e.at, from), lt(e.at, to)) ?? isNotNull(e.at));
  return tx
    .select(sentColumns(tx.t))
    .from(n)
    .innerJoin(e, eq(e.sequence, n.eventKey))
    .where(and(eq(n.workspaceId, workspaceId), gt(n.position, after), inSpan))
    .orderBy(asc(n.position))
    .limit(CHUNK);
}

/** Writes events that the webhook never got, and gives others a fresh set of attempts. */
async function sendEvents(
  tx: Tx,
  deps: DeveloperWebhookDeps,
  webhook: WebhookRow,
  events: readonly SentEvent[],
  all: boolean,
): Promise<void> {
  const types = new Set<string>([...listWanted(webhook), ADDRESSED]);
  const wanted = events.filter(({ type }) => types.has(type));
  if (wanted.length === 0) return;
  const { webhookDeliveries: e } = tx.t;
  const ids = new Map(wanted.map((event) => [toDeliveryId(webhook.id, event.sequence), event]));
  const known = await tx
    .select({ id: e.id, streamId: e.streamId, state: e.state, settledAt: e.settledAt })
    .from(e)
    .where(inArray(e.id, [...ids.keys()]));
  const again = known.filter(({ state, settledAt }) => settledAt !== null && (all || state !== "delivered"));
  await reviveEvents(tx, deps, webhook.id, again);
  for (const { id } of known) ids.delete(id);
  await writeForWebhooks(tx, deps, [webhook], [...ids.values()]);
}

async function assertRate({ limiter }: DeveloperWebhookDeps, bucket: string, rate: Rate, message: string): Promise<void> {
  const { allowed, reset } = await limiter.take(bucket, rate);
  if (!allowed) throw new ApiError("rate_limited", message, { headers: { "retry-after": String(reset) } });
}
