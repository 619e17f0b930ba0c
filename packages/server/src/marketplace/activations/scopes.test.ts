import type { AgentScope } from "@mailsvc/sdk/contract";
import { expect, test } from "vitest";
import { withAgent } from "../../../test/agent-at-work.ts";
import { secondWorkspace } from "../../../test/tenant.ts";
import { createWorld, type TestWorld } from "../../testing.ts";

const edit = (world: TestWorld, ...permissions: AgentScope[]) => world.builder.sdk.listings.update("writer", { permissions });
const forbidden = { code: "forbidden", status: 403 };
const changed = (version: number) => ({
  code: "invalid_state",
  status: 409,
  details: [{ path: "version", code: "version_changed", message: String(version) }],
});

test("a scope that a listing adds is asked for, counts once the brand accepts it, and the agent is told", async () => {
  await using world = await createWorld();
  await using made = await withAgent(world, ["brand:read"]);
  const { client, activationId, heard } = made.agent;
  expect(await world.sdk.activations.get(activationId)).toMatchObject({ version: 1, update: null, scopes: ["brand:read"] });
  expect((await edit(world, "brand:read", "agent:post_messages", "agent:wakeups")).version).toBe(2);
  await expect(client.messages.create({ text: "Hello" })).rejects.toMatchObject(forbidden);
  expect(await world.sdk.activations.get(activationId)).toMatchObject({
    version: 1,
    scopes: ["brand:read"],
    update: {
      version: 2,
      keptAt: null,
      scopes: [
        { scope: "agent:post_messages", grants: "Post messages and ask for approvals" },
        { scope: "agent:wakeups", grants: "Schedule wakeups" },
      ],
    },
  });
  const accepted = await world.sdk.activations.accept(activationId, { version: 2 });
  expect(accepted).toMatchObject({ version: 2, update: null, scopes: ["brand:read", "agent:post_messages", "agent:wakeups"] });
  expect(await world.sdk.activations.accept(activationId, { version: 2 })).toEqual(accepted);
  await client.messages.create({ text: "Hello" });
  expect((await client.self.get()).scopes).toEqual(accepted.scopes);
  expect(await heard("agent.scopes_changed")).toMatchObject([
    { activationId, runId: null, scopes: accepted.scopes, added: ["agent:post_messages", "agent:wakeups"] },
  ]);
});

test("a scope that a listing removes ends at once, and has to be accepted again when it comes back", async () => {
  await using world = await createWorld();
  await using made = await withAgent(world, ["brand:read", "agent:post_messages"]);
  const { client, activationId } = made.agent;
  await client.messages.create({ text: "Hello" });
  await edit(world, "brand:read");
  await expect(client.messages.create({ text: "Hello" })).rejects.toMatchObject(forbidden);
  expect(await world.sdk.activations.get(activationId)).toMatchObject({ scopes: ["brand:read"], update: null });
  expect((await world.builder.sdk.listings.activations("writer")).data).toMatchObject([{ scopes: ["brand:read"] }]);
  await edit(world, "agent:post_messages", "brand:read");
  await expect(client.messages.create({ text: "Hello" })).rejects.toMatchObject(forbidden);
  expect(await world.sdk.activations.get(activationId)).toMatchObject({
    scopes: ["brand:read"],
    update: { version: 3, scopes: [{ scope: "agent:post_messages" }] },
  });
  await world.sdk.activations.accept(activationId, { version: 3 });
  await client.messages.create({ text: "Hello" });
});

test("accepting names the version that was seen: what changed since then grants nothing", async () => {
  await using world = await createWorld();
  await using made = await withAgent(world, ["brand:read"]);
  const { activationId, heard } = made.agent;
  const { activations } = world.sdk;
  await edit(world, "brand:read", "agent:wakeups");
  await edit(world, "brand:read", "agent:wakeups", "agent:post_messages");
  for (const verb of ["accept", "keep"] as const)
    for (const version of [1, 2, 4]) await expect(activations[verb](activationId, { version })).rejects.toMatchObject(changed(3));
  expect(await activations.get(activationId)).toMatchObject({ version: 1, scopes: ["brand:read"], update: { keptAt: null } });
  expect(await heard("agent.scopes_changed")).toEqual([]);
  const other = await secondWorkspace(world);
  await expect(other.sdk.activations.accept(activationId, { version: 3 })).rejects.toMatchObject({ code: "not_found" });
  for (const version of [0, -1, 1.5, 2 ** 60])
    await expect(activations.accept(activationId, { version })).rejects.toMatchObject({ status: 400, details: [{ path: "version" }] });
});

