import type { DeliveryDetail } from "@mailsvc/sdk/contract";
import { and, eq, isNull, lt } from "drizzle-orm";
import type { Reader, Tx } from "../../db/db.ts";
import { ApiError } from "../../lib/api-error.ts";
import { perMinute } from "../../lib/rate.ts";
import { type Attempt, type EventRow, openBody, recordManualAttempt } from "../../webhooks/webhooks.ts";
import { getListingRow } from "../listings/listings.ts";
import { getEventRow, showDeliveryDetail } from "./deliveries.ts";
import type { AgentWebhookDeps } from "./deps.ts";
import { toAgentEndpoint } from "./endpoint.ts";

// Redelivery bypasses all streams and limits, so without its own limit it could flood any address.
const RATE = perMinute(120);

/** Sends an event by hand, before the transaction. Throws ApiError not_found, invalid_state or rate_limited. */
export async function sendAgain(read: Reader, deps: AgentWebhookDeps, workspaceId: string, slug: string, id: string): Promise<Attempt> {
  const listing = await getListingRow(read, workspaceId, slug);
  const event = await getEventRow(read, listing, id);
  await assertSendable(read, event);
  await assertRate(deps, workspaceId);
  const message = { id, type: event.type, at: event.at, attempt: event.attempts + 1, body: openBody(deps, event) };
  return deps.webhooks.send(toAgentEndpoint(deps, listing), message);
}

/** Records the attempt that `sendAgain` made. */
export async function recordAgain(
  tx: Tx,
  deps: AgentWebhookDeps,
  workspaceId: string,
  slug: string,
  id: string,
  attempt: Attempt,
): Promise<DeliveryDetail> {
  const listing = await getListingRow(tx, workspaceId, slug);
  await recordManualAttempt(tx, deps, toAgentEndpoint(deps, listing), await getEventRow(tx, listing, id), attempt);
  return showDeliveryDetail(tx, await getEventRow(tx, listing, id));
}

function refuse(message: string, code: string, hint: string): ApiError {
  return new ApiError("invalid_state", message, { details: [{ path: "id", code, message: hint }], hint });
}

/** Throws ApiError invalid_state for an event that must not go out. */
async function assertSendable(q: Reader, event: EventRow): Promise<void> {
  if (event.state === "cancelled" || event.state === "superseded")
    throw refuse(
      `This event was ${event.state}: what it reports is no longer true.`,
      event.state,
      "Read the activation to see its current state.",
    );
  if (event.type === "agent.activated" && event.sealed === null)
    throw refuse(
      "Your webhook has acknowledged the key in this event, and no copy is kept.",
      "key_already_delivered",
      "If the key is lost, the brand has to turn the agent off and on again.",
    );
  const { webhookEvents: e } = q.t;
  const older = await q.$count(e, and(eq(e.streamId, event.streamId), lt(e.sequence, event.sequence), isNull(e.settledAt)));
  if (event.settledAt === null && older > 0)
    throw refuse("Older events of this activation go first.", "not_its_turn", "Redeliver the oldest event that waits.");
}

async function assertRate({ limiter }: AgentWebhookDeps, workspaceId: string): Promise<void> {
  const { allowed, reset } = await limiter.take(`redeliver:${workspaceId}`, RATE);
  if (allowed) return;
  throw new ApiError("rate_limited", "You can redeliver at most 120 events a minute.", { headers: { "retry-after": String(reset) } });
}
