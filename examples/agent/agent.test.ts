import type { AddressInfo } from "node:net";
import { createWorld, type TestWorld } from "@mailsvc/server/testing";
import { expect, onTestFinished, test, vi } from "vitest";
import { createAgent } from "./agent.ts";
import { createWebhook } from "./server.ts";

const SCOPES = ["agent:write_runs", "agent:post_messages"] as const;
// Only a limit: the tests go on as soon as the agent has acted.
const WAIT = { timeout: 30_000 };

/** Starts the agent's webhook. The builder lists the agent, and the brand turns it on; returns the id of the activation. */
async function startAgent(world: TestWorld): Promise<string> {
  const { builder, sdk: brand } = world;
  const secrets: string[] = [];
  const agent = createAgent({ baseUrl: world.url, fetch: world.fetch, secrets });
  const server = createWebhook(agent, (error) => expect.unreachable(String(error)));
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const webhookUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const listing = await builder.sdk.listings.create({ slug: "publisher", name: "Publisher", webhookUrl, permissions: [...SCOPES] });
  secrets.push(listing.webhookSecret);
  expect((await builder.sdk.deliveries.test("publisher")).ok).toBe(true);
  await builder.sdk.payments.confirm((await builder.sdk.listings.checkout("publisher")).id);
  return (await brand.activations.create({ agentSlug: "publisher", acceptedPermissions: [...SCOPES] })).id;
}

/** The approval request of the agent, once it is there. */
const approvalRequest = (world: TestWorld) =>
  vi.waitFor(async () => {
    const [request] = (await world.sdk.approvals.list()).data;
    return request ?? Promise.reject(new Error("There is no approval request yet."));
  }, WAIT);
const run = async (world: TestWorld, id: string) => (await world.sdk.runs.list(id)).data[0];

test.each([
  ["approve", "Published."],
  ["reject", "Not published: the brand did not approve it."],
] as const)("asks for approval before it publishes: %s", async (decision, summary) => {
  await using world = await createWorld();
  const id = await startAgent(world);
  const request = await approvalRequest(world);
  expect(request).toMatchObject({ agentSlug: "publisher", approval: { title: "Publish the launch page?" } });
  expect(await run(world, id)).toMatchObject({ status: "WAITING", progress: { percent: 60 } });
  await world.sdk.messages.answer(request.id, { decision });
  await vi.waitFor(async () => expect(await run(world, id)).toMatchObject({ status: "COMPLETED", summary }), WAIT);
});

test("does not publish when the request expires", async () => {
  await using world = await createWorld();
  const id = await startAgent(world);
  await approvalRequest(world);
  await world.clock.advance("8d");
  const summary = "Not published: the brand did not approve it.";
  await vi.waitFor(async () => expect(await run(world, id)).toMatchObject({ summary }), WAIT);
});

test("refuses events with an invalid signature", () => {
  const agent = createAgent({ secrets: ["whsec_a"] });
  expect(agent.receive(Buffer.from('{"type":"agent.activated","id":"evt_1"}'), "00").status).toBe(401);
});
