import { createHmac } from "node:crypto";
import { ApiError, type Mailsvc } from "@mailsvc/sdk";
import { expect, test } from "vitest";
import { hook } from "../../../test/hook.ts";
import { activateAgent, listAgent } from "../../../test/marketplace.ts";
import { createWorld, type TestWorld } from "../../testing.ts";
import { emitAll } from "./agent-webhooks.ts";

const codeOf = async (call: Promise<unknown>): Promise<string> => {
  try {
    await call;
    return "ok";
  } catch (error) {
    if (error instanceof ApiError) return error.details[0]?.code ?? error.code;
    throw error;
  }
};

const onlyEvent = async (sdk: Mailsvc): Promise<string> => (await sdk.deliveries.list("writer")).data.at(-1)?.id ?? "";

test("a builder sees each event with its body and attempts, but never the key", async () => {
  await using hooks = await hook((n) => (n === 0 ? (response) => response.writeHead(500).end("out of <b>memory</b>\u0000") : 200));
  await using world = await createWorld();
  await listAgent(world.builder.sdk, hooks.url);
  const activation = await activateAgent(world.sdk);
  await world.settle();
  const waiting = (await world.builder.sdk.deliveries.list("writer")).data;
  expect(waiting).toMatchObject([
    {
      type: "agent.activated",
      activationId: activation.id,
      sequence: 1,
      state: "pending",
      attempts: 1,
      nextAttemptAt: "2026-01-01T00:00:01.000Z",
      settledAt: null,
    },
  ]);
  await world.clock.advance("1s");
  const detail = await world.builder.sdk.deliveries.get("writer", waiting[0]?.id ?? "");
  expect(detail).toMatchObject({
    state: "delivered",
    attempts: 2,
    nextAttemptAt: null,
    settledAt: "2026-01-01T00:00:01.000Z",
    log: [
      {
        attempt: 1,
        at: "2026-01-01T00:00:00.000Z",
        class: "http_status",
        httpStatus: 500,
        message: "The webhook answered 500.",
        answer: "out of <b>memory</b>\uFFFD",
      },
      { attempt: 2, at: "2026-01-01T00:00:01.000Z", class: "ok", httpStatus: 200, message: null, answer: null },
    ],
  });
  const { event } = hooks.calls[0] ?? {};
  const key = event?.type === "agent.activated" ? event.apiKey : "";
  expect(key).toMatch(/^ms_agent_/);
  expect(JSON.parse(detail.body)).toEqual({ ...event, apiKey: `***${key.slice(-4)}` });
  expect(JSON.stringify(detail)).not.toContain(key);
});

test("events are filtered by state, type and activation, and visible to their builder only", async () => {
  await using hooks = await hook();
  await using world = await createWorld();
  await listAgent(world.builder.sdk, hooks.url);
  const { id } = await activateAgent(world.sdk);
  await world.sdk.activations.pause(id);
  await world.settle();
  const types = async (filter: object) => (await world.builder.sdk.deliveries.list("writer", filter)).data.map(({ type }) => type);
  expect(await types({})).toEqual(["agent.paused", "agent.activated"]);
  expect(await types({ type: "agent.paused" })).toEqual(["agent.paused"]);
  expect(await types({ state: "dead" })).toEqual([]);
  expect(await types({ activationId: id, state: "delivered" })).toEqual(["agent.paused", "agent.activated"]);
  expect(await types({ activationId: "act_of_somebody_else" })).toEqual([]);
  expect(await types({ activationId: id, state: "delivered", type: "agent.activated" })).toEqual(["agent.activated"]);
  const paged = await world.builder.sdk.deliveries.list("writer", { activationId: id, limit: 1 }).toArray();
  expect(paged.map(({ type }) => type)).toEqual(["agent.paused", "agent.activated"]);
  const cursor = Buffer.from("#999999999999999").toString("base64url");
  expect(await types({ activationId: id, cursor })).toEqual(["agent.paused", "agent.activated"]);
  expect(await codeOf(world.builder.sdk.deliveries.list("somebody-elses"))).toBe("not_found");
  expect(await codeOf(world.builder.sdk.deliveries.get("writer", "evt_unknown"))).toBe("not_found");
  expect(await codeOf(world.builder.sdk.deliveries.redeliver("writer", "evt_unknown"))).toBe("not_found");
});

