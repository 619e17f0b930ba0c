import { endpoint } from "../endpoint.ts";
import { Instant, pageQuery, pageSchema } from "../page.ts";
import * as z from "../zod.ts";
import { AGENT_BASE } from "./agent-base.ts";
import { CREDIT_LIMITS } from "./credits.ts";
import { jsonValue } from "./json.ts";
import { RunId } from "./runs.ts";
import { line, Slug } from "./text.ts";

/** A transaction of an agent: credits it spent or refunded. */
export const CreditTransaction = z
  .object({
    transactionId: z.string(),
    kind: z.enum(["consume", "refund"]),
    amount: z.int(),
    action: z.string().nullable(),
    runId: z.string().nullable(),
    description: z.string().nullable(),
    units: z.unknown(),
    /** Refunded transaction, for a refund. */
    refundOf: z.string().nullable(),
    balanceAfter: z.int(),
    createdAt: Instant,
  })
  .meta({ id: "CreditTransaction" });
export type CreditTransaction = z.infer<typeof CreditTransaction>;

export const AgentCredits = z
  .object({
    /** The brand's balance. */
    balance: z.int(),
    /** Credits this agent may use in a month; null without its own limit. */
    periodLimit: z.int().nullable(),
    periodUsed: z.int(),
    resetsAt: Instant,
  })
  .meta({ id: "AgentCredits" });
export type AgentCredits = z.infer<typeof AgentCredits>;

const params = { activationId: "act_01jc3v2m9k8q4w6x0y5z7a1b2c" };
const scope = { scope: "agent:consume_credits" } as const;

/** The brand's credits, for an agent that spends them. */
export const agentCredits = {
  get: endpoint({
    method: "GET",
    path: `${AGENT_BASE}/credits`,
    access: scope,
    summary: "Show the balance and the monthly limit",
    output: AgentCredits,
    errors: ["not_found"],
    examples: [{ summary: "Balance", params }],
  }),
  list: endpoint({
    method: "GET",
    path: `${AGENT_BASE}/credits/transactions`,
    access: scope,
    summary: "List the agent's transactions, newest first",
    query: z.object({ ...pageQuery, runId: RunId.optional().meta({ description: "Only transactions of this run" }) }),
    output: pageSchema(CreditTransaction),
    errors: ["not_found"],
    examples: [{ summary: "All transactions", params }],
  }),
  consume: endpoint({
    method: "POST",
    path: `${AGENT_BASE}/credits/consume`,
    access: scope,
    summary: "Spend credits on a billable action",
    description: "Requires an Idempotency-Key, so that a retry does not spend twice. The balance never becomes negative.",
    body: z.strictObject({
      amount: z.int().min(1).max(CREDIT_LIMITS.consume).meta({ description: "Number of credits" }),
      action: Slug.meta({ description: "What they are spent on", examples: ["draft-page"] }),
      runId: RunId.optional().meta({ description: "The run that spends them" }),
      description: line(200).optional().meta({ description: "What was done, up to 200 characters" }),
      units: jsonValue(1024).optional().meta({ description: 'What was measured, e.g. {"words": 400}' }),
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
    summary: "Refund a transaction",
    description: `Possible within ${CREDIT_LIMITS.refundHours} hours, in one or several parts, up to the amount spent.`,
    body: z.strictObject({
      amount: z
        .int()
        .min(1)
        .max(CREDIT_LIMITS.consume)
        .optional()
        .meta({ description: "Number of credits; by default all that is left of the transaction" }),
      reason: line(200).meta({ description: "Reason for the refund" }),
    }),
    status: 201,
    output: CreditTransaction,
    errors: ["not_found", "already_refunded", "limit_reached", "invalid_state"],
    examples: [
      {
        summary: "Refund all of it",
        params: { ...params, transactionId: "ctx_01jc3v2m9k8q4w6x0y5z7a1b2c" },
        body: { reason: "The draft was empty" },
      },
    ],
  }),
};
