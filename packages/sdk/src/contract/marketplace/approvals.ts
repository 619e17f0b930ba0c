import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { pageQuery, pageSchema } from "../page.ts";
import { AgentMessage, agentFilter } from "./messages.ts";
import { APPROVAL_STATUSES } from "./states.ts";

/** What agents ask, over all activations of a workspace. They are answered as messages. */
export const approvals = {
  list: endpoint({
    method: "GET",
    path: "/api/v1/marketplace/approvals",
    access: { permission: "marketplace:read" },
    summary: "List what your agents ask you, newest first",
    description: "What waits for your answer, unless status says otherwise. Answer by POST /api/v1/marketplace/messages/:id/answer.",
    query: z.object({
      ...pageQuery,
      status: z
        .enum([...APPROVAL_STATUSES, "ANY"])
        .default("PENDING")
        .meta({ description: "Only questions in this state" }),
      ...agentFilter,
    }),
    output: pageSchema(AgentMessage),
    examples: [{ summary: "What waits for you" }, { summary: "What you turned down", query: { status: "REJECTED" } }],
  }),
};
