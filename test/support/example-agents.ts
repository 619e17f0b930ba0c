import { pdf, png } from "../../packages/server/test/agent.ts";
import { payFor } from "../../packages/server/test/marketplace.ts";
import { type Ids, idOf, nothing, type Objects, SLUG, type Stage } from "./example-stage.ts";

/** The objects that the examples of the marketplace name. */
export const MARKETPLACE: Objects = {
  listings: async (stage) => {
    await stage.list();
    return {};
  },
  "listings.create": nothing,
  "listings.cancel": agentIds,
  "listings.activations": agentIds,
  "listings.resume": async (stage) => {
    const { activationId } = await stage.agent();
    stage.hooks.react = () => 410;
    await stage.world.sdk.messages.create(activationId, { text: "Hello" });
    await stage.world.clock.advance("1m");
    stage.hooks.react = () => 200;
    return { [idOf("act")]: activationId };
  },
  "agent.self": agentIds,
  "agent.brand": agentIds,
  "agent.assets": agentIds,
  deliveries: async (stage) => {
    // agent.activated is not sent again, so there is another event.
    await stage.world.sdk.messages.create((await stage.agent()).activationId, { text: "Hello" });
    await stage.world.settle();
    const [delivery] = (await stage.world.builder.sdk.deliveries.list(SLUG)).data;
    return { [idOf("evt")]: delivery?.id ?? "" };
  },
  payments: async (stage) => {
    await stage.list();
    return { [idOf("pay")]: (await stage.world.builder.sdk.listings.checkout(SLUG)).id };
  },
  catalog: agentIds,
  approvals: question,
  "activations.create": async (stage) => {
    await stage.list(["brand:read", "agent:post_messages", "agent:write_runs"]);
    await payFor(stage.world.builder.sdk, SLUG);
    return {};
  },
  activations: agentIds,
  "activations.resume": async (stage) => {
    const ids = await agentIds(stage);
    await stage.world.sdk.activations.pause(ids[idOf("act")] as string);
    return ids;
  },
  messages: question,
  "agent.messages": question,
  "messages.read": messages,
  "agent.messages.read": messages,
  runs: run,
  "agent.runs": run,
  "agent.credits": async (stage) => {
    const { client, activationId } = await stage.agent();
    const { transactionId } = await client.credits.consume({ amount: 5, action: "draft-page" });
    return { [idOf("act")]: activationId, [idOf("ctx")]: transactionId };
  },
  "agent.wakeups": async (stage) => {
    const { client, activationId } = await stage.agent();
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
  "agent.lists": async (stage) => {
    const { id } = await stage.world.sdk.lists.create({ name: "News" });
    return { ...(await agentIds(stage)), [idOf("list")]: id };
  },
};

async function agentIds(stage: Stage): Promise<Ids> {
  return { [idOf("act")]: (await stage.agent()).activationId };
}

/** A message of the agent that asks for approval. */
async function question(stage: Stage): Promise<Ids> {
  const { client } = await stage.agent();
  const { id } = await client.messages.create({ type: "APPROVAL_REQUEST", text: "Shall I?", approval: { title: "The page" } });
  return { ...(await agentIds(stage)), [idOf("msg")]: id };
}

/** As many messages, of both, as the examples read. */
async function messages(stage: Stage): Promise<Ids> {
  const { client, activationId } = await stage.agent();
  for (let i = 0; i < 6; i += 1) {
    await client.messages.create({ text: "Hello" });
    await stage.world.sdk.messages.create(activationId, { text: "Hello" });
  }
  return { [idOf("act")]: activationId };
}

async function run(stage: Stage): Promise<Ids> {
  const { client, activationId } = await stage.agent();
  return { [idOf("act")]: activationId, [idOf("run")]: (await client.runs.start({ title: "Draft" })).runId };
}

async function page(stage: Stage): Promise<Ids> {
  const { client, activationId } = await stage.agent();
  return { [idOf("act")]: activationId, [idOf("lp")]: (await client.landingPages.create({ title: "Guide", html: "<h1>Guide</h1>" })).id };
}

async function publishedPage(stage: Stage): Promise<Ids> {
  const ids = await page(stage);
  await (await stage.agent()).client.landingPages.publish(ids[idOf("lp")] as string);
  return ids;
}

async function magnet(stage: Stage): Promise<Ids> {
  const { client, activationId } = await stage.agent();
  const upload = { fileName: "a.pdf", contentBase64: pdf().toString("base64"), title: "Guide" };
  return { [idOf("act")]: activationId, [idOf("lm")]: (await client.leadMagnets.create(upload)).id };
}
