import type { AgentEvent } from "@mailsvc/sdk/contract";
import { expect, test } from "vitest";
import { hook } from "../../../test/hook.ts";
import { activateAgent, listAgent } from "../../../test/marketplace.ts";
import { createWorld, type TestWorld } from "../../testing.ts";
import { emit } from "./agent-webhooks.ts";

const answered = (world: TestWorld, activationId: string, messageId: string, runId = "run_one"): Promise<void> =>
  world.app.deps.db.tx((tx) =>
    emit(tx, world.app.deps, activationId, {
      type: "approval_response",
      at: world.clock.now(),
      runId,
      fields: { messageId, decision: "approved", comment: null, answeredAt: new Date(world.clock.now()).toISOString() },
    }),
  );

const failedRun = (world: TestWorld, activationId: string, runId: string): Promise<void> =>
  world.app.deps.db.tx((tx) =>
    emit(tx, world.app.deps, activationId, {
      type: "run_force_failed",
      at: world.clock.now(),
      runId,
      fields: { lastHeartbeatAt: new Date(world.clock.now()).toISOString() },
    }),
  );

const sequences = (calls: readonly { event: AgentEvent }[]): number[] => calls.map(({ event }) => event.sequence);

test("pause, resume, pause: all three arrive, in order, with rising timestamps", async () => {
  await using hooks = await hook();
  await using world = await createWorld();
  await listAgent(world.builder.sdk, hooks.url);
  const { id } = await activateAgent(world.sdk);
  // Before any of them is delivered.
  await world.sdk.activations.pause(id);
  await world.sdk.activations.resume(id);
  await world.sdk.activations.pause(id);
  await world.settle();
  expect(hooks.types()).toEqual(["agent.activated", "agent.paused", "agent.resumed", "agent.paused"]);
  expect(sequences(hooks.calls)).toEqual([1, 2, 3, 4]);
  const times = hooks.calls.map(({ event }) => event.timestamp);
  expect([...new Set(times)].sort()).toEqual(times);
  expect(new Set(hooks.calls.map(({ event }) => event.id)).size).toBe(4);
});

test("they arrive also when the first attempts fail", async () => {
  await using hooks = await hook();
  await using world = await createWorld();
  await listAgent(world.builder.sdk, hooks.url);
  const { id } = await activateAgent(world.sdk);
  await world.settle();
  hooks.script = (n) => (n < 4 ? 500 : 200);
  await world.sdk.activations.pause(id);
  await world.sdk.activations.resume(id);
  await world.sdk.activations.pause(id);
  await world.clock.advance("1m");
  expect(hooks.types().slice(1)).toEqual(["agent.paused", "agent.paused", "agent.paused", "agent.paused", "agent.resumed", "agent.paused"]);
});

test("two approvals in one run are two events", async () => {
  await using hooks = await hook();
  await using world = await createWorld();
  await listAgent(world.builder.sdk, hooks.url);
  const { id } = await activateAgent(world.sdk);
  await answered(world, id, "msg_a");
  await answered(world, id, "msg_b");
  await world.settle();
  const responses = hooks.calls.slice(1).map(({ event }) => event);
  expect(responses).toMatchObject([
    { type: "approval_response", runId: "run_one", messageId: "msg_a" },
    { type: "approval_response", runId: "run_one", messageId: "msg_b" },
  ]);
  expect(responses[0]?.id).not.toBe(responses[1]?.id);
  expect(responses[0]?.timestamp).not.toBe(responses[1]?.timestamp);
});

