import type { contract } from "@mailsvc/sdk/contract";
import type { Handlers } from "../../http/handler.ts";
import { changePlan, listPlans, previewPlan, showPlan } from "./plans.ts";

export const planHandlers: Handlers<typeof contract.plans> = {
  list: async () => listPlans(),
  get: (_input, { read, deps, workspaceId }) => showPlan(read, deps, workspaceId),
  preview: ({ plan }, { read, deps, workspaceId }) => previewPlan(read, deps, workspaceId, plan),
  change: ({ plan }, { tx, deps, workspaceId }) => changePlan(tx, deps, workspaceId, plan),
};
