import * as z from "./zod.ts";

/** The agent that proposed something, and the approval request by which a person accepted it. */
export const ProposedBy = z
  .object({
    agentSlug: z.string(),
    agentName: z.string(),
    activationId: z.string(),
    /** Id of the approval request: see approvals.get. */
    approvalId: z.string(),
  })
  .meta({ id: "ProposedBy" });
export type ProposedBy = z.infer<typeof ProposedBy>;
