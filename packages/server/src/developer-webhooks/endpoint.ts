import { WEBHOOK_LIMITS } from "@mailsvc/sdk/contract";
import { and, eq } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { findRows } from "../db/find.ts";
import { readByKeys, recordEvents, showEvent } from "../events/events.ts";
import { iso } from "../lib/clock.ts";
import { DAY, HOUR, MINUTE, SECOND } from "../lib/units.ts";
import { ATTEMPTS_OF_OWN_MAIL } from "../queue/queue.ts";
import {
  type ComposedEvent,
  type Endpoint,
  type Failure,
  hurryStreams,
  type RetrySchedule,
  type WebhookPolicy,
} from "../webhooks/webhooks.ts";
import type { DeveloperWebhookDeps } from "./developer-webhooks.ts";
import { ALERT_JOB } from "./jobs.ts";
import { composeForResend } from "./resend-format.ts";
import { type LastError, RECEIVING, type WebhookRow } from "./webhook.ts";

/** Eight attempts in 27.6 hours: at once, then after these delays. */
const RETRIES: RetrySchedule = {
  direct: [5 * SECOND],
  queued: [5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 10 * HOUR],
};

/** From the first attempt to the last direct one. */
const DIRECT_MS = RETRIES.direct.reduce((sum, delay) => sum + delay, 0);
const DISABLE_MS = WEBHOOK_LIMITS.disabledAfterDays * DAY;
// Failures for this long are an outage.
const OUTAGE_MS = MINUTE;
// A webhook that fails a thousand times a second stores its last error once a second.
const ERROR_MS = SECOND;
const GONE = 410;
// Events claimed of a stream at a time: one follows the other without waiting for the database, and their bodies are in memory.
const CLAIMS = 16;

/** A webhook for the delivery engine; undefined for one that gets nothing now. */
function toEndpoint(deps: DeveloperWebhookDeps, row: WebhookRow): Endpoint | undefined {
  if (row.status !== "enabled") return undefined;
  return toEndpointByHand(deps, row);
}

/** Finds a developer's webhook for the delivery engine. */
export async function loadDeveloperEndpoint(tx: Tx, deps: DeveloperWebhookDeps, id: string): Promise<Endpoint | undefined> {
  const { developerWebhooks: w } = tx.t;
  const [row] = await findRows(tx, w, { id });
  return row && toEndpoint(deps, row);
}

/** Delivery policy of a developer's webhook, with its settings at the time the event was claimed. */
function toPolicy(deps: DeveloperWebhookDeps, row: WebhookRow): WebhookPolicy {
  return {
    outbox: "webhookDeliveries",
    claims: CLAIMS,
    retries: RETRIES,
    compose: (q, keys) => composeEvents(q, row, keys),
    // A webhook that works costs nothing here.
    ...(row.failingSince !== null && { delivered: (tx: Tx) => recover(tx, deps, row) }),
    failed: (tx, failure) => recordFailure(tx, deps, failure),
  };
}

/** Events by their keys, as the API shows them or in the format of a webhook; those that the format does not have are left out. */
export async function composeEvents(
  q: Reader | Tx,
  { workspaceId, format }: Pick<WebhookRow, "workspaceId" | "format">,
  keys: readonly number[],
): Promise<Map<number, ComposedEvent>> {
  const composed = new Map<number, ComposedEvent>();
  for (const one of await readByKeys(q, keys)) {
    const event = showEvent(one);
    const body = format === "resend" ? await composeForResend(q, workspaceId, event) : event;
    if (body !== null) composed.set(one.event.sequence, { id: event.id, body: JSON.stringify(body) });
  }
  return composed;
}

/**
 * An event has arrived after failures. After an outage, what waits for its next attempt need not wait any longer. Not after single
 * failures: an event that is refused for what it is would use up its attempts.
 */
async function recover(tx: Tx, deps: DeveloperWebhookDeps, row: WebhookRow): Promise<void> {
  const { id, failingSince } = row;
  const { developerWebhooks: w } = tx.t;
  const now = deps.clock.now();
  await tx.update(w).set({ failingSince: null, lastError: null }).where(eq(w.id, id));
  if (now - (failingSince ?? now) < OUTAGE_MS) return;
  await hurryStreams(tx, { id, policy: toPolicy(deps, row) }, now);
  tx.afterCommit(() => deps.webhooks.wake([id]));
}

/**
 * Counts a failure: five days of nothing else, or 410, disable the webhook. An event that fails while others arrive goes aside, so
 * that those do not wait for it; while all fail, one event of each stream tries for the others.
 */
async function recordFailure(
  tx: Tx,
  deps: DeveloperWebhookDeps,
  { endpointId, attempt, tries, exhausted }: Failure,
): Promise<"aside" | undefined> {
  const { developerWebhooks: w } = tx.t;
  const [row] = await findRows(tx, w, { id: endpointId });
  if (!row) return undefined;
  const now = deps.clock.now();
  const failingSince = row.failingSince ?? attempt.at;
  const lastError: LastError = { at: attempt.at, class: attempt.class, httpStatus: attempt.httpStatus, message: attempt.message };
  const disables = row.status === "enabled" && (attempt.httpStatus === GONE || now - failingSince >= DISABLE_MS);
  if (disables) {
    await tx
      .update(w)
      .set({ status: "disabled", failingSince, lastError, updatedAt: now })
      .where(and(eq(w.id, row.id), eq(w.status, "enabled")));
    await announce(tx, deps, row, failingSince);
  } else if (row.failingSince === null || attempt.at - (row.lastError?.at ?? 0) >= ERROR_MS)
    await tx.update(w).set({ failingSince, lastError }).where(eq(w.id, row.id));
  // Others have arrived since its attempt before this one.
  const works = row.failingSince === null || row.failingSince > attempt.at - DIRECT_MS;
  return works && tries > RETRIES.direct.length && !exhausted ? "aside" : undefined;
}

/** Tells that a webhook is disabled: with an event, which other webhooks get, and a mail. */
async function announce(
  tx: Tx,
  deps: DeveloperWebhookDeps,
  { id, workspaceId, alertEmail }: WebhookRow,
  failingSince: number,
): Promise<void> {
  const now = deps.clock.now();
  await recordEvents(tx, deps, [
    { workspaceId, type: "webhook.disabled", at: now, data: { webhookId: id, failingSince: iso(failingSince) } },
  ]);
  if (alertEmail !== null)
    await deps.queue.enqueue(tx, { kind: ALERT_JOB, payload: { webhookId: id }, runAt: now, maxAttempts: ATTEMPTS_OF_OWN_MAIL });
}

/** States in which a webhook takes part in a test or a redelivery by hand: all. */
export function toEndpointByHand(deps: DeveloperWebhookDeps, row: WebhookRow): Endpoint {
  const { id, url, secret, nextSecret, nextSecretAt, format } = row;
  return { id, url, secret, nextSecret, nextSecretAt, policy: toPolicy(deps, row), ...(format === "resend" && { svix: true }) };
}

/** True if events are written for a webhook. */
export function isReceiving({ status }: WebhookRow): boolean {
  return RECEIVING.includes(status);
}
