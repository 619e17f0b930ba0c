import { AGENT_SCOPES, type AgentScope } from "@mailsvc/sdk/contract";
import { createWorld, type TestWorld } from "../../packages/server/src/testing.ts";
import { connectAgent, type TestAgent } from "../../packages/server/test/agent-at-work.ts";
import { activateAgent, payFor } from "../../packages/server/test/marketplace.ts";
import { type Receiver, receiver } from "../../packages/server/test/receiver.ts";
import { scriptedPeer } from "../../packages/server/test/smtp-peer.ts";

/** The records of acme.example. */
const DNS = {
  txt: async (name: string): Promise<string[]> => {
    if (name === "acme.example") return ["v=spf1 ip4:192.0.2.1 -all"];
    return name === "_dmarc.acme.example" ? ["v=DMARC1; p=none; rua=mailto:dmarc@acme.example"] : [];
  },
  mx: async (name: string) => (name === "acme.example" ? [{ priority: 10, exchange: "mail.acme.example" }] : []),
  addresses: async (name: string): Promise<string[]> => (name === "mail.acme.example" ? ["192.0.2.1"] : []),
  names: async (address: string): Promise<string[]> => (address === "192.0.2.1" ? ["mail.acme.example"] : []),
};

/** Names in examples, each with its value on this server. */
export type Ids = Readonly<Record<string, string>>;

/** Makes the objects that examples name: by the id of an endpoint, or, for all others of a noun, by that. */
export type Objects = Readonly<Record<string, (server: ExampleServer) => Promise<Ids>>>;

/** A server on which examples are tried. */
export interface ExampleServer extends AsyncDisposable {
  readonly world: TestWorld;
  /** The webhook of agents and developers. */
  readonly hooks: Receiver;
  /** Makes the listing launch-writer of the builder, unpaid. */
  list(permissions?: readonly AgentScope[]): Promise<void>;
  /** Its agent, turned on by the brand; the same one each time. */
  agent(): Promise<TestAgent>;
}

export const SLUG = "launch-writer";

/** The id that examples give an object of this kind. */
export function idOf(prefix: string): string {
  return `${prefix}_01jc3v2m9k8q4w6x0y5z7a1b2c`;
}

/** Makes no objects, for examples that make their own. */
export async function nothing(): Promise<Ids> {
  return {};
}

/** Opens such a server, with a Postgres database if one is named. */
export async function openExampleServer(on: { readonly databaseUrl?: string } = {}): Promise<ExampleServer> {
  const hooks = await receiver();
  // Examples name instants around the beginning of this month.
  // Examples send captured mail on to example.com.
  const relay = await scriptedPeer({});
  const flags = { "release-relay": `smtp://127.0.0.1:${relay.port}`, "release-to": "*@example.com" };
  const world = await createWorld({ now: "2030-01-31T08:00:00Z", flags, dns: DNS, ...on });
  let agent: Promise<TestAgent> | undefined;
  const list = async (permissions: readonly AgentScope[] = AGENT_SCOPES): Promise<void> => {
    const listing = { slug: SLUG, name: "Launch Writer", description: "It writes.", webhookUrl: hooks.url, permissions: [...permissions] };
    await world.builder.sdk.listings.create(listing);
  };
  const turnOn = async (): Promise<TestAgent> => {
    await list();
    await payFor(world.builder.sdk, SLUG);
    const { id } = await activateAgent(world.sdk, SLUG);
    await world.sdk.credits.grant({ amount: 1000 });
    await world.settle();
    const bodies = hooks.received.map(({ body }) => body);
    return connectAgent(world, { url: hooks.url, bodies, [Symbol.asyncDispose]: async () => {} }, id);
  };
  return {
    world,
    hooks,
    list,
    agent: () => (agent ??= turnOn()),
    [Symbol.asyncDispose]: async () => {
      await world.dispose();
      await hooks[Symbol.asyncDispose]();
      await relay.close();
    },
  };
}