test("a brand that keeps what it accepted is asked again only for what is new since then", async () => {
  await using world = await createWorld();
  await using made = await withAgent(world, ["brand:read"]);
  const { activationId, client } = made.agent;
  const { activations } = world.sdk;
  await edit(world, "brand:read", "agent:wakeups");
  const kept = await activations.keep(activationId, { version: 2 });
  expect(kept).toMatchObject({ version: 1, scopes: ["brand:read"], update: { keptAt: "2026-01-01T00:00:00.000Z" } });
  await world.clock.advance("1h");
  expect((await activations.keep(activationId, { version: 2 })).update).toEqual(kept.update);
  await world.builder.sdk.listings.update("writer", { name: "Another name", description: "And more" });
  await edit(world, "agent:wakeups", "brand:read");
  expect((await activations.get(activationId)).update).toMatchObject({ version: 2, keptAt: "2026-01-01T00:00:00.000Z" });
  await edit(world, "agent:wakeups");
  expect((await activations.get(activationId)).update).toMatchObject({ version: 3, keptAt: "2026-01-01T00:00:00.000Z" });
  await edit(world, "agent:wakeups", "agent:post_messages");
  expect((await activations.get(activationId)).update).toMatchObject({ version: 4, keptAt: null });
  await activations.accept(activationId, { version: 4 });
  await client.messages.create({ text: "Hello" });
});

test("a paused agent is told after it was resumed, and one that has ended cannot be granted anything", async () => {
  await using world = await createWorld();
  await using made = await withAgent(world, ["brand:read"]);
  const { activationId, heard } = made.agent;
  await edit(world, "brand:read", "agent:wakeups");
  await world.sdk.activations.pause(activationId);
  await world.sdk.activations.accept(activationId, { version: 2 });
  expect(await heard("agent.scopes_changed")).toEqual([]);
  await world.sdk.activations.resume(activationId);
  expect((await heard("agent.paused", "agent.resumed", "agent.scopes_changed")).map(({ type }) => type)).toEqual([
    "agent.paused",
    "agent.resumed",
    "agent.scopes_changed",
  ]);
  await edit(world, "brand:read", "agent:wakeups", "agent:post_messages");
  const off = await world.sdk.activations.deactivate(activationId);
  expect(off).toMatchObject({ update: null, scopes: ["brand:read", "agent:wakeups"] });
  for (const verb of ["accept", "keep"] as const)
    await expect(world.sdk.activations[verb](activationId, { version: 3 })).rejects.toMatchObject({ code: "invalid_state" });
});

test("edits, accepts and ends at the same moment leave each agent with what its brand named", async () => {
  await using world = await createWorld();
  await using made = await withAgent(world, ["brand:read"]);
  const { activationId, heard } = made.agent;
  const { activations } = world.sdk;
  const scopes: AgentScope[] = ["agent:wakeups", "agent:post_messages", "agent:write_runs", "agent:read_runs"];
  for (const [at, scope] of scopes.entries()) {
    const { version } = await world.builder.sdk.listings.get("writer");
    const [edits, accepts] = [
      [edit(world, "brand:read", scope), edit(world, "brand:read", ...scopes.slice(0, at))],
      [version, version + 1, version + 2].map((named) => activations.accept(activationId, { version: named })),
    ];
    await Promise.allSettled([...edits, ...accepts]);
    await Promise.all(edits);
    for (const done of await Promise.allSettled(accepts))
      if (done.status === "rejected") expect(done.reason).toMatchObject({ code: "invalid_state" });
  }
  const { version: last } = await world.builder.sdk.listings.get("writer");
  expect(last).toBeLessThanOrEqual(9);
  const [ended, accepted] = await Promise.allSettled([
    activations.deactivate(activationId),
    activations.accept(activationId, { version: (await edit(world, ...scopes)).version }),
  ]);
  expect(ended.status).toBe("fulfilled");
  if (accepted.status === "rejected") expect(accepted.reason).toMatchObject({ code: "invalid_state" });
  const told = await heard("agent.scopes_changed", "agent.deactivated");
  expect(told.at(-1)?.type).toBe("agent.deactivated");
});
