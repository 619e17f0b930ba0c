import type { DeactivationReason, PauseReason } from "@mailsvc/sdk/contract";
import { and, eq, inArray, isNotNull } from "drizzle-orm";
import type { Tx } from "../../db/db.ts";
import type { Deps } from "../../deps.ts";
import type { ActivationRow } from "../activations/lifecycle.ts";
import { emit, emitAll, reviveEvents } from "./agent-events.ts";

/** When an agent is turned on: agent.activated, the only event that carries the key. */
export async function emitActivated(tx: Tx, deps: Deps, activation: ActivationRow, apiKey: string): Promise<void> {
  const { listings: l, workspaces: w } = tx.t;
  const [listing] = await tx.select({ agentSlug: l.slug }).from(l).where(eq(l.id, activation.listingId));
  const [workspace] = await tx.select({ organizationName: w.name }).from(w).where(eq(w.id, activation.workspaceId));
  if (!listing || !workspace) throw new Error(`Activation ${activation.id} has no listing or no workspace.`);
  await emit(tx, deps, activation.id, {
    type: "agent.activated",
    at: activation.createdAt,
    fields: { apiKey, ...listing, ...workspace, scopes: activation.scopes },
  });
}

/** When an activation is paused: agent.paused. */
export function emitPaused(tx: Tx, deps: Deps, activationId: string, reason: PauseReason, at: number): Promise<void> {
  return emit(tx, deps, activationId, { type: "agent.paused", at, fields: { reason } });
}

/**
 * When reasons to pause are cleared: agent.resumed if none is left. If a failing webhook was one of them, its undelivered
 * events are tried again first, in their order.
 */
export async function emitResumed(
  tx: Tx,
  deps: Deps,
  activationId: string,
  { cleared, resumed, at }: { cleared: readonly PauseReason[]; resumed: boolean; at: number },
): Promise<void> {
  if (cleared.includes("webhook_failure")) await reviveEvents(tx, deps, activationId, resumed);
  if (resumed) await emit(tx, deps, activationId, { type: "agent.resumed", at, fields: {} });
}

/** When activations end: agent.deactivated. Events that wait are cancelled, and no copy of the key is kept. */
export async function emitDeactivated(
  tx: Tx,
  deps: Deps,
  activationIds: readonly string[],
  reason: DeactivationReason,
  at: number,
): Promise<void> {
  const { agentEvents: e } = tx.t;
  const ids = [...activationIds];
  await tx
    .update(e)
    .set({ state: "cancelled", dueAt: null, settledAt: at })
    .where(and(inArray(e.activationId, ids), inArray(e.state, ["pending", "queued"])));
  await tx
    .update(e)
    .set({ sealed: null })
    .where(and(inArray(e.activationId, ids), isNotNull(e.sealed)));
  await emitAll(tx, deps, ids, { type: "agent.deactivated", at, fields: { reason } });
}
