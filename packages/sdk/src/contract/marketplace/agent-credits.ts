import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { Instant, pageQuery, pageSchema } from "../page.ts";
import { AGENT_BASE } from "./agent-base.ts";
import { CREDIT_LIMITS } from "./credits.ts";
import { jsonValue } from "./json.ts";
import { RunId } from "./runs.ts";
import { line, Slug } from "./text.ts";

/** What an agent spent, or got back. */
export const CreditTransaction = z
  .object({
    transactionId: z.string(),
    kind: z.enum(["consume", "refund"]),
    amount: z.int(),
    action: z.string().nullable(),
    runId: z.string().nullable(),
    description: z.string().nullable(),
    units: z.unknown(),
    /** Of a refund: the transaction it gives back. */
    refundOf: z.string().nullable(),
    balanceAfter: z.int(),
    createdAt: Instant,
  })
  .meta({ id: "CreditTransaction" });
export type CreditTransaction = z.infer<typeof CreditTransaction>;

export const AgentCredits = z
  .object({
    /** What the brand has left. */
    balance: z.int(),
    /** What this agent may use in a month; null for no limit of its own. */
    periodLimit: z.int().nullable(),
    periodUsed: z.int(),
    resetsAt: Instant,
  })
  .meta({ id: "AgentCredits" });
export type AgentCredits = z.infer<typeof AgentCredits>;

const params = { activationId: "act_01jc3v2m9k8q4w6x0y5z7a1b2c" };
const scope = { scope: "agent:consume_credits" } as const;

/** The brand's credits, as an agent spends them. */
export const agentCredits = {
  get: endpoint({
    method: "GET",
    path: `${AGENT_BASE}/credits`,
    access: scope,
    summary: "Show what may be spent",
    output: AgentCredits,
    errors: ["not_found"],
    examples: [{ summary: "Balance", params }],
  }),
  list: endpoint({
    method: "GET",
    path: `${AGENT_BASE}/credits/transactions`,
    access: scope,
    summary: "List what the agent spent, newest first",
    query: z.object({ ...pageQuery, runId: RunId.optional().meta({ description: "Only what this run spent" }) }),
    output: pageSchema(CreditTransaction),
    errors: ["not_found"],
    examples: [{ summary: "All of it", params }],
  }),
  consume: endpoint({
    method: "POST",
    path: `${AGENT_BASE}/credits/consume`,
    access: scope,
    summary: "Spend credits on a billable action",
    description: "Needs an Idempotency-Key: a repeat spends nothing. The balance never falls below zero.",
    body: z.strictObject({
      amount: z.int().min(1).max(CREDIT_LIMITS.consume).meta({ description: "How many" }),
      action: Slug.meta({ description: "What for", examples: ["draft-page"] }),
      runId: RunId.optional().meta({ description: "The run that spends them" }),
      description: line(200).optional(),
      units: jsonValue(1024).optional().meta({ description: 'What was counted, e.g. {"words": 400}' }),
    }),
    status: 201,
    output: CreditTransaction,
    errors: ["idempotency_key_required", "insufficient_credits", "not_found", "invalid_state"],
    examples: [{ summary: "Five for a draft", params, body: { amount: 5, action: "draft-page" } }],
  }),
  refund: endpoint({
    method: "POST",
    path: `${AGENT_BASE}/credits/:transactionId/refund`,
    access: scope,
    summary: "Give spent credits back",
    description: `Within ${CREDIT_LIMITS.refundHours} hours, and in all not more than was spent.`,
    body: z.strictObject({
      amount: z.int().min(1).max(CREDIT_LIMITS.consume).optional().meta({ description: "How many; what is left of it when absent" }),
      reason: line(200).meta({ description: "Why" }),
    }),
    status: 201,
    output: CreditTransaction,
    errors: ["not_found", "conflict", "invalid_state"],
    examples: [
      {
        summary: "It did not work out",
        params: { ...params, transactionId: "ctx_01jc3v2m9k8q4w6x0y5z7a1b2c" },
        body: { reason: "The draft was empty" },
      },
    ],
  }),
};
