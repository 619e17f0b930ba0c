import { DEFAULT_PLAN, PLANS, type PlanChange, type PlanName, UNCOVERED_DAYS } from "@mailsvc/sdk/contract";
import { and, asc, eq, inArray, isNotNull, ne } from "drizzle-orm";
import type { Reader, Tx } from "../../db/db.ts";
import { findRows } from "../../db/find.ts";
import { ApiError } from "../../lib/api-error.ts";
import { DAY } from "../../lib/units.ts";
import type { JobHandler } from "../../queue/queue.ts";
import type { ActivationDeps } from "./activations.ts";
import { type ActivationRow, addPauseReason, clearPauseReasons, endActivations } from "./lifecycle.ts";
import { isOrphaned } from "./store.ts";

/*
 * Coverage: a plan covers a number of activations of its workspace, the oldest first. The others are paused with
 * `plan_downgrade`, and deactivated when they have not been covered for 30 days.
 */

/** Deactivates an activation that has not been covered for 30 days. */
export const UNCOVERED_JOB = "agent.plan.uncovered";
const UNCOVERED_MS = UNCOVERED_DAYS * DAY;

/** The plan of a workspace; the default plan when it has chosen none. */
export async function getPlan(q: Reader | Tx, workspaceId: string): Promise<{ plan: PlanName; changedAt: number | null }> {
  const [row] = await findRows(q, q.t.plans, { workspaceId });
  return row ?? { plan: DEFAULT_PLAN, changedAt: null };
}

/** The activations that count against the plan: all that have not ended, oldest first. */
export async function listCounted(q: Reader | Tx, workspaceId: string, now: number): Promise<ActivationRow[]> {
  const { activations: a, listings: l } = q.t;
  const rows = await q
    .select({ activation: a, listing: l })
    .from(a)
    .innerJoin(l, eq(l.id, a.listingId))
    .where(and(eq(a.workspaceId, workspaceId), ne(a.status, "deactivated")))
    .orderBy(asc(a.id));
  return rows.filter((row) => !isOrphaned(row, now)).map(({ activation }) => activation);
}

/** Throws ApiError plan_limit_reached when the plan covers no further activation. The workspace is locked. */
export async function assertCovered(tx: Tx, deps: ActivationDeps, workspaceId: string): Promise<void> {
  const { plan } = await getPlan(tx, workspaceId);
  const covers = PLANS[plan].activations;
  if (covers === null) return;
  const used = (await listCounted(tx, workspaceId, deps.clock.now())).length;
  if (used < covers) return;
  throw new ApiError("plan_limit_reached", `The plan ${plan} covers ${covers} ${covers === 1 ? "agent" : "agents"}, and ${used} are on.`);
}

/** Covers waiting activations again where others have ended. The workspaces are locked. */
export async function restoreCoverage(tx: Tx, deps: ActivationDeps, workspaceIds: readonly string[]): Promise<void> {
  if (workspaceIds.length === 0) return;
  const { activations: a } = tx.t;
  const waiting = await tx
    .selectDistinct({ workspaceId: a.workspaceId })
    .from(a)
    .where(and(inArray(a.workspaceId, [...workspaceIds]), isNotNull(a.uncoveredAt)));
  for (const { workspaceId } of waiting) {
    const { plan } = await getPlan(tx, workspaceId);
    await applyPlanChange(tx, deps, workspaceId, planChange(await listCounted(tx, workspaceId, deps.clock.now()), plan));
  }
}

/** Plans the effect of a plan on these activations: the newest lose their cover first, and the oldest get it back first. */
export function planChange(rows: readonly ActivationRow[], plan: PlanName): PlanChange {
  if (plan === "none") return { paused: [], resumed: [], deactivated: rows.map(({ id }) => id) };
  const covered = rows.slice(0, PLANS[plan].activations ?? rows.length);
  const isUncovered = ({ pauseReasons }: ActivationRow): boolean => pauseReasons.includes("plan_downgrade");
  return {
    paused: rows
      .slice(covered.length)
      .filter((row) => !isUncovered(row))
      .map(({ id }) => id),
    resumed: covered.filter(isUncovered).map(({ id }) => id),
    deactivated: [],
  };
}

export async function applyPlanChange(
  tx: Tx,
  deps: ActivationDeps,
  workspaceId: string,
  { paused, resumed, deactivated }: PlanChange,
): Promise<void> {
  const now = deps.clock.now();
  for (const id of paused) {
    await addPauseReason(tx, deps, id, "plan_downgrade", { uncoveredAt: now });
    await deps.queue.enqueue(tx, {
      kind: UNCOVERED_JOB,
      payload: { workspaceId, activationId: id },
      runAt: now + UNCOVERED_MS,
      dedupeKey: `${UNCOVERED_JOB}:${id}`,
    });
  }
  for (const id of resumed) await clearPauseReasons(tx, deps, id, ["plan_downgrade"]);
  await endActivations(tx, deps, deactivated, "plan_downgrade");
}

/** Deactivates an activation after 30 days without cover. If it was covered in the meantime, its time starts again. */
export function deactivateUncovered(deps: ActivationDeps): JobHandler {
  const { db, clock } = deps;
  return async ({ payload }) => {
    const id = String(payload.activationId);
    const uncoveredSince = async (q: Reader | Tx): Promise<number | null> => {
      const { activations: a } = q.t;
      const [row] = await findRows(q, a, { id });
      return row?.uncoveredAt ?? null;
    };
    const uncoveredAt = await uncoveredSince(db.read);
    if (uncoveredAt === null) return {};
    if (clock.now() < uncoveredAt + UNCOVERED_MS) return { again: uncoveredAt + UNCOVERED_MS };
    return {
      commit: async (tx) => {
        if ((await uncoveredSince(tx)) === uncoveredAt) await endActivations(tx, deps, [id], "plan_downgrade");
      },
    };
  };
}
