import { describe, expect, test } from "vitest";
import { activateAgent, agentPath, getAgentKey, listAgent, listEvents, SCOPES, startReceiver } from "../../../test/marketplace.ts";
import { ask } from "../../../test/scenario.ts";
import { secondWorkspace } from "../../../test/tenant.ts";
import { createWorld } from "../../testing.ts";

const self = (world: Parameters<typeof ask>[0], id: string, key: string) => ask(world, { method: "GET", path: agentPath(id), key });
const codeOf = async (response: Response): Promise<[number, string | undefined]> => [
  response.status,
  ((await response.json()) as { error?: { code: string } }).error?.code,
];

test("a brand turns an agent on: its builder gets a key, once, and the key opens its own activation", async () => {
  await using hooks = await startReceiver();
  await using world = await createWorld();
  await listAgent(world.builder.sdk, hooks.url);
  const activation = await activateAgent(world.sdk);
  expect(activation).toMatchObject({ agentSlug: "writer", status: "active", pauseReasons: [], scopes: SCOPES, keyDeliveredAt: null });
  expect(activation.keyPreview).toMatch(/^ms_agent_\w\w…\w{4}$/);
  const [event] = await listEvents(world, activation.id);
  expect(event).toMatchObject({
    type: "agent.activated",
    activationId: activation.id,
    runId: null,
    sequence: 1,
    timestamp: "2026-01-01T00:00:00.000Z",
    agentSlug: "writer",
    organizationName: "brand",
    scopes: SCOPES,
  });
  const key = await getAgentKey(world, hooks, activation.id);
  expect(key).toMatch(/^ms_agent_[0-9A-Za-z]{49}$/);
  const answer = await self(world, activation.id, key);
  expect(await answer.json()).toMatchObject({ activationId: activation.id, agentSlug: "writer", status: "active", scopes: SCOPES });
  expect((await world.sdk.catalog.get("writer")).activationId).toBe(activation.id);
});

test("the key stands nowhere in clear: not in the database, not in any answer", async () => {
  await using hooks = await startReceiver();
  await using world = await createWorld();
  const { webhookSecret } = await listAgent(world.builder.sdk, hooks.url);
  const activation = await activateAgent(world.sdk);
  const key = await getAgentKey(world, hooks, activation.id);
  const { read } = world.app.deps.db;
  const everything = JSON.stringify(
    [
      await read.select().from(read.t.activations),
      await read.select().from(read.t.webhookEvents),
      await read.select().from(read.t.listings),
      await read.select().from(read.t.idempotency),
      await read.select().from(read.t.webhookAttempts),
    ],
    (_name, value: unknown) => (Buffer.isBuffer(value) ? value.toString("latin1") : value),
  );
  expect(everything).not.toContain(key);
  expect(everything).not.toContain(webhookSecret);
  expect(everything).toContain(`***${key.slice(-4)}`);
  expect(JSON.stringify([await world.sdk.activations.get(activation.id), await world.builder.sdk.listings.get("writer")])).not.toContain(
    key.slice(12),
  );
});

describe("turning an agent on is refused", () => {
  test.each([
    ["an agent nobody has listed", { agentSlug: "nobody", acceptedPermissions: SCOPES }, 404, "not_found", []],
    ["a draft", { agentSlug: "draft", acceptedPermissions: [] }, 404, "not_found", []],
    [
      "consent that leaves scopes out",
      { agentSlug: "writer", acceptedPermissions: ["brand:read"] },
      400,
      "validation_error",
      ["acceptedPermissions missing_scope"],
    ],
    ["consent that is missing", { agentSlug: "writer" }, 400, "validation_error", ["acceptedPermissions required"]],
    [
      "scopes that do not exist",
      { agentSlug: "writer", acceptedPermissions: ["contacts:read"] },
      400,
      "validation_error",
      ["acceptedPermissions[0] invalid_value"],
    ],
    [
      "a scope named twice",
      { agentSlug: "writer", acceptedPermissions: ["brand:read", "brand:read"] },
      400,
      "validation_error",
      ["acceptedPermissions duplicate"],
    ],
    ["an unknown field", { agentSlug: "writer", acceptedPermissions: SCOPES, key: "mine" }, 400, "validation_error", ["key unknown_field"]],
    ["a slug that is none", { agentSlug: "No Slug!", acceptedPermissions: SCOPES }, 400, "validation_error", ["agentSlug invalid_format"]],
    [
      "a limit below zero",
      { agentSlug: "writer", acceptedPermissions: SCOPES, creditLimit: -1 },
      400,
      "validation_error",
      ["creditLimit too_small"],
    ],
  ] as const)("for %s", async (_what, body, status, code, details) => {
    await using world = await createWorld();
    await listAgent(world.builder.sdk, "http://127.0.0.1:9/");
    await world.builder.sdk.listings.create({ slug: "draft", name: "Draft", webhookUrl: "http://127.0.0.1:9/", permissions: [] });
    const response = await ask(world, { path: "/api/v1/marketplace/activations", body });
    const { error } = (await response.json()) as { error: { code: string; details: { path: string; code: string }[] } };
    expect([response.status, error.code, error.details.map((d) => `${d.path} ${d.code}`)]).toEqual([status, code, details]);
    expect((await world.sdk.activations.list()).pagination.total).toBe(0);
  });

  test("while it is on already, with the id of the activation that is", async () => {
    await using hooks = await startReceiver();
    await using world = await createWorld();
    await listAgent(world.builder.sdk, hooks.url);
    const { id } = await activateAgent(world.sdk);
    await expect(activateAgent(world.sdk)).rejects.toMatchObject({
      code: "already_active",
      details: [{ code: "already_active", message: id }],
    });
  });
});

