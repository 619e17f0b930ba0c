import { endpoint } from "../endpoint.ts";
import { Instant } from "../page.ts";
import { WorkspaceOfCall } from "../workspace-of-call.ts";
import * as z from "../zod.ts";

/** Number of agents each plan covers; null for any number. */
export const PLANS = {
  /** The subscription has ended for good, so agents are deactivated instead of paused. */
  none: { activations: 0, summary: "No subscription: every agent is turned off for good" },
  free: { activations: 1, summary: "One agent" },
  starter: { activations: 3, summary: "Three agents" },
  growth: { activations: 10, summary: "Ten agents" },
  scale: { activations: null, summary: "Any number of agents" },
} as const satisfies Record<string, { activations: number | null; summary: string }>;

export type PlanName = keyof typeof PLANS;
export const PLAN_NAMES = Object.keys(PLANS) as [PlanName, ...PlanName[]];

/** The plan of a workspace that has not chosen one. */
export const DEFAULT_PLAN: PlanName = "scale";

/** Days an activation may stay uncovered before it is deactivated. */
export const UNCOVERED_DAYS = 30;

export const Plan = z
  .object({
    plan: z.enum(PLAN_NAMES),
    /** Number of agents it covers; null for any number. */
    covers: z.int().nullable(),
    /** Number of agents that are not deactivated. */
    used: z.int(),
    changedAt: Instant.nullable(),
  })
  .meta({ id: "Plan" });
export type Plan = z.infer<typeof Plan>;

/** Effect of a change of plan on activations, by id. */
export const PlanChange = z.object({
  paused: z.array(z.string()),
  resumed: z.array(z.string()),
  deactivated: z.array(z.string()),
});
export type PlanChange = z.infer<typeof PlanChange>;

const plan = z.enum(PLAN_NAMES).meta({ description: "The plan to change to" });

export const plans = {
  list: endpoint({
    method: "GET",
    path: "/api/v1/marketplace/plans",
    access: { permission: "billing:read" },
    summary: "List the plans and what each covers",
    output: z.object({ data: z.array(z.object({ plan: z.enum(PLAN_NAMES), covers: z.int().nullable(), summary: z.string() })) }),
    examples: [{ summary: "All plans" }],
  }),
  get: endpoint({
    method: "GET",
    path: "/api/v1/marketplace/plan",
    access: { permission: "billing:read" },
    summary: "Show the plan of the workspace",
    output: Plan,
    examples: [{ summary: "The current plan" }],
  }),
  preview: endpoint({
    method: "GET",
    path: "/api/v1/marketplace/plan/preview",
    access: { permission: "billing:read" },
    summary: "Preview a change of plan",
    query: z.object({ plan }),
    output: PlanChange,
    examples: [{ summary: "Before going down to one agent", query: { plan: "free" } }],
  }),
  change: endpoint({
    method: "POST",
    path: "/api/v1/marketplace/plan",
    access: { permission: "billing:write" },
    operatorRight: "call",
    mailsTo: "nobody",
    summary: "Change the plan of the workspace",
    description:
      "The newest agents lose their cover first. They are paused (`plan_downgrade`), resumed when a plan covers them again, and deactivated after 30 days without cover. `none` deactivates all agents at once.",
    body: z.strictObject({ plan, workspaceId: WorkspaceOfCall }),
    errors: ["not_found", "forbidden"],
    output: Plan.extend({ change: PlanChange }),
    examples: [{ summary: "Down to one agent", body: { plan: "free" } }],
  }),
};
