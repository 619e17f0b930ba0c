import { AgentClient } from "@mailsvc/sdk";
import { AGENT_SCOPES, type AgentEvent, type AgentScope } from "@mailsvc/sdk/contract";
import type { TestWorld } from "../src/testing.ts";
import { activateAgent, getAgentKey, listAgent, listEvents, type Receiver, startReceiver } from "./marketplace.ts";

/** An active agent of the brand of a world, with a client. */
export interface TestAgent {
  readonly activationId: string;
  readonly key: string;
  /** A client with its key. */
  readonly client: AgentClient;
  /** Its events of these types, oldest first. */
  heard<T extends AgentEvent["type"]>(...types: T[]): Promise<Extract<AgentEvent, { type: T }>[]>;
}

/** The builder of a world lists an agent with the webhook `hooks`, and its brand turns it on. */
export async function createAgent(
  world: TestWorld,
  hooks: Receiver,
  { slug = "writer", permissions = [...AGENT_SCOPES] }: { slug?: string; permissions?: AgentScope[] } = {},
): Promise<TestAgent> {
  await listAgent(world.builder.sdk, hooks.url, { slug, permissions });
  return connectAgent(world, hooks, (await activateAgent(world.sdk, slug)).id);
}

/** The agent of an existing activation. */
export async function connectAgent(world: TestWorld, hooks: Receiver, activationId: string): Promise<TestAgent> {
  const key = await getAgentKey(world, hooks, activationId);
  return {
    activationId,
    key,
    client: new AgentClient({ activationId, apiKey: key, baseUrl: world.url, fetch: world.fetch, maxRetries: 0 }),
    heard: async <T extends AgentEvent["type"]>(...types: T[]) =>
      (await listEvents(world, activationId)).filter((event): event is Extract<AgentEvent, { type: T }> =>
        (types as string[]).includes(event.type),
      ),
  };
}

/** Adds an agent and its builder's webhook to a world. */
export async function withAgent(world: TestWorld, permissions?: AgentScope[]) {
  const hooks = await startReceiver();
  const agent = await createAgent(world, hooks, permissions ? { permissions } : {});
  return { hooks, agent, [Symbol.asyncDispose]: () => hooks[Symbol.asyncDispose]() };
}
