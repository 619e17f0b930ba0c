import { expect, test } from "vitest";
import { hook } from "../../test/hook.ts";
import { countingHook, createActivations, emitResumed, waitForDeliveries } from "../../test/many-activations.ts";
import { activateAgent, listAgent } from "../../test/marketplace.ts";
import { HOUR } from "../lib/units.ts";
import { createWorld } from "../testing.ts";
import { ATTEMPT_TIMEOUT_MS } from "./attempt.ts";
import { LEASE_MS } from "./streams.ts";

test("the key of an activation arrives, works, and its copy is erased", async () => {
  await using hooks = await hook();
  await using world = await createWorld();
  await listAgent(world.builder.sdk, hooks.url);
  const activation = await activateAgent(world.sdk);
  await world.settle();
  expect(hooks.calls).toHaveLength(1);
  const { event } = hooks.calls[0] ?? {};
  expect(event).toMatchObject({ type: "agent.activated", activationId: activation.id, runId: null, sequence: 1, agentSlug: "writer" });
  const key = event?.type === "agent.activated" ? event.apiKey : "";
  const self = await world.fetch(`${world.url}/api/agents/activations/${activation.id}`, { headers: { authorization: `Bearer ${key}` } });
  expect(self.status).toBe(200);
  expect(await world.sdk.activations.get(activation.id)).toMatchObject({ keyDeliveredAt: "2026-01-01T00:00:00.000Z" });
  const { db } = world.app.deps;
  expect(await db.read.select({ sealed: db.read.t.webhookEvents.sealed }).from(db.read.t.webhookEvents)).toEqual([{ sealed: null }]);
});

test("the key works before its event is answered", async () => {
  await using world = await createWorld();
  let status = 0;
  await using hooks = await hook((_n, { event }) => (response) => {
    const key = event.type === "agent.activated" ? event.apiKey : "";
    void world
      .fetch(`${world.url}/api/agents/activations/${event.activationId}`, { headers: { authorization: `Bearer ${key}` } })
      .then((answer) => {
        status = answer.status;
        response.end();
      });
  });
  await listAgent(world.builder.sdk, hooks.url);
  await activateAgent(world.sdk);
  await world.settle();
  expect(status).toBe(200);
});

test("a kept connection that the receiver has closed costs no attempt", async () => {
  // Answers one request per connection, and drops the next one unread.
  await using hooks = await hook((_n, { onConnection }) => (response, request) => {
    if (onConnection > 1) request.socket.destroy();
    else response.end();
  });
  await using world = await createWorld();
  await listAgent(world.builder.sdk, hooks.url);
  const { id } = await activateAgent(world.sdk);
  await world.settle();
  for (let n = 0; n < 3; n += 1) {
    await world.sdk.activations.pause(id);
    await world.settle();
    await world.sdk.activations.resume(id);
    await world.settle();
  }
  const deliveries = (await world.builder.sdk.deliveries.list("writer")).data;
  expect(deliveries).toHaveLength(7);
  for (const one of deliveries) expect(one).toMatchObject({ state: "delivered", attempts: 1 });
});

test("a retry that falls due just before the timer is set is not forgotten", async () => {
  await using hooks = await hook((n) => (n === 0 ? 500 : 200));
  await using world = await createWorld();
  await listAgent(world.builder.sdk, hooks.url);
  const { clock } = world.app.deps;
  const now = clock.now.bind(clock);
  let isLate = false;
  clock.now = () => {
    isLate ||= hooks.calls.length > 0 && (new Error().stack ?? "").includes("#setTimer");
    return now() + (isLate ? HOUR : 0);
  };
  await activateAgent(world.sdk);
  await waitForDeliveries(hooks, 2, world);
});

test("500 webhooks that hang, with 10 events each, do not delay one that works", async () => {
  await using hanging = await hook(() => () => {});
  await using good = await hook();
  await using world = await createWorld();
  await listAgent(world.builder.sdk, good.url);
  await activateAgent(world.sdk);
  await waitForDeliveries(good, 1, world);
  const stuck = await createActivations(
    world,
    "writer",
    // Each on its own host.
    Array.from({ length: 500 }, (_, i) => `http://w${i}.localhost:${hanging.port}/`),
    10,
  );
  const mine = await createActivations(world, "writer", [good.url], 40);
  const { real } = world.app.deps.clock;
  const began = real.now();
  await emitResumed(world, stuck);
  await waitForDeliveries(hanging, 400, world);
  const took: number[] = [];
  for (const [n, id] of mine.entries()) {
    const since = real.now();
    await emitResumed(world, [id]);
    await waitForDeliveries(good, n + 2, world);
    took.push(real.now() - since);
  }
  // Queued behind those that hang, each would take several times the limit of an attempt. On a busy machine one may take long.
  expect(took.toSorted((a, b) => a - b)[Math.floor(took.length / 2)]).toBeLessThan(ATTEMPT_TIMEOUT_MS);
  // One request each: no webhook gets another before the first has ended.
  const rounds = 1 + Math.floor((real.now() - began) / ATTEMPT_TIMEOUT_MS);
  expect(hanging.calls.length).toBeLessThanOrEqual(500 * rounds);
});

