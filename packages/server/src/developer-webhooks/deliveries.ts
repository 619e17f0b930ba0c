import type { AgentEventState, Event, EventType, Page, WebhookDelivery, WebhookDeliveryDetail, WebhookTest } from "@mailsvc/sdk/contract";
import { and, desc, eq, inArray, isNotNull, isNull, lt, type SQL } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { findRows } from "../db/find.ts";
import { chooseFilter, type Filter, isRare, listPage, type PageInput } from "../db/pagination.ts";
import { getEmailHistory } from "../emails/emails.ts";
import { type DeletedEvent, parseEventId, toEventId } from "../events/events.ts";
import { ApiError, notFound } from "../lib/api-error.ts";
import { iso } from "../lib/clock.ts";
import { splitIntoChunks } from "../lib/parts.ts";
import { perMinute, type Rate } from "../lib/rate.ts";
import type { DeleteOld } from "../retention/retention.ts";
import {
  type Attempt,
  deleteAsideStreams,
  deleteAttempts,
  type EventRow,
  explainAttempt,
  listAttempts,
  listTurns,
  recordManualAttempt,
  showLastAttempt,
  type Turn,
} from "../webhooks/webhooks.ts";
import type { DeveloperWebhookDeps } from "./developer-webhooks.ts";
import { composeEvents, toEndpointByHand } from "./endpoint.ts";
import { toDeliveryId, toStreamPrefix } from "./fan-out.ts";
import { getWebhookRow, type WebhookRow } from "./webhook.ts";

interface DeliveryFilter extends PageInput {
  state?: AgentEventState | undefined;
  type?: EventType | undefined;
  /** The id of an email that the events are about. */
  email?: string | undefined;
}

// The states of deliveries that are not settled.
const OPEN: readonly AgentEventState[] = ["pending", "queued"];

/** The events sent to a webhook, newest first. */
export async function listDeliveries(
  read: Reader,
  webhook: WebhookRow,
  { state, type, email, ...page }: DeliveryFilter,
): Promise<Page<WebhookDelivery>> {
  const { webhookDeliveries: e } = read.t;
  const { id } = webhook;
  const scope = eq(e.endpointId, id);
  if (email !== undefined) {
    const ids = await listIdsOfEmail(read, webhook, email);
    const where = and(inArray(e.id, ids), state && eq(e.state, state), type && eq(e.type, type));
    return showPage(read, webhook, await listPage(read, page, { table: e, where, toItem: (row) => row }));
  }
  const filters: Filter[] = [];
  if (state !== undefined) {
    if (OPEN.includes(state)) {
      // Few open ones are found through their streams. Many are met soon on the way down.
      const open = and(isNull(e.settledAt), read.sqlDialect.startsKey(e.streamId, toStreamPrefix(id)));
      if (await isRare(read, e, open)) {
        const where = and(open, eq(e.state, state), type && eq(e.type, type));
        return showPage(read, webhook, await listPage(read, page, { table: e, where, toItem: (row) => row }));
      }
    }
    filters.push({ scope: OPEN.includes(state) ? scope : and(scope, isNotNull(e.settledAt)), condition: eq(e.state, state) });
  }
  if (type !== undefined) filters.push({ scope, condition: eq(e.type, type) });
  const chosen = filters.length === 0 ? { where: scope } : await chooseFilter(read, e, filters);
  return showPage(read, webhook, await listPage(read, page, { table: e, ...chosen, toItem: (row) => row }));
}

/** The ids that the deliveries of an email's events have, if they were sent to the webhook. Throws ApiError not_found. */
async function listIdsOfEmail(read: Reader, { id, workspaceId }: WebhookRow, email: string): Promise<string[]> {
  const { events } = await getEmailHistory(read, workspaceId, email);
  return events.map((event) => toDeliveryId(id, parseEventId(event.id) ?? 0));
}

/** A delivery to a webhook. Throws ApiError not_found. */
async function getDeliveryRow(q: Reader | Tx, webhook: WebhookRow, id: string): Promise<EventRow> {
  const { webhookDeliveries: e } = q.t;
  const [row] = await findRows(q, e, { id, endpointId: webhook.id });
  if (!row) throw notFound("delivery", id);
  return row;
}

/** A delivery to a webhook with its bytes and every attempt. Throws ApiError not_found. */
export async function getDelivery(q: Reader | Tx, webhook: WebhookRow, id: string): Promise<WebhookDeliveryDetail> {
  const row = await getDeliveryRow(q, webhook, id);
  const key = row.eventKey ?? 0;
  const composed = (await composeEvents(q, webhook, [key])).get(key);
  const [delivery] = await showDeliveries(q, webhook, [row]);
  return { ...(delivery as WebhookDelivery), body: composed?.body ?? null, log: await listAttempts(q, row) };
}

