import type { AgentScope, DeactivationReason, PauseReason, Settings } from "@mailsvc/sdk/contract";
import { eq } from "drizzle-orm";
import type { Tx } from "../../db/db.ts";
import { isHeld, releaseStreams, withdrawEvents } from "../../webhooks/webhooks.ts";
import { getWorkspace } from "../../workspaces/workspaces.ts";
import type { ActivationRow } from "../activations/activations.ts";
import { emit, emitAll, releaseHeldEvents, retryMissedEvents } from "./agent-webhooks.ts";
import type { AgentWebhookDeps } from "./deps.ts";

/** Emits agent.activated when an agent is turned on: the only event that carries the key. */
export async function emitActivated(
  tx: Tx,
  deps: AgentWebhookDeps,
  activation: ActivationRow,
  { apiKey, settings }: { apiKey: string; settings: Settings },
): Promise<void> {
  const { listings: l } = tx.t;
  const [listing] = await tx.select({ agentSlug: l.slug }).from(l).where(eq(l.id, activation.listingId));
  const { name: organizationName } = await getWorkspace(tx, activation.workspaceId);
  if (!listing) throw new Error(`Activation ${activation.id} has no listing.`);
  await emit(tx, deps, activation.id, {
    type: "agent.activated",
    at: activation.createdAt,
    fields: { apiKey, ...listing, organizationName, scopes: activation.scopes, settings },
  });
}

/** Tells an agent its settings, which have changed: agent.settings_changed. */
export function emitSettingsChanged(tx: Tx, deps: AgentWebhookDeps, activationId: string, settings: Settings, at: number): Promise<void> {
  return emit(tx, deps, activationId, { type: "agent.settings_changed", at, fields: { settings } });
}

/** Tells an agent that its brand has accepted more scopes: agent.scopes_changed. */
export function emitScopesChanged(
  tx: Tx,
  deps: AgentWebhookDeps,
  activationId: string,
  { scopes, added, at }: { scopes: readonly AgentScope[]; added: readonly AgentScope[]; at: number },
): Promise<void> {
  return emit(tx, deps, activationId, { type: "agent.scopes_changed", at, fields: { scopes: [...scopes], added: [...added] } });
}

/** Emits agent.paused. */
export function emitPaused(tx: Tx, deps: AgentWebhookDeps, activationId: string, reason: PauseReason, at: number): Promise<void> {
  return emit(tx, deps, activationId, { type: "agent.paused", at, fields: { reason } });
}

/**
 * Sends what is due once reasons to pause are cleared: agent.resumed if none is left, and then what is older and was not delivered, and
 * what was held during the pause. Only a key that has not arrived goes before it, with all that waits behind it.
 */
export async function emitResumed(
  tx: Tx,
  deps: AgentWebhookDeps,
  activationId: string,
  { cleared, resumed, at }: { cleared: readonly PauseReason[]; resumed: boolean; at: number },
): Promise<void> {
  const { activations: a } = tx.t;
  const [activation] = await tx.select({ keyDeliveredAt: a.keyDeliveredAt }).from(a).where(eq(a.id, activationId));
  const held = await isHeld(tx, activationId);
  // The hold lasts until agent.resumed has arrived: see the policy of the endpoint.
  const goesFirst = resumed && held && activation?.keyDeliveredAt !== null;
  if (!goesFirst && (cleared.includes("webhook_failure") || (resumed && held))) await retryMissedEvents(tx, deps, activationId, resumed);
  if (!resumed) return;
  await emit(tx, deps, activationId, { type: "agent.resumed", at, fields: {} });
  await releaseHeldEvents(tx, deps, [activationId]);
}

/**
 * Emits agent.deactivated, the last event of each activation. Waiting events go out before it, in their order, even those that a
 * pause or a failing webhook held. Only an agent.activated that no webhook has acknowledged is cancelled: its key is revoked, and
 * no copy of it is kept.
 */
export async function emitDeactivated(
  tx: Tx,
  deps: AgentWebhookDeps,
  activationIds: readonly string[],
  reason: DeactivationReason,
  at: number,
): Promise<void> {
  const states = ["pending", "queued", "dead"] as const;
  await withdrawEvents(tx, deps, { streamIds: activationIds, types: ["agent.activated"], states }, "cancelled");
  await releaseStreams(tx, deps, activationIds);
  await releaseHeldEvents(tx, deps, activationIds);
  await emitAll(tx, deps, activationIds, { type: "agent.deactivated", at, fields: { reason } });
}
