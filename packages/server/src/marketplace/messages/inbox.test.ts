import { expect, test } from "vitest";
import { createAgent, withAgent } from "../../../test/agent-at-work.ts";
import { secondWorkspace } from "../../../test/tenant.ts";
import { createWorld } from "../../testing.ts";

const question = (title: string, also: object = {}) => ({
  type: "APPROVAL_REQUEST" as const,
  text: `About ${title}`,
  approval: { title, ...also },
});

test("the inbox lists open requests and unread texts of all agents, newest first, until they are answered or read", async () => {
  await using world = await createWorld();
  await using made = await withAgent(world);
  const [one, two] = [made.agent, await createAgent(world, made.hooks, { slug: "painter" })];
  const { messages, approvals } = world.sdk;
  const asked = await one.client.messages.create(question("the page"));
  const told = await one.client.messages.create({ text: "Hello" });
  const shown = await two.client.messages.create(question("the picture"));
  const said = await two.client.messages.create({ text: "It rains" });
  await messages.create(one.activationId, { text: "From the brand" });

  const inbox = await messages.inbox();
  expect(inbox.data.map(({ id }) => id)).toEqual([said.id, shown.id, told.id, asked.id]);
  expect(inbox.pagination.total).toBe(4);
  expect(inbox.data[0]).toEqual({ ...said, agentSlug: "painter", agentName: expect.any(String) });
  const ids = async (filter: Parameters<typeof messages.inbox>[0]) => (await messages.inbox(filter)).data.map(({ id }) => id);
  expect(await ids({ type: "TEXT" })).toEqual([said.id, told.id]);
  expect(await ids({ type: "APPROVAL_REQUEST" })).toEqual([shown.id, asked.id]);
  expect(await ids({ agentSlug: "writer" })).toEqual([told.id, asked.id]);
  expect(await ids({ activationId: two.activationId })).toEqual([said.id, shown.id]);
  expect(await ids({ agentSlug: "nobody" })).toEqual([]);
  expect((await approvals.list()).data.map(({ id }) => id)).toEqual([shown.id, asked.id]);

  await messages.answer(asked.id, { decision: "reject" });
  await messages.create(two.activationId, { text: "So it does", inReplyTo: said.id });
  await messages.read(one.activationId, { upToSequence: told.sequence });
  expect(await ids({})).toEqual([shown.id]);
  // A request that was read still waits for its answer.
  await messages.read(two.activationId, { upToSequence: 100 });
  expect(await ids({})).toEqual([shown.id]);
  expect((await messages.get(said.id)).readAt).not.toBeNull();
  expect((await approvals.list({ status: "REJECTED" })).data).toMatchObject([{ id: asked.id, agentSlug: "writer" }]);
  expect((await approvals.list({ status: "ANY" })).data.map(({ id }) => id)).toEqual([shown.id, asked.id]);

  // Requests of an ended activation cannot be answered.
  await world.sdk.activations.deactivate(two.activationId);
  expect(await ids({})).toEqual([]);
  expect((await approvals.list({ status: "CANCELLED" })).data.map(({ id }) => id)).toEqual([shown.id]);
});

test("a request moves from PENDING to EXPIRED in the instant it expires, and is listed once", async () => {
  await using world = await createWorld();
  await using made = await withAgent(world);
  const { id } = await made.agent.client.messages.create(question("now", { expiresInSeconds: 60 }));
  // Before any job stores it.
  await world.app.deps.queue.stop();
  await world.clock.advance("59s999ms");
  expect((await world.sdk.approvals.list()).pagination.total).toBe(1);
  await world.clock.advance("1ms");
  expect(await world.sdk.approvals.list()).toMatchObject({ data: [], pagination: { total: 0 } });
  expect((await world.sdk.messages.inbox()).pagination.total).toBe(0);
  for (const status of ["EXPIRED", "ANY"] as const)
    expect((await world.sdk.approvals.list({ status })).data).toMatchObject([{ id, approval: { status: "EXPIRED" } }]);
});

test("pages and cursors return each message once while others are answered", async () => {
  await using world = await createWorld({ flags: { "rate-limit": "message=10000/min" } });
  await using made = await withAgent(world);
  const { client } = made.agent;
  const ids: string[] = [];
  for (let n = 0; n < 17; n += 1) ids.unshift((await client.messages.create(n % 3 === 0 ? question(`${n}`) : { text: `${n}` })).id);
  const { messages } = world.sdk;
  const page = async (n: number) => (await messages.inbox({ limit: 7, page: n })).data.map(({ id }) => id);
  expect([...(await page(1)), ...(await page(2)), ...(await page(3))]).toEqual(ids);
  expect((await messages.inbox({ limit: 7, page: 3 })).pagination).toMatchObject({ total: 17, totalPages: 3, hasMore: false });
  const seen: string[] = [];
  for await (const { id, approval } of messages.inbox({ limit: 4 })) {
    seen.push(id);
    if (approval) await messages.answer(id, { decision: "approve" });
  }
  expect(seen).toEqual(ids);
  expect((await messages.inbox()).data.every(({ type }) => type === "TEXT")).toBe(true);
});

test("a workspace sees its own only", async () => {
  await using world = await createWorld();
  await using made = await withAgent(world);
  const { activationId, client } = made.agent;
  await client.messages.create(question("ours"));
  const other = await secondWorkspace(world);
  for (const path of ["messages", "approvals"]) {
    const answer = await world.fetch(`${world.url}/api/v1/marketplace/${path}?activationId=${activationId}`, {
      headers: { authorization: `Bearer ${other.apiKey}` },
    });
    expect(await answer.json()).toMatchObject({ data: [], pagination: { total: 0 } });
  }
});
