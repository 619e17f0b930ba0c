import { AgentClient } from "@mailsvc/sdk";
import { AGENT_SCOPES, type AgentEvent, type AgentScope } from "@mailsvc/sdk/contract";
import type { TestWorld } from "../src/testing.ts";
import { eventsOf, keyOf, listAgent, type Receiver, receiver, turnOn } from "./marketplace.ts";

/** An agent at work for the brand of a world. */
export interface TestAgent {
  readonly activationId: string;
  readonly key: string;
  /** A client with its key. */
  readonly client: AgentClient;
  /** What it was told, oldest first; of these types only. */
  heard<T extends AgentEvent["type"]>(...types: T[]): Promise<Extract<AgentEvent, { type: T }>[]>;
}

/** Lists an agent whose webhook is `hooks`, and turns it on. */
export async function agentAt(
  world: TestWorld,
  hooks: Receiver,
  { slug = "writer", permissions = [...AGENT_SCOPES] }: { slug?: string; permissions?: AgentScope[] } = {},
): Promise<TestAgent> {
  await listAgent(world.builder.sdk, hooks.url, { slug, permissions });
  return agentOf(world, hooks, (await turnOn(world.sdk, slug)).id);
}

/** The agent of an activation that is there. */
export async function agentOf(world: TestWorld, hooks: Receiver, activationId: string): Promise<TestAgent> {
  const key = await keyOf(world, hooks, activationId);
  return {
    activationId,
    key,
    client: new AgentClient({ activationId, apiKey: key, baseUrl: world.url, fetch: world.fetch, maxRetries: 0 }),
    heard: async <T extends AgentEvent["type"]>(...types: T[]) =>
      (await eventsOf(world, activationId)).filter((event): event is Extract<AgentEvent, { type: T }> =>
        (types as string[]).includes(event.type),
      ),
  };
}

/** A world with an agent in it, and the webhook of its builder. */
export async function withAgent(world: TestWorld, permissions?: AgentScope[]) {
  const hooks = await receiver();
  const agent = await agentAt(world, hooks, permissions ? { permissions } : {});
  return { hooks, agent, [Symbol.asyncDispose]: () => hooks[Symbol.asyncDispose]() };
}