test("events of an activation never overtake each other, and do not wait for other activations", async () => {
  await using hooks = await hook();
  await using world = await createWorld();
  await listAgent(world.builder.sdk, hooks.url);
  await listAgent(world.builder.sdk, hooks.url, { slug: "other" });
  const one = await activateAgent(world.sdk);
  const other = await activateAgent(world.sdk, "other");
  await world.settle();
  const since = hooks.calls.length;
  hooks.script = (n, { event }) => (event.activationId === one.id && n < since + 6 ? 500 : 200);
  for (const message of ["msg_1", "msg_2", "msg_3"]) await answered(world, one.id, message);
  await answered(world, other.id, "msg_other");
  await world.settle();
  expect(hooks.calls.slice(since).filter(({ event }) => event.activationId === other.id)).toHaveLength(1);
  await world.clock.advance("1h");
  const mine = hooks.calls.slice(since).filter(({ event }) => event.activationId === one.id);
  const seen = sequences(mine);
  expect(seen).toEqual([...seen].sort((a, b) => a - b));
  expect(new Set(seen)).toEqual(new Set([2, 3, 4]));
});

test("after a pause for a webhook that never got the key, everything arrives in order, agent.resumed last", async () => {
  await using hooks = await hook(() => 500);
  await using world = await createWorld();
  await listAgent(world.builder.sdk, hooks.url);
  const { id } = await activateAgent(world.sdk);
  await answered(world, id, "msg_1");
  await world.clock.advance("40h");
  expect(await world.sdk.activations.get(id)).toMatchObject({ status: "paused" });
  // Events during the pause wait.
  await failedRun(world, id, "run_one");
  await world.clock.advance("1h");
  const before = hooks.calls.length;
  const keys = new Set(hooks.calls.map(({ event }) => event.type === "agent.activated" && event.apiKey));

  hooks.script = () => 200;
  await world.clock.advance("1h");
  expect(hooks.calls).toHaveLength(before);
  await world.sdk.activations.resume(id);
  await world.settle();
  const after = hooks.calls.slice(before).map(({ event }) => event);
  expect(after.map(({ type }) => type)).toEqual(["agent.activated", "approval_response", "run_force_failed", "agent.resumed"]);
  const [first] = after;
  // The same event with the same key.
  expect(keys).toContain(first?.type === "agent.activated" && first.apiKey);
  expect(first?.id).toBe(hooks.calls[0]?.event.id);
  expect(await world.sdk.activations.get(id)).toMatchObject({
    status: "active",
    webhookLastError: { type: "agent.activated", clearedAt: expect.stringMatching(/^2026/) },
  });
  expect((await world.builder.sdk.deliveries.list("writer", { state: "superseded" })).data.map(({ type }) => type)).toEqual([
    "agent.paused",
  ]);
});

test("the builder clears webhook_failure while user_paused stays: what waited is sent, without agent.resumed", async () => {
  await using hooks = await hook(() => 410);
  await using world = await createWorld();
  await listAgent(world.builder.sdk, hooks.url);
  const { id } = await activateAgent(world.sdk);
  await world.clock.advance("1m");
  await world.sdk.activations.pause(id);
  const before = hooks.calls.length;
  hooks.script = () => 200;
  await world.builder.sdk.listings.resume("writer", id);
  await world.settle();
  expect(hooks.types().slice(before)).toEqual(["agent.activated", "agent.paused"]);
  expect(await world.sdk.activations.get(id)).toMatchObject({ status: "paused", pauseReasons: ["user_paused"] });
  // Only the brand can clear the reason that is left.
  await expect(world.builder.sdk.listings.resume("writer", id)).rejects.toMatchObject({
    code: "pause_not_clearable",
    details: [{ code: "user_paused" }],
  });
  expect(await world.sdk.activations.resume(id)).toMatchObject({ status: "active" });
  // Nothing to clear: the same response as for an agent that was never paused.
  expect(await world.builder.sdk.listings.resume("writer", id)).toMatchObject({ status: "active" });
});

