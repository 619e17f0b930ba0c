import type { DeliveryDetail } from "@mailsvc/sdk/contract";
import { and, eq, isNull, lt } from "drizzle-orm";
import type { Reader, Tx } from "../../db/db.ts";
import type { Deps } from "../../deps.ts";
import { ApiError } from "../../lib/api-error.ts";
import { perMinute } from "../../lib/rate.ts";
import type { Attempt } from "../../webhooks/attempt.ts";
import { acknowledge, archiveLast, noteOnly } from "../../webhooks/outcomes.ts";
import type { EventRow } from "../../webhooks/streams.ts";
import { effective } from "../activations/store.ts";
import { findListing, type ListingRow } from "../listings/store.ts";
import { sealPlace } from "./agent-events.ts";
import { findEvent } from "./list.ts";
import { showDetail } from "./show.ts";

// What is sent by hand waits for no lane and no place: without a limit it would be a way to call anybody as often as one likes.
const RATE = perMinute(120);

/** Sends an event by hand, before any transaction. Throws ApiError not_found or invalid_state. */
export async function sendAgain(read: Reader, deps: Deps, workspaceId: string, slug: string, id: string): Promise<Attempt> {
  const listing = await findListing(read, workspaceId, slug);
  const event = await findEvent(read, listing, id);
  await assertSendable(read, event);
  await assertLives(read, deps, event, listing);
  await assertRate(deps, workspaceId);
  const body = event.sealed === null ? event.body : deps.seal.open(event.sealed, sealPlace(event.id));
  return deps.deliveries.send(listing, { id, type: event.type, at: event.at, attempt: event.attempts + 1, body });
}

/** Notes what came of it. */
export async function noteAgain(
  tx: Tx,
  deps: Deps,
  workspaceId: string,
  slug: string,
  id: string,
  attempt: Attempt,
): Promise<DeliveryDetail> {
  const listing = await findListing(tx, workspaceId, slug);
  const event = await findEvent(tx, listing, id);
  await archiveLast(tx, id);
  await noteOnly(tx, id, attempt);
  if (attempt.class === "ok" && ["pending", "queued", "dead"].includes(event.state)) await acknowledge(tx, deps, event);
  return showDetail(tx, await findEvent(tx, listing, id));
}

function refused(message: string, code: string, hint: string): ApiError {
  return new ApiError("invalid_state", message, { details: [{ path: "id", code, message: hint }], hint });
}

/** Throws ApiError invalid_state for an event that must not go out. */
async function assertSendable(q: Reader, event: EventRow): Promise<void> {
  if (event.state === "cancelled" || event.state === "superseded")
    throw refused(
      `This event was ${event.state}: what it tells is not so any more.`,
      event.state,
      "Read the activation to see how it stands.",
    );
  if (event.type === "agent.activated" && event.sealed === null)
    throw refused(
      "The key in this event was acknowledged by your webhook, and is not kept.",
      "key_already_delivered",
      "If it is lost, the brand has to turn the agent off and on again.",
    );
  const { agentEvents: e } = q.t;
  const older = await q.$count(e, and(eq(e.activationId, event.activationId), lt(e.sequence, event.sequence), isNull(e.settledAt)));
  if (event.settledAt === null && older > 0)
    throw refused(
      "Older events of this activation are on their way, and go first.",
      "not_its_turn",
      "Redeliver the oldest one that waits.",
    );
}

/** Throws ApiError invalid_state when the activation has ended: nothing but agent.deactivated is sent for it then. */
async function assertLives(q: Reader, { clock }: Deps, event: EventRow, listing: ListingRow): Promise<void> {
  const { activations: a } = q.t;
  const [activation] = await q.select().from(a).where(eq(a.id, event.activationId));
  if (event.type === "agent.deactivated" || (activation && effective({ activation, listing }, clock.now()).status !== "deactivated"))
    return;
  throw refused("This activation has ended.", "activation_ended", "Only agent.deactivated is still sent for it.");
}

async function assertRate({ limiter }: Deps, workspaceId: string): Promise<void> {
  const { allowed, reset } = await limiter.take(`redeliver:${workspaceId}`, RATE);
  if (allowed) return;
  throw new ApiError("rate_limited", "120 events a minute are the most that are sent again by hand.", {
    headers: { "retry-after": String(reset) },
  });
}
