import type { AddressInfo } from "node:net";
import { createWorld, type TestWorld } from "@mailsvc/server/testing";
import { expect, onTestFinished, test, vi } from "vitest";
import { createAgent } from "./agent.ts";
import { serve } from "./server.ts";

const SCOPES = ["agent:write_runs", "agent:post_messages"] as const;

/** The agent behind a port, listed and turned on: the activation it works under. */
const atWork = async (world: TestWorld): Promise<string> => {
  const secrets: string[] = [];
  const server = serve(createAgent({ baseUrl: world.url, fetch: world.fetch, secrets }), (error) => expect.unreachable(String(error)));
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const webhookUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const listing = await world.sdk.listings.create({ slug: "publisher", name: "Publisher", webhookUrl, permissions: [...SCOPES] });
  secrets.push(listing.webhookSecret);
  expect((await world.sdk.deliveries.test("publisher")).ok).toBe(true);
  await world.sdk.payments.confirm((await world.sdk.listings.checkout("publisher")).id);
  return (await world.sdk.activations.create({ agentSlug: "publisher", acceptedPermissions: [...SCOPES] })).id;
};

const question = (world: TestWorld) =>
  vi.waitFor(async () => {
    const [asked] = (await world.sdk.approvals.list()).data;
    return asked ?? Promise.reject(new Error("nothing was asked yet"));
  });
const run = async (world: TestWorld, id: string) => (await world.sdk.runs.list(id)).data[0];

test.each([
  ["approve", "Published."],
  ["reject", "Not published: the brand said no."],
] as const)("it asks before it publishes: %s", async (decision, summary) => {
  await using world = await createWorld();
  const id = await atWork(world);
  const asked = await question(world);
  expect(asked).toMatchObject({ agentSlug: "publisher", approval: { title: "Publish the launch page?" } });
  expect(await run(world, id)).toMatchObject({ status: "WAITING", progress: { percent: 60 } });
  await world.sdk.messages.answer(asked.id, { decision });
  await vi.waitFor(async () => expect(await run(world, id)).toMatchObject({ status: "COMPLETED", summary }));
});

test("a question that nobody answers is answered by time, and the page is not published", async () => {
  await using world = await createWorld();
  const id = await atWork(world);
  await question(world);
  await world.clock.advance("8d");
  await vi.waitFor(async () => expect(await run(world, id)).toMatchObject({ summary: "Not published: the brand said no." }));
});

test("it believes nobody but the service", () => {
  const agent = createAgent({ secrets: ["whsec_a"] });
  expect(agent.hear(Buffer.from('{"type":"agent.activated","id":"evt_1"}'), "00").status).toBe(401);
});