test("an agent.paused in the queue is superseded by agent.resumed", async () => {
  await using hooks = await hook();
  await using world = await createWorld();
  await listAgent(world.builder.sdk, hooks.url);
  const { id } = await activateAgent(world.sdk);
  await world.settle();
  hooks.script = () => 500;
  await world.sdk.activations.pause(id);
  await world.clock.advance("1m");
  hooks.script = () => 200;
  const before = hooks.calls.length;
  await world.sdk.activations.resume(id);
  await world.clock.advance("40h");
  expect(hooks.types().slice(before)).toEqual(["agent.resumed"]);
  expect((await world.builder.sdk.deliveries.list("writer")).data.map(({ type, state }) => [type, state])).toEqual([
    ["agent.resumed", "delivered"],
    ["agent.paused", "superseded"],
    ["agent.activated", "delivered"],
  ]);
});

test("what was committed before a deactivation arrives in its order, and agent.deactivated last", async () => {
  await using hooks = await hook();
  await using world = await createWorld();
  await listAgent(world.builder.sdk, hooks.url);
  // Before any of them is delivered; once with a webhook that fails first.
  for (const failures of [0, 3]) {
    const { id } = await activateAgent(world.sdk);
    await world.settle();
    const before = hooks.calls.length;
    hooks.script = (n) => (n < before + failures ? 500 : 200);
    await answered(world, id, "msg_1");
    await world.sdk.activations.pause(id);
    await world.sdk.activations.resume(id);
    await failedRun(world, id, "run_one");
    await world.sdk.activations.deactivate(id);
    await world.clock.advance("1m");
    const types = hooks.types().slice(before);
    expect(types.slice(failures)).toEqual(["approval_response", "agent.paused", "agent.resumed", "run_force_failed", "agent.deactivated"]);
    expect(new Set(types.slice(0, failures + 1))).toEqual(new Set(["approval_response"]));
  }
});

test("what waited behind a failing webhook arrives after the end too; the key that never arrived is cancelled and kept nowhere", async () => {
  await using hooks = await hook(() => 410);
  await using world = await createWorld();
  await listAgent(world.builder.sdk, hooks.url);
  const { id } = await activateAgent(world.sdk);
  await world.settle();
  // The activation is paused with webhook_failure: its events wait.
  await answered(world, id, "msg_1");
  await failedRun(world, id, "run_one");
  await world.settle();
  const before = hooks.calls.length;
  hooks.script = () => 200;
  await world.sdk.activations.deactivate(id);
  await world.settle();
  expect(hooks.types().slice(before)).toEqual(["run_force_failed", "approval_response", "agent.deactivated"]);
  const { db } = world.app.deps;
  const { webhookEvents: e } = db.read.t;
  const rows = await db.read.select({ type: e.type, state: e.state, sealed: e.sealed }).from(e).orderBy(e.sequence);
  expect(rows).toEqual([
    { type: "agent.activated", state: "cancelled", sealed: null },
    { type: "agent.paused", state: "dead", sealed: null },
    { type: "run_force_failed", state: "delivered", sealed: null },
    { type: "approval_response", state: "delivered", sealed: null },
    { type: "agent.deactivated", state: "delivered", sealed: null },
  ]);
});

test("an event whose 200 comes after the deactivation counts as delivered, also the one with the key", async () => {
  const held: (() => void)[] = [];
  await using hooks = await hook(() => (response) => void held.push(() => response.end()));
  await using world = await createWorld();
  await listAgent(world.builder.sdk, hooks.url);
  const { id } = await activateAgent(world.sdk);
  await expect.poll(() => held.length, { interval: 2 }).toBe(1);
  await world.sdk.activations.deactivate(id);
  expect((await world.builder.sdk.deliveries.list("writer", { type: "agent.activated" })).data).toMatchObject([{ state: "cancelled" }]);
  hooks.script = () => 200;
  held[0]?.();
  await world.settle();
  expect((await world.builder.sdk.deliveries.list("writer")).data).toMatchObject([
    { type: "agent.deactivated", state: "delivered", attempts: 1 },
    { type: "agent.activated", state: "delivered", attempts: 1 },
  ]);
  expect(await world.sdk.activations.get(id)).toMatchObject({ keyDeliveredAt: expect.any(String) });
});

