import { pdf, png } from "../../packages/server/test/agent.ts";
import { payFor } from "../../packages/server/test/marketplace.ts";
import { type ExampleServer, type Ids, idOf, nothing, type Objects, SLUG } from "./example-server.ts";

/** The objects that the examples of the marketplace name. */
export const MARKETPLACE: Objects = {
  listings: async (server) => {
    await server.list();
    return {};
  },
  "listings.create": nothing,
  "listings.cancel": agentIds,
  "listings.activations": agentIds,
  "listings.resume": async (server) => {
    const { activationId } = await server.agent();
    server.hooks.react = () => 410;
    await server.world.sdk.messages.create(activationId, { text: "Hello" });
    await server.world.clock.advance("1m");
    server.hooks.react = () => 200;
    return { [idOf("act")]: activationId };
  },
  "agent.self": agentIds,
  "agent.brand": agentIds,
  "agent.assets": agentIds,
  deliveries: async (server) => {
    // agent.activated is not sent again, so there is another event.
    await server.world.sdk.messages.create((await server.agent()).activationId, { text: "Hello" });
    await server.world.settle();
    const [delivery] = (await server.world.builder.sdk.deliveries.list(SLUG)).data;
    return { [idOf("evt")]: delivery?.id ?? "" };
  },
  payments: async (server) => {
    await server.list();
    return { [idOf("pay")]: (await server.world.builder.sdk.listings.checkout(SLUG)).id };
  },
  catalog: agentIds,
  approvals: question,
  "activations.create": async (server) => {
    await server.list(["brand:read", "agent:post_messages", "agent:write_runs"]);
    await payFor(server.world.builder.sdk, SLUG);
    return {};
  },
  activations: agentIds,
  "activations.resume": async (server) => {
    const ids = await agentIds(server);
    await server.world.sdk.activations.pause(ids[idOf("act")] as string);
    return ids;
  },
  messages: question,
  "agent.messages": question,
  "messages.read": messages,
  "agent.messages.read": messages,
  runs: run,
  "agent.runs": run,
  "agent.explanations": run,
  "agent.credits": async (server) => {
    const { client, activationId } = await server.agent();
    const { transactionId } = await client.credits.consume({ amount: 5, action: "draft-page" });
    return { [idOf("act")]: activationId, [idOf("ctx")]: transactionId };
  },
  "agent.wakeups": async (server) => {
    const { client, activationId } = await server.agent();
    return { [idOf("act")]: activationId, [idOf("wku")]: (await client.wakeups.create({ delaySeconds: 60, reason: "x" })).wakeupId };
  },
  landingPages: page,
  "landingPages.unpublish": publishedPage,
  "agent.landingPages": page,
  "agent.landingPages.unpublish": publishedPage,
  leadMagnets: magnet,
  "agent.leadMagnets": magnet,
  assets: async ({ world }) => {
    const { id } = await world.sdk.assets.create({ fileName: "a.png", contentBase64: png().toString("base64") });
    return { [idOf("ast")]: id };
  },
  "agent.lists": async (server) => {
    const { id } = await server.world.sdk.lists.create({ name: "News" });
    return { ...(await agentIds(server)), [idOf("list")]: id };
  },
};

async function agentIds(server: ExampleServer): Promise<Ids> {
  return { [idOf("act")]: (await server.agent()).activationId };
}

/** A message of the agent that asks for approval. */
async function question(server: ExampleServer): Promise<Ids> {
  const { client } = await server.agent();
  const { id } = await client.messages.create({ type: "APPROVAL_REQUEST", text: "Shall I?", approval: { title: "The page" } });
  return { ...(await agentIds(server)), [idOf("msg")]: id };
}

/** Posts as many messages, of both, as the examples read. */
async function messages(server: ExampleServer): Promise<Ids> {
  const { client, activationId } = await server.agent();
  for (let i = 0; i < 6; i += 1) {
    await client.messages.create({ text: "Hello" });
    await server.world.sdk.messages.create(activationId, { text: "Hello" });
  }
  return { [idOf("act")]: activationId };
}

async function run(server: ExampleServer): Promise<Ids> {
  const { client, activationId } = await server.agent();
  return { [idOf("act")]: activationId, [idOf("run")]: (await client.runs.start({ title: "Draft" })).runId };
}

async function page(server: ExampleServer): Promise<Ids> {
  const { client, activationId } = await server.agent();
  return { [idOf("act")]: activationId, [idOf("lp")]: (await client.landingPages.create({ title: "Guide", html: "<h1>Guide</h1>" })).id };
}

async function publishedPage(server: ExampleServer): Promise<Ids> {
  const ids = await page(server);
  await (await server.agent()).client.landingPages.publish(ids[idOf("lp")] as string);
  return ids;
}

async function magnet(server: ExampleServer): Promise<Ids> {
  const { client, activationId } = await server.agent();
  const upload = { fileName: "a.pdf", contentBase64: pdf().toString("base64"), title: "Guide" };
  return { [idOf("act")]: activationId, [idOf("lm")]: (await client.leadMagnets.create(upload)).id };
}
