import { type contract, PLAN_NAMES, PLANS, type Plan, type PlanChange, type PlanName } from "@mailsvc/sdk/contract";
import type { Reader, Tx } from "../../db/db.ts";
import type { Handlers } from "../../http/handler.ts";
import { iso } from "../../lib/clock.ts";
import { lockWorkspaces } from "../../workspaces/workspaces.ts";
import { type ActivationDeps, applyPlanChange, getPlan, listCounted, planChange } from "../activations/activations.ts";

export const planHandlers: Handlers<typeof contract.plans, PlanDeps> = {
  list: async () => ({
    data: PLAN_NAMES.map((plan) => ({ plan, covers: PLANS[plan].activations, summary: PLANS[plan].summary })),
  }),
  get: (_input, { read, deps, workspaceId }) => showPlan(read, deps, workspaceId),
  preview: async ({ plan }, { read, deps, workspaceId }) => planChange(await listCounted(read, workspaceId, deps.clock.now()), plan),
  change: ({ plan }, { tx, deps, workspaceId }) => changePlan(tx, deps, workspaceId, plan),
};

/** Changes the plan of a workspace, and with it which activations are covered. */
export async function changePlan(tx: Tx, deps: PlanDeps, workspaceId: string, plan: PlanName): Promise<Plan & { change: PlanChange }> {
  await lockWorkspaces(tx, [workspaceId]);
  const changedAt = deps.clock.now();
  await tx
    .insert(tx.t.plans)
    .values({ workspaceId, plan, changedAt })
    .onConflictDoUpdate({ target: tx.t.plans.workspaceId, set: { plan, changedAt } });
  const change = planChange(await listCounted(tx, workspaceId, changedAt), plan);
  await applyPlanChange(tx, deps, workspaceId, change);
  return { ...(await showPlan(tx, deps, workspaceId)), change };
}

async function showPlan(q: Reader | Tx, deps: PlanDeps, workspaceId: string): Promise<Plan> {
  const { plan, changedAt } = await getPlan(q, workspaceId);
  const used = (await listCounted(q, workspaceId, deps.clock.now())).length;
  return { plan, covers: PLANS[plan].activations, used, changedAt: changedAt === null ? null : iso(changedAt) };
}

export interface PlanDeps extends ActivationDeps {}
