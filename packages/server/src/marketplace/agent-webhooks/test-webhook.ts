import { TEST_ACTIVATION, type WebhookTest } from "@mailsvc/sdk/contract";
import type { Reader } from "../../db/db.ts";
import { ApiError } from "../../lib/api-error.ts";
import { iso } from "../../lib/clock.ts";
import { perMinute } from "../../lib/rate.ts";
import { explainAttempt } from "../../webhooks/webhooks.ts";
import { getListingRow } from "../listings/listings.ts";
import type { AgentWebhookDeps } from "./deps.ts";
import { toAgentEndpoint } from "./endpoint.ts";

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
