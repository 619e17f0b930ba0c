import { expect, test } from "vitest";
import { type Hook, hook } from "../../../test/hook.ts";
import { activateAgent, listAgent, listEvents } from "../../../test/marketplace.ts";
import { createWorld, type TestWorld } from "../../testing.ts";

const START = Date.parse("2026-01-01T00:00:00.000Z");

/** Times at which the requests came, in ms since the start of the world's clock. */
const clocked = (hooks: Hook, world: TestWorld, status: (n: number) => number): number[] => {
  const times: number[] = [];
  hooks.script = (n) => {
    times.push(world.clock.now() - START);
    return status(n);
  };
  return times;
};

const PLAN = [0, 1000, 3000, 7000, 19_000, 167_000, 1_975_000, 24_001_000, 110_401_000];

test("attempts follow the documented schedule to the millisecond, then the activation is paused", async () => {
  await using hooks = await hook();
  await using world = await createWorld();
  const times = clocked(hooks, world, () => 500);
  await listAgent(world.builder.sdk, hooks.url);
  const activation = await activateAgent(world.sdk);
  await world.clock.advance("40h");
  const last = PLAN.at(-1) as number;
  // Nine attempts of the event, then four of agent.paused, which is not queued while held.
  expect(times).toEqual([...PLAN, last, last + 1000, last + 3000, last + 7000]);
  expect(hooks.types()).toEqual([...PLAN.map(() => "agent.activated"), ...Array(4).fill("agent.paused")]);

  const error = {
    eventId: hooks.calls[0]?.event.id,
    type: "agent.activated",
    at: new Date(START + last).toISOString(),
    attempts: 9,
    class: "http_status",
    httpStatus: 500,
    message: "The webhook answered 500.",
    answer: null,
    clearedAt: null,
  };
  const brand = await world.sdk.activations.get(activation.id);
  expect(brand).toMatchObject({ status: "paused", pauseReasons: ["webhook_failure"], keyDeliveredAt: null, webhookLastError: error });
  const builder = await world.builder.sdk.listings.activations("writer");
  expect(builder.data).toMatchObject([{ id: activation.id, status: "paused", webhookLastError: error }]);
});

test("attempts have the same bytes, signature and event time, and rising numbers", async () => {
  await using hooks = await hook(() => 503);
  await using world = await createWorld();
  await listAgent(world.builder.sdk, hooks.url);
  await activateAgent(world.sdk);
  await world.clock.advance("3m");
  expect(hooks.calls).toHaveLength(6);
  const same = (of: (call: Hook["calls"][number]) => unknown): number => new Set(hooks.calls.map(of)).size;
  expect(same(({ bytes }) => bytes.toString("hex"))).toBe(1);
  for (const name of ["x-service-signature", "x-service-timestamp", "x-service-event-id", "webhook-id"])
    expect(same(({ headers }) => headers[name])).toBe(1);
  expect(hooks.calls.map(({ headers }) => headers["x-service-attempt"])).toEqual(["1", "2", "3", "4", "5", "6"]);
  // Real time, in which six attempts of three minutes took an instant.
  for (const { headers } of hooks.calls) expect(Math.abs(Date.now() / 1000 - Number(headers["webhook-timestamp"]))).toBeLessThan(60);
  expect(hooks.calls[0]?.event.timestamp).toBe("2026-01-01T00:00:00.000Z");
});

test("a delivery after failures ends the schedule and erases the key", async () => {
  await using hooks = await hook();
  await using world = await createWorld();
  const times = clocked(hooks, world, (n) => (n < 5 ? 500 : 200));
  await listAgent(world.builder.sdk, hooks.url);
  const { id } = await activateAgent(world.sdk);
  await world.clock.advance("40h");
  expect(times).toEqual(PLAN.slice(0, 6));
  expect(await world.sdk.activations.get(id)).toMatchObject({
    status: "active",
    keyDeliveredAt: new Date(START + 167_000).toISOString(),
    webhookLastError: null,
  });
  const [delivery] = (await world.builder.sdk.deliveries.list("writer")).data;
  expect(delivery).toMatchObject({
    state: "delivered",
    attempts: 6,
    nextAttemptAt: null,
    settledAt: new Date(START + 167_000).toISOString(),
  });
});

test("410 gives an event up at once; its answer is for the builder alone", async () => {
  await using hooks = await hook(() => (response) => void response.writeHead(410).end("moved away"));
  await using world = await createWorld();
  await listAgent(world.builder.sdk, hooks.url);
  const { id } = await activateAgent(world.sdk);
  await world.settle();
  expect(hooks.types()).toEqual(["agent.activated", "agent.paused"]);
  expect(await world.sdk.activations.get(id)).toMatchObject({
    pauseReasons: ["webhook_failure"],
    webhookLastError: { attempts: 1, httpStatus: 410, answer: null },
  });
  const builder = await world.builder.sdk.listings.activations("writer");
  expect(builder.data).toMatchObject([{ id, webhookLastError: { httpStatus: 410, answer: "moved away" } }]);
});

test("Retry-After of an overloaded receiver is respected", async () => {
  await using hooks = await hook();
  await using world = await createWorld();
  const times: number[] = [];
  hooks.script = (n) => {
    times.push(world.clock.now() - START);
    return n === 0 ? (response) => void response.writeHead(429, { "retry-after": "20" }).end() : 200;
  };
  await listAgent(world.builder.sdk, hooks.url);
  await activateAgent(world.sdk);
  await world.clock.advance("10m");
  expect(times).toEqual([0, 20_000]);
});

test("undeliverable agent.paused and agent.deactivated pause nothing", async () => {
  await using hooks = await hook();
  await using world = await createWorld();
  await listAgent(world.builder.sdk, hooks.url);
  const { id } = await activateAgent(world.sdk);
  await world.settle();
  hooks.script = () => 500;
  await world.sdk.activations.pause(id);
  await world.clock.advance("40h");
  expect(await world.sdk.activations.get(id)).toMatchObject({ pauseReasons: ["user_paused"], webhookLastError: null });
  await world.sdk.activations.deactivate(id);
  await world.clock.advance("40h");
  expect(await world.sdk.activations.get(id)).toMatchObject({ status: "deactivated", webhookLastError: null });
  expect((await world.builder.sdk.deliveries.list("writer")).data.map(({ type, state }) => [type, state])).toEqual([
    ["agent.deactivated", "dead"],
    ["agent.paused", "dead"],
    ["agent.activated", "delivered"],
  ]);
});

test("a restart changes neither the bytes nor the schedule", async () => {
  await using hooks = await hook(() => 500);
  await using world = await createWorld();
  await listAgent(world.builder.sdk, hooks.url);
  const { id } = await activateAgent(world.sdk);
  await world.clock.advance("10s");
  expect(hooks.calls).toHaveLength(4);
  const [before] = await listEvents(world, id);
  const { queue } = world.app.deps;
  await queue.stop();
  const times = clocked(hooks, world, () => 200);
  // Restart the workers.
  const { jobsOf } = await import("../../features.ts");
  await queue.start(jobsOf(world.app.deps), 4);
  await world.clock.advance("1m");
  expect(times).toEqual([19_000]);
  expect(hooks.calls.at(-1)?.event).toEqual(before);
});
