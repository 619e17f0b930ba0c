import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Activation, AgentEvent, type AgentScope, type Listing } from "@mailsvc/sdk/contract";
import { asc, eq } from "drizzle-orm";
import type { TestWorld } from "../src/testing.ts";
import { openBody } from "../src/webhooks/webhooks.ts";

/** A builder's webhook that answers 200 to every request. */
export interface Receiver {
  readonly url: string;
  /** The received bodies, in order. */
  readonly bodies: string[];
  [Symbol.asyncDispose](): Promise<void>;
}

export async function startReceiver(): Promise<Receiver> {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      bodies.push(Buffer.concat(chunks).toString());
      response.writeHead(200).end();
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhook`,
    bodies,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

export const SCOPES: AgentScope[] = ["brand:read", "agent:write_runs"];

type Sdk = TestWorld["sdk"];

/** Creates a listing and pays for it. */
export async function listAgent(
  sdk: Sdk,
  webhookUrl: string,
  { slug = "writer", permissions = SCOPES }: { slug?: string; permissions?: AgentScope[] } = {},
): Promise<Listing & { webhookSecret: string }> {
  const listing = await sdk.listings.create({ slug, name: `The ${slug}`, description: "It writes.", webhookUrl, permissions });
  await payFor(sdk, slug);
  return { ...listing, ...(await sdk.listings.get(slug)) };
}

/** Pays for a month of a listing. */
export async function payFor(sdk: Sdk, slug: string): Promise<void> {
  const payment = await sdk.listings.checkout(slug);
  await sdk.payments.confirm(payment.id);
}

/** Turns an agent on with all the scopes it asks for. */
export async function activateAgent(sdk: Sdk, agentSlug = "writer"): Promise<Activation> {
  const agent = await sdk.catalog.get(agentSlug);
  return sdk.activations.create({ agentSlug, acceptedPermissions: agent.permissions.map(({ scope }) => scope) });
}

/** The events of an activation in the outbox, with the key as long as it is stored there. */
export async function listEvents({ app }: Pick<TestWorld, "app">, activationId: string): Promise<AgentEvent[]> {
  const { db, seal } = app.deps;
  const { webhookEvents: e } = db.read.t;
  const rows = await db.read.select().from(e).where(eq(e.streamId, activationId)).orderBy(asc(e.sequence));
  return rows.map((row) => AgentEvent.parse(JSON.parse(openBody({ seal }, row))));
}

/** The key of an activation, from the webhook that received it or from the outbox. */
export async function getAgentKey(world: TestWorld, hooks: Receiver, activationId: string): Promise<string> {
  // The outbox is read first: a key that is no longer there has arrived.
  const stored = await listEvents(world, activationId);
  const events = [...hooks.bodies.map((body) => AgentEvent.parse(JSON.parse(body))), ...stored];
  for (const event of events)
    if (event.type === "agent.activated" && event.activationId === activationId && event.apiKey.startsWith("ms_agent_"))
      return event.apiKey;
  throw new Error(`No key of ${activationId} was sent.`);
}

/** The path of an agent's endpoint. */
export function agentPath(activationId: string, rest = ""): string {
  return `/api/agents/activations/${activationId}${rest}`;
}
