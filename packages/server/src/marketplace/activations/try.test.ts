import { AgentClient, Mailsvc } from "@mailsvc/sdk";
import { expect, test } from "vitest";
import { connectAgent } from "../../../test/agent-at-work.ts";
import { SCOPES as LISTED, startReceiver } from "../../../test/marketplace.ts";
import { createWorld } from "../../testing.ts";

const SCOPES = [...LISTED, "agent:read_runs" as const];

test("a builder tries a draft in the own workspace, and nobody else sees it or turns it on", async () => {
  await using world = await createWorld();
  await using hooks = await startReceiver();
  const { sdk: builder } = world.builder;
  await builder.listings.create({ slug: "writer", name: "Writer", webhookUrl: hooks.url, permissions: SCOPES });
  const consent = { agentSlug: "writer", acceptedPermissions: SCOPES };
  await expect(world.sdk.activations.create(consent)).rejects.toMatchObject({ code: "not_found" });
  await expect(world.sdk.catalog.get("writer")).rejects.toMatchObject({ code: "not_found" });
  const tried = await builder.activations.create(consent);
  expect(tried).toMatchObject({ status: "active", agentSlug: "writer" });
  await expect(builder.activations.create(consent)).rejects.toMatchObject({ code: "already_active" });
  for (const sdk of [builder, world.sdk]) expect((await sdk.catalog.list()).data).toEqual([]);
  expect(await builder.catalog.get("writer")).toMatchObject({ slug: "writer", activationId: tried.id });
  expect((await builder.listings.get("writer")).state).toBe("DRAFT");
  expect((await builder.activations.list({ status: "active" })).pagination.total).toBe(1);
  expect((await builder.activations.list({ status: "deactivated" })).pagination.total).toBe(0);
  const agent = await connectAgent(world, hooks, tried.id);
  expect((await agent.client.runs.start({ title: "Try" })).status).toBe("RUNNING");
  // It goes on when the listing is paid, and ends with it.
  await builder.payments.confirm((await builder.listings.checkout("writer")).id);
  expect((await builder.activations.get(tried.id)).status).toBe("active");
  expect((await agent.client.runs.list()).pagination.total).toBe(1);
  const { id } = await world.sdk.activations.create(consent);
  await builder.listings.cancel("writer");
  for (const [sdk, one] of [
    [builder, tried.id],
    [world.sdk, id],
  ] as const)
    expect(await sdk.activations.get(one)).toMatchObject({ status: "deactivated", deactivationReason: "admin_revoke" });
  await expect(agent.client.runs.list()).rejects.toMatchObject({ code: "key_revoked" });
  await world.clock.advance("2m");
  expect(await agent.heard("agent.deactivated")).toHaveLength(1);
  // A listing is no draft again: the builder pays like before.
  await expect(builder.activations.create(consent)).rejects.toMatchObject({ code: "not_found" });
});

test("a tried agent is paused, resumed and turned off like any other, and its key ends with it", async () => {
  await using world = await createWorld();
  await using hooks = await startReceiver();
  const { sdk: builder } = world.builder;
  await builder.listings.create({ slug: "writer", name: "Writer", webhookUrl: hooks.url, permissions: SCOPES });
  const consent = { agentSlug: "writer", acceptedPermissions: SCOPES };
  const first = await builder.activations.create(consent);
  const { client, key } = await connectAgent(world, hooks, first.id);
  await builder.activations.pause(first.id);
  await expect(client.runs.start()).rejects.toMatchObject({ code: "activation_paused" });
  await builder.activations.resume(first.id);
  await client.runs.start();
  await builder.activations.deactivate(first.id);
  await expect(client.runs.list()).rejects.toMatchObject({ code: "key_revoked" });
  const second = await builder.activations.create(consent);
  expect(second.id).not.toBe(first.id);
  const old = new AgentClient({ activationId: second.id, apiKey: key, baseUrl: world.url, fetch: world.fetch, maxRetries: 0 });
  await expect(old.runs.list()).rejects.toMatchObject({ status: 401 });
});

test("the key of a tried agent comes over the connection of its builder, once, and to nobody else", async () => {
  await using world = await createWorld();
  const { sdk: builder } = world.builder;
  // Nothing answers there, as on a machine without a public address.
  const webhookUrl = "http://127.0.0.1:9/webhook";
  await builder.listings.create({ slug: "writer", name: "Writer", webhookUrl, permissions: SCOPES });
  const { id } = await builder.activations.create({ agentSlug: "writer", acceptedPermissions: SCOPES });
  const first = async (sdk: typeof builder, keys: boolean) => {
    for await (const { type, body } of sdk.deliveries.tail("writer", { after: `evt_${"0".repeat(26)}`, ...(keys && { keys }) }))
      return { type, body: JSON.parse(body) as { apiKey: string; activationId: string } };
    throw new Error("The stream has ended.");
  };
  expect((await first(builder, false)).body.apiKey).not.toMatch(/^\w{40,}$/);
  const { type, body } = await first(builder, true);
  expect([type, body.activationId]).toEqual(["agent.activated", id]);
  const client = new AgentClient({ activationId: id, apiKey: body.apiKey, baseUrl: world.url, fetch: world.fetch, maxRetries: 0 });
  expect((await client.runs.start({ title: "Try" })).status).toBe("RUNNING");
  const { key } = await builder.keys.create({ name: "reads", permissions: ["listings:read", "listings:write", "marketplace:read"] });
  const reader = new Mailsvc({ apiKey: key, baseUrl: world.url, fetch: world.fetch, maxRetries: 0 });
  await expect(first(reader, true)).rejects.toMatchObject({ code: "forbidden", details: [{ message: "marketplace:write" }] });
  expect((await first(reader, false)).body.apiKey).not.toBe(body.apiKey);
  // A draft whose webhook never answers is not paused: it is tried over the connection.
  await world.clock.advance("3d");
  expect((await builder.activations.get(id)).status).toBe("active");
  // The key of another workspace's activation stays with the webhook.
  await builder.payments.confirm((await builder.listings.checkout("writer")).id);
  const theirs = await world.sdk.activations.create({ agentSlug: "writer", acceptedPermissions: SCOPES });
  for await (const event of builder.deliveries.tail("writer", { after: `evt_${"0".repeat(26)}`, keys: true })) {
    if (event.activationId !== theirs.id) continue;
    const masked = (JSON.parse(event.body) as { apiKey: string }).apiKey;
    const other = new AgentClient({ activationId: theirs.id, apiKey: masked, baseUrl: world.url, fetch: world.fetch, maxRetries: 0 });
    await expect(other.runs.list()).rejects.toMatchObject({ status: 401 });
    break;
  }
});
