import { verifySignature } from "@mailsvc/agent-kit";
import { AgentClient, type AgentClientOptions } from "@mailsvc/sdk";
import type { AgentEvent } from "@mailsvc/sdk/contract";

/** The result of a webhook request: the response status, and the work that continues in the background. */
export interface Heard {
  status: 204 | 401;
  work: Promise<void>;
}

/** Where the service is, and the secrets of the listing: two of them while one takes the place of the other. */
export interface AgentOptions extends Pick<AgentClientOptions, "baseUrl" | "fetch"> {
  secrets: readonly string[];
}

/** An agent that publishes a page for each brand, once the brand has said yes. */
export const createAgent = ({ secrets, ...service }: AgentOptions) => {
  // A key comes once and never again, and an event may come twice: a real agent keeps both where they outlive it.
  const brands = new Map<string, AgentClient>();
  const seen = new Set<string>();

  const begin = async (agent: AgentClient, activationId: string): Promise<void> => {
    // A name of its own makes the start repeatable.
    const { runId } = await agent.runs.start({ runId: `launch-${activationId}`, title: "Launch page" });
    await agent.runs.log({ runId, entries: [{ message: "Page drafted" }], progress: { percent: 60 } });
    await agent.messages.create({
      type: "APPROVAL_REQUEST",
      text: "The page is ready. I would publish it today.",
      runId,
      approval: { title: "Publish the launch page?" },
    });
  };

  const react = async (event: AgentEvent): Promise<void> => {
    const { activationId } = event;
    if (event.type === "agent.activated") {
      const agent = new AgentClient({ ...service, activationId, apiKey: event.apiKey });
      brands.set(activationId, agent);
      return begin(agent, activationId);
    }
    if (event.type === "agent.deactivated") return void brands.delete(activationId);
    if (event.type !== "approval_response" || event.runId === null) return;
    const summary = event.decision === "approved" ? "Published." : "Not published: the brand said no.";
    await brands.get(activationId)?.runs.complete({ runId: event.runId, summary });
  };

  return {
    /** Takes one POST, as it came. Answer at once: the service waits eight seconds, and the work may take longer. */
    hear: (body: Uint8Array, signature: string): Heard => {
      if (verifySignature({ body, signature, secrets }) === null) return { status: 401, work: Promise.resolve() };
      const event = JSON.parse(new TextDecoder().decode(body)) as AgentEvent;
      if (seen.has(event.id)) return { status: 204, work: Promise.resolve() };
      seen.add(event.id);
      return { status: 204, work: react(event) };
    },
  };
};