test("more scopes than the agent asks for are not granted", async () => {
  await using hooks = await startReceiver();
  await using world = await createWorld();
  await listAgent(world.builder.sdk, hooks.url, { permissions: ["brand:read"] });
  const activation = await world.sdk.activations.create({
    agentSlug: "writer",
    acceptedPermissions: ["brand:read", "agent:post_messages"],
  });
  expect(activation.scopes).toEqual(["brand:read"]);
});

test("of many who turn the same agent on at once, one does", async () => {
  await using hooks = await startReceiver();
  await using world = await createWorld();
  await listAgent(world.builder.sdk, hooks.url);
  const results = await Promise.allSettled(Array.from({ length: 20 }, () => activateAgent(world.sdk)));
  const won = results.filter((r) => r.status === "fulfilled");
  expect(won).toHaveLength(1);
  for (const r of results) if (r.status === "rejected") expect(r.reason).toMatchObject({ code: "already_active", status: 409 });
  expect((await world.sdk.activations.list()).pagination.total).toBe(1);
});

test("a paused agent's key is refused and works again afterwards; a deactivated one's never does", async () => {
  await using hooks = await startReceiver();
  await using world = await createWorld();
  await listAgent(world.builder.sdk, hooks.url);
  const { id } = await activateAgent(world.sdk);
  const key = await getAgentKey(world, hooks, id);
  expect(await world.sdk.activations.pause(id)).toMatchObject({ status: "paused", pauseReasons: ["user_paused"] });
  expect(await codeOf(await self(world, id, key))).toEqual([403, "activation_paused"]);
  expect(await world.sdk.activations.pause(id)).toMatchObject({ status: "paused", pauseReasons: ["user_paused"] });
  expect(await world.sdk.activations.resume(id)).toMatchObject({ status: "active", pauseReasons: [], pausedAt: null });
  expect((await self(world, id, key)).status).toBe(200);
  expect(await world.sdk.activations.resume(id)).toMatchObject({ status: "active" });
  expect(await world.sdk.activations.deactivate(id)).toMatchObject({ status: "deactivated", deactivationReason: "user_deactivated" });
  expect(await codeOf(await self(world, id, key))).toEqual([401, "key_revoked"]);
  expect(await world.sdk.activations.deactivate(id)).toMatchObject({ status: "deactivated", deactivationReason: "user_deactivated" });
  const { pause, resume, update } = world.sdk.activations;
  for (const call of [() => pause(id), () => resume(id), () => update(id, { creditLimit: 5 })])
    await expect(call()).rejects.toMatchObject({ code: "invalid_state", status: 409 });
  const events = await listEvents(world, id);
  expect(events.map((e) => [e.sequence, e.type, "reason" in e ? e.reason : null])).toEqual([
    [1, "agent.activated", null],
    [2, "agent.paused", "user_paused"],
    [3, "agent.resumed", null],
    [4, "agent.deactivated", "user_deactivated"],
  ]);
  expect(new Set(events.map((e) => e.timestamp)).size).toBe(4);
  const again = await activateAgent(world.sdk);
  expect(again.id).not.toBe(id);
  expect(await getAgentKey(world, hooks, again.id)).not.toBe(key);
});

describe("who may come in", () => {
  test("by kind of key, state, path and scope, in that order", async () => {
    await using hooks = await startReceiver();
    await using world = await createWorld();
    await listAgent(world.builder.sdk, hooks.url);
    await listAgent(world.builder.sdk, hooks.url, { slug: "other" });
    const [mine, other] = [await activateAgent(world.sdk), await activateAgent(world.sdk, "other")];
    const [key, otherKey] = [await getAgentKey(world, hooks, mine.id), await getAgentKey(world, hooks, other.id)];
    const revoked = await world.sdk.keys.create({ name: "gone", permissions: ["keys:read"] });
    await world.sdk.keys.revoke(revoked.id);
    const rows: [string, string, string | null, number, string | undefined][] = [
      ["its own key", agentPath(mine.id), key, 200, undefined],
      ["no key", agentPath(mine.id), null, 401, "unauthorized"],
      ["a developer key", agentPath(mine.id), world.apiKey, 403, "forbidden"],
      ["a revoked developer key", agentPath(mine.id), revoked.key, 401, "key_revoked"],
      ["a mistyped key", agentPath(mine.id), `${key.slice(0, -1)}!`, 401, "unauthorized"],
      ["a key with a wrong checksum", agentPath(mine.id), `${key.slice(0, -1)}${key.endsWith("a") ? "b" : "a"}`, 401, "unauthorized"],
      ["the key of another activation", agentPath(mine.id), otherKey, 404, "not_found"],
      ["a path of nobody", agentPath("act_nobody"), key, 404, "not_found"],
      ["an agent's key elsewhere", "/api/v1/contacts", key, 403, "forbidden"],
      ["an agent's key at a send", "/api/v1/me", key, 403, "forbidden"],
      ["an agent's key at the marketplace", "/api/v1/marketplace/activations", key, 403, "forbidden"],
    ];
    for (const [what, path, as, status, code] of rows)
      expect([what, ...(await codeOf(await ask(world, { method: "GET", path, key: as })))]).toEqual([what, status, code]);
    await world.sdk.activations.pause(mine.id);
    expect(await codeOf(await self(world, other.id, key))).toEqual([403, "activation_paused"]);
    await world.sdk.activations.deactivate(mine.id);
    expect(await codeOf(await self(world, other.id, key))).toEqual([401, "key_revoked"]);
    expect(await codeOf(await ask(world, { method: "GET", path: "/api/v1/me", key }))).toEqual([403, "forbidden"]);
  });
});

