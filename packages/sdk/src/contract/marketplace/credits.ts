import { endpoint } from "../endpoint.ts";
import { limits } from "../limits.ts";
import { Instant, pageQuery, pageSchema } from "../page.ts";
import { WorkspaceOfCall } from "../workspace-of-call.ts";
import * as z from "../zod.ts";
import { CREDIT_KINDS } from "./states.ts";
import { line } from "./text.ts";

export const CREDIT_LIMITS = limits("credits", "Credits", {
  consume: [10_000, "credits of one transaction"],
  grant: [1_000_000_000, "credits of one grant"],
  balance: [2_000_000_000, "balance of a workspace"],
  refundHours: [24, "how long a transaction can be refunded", "hours"],
});

/** An entry of the ledger. */
export const CreditEntry = z
  .object({
    id: z.string(),
    kind: z.enum(CREDIT_KINDS),
    /** Added to the balance; negative for spent credits. */
    amount: z.int(),
    balanceAfter: z.int(),
    /** The agent's activation; null for a grant. */
    activationId: z.string().nullable(),
    runId: z.string().nullable(),
    action: z.string().nullable(),
    description: z.string().nullable(),
    refundOf: z.string().nullable(),
    createdAt: Instant,
  })
  .meta({ id: "CreditEntry" });
export type CreditEntry = z.infer<typeof CreditEntry>;

/** The credits of a workspace, spent by its agents. */
export const credits = {
  get: endpoint({
    method: "GET",
    path: "/api/v1/marketplace/credits",
    access: { permission: "marketplace:read" },
    summary: "Show the credit balance",
    output: z.object({ balance: z.int() }),
    examples: [{ summary: "Balance" }],
  }),
  grant: endpoint({
    method: "POST",
    path: "/api/v1/marketplace/credits",
    access: { permission: "billing:write" },
    operatorRight: "call",
    mailsTo: "nobody",
    summary: "Add credits",
    body: z.strictObject({
      amount: z.int().min(1).max(CREDIT_LIMITS.grant).meta({ description: "Number of credits" }),
      description: line(200).optional().meta({ description: "What they are for, up to 200 characters" }),
      workspaceId: WorkspaceOfCall,
    }),
    status: 201,
    output: CreditEntry,
    errors: ["limit_reached", "not_found", "forbidden"],
    examples: [{ summary: "A thousand", body: { amount: 1000, description: "March" } }],
  }),
  list: endpoint({
    method: "GET",
    path: "/api/v1/marketplace/credits/entries",
    access: { permission: "marketplace:read" },
    summary: "List ledger entries, newest first",
    query: z.object({
      ...pageQuery,
      activationId: z.string().max(100).optional().meta({ description: "Only entries of this activation" }),
      kind: z.enum(CREDIT_KINDS).optional().meta({ description: "Only entries of this kind" }),
    }),
    output: pageSchema(CreditEntry),
    examples: [{ summary: "Spent credits", query: { kind: "consume" } }],
  }),
};
