import { expect, test } from "vitest";
import { hook, type Script } from "../../test/hook.ts";
import { countingHook, createActivations, emitResumed, waitForDeliveries } from "../../test/many-activations.ts";
import { activateAgent, listAgent } from "../../test/marketplace.ts";
import { jobsOf } from "../features.ts";
import { createWorld } from "../testing.ts";

/** A webhook that hangs at all paths but `/good`, and counts its open requests. */
const hanging = () => {
  const held = new Set<() => void>();
  const tally = { most: 0, hanging: true };
  const script: Script = () => (response, request) => {
    if (request.url?.endsWith("/good") || !tally.hanging) return void response.end();
    const free = (): void => {
      held.delete(free);
      response.end();
    };
    held.add(free);
    tally.most = Math.max(tally.most, held.size);
    response.on("close", () => held.delete(free));
  };
  const letGo = (): void => {
    tally.hanging = false;
    for (const free of [...held]) free();
  };
  return { script, tally, held, letGo };
};

test("hanging endpoints of one origin share ten slots; other endpoints there and elsewhere continue, and nothing is lost", async () => {
  const { script, tally, held, letGo } = hanging();
  await using shared = await hook(script);
  await using elsewhere = await hook();
  await using world = await createWorld();
  await listAgent(world.builder.sdk, `${shared.url}/good`);
  await activateAgent(world.sdk);
  await waitForDeliveries(shared, 1, world);
  const [neighbours, others] = [
    await createActivations(world, "writer", [`${shared.url}/good`], 20),
    await createActivations(
      world,
      "writer",
      Array.from({ length: 5 }, (_, i) => elsewhere.url.replace("webhook", String(i))),
      4,
    ),
  ];
  // The neighbour is quick: it has answered before.
  await emitResumed(world, neighbours.slice(0, 2));
  await world.settle();
  const stuck = await createActivations(
    world,
    "writer",
    Array.from({ length: 60 }, (_, i) => `${shared.url}/hangs/${i}`),
    3,
  );
  await emitResumed(world, stuck);
  await expect.poll(() => held.size, { interval: 5 }).toBe(10);
  const before = shared.calls.length;
  await emitResumed(world, others);
  await waitForDeliveries(elsewhere, others.length, world);
  await emitResumed(world, neighbours.slice(2));
  await waitForDeliveries(shared, before + 18, world);
  expect([held.size, tally.most]).toEqual([10, 10]);
  letGo();
  await world.settle();
  const { webhookEvents: e } = world.app.deps.db.read.t;
  const rows = await world.app.deps.db.read.select({ state: e.state, attempts: e.attempts }).from(e);
  expect(rows).toHaveLength(1 + 20 + 20 + 180);
  expect(new Set(rows.map(({ state, attempts }) => `${state} ${attempts}`))).toEqual(new Set(["delivered 1"]));
});

test("the endpoints of one origin share 64 slots", async () => {
  await using counting = await countingHook();
  const { hooks: shared } = counting;
  await using world = await createWorld();
  await listAgent(world.builder.sdk, shared.url);
  await activateAgent(world.sdk);
  const many = await createActivations(
    world,
    "writer",
    Array.from({ length: 8 }, (_, i) => `${shared.url}/${i}`),
    100,
  );
  await emitResumed(world, many);
  await world.settle();
  expect(shared.calls).toHaveLength(801);
  expect(counting.most()).toBeGreaterThan(16);
  expect(counting.most()).toBeLessThanOrEqual(64);
});

test("endpoints get their turn at an origin that is busy with another one, called before or not", async () => {
  await using shared = await hook(() => (response) => void setImmediate(() => response.end()));
  await using world = await createWorld();
  await listAgent(world.builder.sdk, shared.url);
  await activateAgent(world.sdk);
  await waitForDeliveries(shared, 1, world);
  const many = await createActivations(world, "writer", [`${shared.url}/many`], 800);
  const few = await createActivations(world, "writer", [`${shared.url}/called`, `${shared.url}/never`], 2);
  const { queue } = world.app.deps;
  await queue.stop();
  // Six events in each of the streams.
  for (let i = 0; i < 6; i += 1) await emitResumed(world, many);
  const first = new Map<string, number>();
  shared.script = (n, { event }) => {
    if (!first.has(event.activationId)) first.set(event.activationId, n);
    return 200;
  };
  await queue.start(jobsOf(world.app.deps), 4);
  await waitForDeliveries(shared, 200, world);
  const since: number[] = [];
  for (const some of [few.slice(0, 1), few]) {
    await emitResumed(world, some);
    since.push(shared.calls.length);
    await expect.poll(() => some.every((id) => first.has(id)), { interval: 2, timeout: 20_000 }).toBe(true);
    // They did not wait until the busy one was through.
    for (const id of some) expect(first.get(id)).toBeLessThan(4800);
  }
  expect(since.at(-1)).toBeLessThan(2800);
  await world.settle();
  expect(shared.calls).toHaveLength(1 + 4800 + 5);
});