test("a repeat with the same Idempotency-Key sends nothing", async () => {
  await using hooks = await hook();
  await using world = await createWorld();
  await listAgent(world.builder.sdk, hooks.url);
  const first = await world.builder.sdk.deliveries.test("writer", { idempotencyKey: "once" });
  expect(await world.builder.sdk.deliveries.test("writer", { idempotencyKey: "once" })).toEqual(first);
  expect(hooks.calls).toHaveLength(1);
  await world.builder.sdk.deliveries.test("writer", { idempotencyKey: "another" });
  expect(hooks.calls).toHaveLength(2);
});

test("redeliver sends the same bytes as one more attempt", async () => {
  await using hooks = await hook();
  await using world = await createWorld();
  await listAgent(world.builder.sdk, hooks.url);
  const { id } = await activateAgent(world.sdk);
  await world.sdk.activations.pause(id);
  await world.settle();
  const [paused] = (await world.builder.sdk.deliveries.list("writer", { type: "agent.paused" })).data;
  const again = await world.builder.sdk.deliveries.redeliver("writer", paused?.id ?? "");
  expect(again).toMatchObject({ state: "delivered", attempts: 2, log: [{ attempt: 1 }, { attempt: 2, class: "ok" }] });
  const [first, second] = hooks.calls.slice(1);
  expect(second?.bytes.equals(first?.bytes ?? Buffer.alloc(0))).toBe(true);
  expect(second?.headers["x-service-attempt"]).toBe("2");
  // A failure changes nothing.
  hooks.script = () => 500;
  expect(await world.builder.sdk.deliveries.redeliver("writer", paused?.id ?? "")).toMatchObject({ state: "delivered", attempts: 3 });
  await world.clock.advance("40h");
  expect(hooks.calls).toHaveLength(4);
  expect(await world.sdk.activations.get(id)).toMatchObject({ pauseReasons: ["user_paused"], webhookLastError: null });
});

test("redeliver sends a key again only until it was acknowledged", async () => {
  await using hooks = await hook(() => 410);
  await using world = await createWorld();
  await listAgent(world.builder.sdk, hooks.url);
  const { id } = await activateAgent(world.sdk);
  await world.settle();
  const event = await onlyEvent(world.builder.sdk);
  hooks.script = () => 200;
  expect(await world.builder.sdk.deliveries.redeliver("writer", event)).toMatchObject({ type: "agent.activated", state: "delivered" });
  expect(await world.sdk.activations.get(id)).toMatchObject({ keyDeliveredAt: "2026-01-01T00:00:00.000Z" });
  expect(await codeOf(world.builder.sdk.deliveries.redeliver("writer", event))).toBe("key_already_delivered");
  const keys = hooks.calls.flatMap(({ event: e }) => (e.type === "agent.activated" ? [e.apiKey] : []));
  expect(new Set(keys).size).toBe(1);
});

test("the oldest waiting event can be redelivered; those after it cannot", async () => {
  await using hooks = await hook(() => 500);
  await using world = await createWorld();
  await listAgent(world.builder.sdk, hooks.url);
  const { id } = await activateAgent(world.sdk);
  await world.sdk.activations.pause(id);
  await world.clock.advance("1m");
  const [paused, activated] = (await world.builder.sdk.deliveries.list("writer")).data;
  expect([paused?.attempts, paused?.waitsFor, activated?.waitsFor]).toEqual([0, activated?.id, null]);
  expect(paused?.nextAttemptAt).toBe(activated?.nextAttemptAt);
  expect(Date.parse(paused?.nextAttemptAt ?? "")).toBeGreaterThan(world.clock.now());
  expect(await codeOf(world.builder.sdk.deliveries.redeliver("writer", paused?.id ?? ""))).toBe("not_its_turn");
  hooks.script = () => 200;
  await world.builder.sdk.deliveries.redeliver("writer", activated?.id ?? "");
  await world.settle();
  // Its stream continues at once.
  expect((await world.builder.sdk.deliveries.list("writer")).data.map(({ state }) => state)).toEqual(["delivered", "delivered"]);
});

