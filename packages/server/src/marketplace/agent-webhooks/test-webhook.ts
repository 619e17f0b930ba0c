import { TEST_ACTIVATION, type WebhookTest } from "@mailsvc/sdk/contract";
import type { Reader } from "../../db/db.ts";
import type { Deps } from "../../deps.ts";
import { ApiError } from "../../lib/api-error.ts";
import { iso } from "../../lib/clock.ts";
import { perMinute } from "../../lib/rate.ts";
import { HINTS } from "../../webhooks/attempt.ts";
import { findListing } from "../listings/store.ts";

// A builder who could ping without limit would have a scanner of other people's ports.
const RATE = perMinute(10);

/** Sends test.ping to a listing's webhook, and tells what came of it. No row is read but the listing's, and none is written. */
export async function testWebhook(read: Reader, deps: Deps, workspaceId: string, slug: string): Promise<WebhookTest> {
  const listing = await findListing(read, workspaceId, slug);
  await assertRate(deps, workspaceId);
  const at = deps.clock.now();
  const id = deps.ids("evt");
  const type = "test.ping";
  const body = JSON.stringify({ id, type, activationId: TEST_ACTIVATION, runId: null, sequence: 0, timestamp: iso(at), test: true });
  const { ms, class: kind, httpStatus, message, answer } = await deps.deliveries.send(listing, { id, type, at, attempt: 1, body });
  return { ok: kind === "ok", eventId: id, ms, class: kind, httpStatus, message, hint: HINTS[kind], answer };
}

async function assertRate({ limiter }: Deps, workspaceId: string): Promise<void> {
  const { allowed, reset } = await limiter.take(`ping:${workspaceId}`, RATE);
  if (allowed) return;
  throw new ApiError("rate_limited", "Ten test events a minute are the most.", { headers: { "retry-after": String(reset) } });
}