test("another workspace sees and moves nothing of this one", async () => {
  await using hooks = await startReceiver();
  await using world = await createWorld();
  await listAgent(world.builder.sdk, hooks.url);
  const { id } = await activateAgent(world.sdk);
  const { apiKey: key } = await secondWorkspace(world);
  const at = `/api/v1/marketplace/activations/${id}`;
  expect(await codeOf(await ask(world, { method: "GET", path: at, key }))).toEqual([404, "not_found"]);
  for (const verb of ["pause", "resume", "deactivate"])
    expect(await codeOf(await ask(world, { path: `${at}/${verb}`, key }))).toEqual([404, "not_found"]);
  expect(await codeOf(await ask(world, { method: "PATCH", path: at, key, body: { creditLimit: 1 } }))).toEqual([404, "not_found"]);
  const listing = "/api/v1/marketplace/listings/writer";
  expect(await codeOf(await ask(world, { method: "GET", path: listing, key }))).toEqual([404, "not_found"]);
  for (const rest of ["/cancel", "/checkout", "/webhook-secret/rotate", `/activations/${id}/resume`])
    expect(await codeOf(await ask(world, { path: listing + rest, key }))).toEqual([404, "not_found"]);
  expect((await world.sdk.activations.get(id)).status).toBe("active");
  expect((await world.builder.sdk.listings.get("writer")).state).toBe("LISTED");
});

test("two brands have their own activations and keys, and the builder sees their names and nothing more", async () => {
  await using hooks = await startReceiver();
  await using world = await createWorld();
  await listAgent(world.builder.sdk, hooks.url);
  const mine = await activateAgent(world.sdk);
  const second = await secondWorkspace(world);
  const response = await ask(world, {
    path: "/api/v1/marketplace/activations",
    key: second.apiKey,
    body: { agentSlug: "writer", acceptedPermissions: SCOPES },
  });
  const theirs = (await response.json()) as { id: string };
  const tab = await world.builder.sdk.listings.activations("writer");
  expect(tab.data.map(({ id, organizationName }) => [id, organizationName])).toEqual([
    [theirs.id, "other"],
    [mine.id, "brand"],
  ]);
  expect(JSON.stringify(tab)).not.toContain(second.workspaceId);
  expect((await getAgentKey(world, hooks, mine.id)) === (await getAgentKey(world, hooks, theirs.id))).toBe(false);
});

test("pause, resume and deactivate in any interleaving leave one final state and gapless events", async () => {
  await using hooks = await startReceiver();
  await using world = await createWorld();
  await listAgent(world.builder.sdk, hooks.url);
  for (let round = 0; round < 10; round += 1) {
    const { id } = await activateAgent(world.sdk);
    const { pause, resume, deactivate } = world.sdk.activations;
    await Promise.allSettled([pause(id), resume(id), pause(id), deactivate(id), resume(id), pause(id)]);
    expect(await world.sdk.activations.get(id)).toMatchObject({ status: "deactivated", deactivationReason: "user_deactivated" });
    const events = await listEvents(world, id);
    expect(events.map((e) => e.sequence)).toEqual(events.map((_, i) => i + 1));
    expect(events.at(-1)?.type).toBe("agent.deactivated");
    const lifecycle = events.slice(1, -1).map((e) => e.type);
    expect(lifecycle).toEqual(lifecycle.map((_, i) => (i % 2 === 0 ? "agent.paused" : "agent.resumed")));
  }
});

test("a limit of credits is set, and lifted", async () => {
  await using hooks = await startReceiver();
  await using world = await createWorld();
  await listAgent(world.builder.sdk, hooks.url);
  const { id } = await activateAgent(world.sdk);
  expect(await world.sdk.activations.update(id, { creditLimit: 500 })).toMatchObject({ creditLimit: 500 });
  expect(await world.sdk.activations.update(id, { creditLimit: null })).toMatchObject({ creditLimit: null });
});
