import { AGENT_EVENTS, isAgentEventType, TEST_ACTIVATION, type WebhookTest } from "@mailsvc/sdk/contract";
import { and, eq, isNull } from "drizzle-orm";
import type { Reader, Tx } from "../../db/db.ts";
import { ApiError } from "../../lib/api-error.ts";
import { iso } from "../../lib/clock.ts";
import { perMinute } from "../../lib/rate.ts";
import { type Endpoint, explainAttempt, isHeld, type RetrySchedule, recoverStreams, type WebhookPolicy } from "../../webhooks/webhooks.ts";
import { addPauseReason } from "../activations/activations.ts";
import { getListingRow, type ListingRow, listingById } from "../listings/listings.ts";
import { retryMissedEvents } from "./agent-webhooks.ts";
import type { AgentWebhookDeps } from "./deps.ts";

/** One attempt and three direct retries; then five from the queue, after e^(2.5 n) seconds, a day at most: about 31 hours in all. */
export const RETRIES: RetrySchedule = { direct: [1000, 2000, 4000], queued: [12_000, 148_000, 1_808_000, 22_026_000, 86_400_000] };

/** Delivery policy of agent events. An activation whose event is dead is paused, and its stream is held. */
function agentPolicy(deps: AgentWebhookDeps, endpointId: string, isDraft: boolean): WebhookPolicy {
  return {
    outbox: "webhookEvents",
    claims: 1,
    retries: RETRIES,
    delivered: async (tx, event) => {
      const { activations: a } = tx.t;
      const now = deps.clock.now();
      if (event.type === "agent.activated")
        await tx
          .update(a)
          .set({ keyDeliveredAt: now })
          .where(and(eq(a.id, event.streamId), isNull(a.keyDeliveredAt)));
      // Events that a failing webhook has missed come after agent.resumed.
      if (event.type === "agent.resumed" && (await isHeld(tx, event.streamId))) await retryMissedEvents(tx, deps, event.streamId, false);
      if ((await recoverStreams(tx, { id: endpointId }, now)) > 0) tx.afterCommit(() => deps.webhooks.wake([endpointId]));
    },
    failed: async (tx, { event, attempt, tries, exhausted }) => {
      const { type } = event;
      // A draft is tried by a connection as well, where no webhook has to answer.
      if (isDraft || !exhausted || !isAgentEventType(type) || !AGENT_EVENTS[type].pausesOnFailure) return undefined;
      const row = await addPauseReason(tx, deps, event.streamId, "webhook_failure", {
        webhookLastError: {
          eventId: event.id,
          type,
          at: iso(attempt.at),
          attempts: tries,
          class: attempt.class,
          httpStatus: attempt.httpStatus,
          message: attempt.message ?? "",
          answer: attempt.answer,
          clearedAt: null,
        },
      });
      return row?.status === "paused" && row.pauseReasons.includes("webhook_failure") ? "hold" : undefined;
    },
  };
}

/** The webhook of a listing: all events of its activations go there. */
export function toAgentEndpoint(deps: AgentWebhookDeps, { id, webhookUrl, secret, nextSecret, nextSecretAt, state }: ListingRow): Endpoint {
  return { id, url: webhookUrl, secret, nextSecret, nextSecretAt, policy: agentPolicy(deps, id, state === "DRAFT") };
}

/** Finds the webhook of a listing for the delivery engine. */
export async function loadAgentEndpoint(tx: Tx, deps: AgentWebhookDeps, listingId: string): Promise<Endpoint | undefined> {
  const listing = await listingById(tx, listingId);
  return listing && toAgentEndpoint(deps, listing);
}

// Without a limit it could scan the ports of other hosts.
const RATE = perMinute(10);

/** Sends test.ping to the webhook of a listing and returns the result. Writes nothing. Throws ApiError not_found or rate_limited. */
export async function testWebhook(read: Reader, deps: AgentWebhookDeps, workspaceId: string, slug: string): Promise<WebhookTest> {
  const listing = await getListingRow(read, workspaceId, slug);
  await assertRate(deps, workspaceId);
  const at = deps.clock.now();
  const id = deps.ids("evt");
  const type = "test.ping";
  const body = JSON.stringify({ id, type, activationId: TEST_ACTIVATION, runId: null, sequence: 0, timestamp: iso(at), test: true });
  const attempt = await deps.webhooks.send(toAgentEndpoint(deps, listing), { id, type, at, attempt: 1, body });
  const { ms, class: kind, httpStatus, message, answer } = attempt;
  return { ok: kind === "ok", eventId: id, ms, class: kind, httpStatus, message, hint: explainAttempt({ class: kind, answer }), answer };
}

async function assertRate({ limiter }: AgentWebhookDeps, workspaceId: string): Promise<void> {
  const { allowed, reset } = await limiter.take(`ping:${workspaceId}`, RATE);
  if (allowed) return;
  throw new ApiError("rate_limited", "You can send at most ten test events a minute.", { headers: { "retry-after": String(reset) } });
}