test("what waits for the end of a pause has no next attempt, and waits for no other event", async () => {
  await using hooks = await hook();
  await using world = await createWorld();
  await listAgent(world.builder.sdk, hooks.url);
  const { id } = await activateAgent(world.sdk);
  await world.settle();
  hooks.script = () => 410;
  const { deps } = world.app;
  const fields = { wakeupId: "wku_1", reason: "again", payload: null, scheduledFor: "2026-01-01T00:00:00.000Z" };
  const wakeup = { type: "agent.wakeup" as const, at: deps.clock.now(), fields };
  await deps.db.tx(async (tx) => {
    await emitAll(tx, deps, [id], wakeup);
    await emitAll(tx, deps, [id], wakeup);
  });
  await world.settle();
  const wakeups = async () => (await world.builder.sdk.deliveries.list("writer", { type: "agent.wakeup" })).data.reverse();
  expect(await wakeups()).toMatchObject([
    { state: "dead", nextAttemptAt: null, waitsFor: null },
    { state: "pending", attempts: 0, nextAttemptAt: null, waitsFor: null },
  ]);
  hooks.script = () => 200;
  await world.builder.sdk.listings.resume("writer", id);
  await world.settle();
  expect((await wakeups()).map(({ state }) => state)).toEqual(["delivered", "delivered"]);
});

test("redeliver refuses a cancelled event, but not the other events of an activation that has ended", async () => {
  await using hooks = await hook(() => 410);
  await using world = await createWorld();
  await listAgent(world.builder.sdk, hooks.url);
  const { id } = await activateAgent(world.sdk);
  await world.settle();
  await world.sdk.activations.deactivate(id);
  await world.settle();
  hooks.script = () => 200;
  const [deactivated, paused, activated] = (await world.builder.sdk.deliveries.list("writer")).data;
  expect([deactivated, paused, activated].map((d) => d?.state)).toEqual(["dead", "dead", "cancelled"]);
  expect(await codeOf(world.builder.sdk.deliveries.redeliver("writer", activated?.id ?? ""))).toBe("cancelled");
  expect(await world.builder.sdk.deliveries.redeliver("writer", paused?.id ?? "")).toMatchObject({ state: "delivered" });
  expect(await world.builder.sdk.deliveries.redeliver("writer", deactivated?.id ?? "")).toMatchObject({ state: "delivered" });
});

test("test.ping is signed like any event, works for drafts and stores nothing", async () => {
  await using hooks = await hook((_n) => (response) => response.writeHead(200).end("pong"));
  await using world = await createWorld();
  const listing = await world.builder.sdk.listings.create({ slug: "draft", name: "Draft", webhookUrl: hooks.url, permissions: [] });
  const told = await world.builder.sdk.deliveries.test("draft");
  expect(told).toMatchObject({ ok: true, class: "ok", httpStatus: 200, message: null, answer: "pong" });
  const [call] = hooks.calls;
  expect(call?.event).toEqual({
    id: told.eventId,
    type: "test.ping",
    activationId: "act_test",
    runId: null,
    sequence: 0,
    timestamp: "2026-01-01T00:00:00.000Z",
    test: true,
  });
  expect(call?.headers["x-service-signature"]).toBe(
    createHmac("sha256", listing.webhookSecret)
      .update(call?.bytes ?? "")
      .digest("hex"),
  );
  expect((await world.builder.sdk.deliveries.list("draft")).data).toEqual([]);
});

