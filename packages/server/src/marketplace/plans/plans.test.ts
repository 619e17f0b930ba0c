import { describe, expect, test } from "vitest";
import { activateAgent, agentPath, getAgentKey, listAgent, listEvents, payFor, startReceiver } from "../../../test/marketplace.ts";
import { ask } from "../../../test/scenario.ts";
import { createWorld, type TestWorld } from "../../testing.ts";

const reasonsOf = async ({ sdk }: TestWorld, ids: string[]) =>
  Promise.all(
    ids.map(async (id) => {
      const { status, pauseReasons } = await sdk.activations.get(id);
      return [status, ...pauseReasons].join(" ");
    }),
  );

/** A world with this many agents on, oldest first. */
const withAgents = async (world: TestWorld, url: string, n: number): Promise<string[]> => {
  const ids: string[] = [];
  for (let i = 0; i < n; i += 1) {
    await listAgent(world.builder.sdk, url, { slug: `agent-${i}` });
    ids.push((await activateAgent(world.sdk, `agent-${i}`)).id);
  }
  return ids;
};

test("lists the plans; a new workspace has the default plan", async () => {
  await using world = await createWorld();
  expect((await world.sdk.plans.list()).data.map(({ plan, covers }) => [plan, covers])).toEqual([
    ["none", 0],
    ["free", 1],
    ["starter", 3],
    ["growth", 10],
    ["scale", null],
  ]);
  expect(await world.sdk.plans.get()).toEqual({ plan: "scale", covers: null, used: 0, changedAt: null });
  await expect(world.sdk.plans.change({ plan: "gold" as "free" })).rejects.toMatchObject({ code: "validation_error" });
});

test("a downgrade pauses the newest agents, an upgrade resumes them, and the preview tells both", async () => {
  await using hooks = await startReceiver();
  await using world = await createWorld();
  const ids = await withAgents(world, hooks.url, 4);
  const [oldest, second] = ids as [string, string];
  const lost = ids.slice(1);
  const key = await getAgentKey(world, hooks, second);
  const preview = await world.sdk.plans.preview({ plan: "free" });
  expect(preview).toEqual({ paused: lost, resumed: [], deactivated: [] });
  expect(await world.sdk.plans.change({ plan: "free" })).toEqual({
    plan: "free",
    covers: 1,
    used: 4,
    changedAt: "2026-01-01T00:00:00.000Z",
    change: preview,
  });
  expect(await reasonsOf(world, ids)).toEqual(["active", ...lost.map(() => "paused plan_downgrade")]);
  expect((await ask(world, { method: "GET", path: agentPath(second), key })).status).toBe(403);
  await expect(world.sdk.activations.resume(second)).rejects.toMatchObject({ code: "pause_not_clearable", status: 409 });
  expect((await listEvents(world, second)).at(-1)).toMatchObject({ type: "agent.paused", reason: "plan_downgrade" });
  expect((await world.sdk.plans.change({ plan: "starter" })).change).toEqual({ paused: [], resumed: ids.slice(1, 3), deactivated: [] });
  expect(await reasonsOf(world, ids)).toEqual(["active", "active", "active", "paused plan_downgrade"]);
  expect((await ask(world, { method: "GET", path: agentPath(second), key })).status).toBe(200);
  expect((await listEvents(world, second)).at(-1)?.type).toBe("agent.resumed");
  expect((await listEvents(world, oldest)).map((e) => e.type)).toEqual(["agent.activated"]);
});

test("reasons to pause are a set: a covering plan does not undo the brand's pause, nor the reverse", async () => {
  await using hooks = await startReceiver();
  await using world = await createWorld();
  const ids = await withAgents(world, hooks.url, 2);
  const newest = ids[1] as string;
  await world.sdk.activations.pause(newest);
  await world.sdk.plans.change({ plan: "free" });
  expect(await reasonsOf(world, [newest])).toEqual(["paused user_paused plan_downgrade"]);
  // Resume clears the brand's own reason and returns the one that is left.
  expect(await world.sdk.activations.resume(newest)).toMatchObject({ status: "paused", pauseReasons: ["plan_downgrade"] });
  await expect(world.sdk.activations.resume(newest)).rejects.toMatchObject({
    code: "pause_not_clearable",
    details: [{ code: "plan_downgrade" }],
  });
  await world.sdk.activations.pause(newest);
  await world.sdk.plans.change({ plan: "scale" });
  expect(await reasonsOf(world, [newest])).toEqual(["paused user_paused"]);
  await world.sdk.activations.resume(newest);
  expect((await listEvents(world, newest)).map((e) => e.type)).toEqual(["agent.activated", "agent.paused", "agent.resumed"]);
});

