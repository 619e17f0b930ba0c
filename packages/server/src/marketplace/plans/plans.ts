import { DEFAULT_PLAN, PLAN_NAMES, PLANS, type Plan, type PlanChange, type PlanName, UNCOVERED_DAYS } from "@mailsvc/sdk/contract";
import { and, asc, eq, inArray, isNotNull, ne, sql } from "drizzle-orm";
import type { Reader, Tx } from "../../db/db.ts";
import type { Deps } from "../../deps.ts";
import { ApiError } from "../../lib/api-error.ts";
import { iso } from "../../lib/clock.ts";
import { isOrphaned } from "../activations/store.ts";
import { type ActivationRow, addPauseReason, clearPauseReasons, endActivations } from "../activations/transitions.ts";

/** Deactivates an agent that the plan has not covered for long. */
export const UNCOVERED_JOB = "agent.plan.uncovered";
export const UNCOVERED_MS = UNCOVERED_DAYS * 24 * 3_600_000;

/**
 * Writes the rows of these workspaces: of two that turn agents on or off, or change the plan, at once, one sees what the other
 * did. First of all in a transaction: whoever wrote an activation and then waits here may be waited for.
 */
export async function lockWorkspaces(tx: Tx, workspaceIds: readonly string[]): Promise<void> {
  if (workspaceIds.length === 0) return;
  const { workspaces: w } = tx.t;
  // Written and not only locked: of two, the later one must not go on with what it saw before.
  await tx
    .update(w)
    .set({ id: sql`${w.id}` })
    .where(inArray(w.id, [...workspaceIds]));
}

export function lockWorkspace(tx: Tx, workspaceId: string): Promise<void> {
  return lockWorkspaces(tx, [workspaceId]);
}

/** Throws ApiError plan_limit_reached when the plan covers no further agent. The workspace is locked. */
export async function assertCovered(tx: Tx, deps: Deps, workspaceId: string): Promise<void> {
  const { plan } = await planOf(tx, workspaceId);
  const covers = PLANS[plan].activations;
  if (covers === null) return;
  const used = (await living(tx, workspaceId, deps.clock.now())).length;
  if (used < covers) return;
  throw new ApiError("plan_limit_reached", `The plan ${plan} covers ${covers} ${covers === 1 ? "agent" : "agents"}, and ${used} are on.`);
}

/** Gives cover that has become free to agents that wait for it. The workspaces are locked. */
export async function recover(tx: Tx, deps: Deps, workspaceIds: readonly string[]): Promise<void> {
  if (workspaceIds.length === 0) return;
  const { activations: a } = tx.t;
  const waiting = await tx
    .selectDistinct({ workspaceId: a.workspaceId })
    .from(a)
    .where(and(inArray(a.workspaceId, [...workspaceIds]), isNotNull(a.uncoveredAt)));
  for (const { workspaceId } of waiting) {
    const { plan } = await planOf(tx, workspaceId);
    await apply(tx, deps, workspaceId, changeOf(await living(tx, workspaceId, deps.clock.now()), plan));
  }
}

export function listPlans() {
  return {
    data: PLAN_NAMES.map((plan) => ({ plan, covers: PLANS[plan].activations, summary: PLANS[plan].summary })),
  };
}

export async function showPlan(q: Reader | Tx, deps: Deps, workspaceId: string): Promise<Plan> {
  const { plan, changedAt } = await planOf(q, workspaceId);
  const used = (await living(q, workspaceId, deps.clock.now())).length;
  return { plan, covers: PLANS[plan].activations, used, changedAt: changedAt === null ? null : iso(changedAt) };
}

/** What a change of plan would do. */
export async function previewPlan(read: Reader, deps: Deps, workspaceId: string, plan: PlanName): Promise<PlanChange> {
  return changeOf(await living(read, workspaceId, deps.clock.now()), plan);
}

/** Changes the plan, and with it which agents are covered. */
export async function changePlan(tx: Tx, deps: Deps, workspaceId: string, plan: PlanName): Promise<Plan & { change: PlanChange }> {
  await lockWorkspace(tx, workspaceId);
  const changedAt = deps.clock.now();
  await tx
    .insert(tx.t.plans)
    .values({ workspaceId, plan, changedAt })
    .onConflictDoUpdate({ target: tx.t.plans.workspaceId, set: { plan, changedAt } });
  const change = changeOf(await living(tx, workspaceId, changedAt), plan);
  await apply(tx, deps, workspaceId, change);
  return { ...(await showPlan(tx, deps, workspaceId)), change };
}

async function planOf(q: Reader | Tx, workspaceId: string): Promise<{ plan: PlanName; changedAt: number | null }> {
  const [row] = await q.select().from(q.t.plans).where(eq(q.t.plans.workspaceId, workspaceId));
  return row ?? { plan: DEFAULT_PLAN, changedAt: null };
}

/** What counts against a plan: activations that have not ended, oldest first. */
async function living(q: Reader | Tx, workspaceId: string, now: number): Promise<ActivationRow[]> {
  const { activations: a, listings: l } = q.t;
  const rows = await q
    .select({ activation: a, listing: l })
    .from(a)
    .innerJoin(l, eq(l.id, a.listingId))
    .where(and(eq(a.workspaceId, workspaceId), ne(a.status, "deactivated")))
    .orderBy(asc(a.id));
  return rows.filter((row) => !isOrphaned(row, now)).map(({ activation }) => activation);
}

/** What a plan does to these activations: the newest lose their cover first, and the oldest get it back first. */
function changeOf(rows: readonly ActivationRow[], plan: PlanName): PlanChange {
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

async function apply(tx: Tx, deps: Deps, workspaceId: string, { paused, resumed, deactivated }: PlanChange): Promise<void> {
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
