import type { AgentScope, DeactivationReason, PauseReason, Settings } from "@mailsvc/sdk/contract";
import { and, eq, inArray, ne } from "drizzle-orm";
import type { Tx } from "../../db/db.ts";
import { iso } from "../../lib/clock.ts";
import type { ActivationDeps } from "./activations.ts";
import { toEffective } from "./store.ts";
import type { ActivationTables } from "./tables.ts";

/*
 * The states of an activation. This file is the only code that changes them; each change runs in the caller's transaction,
 * together with what the hooks do about it.
 *
 *   from                 trigger                                             to            hook
 *   (new)                activate: the brand turns the agent on              active        activated
 *   active               addPauseReason: the first reason                    paused        paused
 *   paused               addPauseReason: a further reason                    paused        -
 *   paused               clearPauseReasons: some of the reasons              paused        pauseCleared
 *   paused               clearPauseReasons: the last reason                  active        pauseCleared (resumed)
 *   active, paused       endActivations                                      deactivated   ended
 *   deactivated          (final)
 *
 * The reasons to pause are a set: user_paused, plan_downgrade, webhook_failure. When a listing ends, its activations count as
 * deactivated from that instant on, although the job that stores it runs later: see `effective`.
 */

export type ActivationRow = ActivationTables["activations"]["$inferSelect"];

/**
 * Reactions of other features to a new state of an activation, in the same transaction. Those features import activations, so
 * activations cannot import them; `features.ts` connects both.
 */
export interface ActivationHooks {
  /** `apiKey` is the only copy of the key. */
  activated(tx: Tx, activation: ActivationRow, given: { apiKey: string; settings: Settings }): Promise<void>;
  paused(tx: Tx, activationId: string, reason: PauseReason, at: number): Promise<void>;
  /** `resumed`: no reason is left, so the activation is active again. */
  pauseCleared(tx: Tx, activationId: string, change: { cleared: readonly PauseReason[]; resumed: boolean; at: number }): Promise<void>;
  /** The brand has accepted more scopes: `scopes` are all that count now. */
  scopesChanged(
    tx: Tx,
    activationId: string,
    change: { scopes: readonly AgentScope[]; added: readonly AgentScope[]; at: number },
  ): Promise<void>;
  /** The settings that count have changed to these. */
  settingsChanged(tx: Tx, activationId: string, settings: Settings, at: number): Promise<void>;
  ended(tx: Tx, activationIds: readonly string[], reason: DeactivationReason, at: number): Promise<void>;
}

/**
 * Adds a reason to pause. The first one pauses the activation, and its key is refused from this transaction on. Does nothing
 * when the reason is there already or the activation has ended. Returns the row as it is then; undefined for an unknown id.
 */
export async function addPauseReason(
  tx: Tx,
  deps: ActivationDeps,
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
  if (row.status === "active") await deps.activationHooks.paused(tx, id, reason, at);
  return saved;
}

/** Removes reasons to pause; without the last one the activation is active again. Returns the row as it is then. */
export async function clearPauseReasons(
  tx: Tx,
  deps: ActivationDeps,
  id: string,
  reasons: readonly PauseReason[],
): Promise<ActivationRow | undefined> {
  const at = deps.clock.now();
  const row = await get(tx, id, at);
  const cleared = row?.status === "paused" ? row.pauseReasons.filter((reason) => reasons.includes(reason)) : [];
  if (!row || cleared.length === 0) return row;
  const left = row.pauseReasons.filter((reason) => !reasons.includes(reason));
  const resumed = left.length === 0;
  const saved = await save(tx, row, {
    pauseReasons: left,
    ...(cleared.includes("webhook_failure") &&
      row.webhookLastError !== null && { webhookLastError: { ...row.webhookLastError, clearedAt: iso(at) } }),
    ...(cleared.includes("plan_downgrade") && { uncoveredAt: null }),
    ...(resumed && { status: "active" as const, pausedAt: null }),
  });
  await deps.activationHooks.pauseCleared(tx, id, { cleared, resumed, at });
  return saved;
}

/** Ends activations for good and revokes their keys. Skips those that have ended before; returns the ids of the others. */
export async function endActivations(tx: Tx, deps: ActivationDeps, ids: readonly string[], reason: DeactivationReason): Promise<string[]> {
  if (ids.length === 0) return [];
  const { activations: a } = tx.t;
  const at = deps.clock.now();
  const ended = await tx
    .update(a)
    .set({ status: "deactivated", living: null, uncoveredAt: null, deactivatedAt: at, deactivationReason: reason })
    .where(and(inArray(a.id, [...ids]), ne(a.status, "deactivated")))
    .returning({ id: a.id });
  const endedIds = ended.map(({ id }) => id);
  if (endedIds.length > 0) await deps.activationHooks.ended(tx, endedIds, reason, at);
  return endedIds;
}

/** The row as it counts now: once its listing has ended, no state of it changes any more. */
async function get(tx: Tx, id: string, now: number): Promise<ActivationRow | undefined> {
  const { activations: a, listings: l } = tx.t;
  const [found] = await tx.select({ activation: a, listing: l }).from(a).innerJoin(l, eq(l.id, a.listingId)).where(eq(a.id, id));
  return found && toEffective(found, now);
}

async function save(tx: Tx, row: ActivationRow, change: Partial<ActivationRow>): Promise<ActivationRow> {
  await tx.update(tx.t.activations).set(change).where(eq(tx.t.activations.id, row.id));
  return { ...row, ...change };
}