test("a changed URL is used from the next attempt on", async () => {
  await using old = await hook(() => 500);
  await using moved = await hook();
  await using world = await createWorld();
  await listAgent(world.builder.sdk, old.url);
  await activateAgent(world.sdk);
  await world.settle();
  await world.builder.sdk.listings.update("writer", { webhookUrl: moved.url });
  await world.clock.advance("1m");
  expect(old.calls).toHaveLength(1);
  expect(moved.types()).toEqual(["agent.activated"]);
  expect(moved.calls[0]?.bytes.equals(old.calls[0]?.bytes ?? Buffer.alloc(0))).toBe(true);
});

test("an event that caused a pause arrives after agent.resumed, and before what was posted during the pause", async () => {
  await using hooks = await hook();
  await using world = await createWorld();
  await listAgent(world.builder.sdk, hooks.url, { permissions: ["agent:read_messages", "agent:write_runs"] });
  const { id } = await activateAgent(world.sdk);
  await world.settle();
  hooks.script = () => (hooks.types().at(-1) === "message.posted" ? 500 : 200);
  await world.sdk.messages.create(id, { text: "one" });
  await world.sdk.messages.create(id, { text: "two" });
  await world.clock.advance("40h");
  expect(await world.sdk.activations.get(id)).toMatchObject({ status: "paused", pauseReasons: ["webhook_failure"] });
  await world.sdk.messages.create(id, { text: "three" });
  const before = hooks.calls.length;
  hooks.script = () => 200;
  await world.sdk.activations.resume(id);
  await world.settle();
  const after = hooks.calls.slice(before).map(({ event }) => (event.type === "message.posted" ? event.text : event.type));
  expect(after).toEqual(["agent.resumed", "one", "two", "three"]);
  expect((await world.builder.sdk.deliveries.list("writer", { state: "dead" })).data).toEqual([]);
});

test("an agent.resumed that fails too pauses again, and what waits keeps waiting", async () => {
  await using hooks = await hook();
  await using world = await createWorld();
  await listAgent(world.builder.sdk, hooks.url, { permissions: ["agent:read_messages", "agent:write_runs"] });
  const { id } = await activateAgent(world.sdk);
  await world.settle();
  hooks.script = () => 500;
  await world.sdk.messages.create(id, { text: "one" });
  await world.clock.advance("40h");
  await world.sdk.activations.resume(id);
  await world.clock.advance("40h");
  expect(await world.sdk.activations.get(id)).toMatchObject({ status: "paused" });
  await world.sdk.activations.pause(id);
  await world.sdk.activations.resume(id);
  const before = hooks.calls.length;
  hooks.script = () => 200;
  await world.clock.advance("40h");
  const types = hooks.types().slice(before);
  expect([types.at(-1), types.indexOf("agent.resumed") < types.indexOf("message.posted")]).toEqual(["message.posted", true]);
});

test("a webhook that answers again gets what waited for it at once, also after a test.ping", async () => {
  await using hooks = await hook();
  await using world = await createWorld();
  await listAgent(world.builder.sdk, hooks.url, { permissions: ["agent:read_messages", "agent:write_runs"] });
  const { id } = await activateAgent(world.sdk);
  await world.settle();
  hooks.script = () => 503;
  await world.sdk.messages.create(id, { text: "one" });
  await world.clock.advance("30s");
  const before = hooks.calls.length;
  hooks.script = () => 200;
  expect(await world.builder.sdk.deliveries.test("writer")).toMatchObject({ ok: true });
  await world.settle();
  expect(hooks.types().slice(before)).toEqual(["test.ping", "message.posted"]);
  hooks.script = () => 500;
  await world.sdk.messages.create(id, { text: "two" });
  await world.clock.advance("30s");
  const refused = hooks.calls.length;
  hooks.script = () => 200;
  await world.builder.sdk.deliveries.test("writer");
  await world.settle();
  expect(hooks.types().slice(refused)).toEqual(["test.ping"]);
});

