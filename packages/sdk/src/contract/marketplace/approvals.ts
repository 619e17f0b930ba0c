import { endpoint } from "../endpoint.ts";
import { pageQuery, pageSchema } from "../page.ts";
import * as z from "../zod.ts";
import { AgentMessage, agentFilter } from "./messages.ts";
import { ProposalDetail } from "./proposals.ts";
import { APPROVAL_STATUSES } from "./states.ts";

/** An approval request with all that it proposes. */
export const ApprovalDetail = AgentMessage.extend({ proposal: ProposalDetail.nullable() }).meta({ id: "ApprovalDetail" });
export type ApprovalDetail = z.infer<typeof ApprovalDetail>;

/** Approval requests of all agents of a workspace. They are answered as messages. */
export const approvals = {
  list: endpoint({
    method: "GET",
    path: "/api/v1/marketplace/approvals",
    access: { permission: "marketplace:read" },
    summary: "List approval requests of your agents, newest first",
    description: "PENDING requests by default. Answer with POST /api/v1/marketplace/messages/:id/answer.",
    query: z.object({
      ...pageQuery,
      status: z
        .enum([...APPROVAL_STATUSES, "ANY"])
        .default("PENDING")
        .meta({ description: "Only requests in this state" }),
      ...agentFilter,
    }),
    output: pageSchema(AgentMessage),
    examples: [{ summary: "Pending requests" }, { summary: "Rejected requests", query: { status: "REJECTED" } }],
  }),
  get: endpoint({
    method: "GET",
    path: "/api/v1/marketplace/approvals/:id",
    access: { permission: "marketplace:read" },
    summary: "Show an approval request, with the mail it proposes",
    description: "A proposal is shown as it would be sent: rendered, with its lists and how many people it would reach.",
    output: ApprovalDetail,
    errors: ["not_found", "invalid_state"],
    examples: [{ summary: "By id", params: { id: "msg_01jc3v2m9k8q4w6x0y5z7a1b2c" } }],
  }),
};
