import { endpoint } from "../endpoint.ts";
import { pageQuery, pageSchema } from "../page.ts";
import * as z from "../zod.ts";
import { AgentMessage, agentFilter } from "./messages.ts";
import { APPROVAL_STATUSES } from "./states.ts";

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
};
