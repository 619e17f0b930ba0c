import { AgentClient, Mailsvc } from "@mailsvc/sdk";
import { AGENT_SCOPES, type AgentScope } from "@mailsvc/sdk/contract";
import { type Hook, hook } from "../../server/test/hook.ts";
import type { Stage } from "./browser.ts";
import { waitUntil } from "./waiting.ts";

/** The two workspaces of dev mode, and the server of the builder's agents. */
export interface Market extends AsyncDisposable {
  readonly brand: Mailsvc;
  readonly builder: Mailsvc;
  readonly builderWorkspace: string;
  readonly hooks: Hook;
  /** Lists an agent in the catalog. */
  list(slug: string, name: string, permissions?: readonly AgentScope[], description?: string): Promise<void>;
  /** Turns an agent on, and waits until its server has the key. */
  turnOn(slug: string): Promise<AgentClient>;
}

/** Opens the market of a server in dev mode. */
export async function createMarket({ server }: Stage): Promise<Market> {
  const { profiles, url } = server;
  if (profiles === null) throw new Error("Only dev mode has a brand and a builder.");
  const connect = (apiKey: string): Mailsvc => new Mailsvc({ apiKey, baseUrl: url });
  const brand = connect(profiles.brand.apiKey);
  const builder = connect(profiles.builder.apiKey);
  const hooks = await hook();
  return {
    brand,
    builder,
    builderWorkspace: profiles.builder.workspaceId,
    hooks,
    list: async (slug, name, permissions = AGENT_SCOPES, description = "Plans and writes the mails of a product launch.") => {
      await builder.listings.create({ slug, name, description, webhookUrl: hooks.url, permissions: [...permissions] });
      await builder.payments.confirm((await builder.listings.checkout(slug)).id);
    },
    turnOn: async (slug) => {
      const { permissions } = await brand.catalog.get(slug);
      const { id } = await brand.activations.create({ agentSlug: slug, acceptedPermissions: permissions.map(({ scope }) => scope) });
      return new AgentClient({ activationId: id, apiKey: await receiveKey(brand, hooks, id), baseUrl: url });
    },
    [Symbol.asyncDispose]: () => hooks[Symbol.asyncDispose](),
  };
}

/** The key that the agent's server has got. */
async function receiveKey(brand: Mailsvc, { calls }: Hook, activationId: string): Promise<string> {
  await waitUntil(async () => (await brand.activations.get(activationId)).keyDeliveredAt !== null);
  for (const { event } of calls) if (event.type === "agent.activated" && event.activationId === activationId) return event.apiKey;
  throw new Error(`The key of ${activationId} did not arrive.`);
}
