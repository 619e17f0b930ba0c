import { verifySignature } from "@mailsvc/agent-kit";
import { AgentClient, type AgentClientOptions } from "@mailsvc/sdk";
import type { AgentEvent } from "@mailsvc/sdk/contract";

/** The result of a webhook request: the response status, and the work that continues in the background. */
export interface Received {
  status: 204 | 401;
  work: Promise<void>;
}

/** The address of the service, and the secrets of the listing: two of them during a rotation. */
export interface AgentOptions extends Pick<AgentClientOptions, "baseUrl" | "fetch"> {
  secrets: readonly string[];
}

/** An agent that publishes a page for each brand after the brand has approved it. */
export function createAgent({ secrets, ...service }: AgentOptions) {
  // A real agent stores both durably: a key arrives only once, and an event can arrive twice.
  const clients = new Map<string, AgentClient>();
  const handled = new Set<string>();

  async function draftPage(agent: AgentClient, activationId: string): Promise<void> {
    // With its own ids, the agent can repeat these requests after a failure.
    const { runId } = await agent.runs.start({ runId: `launch-${activationId}`, title: "Launch page" });
    await agent.runs.log({ runId, seq: 1, entries: [{ message: "Page drafted" }], progress: { percent: 60 } });
    await agent.messages.create({
      type: "APPROVAL_REQUEST",
      text: "The page is ready. I would publish it today.",
      runId,
      externalId: `publish-${runId}`,
      approval: { title: "Publish the launch page?" },
    });
  }

  async function handle(event: AgentEvent): Promise<void> {
    const { activationId } = event;
    if (event.type === "agent.activated") {
      const agent = new AgentClient({ ...service, activationId, apiKey: event.apiKey });
      clients.set(activationId, agent);
      return draftPage(agent, activationId);
    }
    if (event.type === "agent.deactivated") return void clients.delete(activationId);
    if (event.type !== "approval_response" || event.runId === null) return;
    const summary = event.decision === "approved" ? "Published." : "Not published: the brand did not approve it.";
    await clients.get(activationId)?.runs.complete({ runId: event.runId, summary });
  }

  return {
    /** Takes the raw body of a request. Answer at once: the service waits eight seconds, and the work may take longer. */
    receive(body: Uint8Array, signature: string): Received {
      if (verifySignature({ body, signature, secrets }) === null) return { status: 401, work: Promise.resolve() };
      const event = JSON.parse(new TextDecoder().decode(body)) as AgentEvent;
      if (handled.has(event.id)) return { status: 204, work: Promise.resolve() };
      handled.add(event.id);
      return { status: 204, work: handle(event) };
    },
  };
}