test("a webhook that answers gets up to 64 concurrent requests", async () => {
  await using counting = await countingHook();
  const { hooks } = counting;
  await using world = await createWorld();
  await listAgent(world.builder.sdk, hooks.url);
  await activateAgent(world.sdk);
  await emitResumed(world, await createActivations(world, "writer", [hooks.url], 600));
  await world.settle();
  expect(hooks.calls).toHaveLength(601);
  expect(counting.most()).toBeGreaterThan(16);
  expect(counting.most()).toBeLessThanOrEqual(64);
});

test("a webhook that begins to hang gets no further requests", async () => {
  await using hooks = await hook();
  await using world = await createWorld();
  await listAgent(world.builder.sdk, hooks.url);
  await activateAgent(world.sdk);
  const many = await createActivations(world, "writer", [hooks.url], 400);
  hooks.script = (n) => (n < 100 ? 200 : () => {});
  await emitResumed(world, many);
  await waitForDeliveries(hooks, 100, world);
  await world.app.deps.clock.real.sleep(300);
  // 64 of them hang; the others wait in the database.
  expect(hooks.calls.length).toBeLessThanOrEqual(100 + 64 + 1);
});

test("a queued event whose lease has ended is not sent, since another worker may have it", async () => {
  const held: (() => void)[] = [];
  await using hooks = await hook();
  await using world = await createWorld();
  await listAgent(world.builder.sdk, hooks.url);
  await activateAgent(world.sdk);
  await waitForDeliveries(hooks, 1, world);
  await world.settle();
  const many = await createActivations(world, "writer", [hooks.url], 40);
  await emitResumed(world, many.slice(0, 1));
  await world.settle();
  hooks.script = () => (response) => void held.push(() => response.end());
  await emitResumed(world, many.slice(1));
  await expect.poll(() => held.length, { interval: 2 }).toBe(2);
  const clock = world.clock.control;
  await clock.advanceTo(clock.now() + 2 * LEASE_MS, async () => {});
  hooks.script = () => 200;
  for (const answer of held.splice(0)) answer();
  await world.settle();
  const times = [...Map.groupBy(hooks.calls, ({ event }) => event.id).values()].map((some) => some.length);
  expect(times).toHaveLength(2 + 39);
  // The two in flight may be sent again.
  expect(times.filter((n) => n > 1).length).toBeLessThanOrEqual(2);
});

test("a new event does not postpone a stream that is due", async () => {
  await using hooks = await hook();
  await using world = await createWorld();
  await listAgent(world.builder.sdk, hooks.url);
  const { id } = await activateAgent(world.sdk);
  await world.settle();
  const { db, queue } = world.app.deps;
  const clock = world.clock.control;
  await queue.stop();
  const { webhookStreams: l } = db.read.t;
  const due: (number | null)[] = [];
  for (let i = 0; i < 2; i += 1) {
    await emitResumed(world, [id]);
    due.push((await db.read.select().from(l))[0]?.dueAt ?? null);
    await clock.advanceTo(clock.now() + 1000, async () => {});
  }
  expect(due).toEqual([clock.now() - 2000, clock.now() - 2000]);
});

test("a server that stops releases its claims and delivers after the next start", async () => {
  await using hooks = await hook(() => () => {});
  await using world = await createWorld();
  await listAgent(world.builder.sdk, hooks.url);
  const { id } = await activateAgent(world.sdk);
  await waitForDeliveries(hooks, 1, world);
  const { queue, clock } = world.app.deps;
  const since = clock.real.now();
  await queue.stop();
  // A second; the request that hangs would end after eight.
  expect(clock.real.now() - since).toBeLessThan(7000);
  // We aborted it, so it is no failure of the receiver.
  expect((await world.builder.sdk.deliveries.list("writer")).data).toMatchObject([{ state: "pending", attempts: 0 }]);
  hooks.script = () => 200;
  const { jobsOf } = await import("../features.ts");
  await queue.start(jobsOf(world.app.deps), 4);
  await world.settle();
  expect(hooks.types()).toEqual(["agent.activated", "agent.activated"]);
  expect(await world.sdk.activations.get(id)).toMatchObject({ keyDeliveredAt: expect.any(String) });
});

test("an event that cannot be decrypted is postponed without an attempt", async () => {
  await using hooks = await hook();
  await using world = await createWorld();
  await listAgent(world.builder.sdk, hooks.url);
  const { db, queue } = world.app.deps;
  await queue.stop();
  const { id } = await activateAgent(world.sdk);
  const [row] = await db.read.select().from(db.read.t.webhookEvents);
  const { webhookEvents: e } = db.read.t;
  await db.tx((tx) => tx.update(e).set({ sealed: Buffer.from("other bytes") }));
  const { jobsOf } = await import("../features.ts");
  await queue.start(jobsOf(world.app.deps), 4);
  await world.clock.advance("5m");
  expect(hooks.calls).toEqual([]);
  expect((await world.builder.sdk.deliveries.list("writer")).data).toMatchObject([{ state: "pending", attempts: 0 }]);
  await db.tx((tx) => tx.update(e).set({ sealed: row?.sealed ?? null }));
  await world.clock.advance("1m");
  expect(hooks.types()).toEqual(["agent.activated"]);
  expect(await world.sdk.activations.get(id)).toMatchObject({ status: "active" });
});
