import { endpoint } from "../endpoint.ts";
import { Instant, pageQuery, pageSchema } from "../page.ts";
import * as z from "../zod.ts";
import { AGENT_BASE } from "./agent-base.ts";

/** The reply of a person to mail that was sent for an agent, without the address of the person. */
export const AgentReply = z
  .object({
    id: z.string(),
    /** The conversation; the same for all replies in it. */
    threadId: z.string(),
    subject: z.string(),
    /** What the person wrote, without the mail it quotes. Addresses from its headers are replaced by [address]. */
    text: z.string(),
    receivedAt: Instant,
  })
  .meta({ id: "AgentReply" });
export type AgentReply = z.infer<typeof AgentReply>;

const access = { scope: "messages:replies" } as const;
const activationId = "act_01jc3v2m9k8q4w6x0y5z7a1b2c";

export const agentReplies = {
  list: endpoint({
    method: "GET",
    path: `${AGENT_BASE}/replies`,
    access,
    summary: "List the replies to mail that was sent for the agent, newest first",
    description: "The brand sends mail for an agent by giving it the tag activation with the id of the activation.",
    query: z.object(pageQuery),
    output: pageSchema(AgentReply),
    errors: ["not_found"],
    examples: [{ summary: "The newest", params: { activationId } }],
  }),
  get: endpoint({
    method: "GET",
    path: `${AGENT_BASE}/replies/:id`,
    access,
    summary: "Show one reply",
    output: AgentReply,
    errors: ["not_found"],
    examples: [{ summary: "One", params: { activationId, id: "rpl_01jc3v2m9k8q4w6x0y5z7a1b2c" } }],
  }),
};
