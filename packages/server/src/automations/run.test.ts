import type { NewAutomation } from "@mailsvc/sdk/contract";
import { and, eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { createWorld, type TestWorld } from "../testing.ts";

const waitAndReach: Pick<NewAutomation, "steps" | "connections"> = {
  steps: [
    { id: "wait", type: "delay", for: "1h" },
    { id: "goal", type: "goal" },
  ],
  connections: [
    { from: "trigger", to: "wait" },
    { from: "wait", to: "goal" },
  ],
};

async function enter({ sdk }: TestWorld, names: readonly string[]): Promise<void> {
  await sdk.contacts.import({ rows: names.map((name) => ({ email: `${name}@example.com` })), startAutomations: true });
}

test("a definition that cannot be run holds up no other entry, and fails its own after ten attempts", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const { db } = world.app.deps;
  const { id } = await sdk.automations.create({ name: "Broken", trigger: { type: "contact.created" }, ...waitAndReach });
  await sdk.automations.activate(id);
  await enter(world, ["broken"]);
  await sdk.automations.update(id, waitAndReach);
  await enter(world, ["a", "b", "c"]);
  await world.settle();
  const { automationVersions: v } = db.read.t;
  // As no version of the service can have written it.
  const broken = [{ id: "goal", type: "unknown" }] as unknown as NewAutomation["steps"];
  await db.tx(async (tx) => {
    await tx
      .update(v)
      .set({ steps: broken })
      .where(and(eq(v.automationId, id), eq(v.version, 1)));
  });
  await world.clock.advance("1h");
  expect(await sdk.automations.stats(id)).toMatchObject({ entered: 4, completed: 3, failed: 0, goalConversions: 3 });
  await world.clock.advance("8m");
  expect(await sdk.automations.stats(id)).toMatchObject({ completed: 3, failed: 0, inside: 1 });
  await world.clock.advance("1m");
  const [entry] = await sdk.automations.entries(id, { status: "FAILED" }).toArray();
  expect(entry).toMatchObject({ version: 1, reason: "error", path: [{ stepId: "wait" }] });
  expect(await sdk.jobs.list({ state: "dead" }).toArray()).toEqual([]);
});

test("hundreds of entries that are due together run in order, each once, whatever they were grouped with", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const { id } = await sdk.automations.create({ name: "Many", trigger: { type: "contact.created" }, ...waitAndReach });
  await sdk.automations.activate(id);
  const names = Array.from({ length: 450 }, (_, i) => `p${i}`);
  await enter(world, names);
  await world.clock.advance("30m");
  await enter(world, ["late"]);
  await world.clock.advance("30m");
  expect(await sdk.automations.stats(id)).toMatchObject({ entered: 451, completed: 450, inside: 1, goalConversions: 450 });
  const entries = await sdk.automations.entries(id, { status: "COMPLETED" }).toArray();
  expect(new Set(entries.map(({ contactId }) => contactId)).size).toBe(450);
  expect(entries.every(({ path, endedAt }) => path.length === 2 && endedAt === "2026-01-01T01:00:00.000Z")).toBe(true);
});

test("waiting entries leave nothing to do until they are due: no timer before that, and no job for each", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const { id } = await sdk.automations.create({ name: "Waiting", trigger: { type: "contact.created" }, ...waitAndReach });
  await sdk.automations.activate(id);
  await enter(
    world,
    Array.from({ length: 300 }, (_, i) => `p${i}`),
  );
  await world.settle();
  const jobs = await sdk.jobs.list({ state: "ready" }).toArray();
  const own = jobs.filter(({ kind }) => kind === "automations.run");
  expect(own.length).toBeLessThanOrEqual(3);
  expect(own.every(({ runAt }) => runAt === "2026-01-01T01:00:00.000Z")).toBe(true);
});

test("of the hundreds of tags that an import brings, the one that an automation listens to is noticed, as trigger, goal and awaited event", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const start = async (automation: NewAutomation): Promise<string> => {
    const { id } = await sdk.automations.create(automation);
    await sdk.automations.activate(id);
    return id;
  };
  const triggered = await start({ name: "Trigger", trigger: { type: "tag.added", tag: "vip" }, ...waitAndReach });
  const reached = await start({
    name: "Goal",
    trigger: { type: "contact.created" },
    goal: { type: "tag.added", tag: "vip" },
    steps: [{ id: "wait", type: "delay", for: "9d" }],
    connections: [{ from: "trigger", to: "wait" }],
  });
  const awaited = await start({
    name: "Wait",
    trigger: { type: "contact.created" },
    steps: [{ id: "wait", type: "wait_for_event", event: { type: "tag.added", tag: "vip" }, timeout: "9d" }],
    connections: [{ from: "trigger", to: "wait" }],
  });
  await enter(world, ["ada", "grace"]);
  await world.settle();
  const rows = ["ada", "grace"].map((name) => ({
    email: `${name}@example.com`,
    tags: [...Array.from({ length: 40 }, (_, i) => `${name} ${i}`), ...(name === "ada" ? ["VIP"] : [])],
  }));
  for (let i = 0; i < 20; i += 1) rows.push({ email: `p${i}@example.com`, tags: Array.from({ length: 40 }, (_, j) => `${i} ${j}`) });
  await sdk.contacts.import({ rows, startAutomations: true });
  await world.settle();
  expect(await sdk.automations.stats(triggered)).toMatchObject({ entered: 1 });
  expect(await sdk.automations.stats(reached)).toMatchObject({ entered: 22, goalConversions: 1 });
  expect(await sdk.automations.stats(awaited)).toMatchObject({ entered: 22, inside: 21, completed: 1 });
});
