import type { contract, Permission, Recovery, WebhookTest } from "@mailsvc/sdk/contract";
import { and, eq, gte, inArray, isNull } from "drizzle-orm";
import type { Tx } from "../../db/db.ts";
import type { Handlers } from "../../http/handler.ts";
import { ApiError } from "../../lib/api-error.ts";
import { perMinute } from "../../lib/rate.ts";
import { type Attempt, recoverEvents, recoverStreams, withdrawEvents } from "../../webhooks/webhooks.ts";
import { resumeFailing } from "../activations/activations.ts";
import { getListingRow, type ListingRow } from "../listings/listings.ts";
import { STATUS_TYPES } from "./agent-webhooks.ts";
import { getEventRow, listDeliveries, recordAgain, sendAgain, showDeliveryDetail } from "./deliveries.ts";
import type { AgentWebhookDeps } from "./deps.ts";
import { testWebhook } from "./endpoint.ts";
import { followDeliveries } from "./tail.ts";

/**
 * An agent's key acts for the workspace: who takes it could turn the agent on, and change where its events go. Throws ApiError forbidden.
 */
function assertMayTakeKeys({ owner, permissions }: { owner: boolean; permissions: ReadonlySet<Permission> }): void {
  const lacking = (["listings:write", "marketplace:write"] as const).find((permission) => !owner && !permissions.has(permission));
  if (lacking === undefined) return;
  throw new ApiError("forbidden", `This API key lacks the permission ${lacking}, without which it gets no agent's key.`, {
    details: [{ path: "keys", code: "missing_permission", message: lacking }],
  });
}

export const deliveryHandlers: Handlers<typeof contract.deliveries, AgentWebhookDeps> = {
  list: async ({ slug, ...input }, { read, workspaceId }) => listDeliveries(read, await getListingRow(read, workspaceId, slug), input),
  tail: async ({ slug, keys, ...input }, { read, deps, workspaceId, key, header, signal }) => {
    if (keys === true) assertMayTakeKeys(key);
    return followDeliveries(read, deps, await getListingRow(read, workspaceId, slug), {
      ...input,
      withKeys: keys === true,
      keyId: key.id,
      lastEventId: header("last-event-id"),
      signal: signal(),
    });
  },
  get: async ({ slug, id }, { read, workspaceId }) =>
    showDeliveryDetail(read, await getEventRow(read, await getListingRow(read, workspaceId, slug), id)),
  redeliver: {
    prepare: ({ slug, id }, { read, deps, workspaceId }) => sendAgain(read, deps, workspaceId, slug, id),
    run: ({ slug, id }, { tx, deps, workspaceId }, attempt: Attempt) => recordAgain(tx, deps, workspaceId, slug, id, attempt),
  },
  recover: {
    prepare: async ({ slug }, { read, deps, workspaceId }) => {
      await getListingRow(read, workspaceId, slug);
      await assertRecoveryRate(deps, workspaceId);
    },
    run: ({ slug, since }, { tx, deps, workspaceId }) => recoverDeliveries(tx, deps, workspaceId, slug, since),
  },
  test: {
    prepare: ({ slug }, { read, deps, workspaceId }) => testWebhook(read, deps, workspaceId, slug),
    run: async ({ slug }, { tx, deps, workspaceId }, tested: WebhookTest) => {
      const { id } = await getListingRow(tx, workspaceId, slug);
      if (tested.ok && (await recoverStreams(tx, { id }, deps.clock.now())) > 0) tx.afterCommit(() => deps.webhooks.wake([id]));
      return tested;
    },
  },
};

// Without a limit a webhook that is down could be called as often as somebody likes.
const RATE = perMinute(10);

// Activations in one statement: databases limit its parameters.
const CHUNK = 500;

/** Throws ApiError rate_limited for a workspace that recovers deliveries too often. */
async function assertRecoveryRate({ limiter }: AgentWebhookDeps, workspaceId: string): Promise<void> {
  const { allowed, reset } = await limiter.take(`recover:${workspaceId}`, RATE);
  if (allowed) return;
  throw new ApiError("rate_limited", "You can recover deliveries at most ten times a minute.", {
    headers: { "retry-after": String(reset) },
  });
}

/**
 * Makes due the events that the webhook of a listing has missed, in their order: dead or waiting events of activations that have
 * such an event since then. Activations that were paused because the webhook failed are resumed. Throws ApiError not_found.
 */
async function recoverDeliveries(
  tx: Tx,
  deps: AgentWebhookDeps,
  workspaceId: string,
  slug: string,
  since: string | undefined,
): Promise<Recovery> {
  const listing = await getListingRow(tx, workspaceId, slug);
  const missing = await listMissing(tx, listing, since);
  const total = { count: 0, resumed: 0 };
  for (let from = 0; from < missing.length; from += CHUNK) {
    const ids = missing.slice(from, from + CHUNK);
    await withdrawOutdated(tx, deps, ids);
    total.resumed += await resumeFailing(tx, deps, listing, ids);
    await recoverEvents(tx, deps, listing.id, ids);
    const { webhookEvents: e } = tx.t;
    total.count += await tx.$count(e, and(inArray(e.streamId, ids), isNull(e.settledAt)));
  }
  return total;
}

/** Activations with events that have not arrived. */
async function listMissing(tx: Tx, listing: ListingRow, since: string | undefined): Promise<string[]> {
  const { webhookEvents: e } = tx.t;
  const rows = await tx
    .selectDistinct({ id: e.streamId })
    .from(e)
    .where(
      and(
        eq(e.endpointId, listing.id),
        inArray(e.state, ["dead", "queued", "pending"]),
        since === undefined ? undefined : gte(e.at, Date.parse(since)),
      ),
    )
    .orderBy(e.streamId);
  return rows.map(({ id }) => id);
}

/** Withdraws what reports a pause of an activation that has ended since: agent.deactivated says more. */
async function withdrawOutdated(tx: Tx, deps: AgentWebhookDeps, ids: readonly string[]): Promise<void> {
  const { activations: a } = tx.t;
  const ended = await tx
    .select({ id: a.id })
    .from(a)
    .where(and(inArray(a.id, [...ids]), eq(a.status, "deactivated")));
  const streamIds = ended.map(({ id }) => id);
  if (streamIds.length > 0) await withdrawEvents(tx, deps, { streamIds, types: STATUS_TYPES, states: ["queued", "dead"] }, "superseded");
}
