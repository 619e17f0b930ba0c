import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { Instant, pageQuery, pageSchema } from "../page.ts";
import { CREDIT_KINDS } from "./states.ts";
import { line } from "./text.ts";

export const CREDIT_LIMITS = {
  /** Credits of one consumption. */
  consume: 10_000,
  /** Of one grant, and of a balance. */
  grant: 1_000_000_000,
  balance: 2_000_000_000,
  refundHours: 24,
} as const;

/** A line of the ledger. */
export const CreditEntry = z
  .object({
    id: z.string(),
    kind: z.enum(CREDIT_KINDS),
    /** What it added: negative for what was spent. */
    amount: z.int(),
    balanceAfter: z.int(),
    /** Who spent it; null for a grant. */
    activationId: z.string().nullable(),
    runId: z.string().nullable(),
    action: z.string().nullable(),
    description: z.string().nullable(),
    refundOf: z.string().nullable(),
    createdAt: Instant,
  })
  .meta({ id: "CreditEntry" });
export type CreditEntry = z.infer<typeof CreditEntry>;

/** The credits of a workspace, which its agents spend. */
export const credits = {
  get: endpoint({
    method: "GET",
    path: "/api/v1/marketplace/credits",
    access: { permission: "marketplace:read" },
    summary: "Show how many credits are left",
    output: z.object({ balance: z.int() }),
    examples: [{ summary: "Balance" }],
  }),
  grant: endpoint({
    method: "POST",
    path: "/api/v1/marketplace/credits",
    access: { permission: "billing:write" },
    summary: "Add credits",
    body: z.strictObject({
      amount: z.int().min(1).max(CREDIT_LIMITS.grant).meta({ description: "How many" }),
      description: line(200).optional(),
    }),
    status: 201,
    output: CreditEntry,
    errors: ["conflict"],
    examples: [{ summary: "A thousand", body: { amount: 1000, description: "March" } }],
  }),
  list: endpoint({
    method: "GET",
    path: "/api/v1/marketplace/credits/entries",
    access: { permission: "marketplace:read" },
    summary: "List what came in and was spent, newest first",
    query: z.object({
      ...pageQuery,
      activationId: z.string().max(100).optional().meta({ description: "Only what this activation spent" }),
      kind: z.enum(CREDIT_KINDS).optional().meta({ description: "Only entries of this kind" }),
    }),
    output: pageSchema(CreditEntry),
    examples: [{ summary: "What was spent", query: { kind: "consume" } }],
  }),
};
