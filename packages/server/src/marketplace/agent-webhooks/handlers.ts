import type { contract, Permission, WebhookTest } from "@mailsvc/sdk/contract";
import type { Handlers } from "../../http/handler.ts";
import { ApiError } from "../../lib/api-error.ts";
import { type Attempt, recoverStreams } from "../../webhooks/webhooks.ts";
import { getListingRow } from "../listings/listings.ts";
import { getEventRow, listDeliveries, recordAgain, sendAgain, showDeliveryDetail } from "./deliveries.ts";
import type { AgentWebhookDeps } from "./deps.ts";
import { testWebhook } from "./endpoint.ts";
import { assertRecoveryRate, recoverDeliveries } from "./recover.ts";
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