test("recovering sends all activations what their webhook missed, in order, after one repair", async () => {
  await using hooks = await hook();
  await using world = await createWorld();
  await listAgent(world.builder.sdk, hooks.url, { permissions: ["agent:read_messages", "agent:write_runs"] });
  await listAgent(world.builder.sdk, hooks.url, { slug: "other", permissions: ["agent:read_messages", "agent:write_runs"] });
  const dead = await activateAgent(world.sdk);
  const other = await activateAgent(world.sdk, "other");
  await world.settle();
  hooks.script = () => 500;
  await world.sdk.messages.create(dead.id, { text: "one" });
  await world.sdk.messages.create(dead.id, { text: "two" });
  await world.sdk.messages.create(other.id, { text: "elsewhere" });
  await world.clock.advance("40h");
  await world.sdk.messages.create(dead.id, { text: "three" });
  hooks.script = () => 200;
  const before = hooks.calls.length;
  // agent.paused is superseded; agent.resumed, the dead event and the one behind it, and what was held.
  expect(await world.builder.sdk.deliveries.recover("writer", {})).toEqual({ count: 4, resumed: 1 });
  await world.settle();
  const after = hooks.calls.slice(before).map(({ event }) => (event.type === "message.posted" ? event.text : event.type));
  expect(after).toEqual(["agent.resumed", "one", "two", "three"]);
  expect(await world.sdk.activations.get(dead.id)).toMatchObject({ status: "active" });
  expect(await world.sdk.activations.get(other.id)).toMatchObject({ status: "paused" });
  expect(await world.builder.sdk.deliveries.recover("writer", {})).toEqual({ count: 0, resumed: 0 });
});

test("recovering makes retries due with all attempts before them, of events since a time, for their builder only", async () => {
  await using hooks = await hook();
  await using world = await createWorld();
  await listAgent(world.builder.sdk, hooks.url, { permissions: ["agent:read_messages", "agent:write_runs"] });
  const { id } = await activateAgent(world.sdk);
  await world.settle();
  hooks.script = () => 500;
  await world.sdk.messages.create(id, { text: "one" });
  await world.clock.advance("3h");
  const soon = new Date(world.clock.now() + 1).toISOString();
  expect(await world.builder.sdk.deliveries.recover("writer", { since: soon })).toEqual({ count: 0, resumed: 0 });
  await world.sdk.messages.create(id, { text: "two" });
  expect(await world.builder.sdk.deliveries.recover("writer", { since: soon.replace(/\.\d+/, ".000") })).toMatchObject({ count: 2 });
  await world.settle();
  // All nine attempts follow, so that a repair that did not hold pauses no earlier than a first failure.
  const before = hooks.calls.length;
  await world.clock.advance("40h");
  expect(
    hooks
      .types()
      .slice(before)
      .filter((type) => type === "message.posted"),
  ).toHaveLength(8);
  await expect(world.sdk.deliveries.recover("writer", {})).rejects.toMatchObject({ code: "not_found" });
});

test("recovering sends an ended activation no earlier pause, and stops at ten a minute", async () => {
  await using hooks = await hook(() => 410);
  await using world = await createWorld();
  await listAgent(world.builder.sdk, hooks.url);
  const { id } = await activateAgent(world.sdk);
  await world.settle();
  await world.sdk.activations.deactivate(id);
  await world.settle();
  hooks.script = () => 200;
  const before = hooks.calls.length;
  expect(await world.builder.sdk.deliveries.recover("writer", {})).toEqual({ count: 1, resumed: 0 });
  await world.settle();
  expect(hooks.types().slice(before)).toEqual(["agent.deactivated"]);
  for (let i = 0; i < 9; i++) await world.builder.sdk.deliveries.recover("writer", {});
  await expect(world.builder.sdk.deliveries.recover("writer", {}, { maxRetries: 0 })).rejects.toMatchObject({ code: "rate_limited" });
});