describe("freed cover goes to the oldest waiting agent", () => {
  test("when the brand turns an agent off", async () => {
    await using hooks = await startReceiver();
    await using world = await createWorld();
    const ids = await withAgents(world, hooks.url, 3);
    await world.sdk.plans.change({ plan: "free" });
    await world.sdk.activations.deactivate(ids[0] as string);
    expect(await reasonsOf(world, ids)).toEqual(["deactivated", "active", "paused plan_downgrade"]);
  });

  test("when a listing ends", async () => {
    await using hooks = await startReceiver();
    await using world = await createWorld();
    const ids = await withAgents(world, hooks.url, 3);
    await world.sdk.plans.change({ plan: "free" });
    await world.builder.sdk.listings.cancel("agent-0");
    await world.settle();
    expect(await reasonsOf(world, ids)).toEqual(["deactivated", "active", "paused plan_downgrade"]);
  });
});

test("a full plan refuses further agents, also concurrent ones", async () => {
  await using hooks = await startReceiver();
  await using world = await createWorld();
  await world.sdk.plans.change({ plan: "starter" });
  for (let i = 0; i < 6; i += 1) await listAgent(world.builder.sdk, hooks.url, { slug: `agent-${i}` });
  const results = await Promise.allSettled(Array.from({ length: 6 }, (_, i) => activateAgent(world.sdk, `agent-${i}`)));
  expect(results.filter((r) => r.status === "fulfilled")).toHaveLength(3);
  for (const r of results) if (r.status === "rejected") expect(r.reason).toMatchObject({ code: "plan_limit_reached", status: 402 });
  expect((await world.sdk.plans.get()).used).toBe(3);
  const [any] = (await world.sdk.activations.list()).data;
  await world.sdk.activations.deactivate(any?.id ?? "");
  expect((await world.sdk.plans.get()).used).toBe(2);
});

test("the plan none deactivates every agent and refuses new ones", async () => {
  await using hooks = await startReceiver();
  await using world = await createWorld();
  const ids = await withAgents(world, hooks.url, 2);
  const keys = await Promise.all(ids.map((id) => getAgentKey(world, hooks, id)));
  expect((await world.sdk.plans.change({ plan: "none" })).change.deactivated).toEqual(ids);
  for (const [i, id] of ids.entries()) {
    expect(await world.sdk.activations.get(id)).toMatchObject({ status: "deactivated", deactivationReason: "plan_downgrade" });
    expect((await ask(world, { method: "GET", path: agentPath(id), key: keys[i] ?? "" })).status).toBe(401);
    expect((await listEvents(world, id)).at(-1)).toMatchObject({ type: "agent.deactivated", reason: "plan_downgrade" });
  }
  await expect(activateAgent(world.sdk, "agent-0")).rejects.toMatchObject({ code: "plan_limit_reached" });
});

test("an agent without cover for 30 days is deactivated; cover in between restarts the time", async () => {
  await using hooks = await startReceiver();
  await using world = await createWorld();
  const ids = await withAgents(world, hooks.url, 3);
  for (const i of [0, 1, 2]) for (let month = 0; month < 3; month += 1) await payFor(world.builder.sdk, `agent-${i}`);
  await world.sdk.plans.change({ plan: "free" });
  await world.clock.advance("20d");
  await world.sdk.activations.deactivate(ids[0] as string);
  expect(await reasonsOf(world, ids)).toEqual(["deactivated", "active", "paused plan_downgrade"]);
  await world.clock.advance("10d");
  expect(await reasonsOf(world, ids)).toEqual(["deactivated", "active", "deactivated"]);
  expect((await listEvents(world, ids[2] as string)).at(-1)).toMatchObject({
    type: "agent.deactivated",
    reason: "plan_downgrade",
    timestamp: "2026-01-31T00:00:00.000Z",
  });
  expect((await world.sdk.plans.get()).used).toBe(1);
});
