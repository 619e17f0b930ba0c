import type { DeactivationReason, PauseReason } from "@mailsvc/sdk/contract";
import { and, eq, inArray, ne } from "drizzle-orm";
import type { Tables } from "../../db/tables.ts";
import type { AgentDeps, AgentTx } from "../../deps.ts";
import { iso } from "../../lib/clock.ts";
import { emit, emitAll, reviveEvents } from "../agent-webhooks/agent-events.ts";
import { fireHeldWakeups } from "../wakeups/ring.ts";
import { effective } from "./store.ts";
import { endWork } from "./work.ts";

export type ActivationRow = Tables["activations"]["$inferSelect"];

/**
 * Adds a reason to pause. The first one pauses the activation and sends agent.paused; its key is refused from this
 * transaction on. One that is there already, or an activation that has ended, stays as it is.
 */
export async function addPauseReason(
  tx: AgentTx,
  deps: AgentDeps,
  id: string,
  reason: PauseReason,
  also: Partial<Pick<ActivationRow, "webhookLastError" | "uncoveredAt">> = {},
): Promise<ActivationRow | undefined> {
  const at = deps.clock.now();
  const row = await get(tx, id, at);
  if (!row || row.status === "deactivated" || row.pauseReasons.includes(reason)) return row;
  const saved = await save(tx, row, {
    ...also,
    status: "paused",
    pauseReasons: [...row.pauseReasons, reason],
    pausedAt: row.pausedAt ?? at,
  });
  if (row.status === "active") await emit(tx, deps, id, { type: "agent.paused", at, fields: { reason } });
  return saved;
}

/**
 * Takes reasons to pause away. With the last one the activation is active and agent.resumed is sent. Where a failing
 * webhook was the reason, what could not be delivered is tried anew, in its order and before agent.resumed.
 */
export async function clearPauseReasons(
  tx: AgentTx,
  deps: AgentDeps,
  id: string,
  reasons: readonly PauseReason[],
): Promise<ActivationRow | undefined> {
  const at = deps.clock.now();
  const row = await get(tx, id, at);
  if (row?.status !== "paused" || !row.pauseReasons.some((reason) => reasons.includes(reason))) return row;
  const left = row.pauseReasons.filter((reason) => !reasons.includes(reason));
  const cleared = (reason: PauseReason): boolean => row.pauseReasons.includes(reason) && !left.includes(reason);
  const saved = await save(tx, row, {
    pauseReasons: left,
    ...(cleared("webhook_failure") &&
      row.webhookLastError !== null && { webhookLastError: { ...row.webhookLastError, clearedAt: iso(at) } }),
    ...(cleared("plan_downgrade") && { uncoveredAt: null }),
    ...(left.length === 0 && { status: "active" as const, pausedAt: null }),
  });
  if (cleared("webhook_failure")) await reviveEvents(tx, deps, id, left.length === 0);
  if (left.length === 0) {
    await emit(tx, deps, id, { type: "agent.resumed", at, fields: {} });
    await fireHeldWakeups(tx, deps, id);
  }
  return saved;
}

/**
 * Ends activations for good: keys are revoked, what was under way is cancelled, agent.deactivated is sent. Those that have
 * ended before are passed over. Answers the ids of those it ended.
 */
export async function endActivations(tx: AgentTx, deps: AgentDeps, ids: readonly string[], reason: DeactivationReason): Promise<string[]> {
  if (ids.length === 0) return [];
  const { activations: a } = tx.t;
  const at = deps.clock.now();
  const ended = await tx
    .update(a)
    .set({ status: "deactivated", living: null, uncoveredAt: null, deactivatedAt: at, deactivationReason: reason })
    .where(and(inArray(a.id, [...ids]), ne(a.status, "deactivated")))
    .returning({ id: a.id });
  const endedIds = ended.map(({ id }) => id);
  if (endedIds.length === 0) return [];
  await endWork(tx, deps, endedIds, at);
  await emitAll(tx, deps, endedIds, { type: "agent.deactivated", at, fields: { reason } });
  return endedIds;
}

/** The states of an activation, and the only code that changes them. All of it happens in the caller's transaction, events included. */

/** The row as it counts now: where its listing has ended, so has the activation, and no state of it changes any more. */
async function get(tx: AgentTx, id: string, now: number): Promise<ActivationRow | undefined> {
  const { activations: a, listings: l } = tx.t;
  const [found] = await tx.select({ activation: a, listing: l }).from(a).innerJoin(l, eq(l.id, a.listingId)).where(eq(a.id, id));
  return found && effective(found, now);
}

async function save(tx: AgentTx, row: ActivationRow, change: Partial<ActivationRow>): Promise<ActivationRow> {
  await tx.update(tx.t.activations).set(change).where(eq(tx.t.activations.id, row.id));
  return { ...row, ...change };
}