/** A delivery to a webhook of a developer, for the recording of a run in dev mode. */
interface SentDelivery extends WebhookDeliveryDetail {
  readonly workspaceId: string;
  readonly webhookId: string;
  readonly url: string;
}

/** The latest deliveries to the webhooks of all workspaces, newest first, each with its bytes and every attempt. */
export async function listSentDeliveries(read: Reader, limit: number): Promise<SentDelivery[]> {
  const { webhookDeliveries: e, developerWebhooks: w } = read.t;
  const rows = await read.select({ id: e.id, webhook: w }).from(e).innerJoin(w, eq(w.id, e.endpointId)).orderBy(desc(e.id)).limit(limit);
  const found: SentDelivery[] = [];
  for (const { id, webhook } of rows) {
    const { workspaceId, id: webhookId, url } = webhook;
    found.push({ ...(await getDelivery(read, webhook, id)), workspaceId, webhookId, url });
  }
  return found;
}

/**
 * Deletes the deliveries of events that were deleted, with the responses of receivers, which may name a person. Deliveries of a deleted
 * webhook are left to its job.
 */
export async function forgetDeliveries(tx: Tx, events: readonly DeletedEvent[]): Promise<void> {
  const { webhookDeliveries: e, developerWebhooks: w } = tx.t;
  const workspaceIds = [...new Set(events.map(({ workspaceId }) => workspaceId))];
  if (workspaceIds.length === 0) return;
  const webhooks = await tx.select({ id: w.id, workspaceId: w.workspaceId }).from(w).where(inArray(w.workspaceId, workspaceIds));
  const byWorkspace = Map.groupBy(webhooks, ({ workspaceId }) => workspaceId);
  // Whole ids: on Postgres 14 no index serves what they begin with.
  const ids = events.flatMap(({ key, workspaceId }) => (byWorkspace.get(workspaceId) ?? []).map(({ id }) => toDeliveryId(id, key)));
  for (const chunk of splitIntoChunks(ids)) await deleteDeliveries(tx, inArray(e.id, chunk));
}

async function deleteDeliveries(tx: Tx, which: SQL | undefined): Promise<void> {
  const { webhookDeliveries: e, webhookAttempts: a } = tx.t;
  const deleted = await tx.delete(e).where(which).returning({ id: e.id, streamId: e.streamId });
  const ids = deleted.map(({ id }) => id);
  if (ids.length === 0) return;
  await tx.delete(a).where(inArray(a.eventId, ids));
  await deleteAsideStreams(
    tx,
    deleted.map(({ streamId }) => streamId),
  );
}

async function showPage(read: Reader, webhook: WebhookRow, { data, pagination }: Page<EventRow>): Promise<Page<WebhookDelivery>> {
  return { data: await showDeliveries(read, webhook, data), pagination };
}

async function showDeliveries(q: Reader | Tx, webhook: WebhookRow, rows: readonly EventRow[]): Promise<WebhookDelivery[]> {
  const turns = await listTurns(q, "webhookDeliveries", rows);
  const sends = webhook.status === "enabled";
  return rows.map((row, i) => showDelivery(row, sends ? turns[i] : undefined));
}

/** A delivery; without a turn when nothing is sent to its webhook. */
function showDelivery(row: EventRow, { nextAttemptAt, waitsFor }: Turn = { nextAttemptAt: null, waitsFor: null }): WebhookDelivery {
  return {
    id: row.id,
    eventId: toEventId(row.eventKey ?? 0),
    type: row.type as EventType,
    at: iso(row.at),
    state: row.state,
    attempts: row.attempts,
    nextAttemptAt,
    waitsFor,
    settledAt: row.settledAt === null ? null : iso(row.settledAt),
    lastAttempt: showLastAttempt(row),
  };
}

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

/** Deletes deliveries in a final state, with their attempts. */
export const deleteOldDeliveries: DeleteOld = async (tx, keys, before) => {
  const { webhookDeliveries: e } = tx.t;
  const deleted = await tx
    .delete(e)
    .where(and(inArray(e.id, keys.map(String)), lt(e.settledAt, before)))
    .returning({ id: e.id, streamId: e.streamId });
  await deleteAttempts(
    tx,
    deleted.map(({ id }) => id),
  );
  await deleteAsideStreams(
    tx,
    deleted.map(({ streamId }) => streamId),
  );
  return undefined;
};