test("test.ping returns a hint, pauses nothing and is limited", async () => {
  await using hooks = await hook();
  await using world = await createWorld();
  await listAgent(world.builder.sdk, hooks.url);
  const { id } = await activateAgent(world.sdk);
  await world.settle();
  hooks.script = () => 401;
  for (let n = 0; n < 10; n += 1)
    expect(await world.builder.sdk.deliveries.test("writer")).toMatchObject({
      ok: false,
      class: "signature_rejected",
      httpStatus: 401,
      hint: expect.stringContaining("AGENT_WEBHOOK_SECRET"),
    });
  expect(await codeOf(world.builder.sdk.deliveries.test("writer", { maxRetries: 0 }))).toBe("rate_limited");
  expect(hooks.calls).toHaveLength(11);
  await world.clock.advance("1m");
  expect((await world.builder.sdk.deliveries.test("writer")).ok).toBe(false);
  expect(await world.sdk.activations.get(id)).toMatchObject({ status: "active", webhookLastError: null });
});

const verifies = (
  secret: string,
  call: { headers: Record<string, unknown>; bytes: Buffer } | undefined,
  header = "x-service-signature",
): boolean =>
  call?.headers[header] ===
  createHmac("sha256", secret)
    .update(call?.bytes ?? "")
    .digest("hex");

const verifiesStandard = (secret: string, call: { headers: Record<string, unknown>; bytes: Buffer } | undefined): boolean => {
  const { "webhook-id": id, "webhook-timestamp": at, "webhook-signature": list } = call?.headers ?? {};
  const expected = createHmac("sha256", Buffer.from(secret.slice(6), "base64"))
    .update(`${id}.${at}.`)
    .update(call?.bytes ?? "")
    .digest("base64");
  return String(list).split(" ").includes(`v1,${expected}`);
};

test("during a rotation both kinds of signatures can be verified", async () => {
  await using hooks = await hook();
  await using world = await createWorld();
  const { webhookSecret: old } = await listAgent(world.builder.sdk, hooks.url);
  const ping = async () => {
    await world.builder.sdk.deliveries.test("writer");
    return hooks.calls.at(-1);
  };
  const before = await ping();
  expect([verifies(old, before), verifiesStandard(old, before)]).toEqual([true, true]);
  const { webhookSecret: next } = await world.builder.sdk.listings.rotateSecret("writer", { overlapSeconds: 3600 });
  const during = await ping();
  expect([verifies(old, during), verifies(next, during)]).toEqual([true, false]);
  expect(verifies(next, during, "x-service-signature-next")).toBe(true);
  expect([verifiesStandard(old, during), verifiesStandard(next, during)]).toEqual([true, true]);
  await world.clock.advance("1h");
  const after = await ping();
  expect([verifies(old, after), verifies(next, after)]).toEqual([false, true]);
  expect(after?.headers).not.toHaveProperty("x-service-signature-next");
  expect([verifiesStandard(old, after), verifiesStandard(next, after)]).toEqual([false, true]);
});

test("keys and secrets that a receiver echoes are redacted", async () => {
  await using world: TestWorld = await createWorld();
  await using hooks = await hook(
    (_n, { bytes }) =>
      (response) =>
        response.writeHead(500).end(`${bytes} ${secret}`),
  );
  let secret = "";
  secret = (await listAgent(world.builder.sdk, hooks.url)).webhookSecret;
  await activateAgent(world.sdk);
  await world.clock.advance("3m");
  const detail = await world.builder.sdk.deliveries.get("writer", await onlyEvent(world.builder.sdk));
  expect(detail.log.length).toBeGreaterThan(4);
  expect(detail.log[0]?.answer).toContain('"apiKey":"***"');
  const { db } = world.app.deps;
  const rows = [...(await db.read.select().from(db.read.t.webhookEvents)), ...(await db.read.select().from(db.read.t.webhookAttempts))];
  const stored = JSON.stringify(rows.map((row) => ({ ...row, sealed: null }))) + JSON.stringify(detail);
  expect(stored).not.toMatch(/ms_agent_/);
  expect(stored).not.toContain("whsec_");
});
