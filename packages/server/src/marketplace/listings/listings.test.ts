import { describe, expect, test } from "vitest";
import { activateAgent, agentPath, getAgentKey, listAgent, payFor, SCOPES, startReceiver } from "../../../test/marketplace.ts";
import { ask, type Scenario, scenarios } from "../../../test/scenario.ts";
import { keyFor, secondWorkspace } from "../../../test/tenant.ts";
import { createWorld } from "../../testing.ts";
import { getSigningSecrets } from "../../webhooks/secrets.ts";
import { listingById } from "./store.ts";

const path = "/api/v1/marketplace/listings";
const good = { slug: "writer", name: "Writer", description: "Writes.", webhookUrl: "http://127.0.0.1:9/hook", permissions: SCOPES };

const refused = (name: string, body: Record<string, unknown>, ...details: string[]): Scenario => ({
  name,
  path,
  body: { ...good, ...body },
  status: 400,
  code: "validation_error",
  details,
});

scenarios(
  "a listing that cannot be",
  [
    refused("without a name", { name: undefined }, "name required"),
    refused("with a blank name", { name: "  " }, "name too_small"),
    refused("with a line break in its name", { name: "a\nb" }, "name invalid_characters"),
    refused("with U+0000 in its description", { description: "a\0b" }, "description invalid_characters"),
    refused("with a lone surrogate in its description", { description: "a\ud800" }, "description invalid_characters"),
    refused("with a name that cannot be seen", { name: "\u200b\u3164" }, "name invalid_characters"),
    refused("with a name that turns what is next to it", { name: "a\u202eb" }, "name invalid_characters"),
    refused("with U+2028 in its name", { name: "a\u2028b" }, "name invalid_characters"),
    refused("with a name of 101 characters", { name: "a".repeat(101) }, "name too_big"),
    refused("with capitals in its slug", { slug: "Writer" }, "slug invalid_format"),
    refused("with a hyphen at the end of its slug", { slug: "writer-" }, "slug invalid_format"),
    refused("with a slug of 65 characters", { slug: "a".repeat(65) }, "slug invalid_format"),
    refused("with a slash in its slug", { slug: "a/b" }, "slug invalid_format"),
    refused("with an unknown scope", { permissions: ["contacts:read"] }, "permissions[0] invalid_value"),
    refused("with a scope twice", { permissions: ["brand:read", "brand:read"] }, "permissions duplicate"),
    refused("without scopes", { permissions: undefined }, "permissions required"),
    refused("with an unknown field", { state: "LISTED" }, "state unknown_field"),
    refused("with its own price", { price: 1 }, "price unknown_field"),
    refused("without a webhook", { webhookUrl: undefined }, "webhookUrl required"),
    refused("with a webhook that is no URL", { webhookUrl: "nonsense" }, "webhookUrl invalid_url"),
    refused("with U+0000 in its webhook", { webhookUrl: "https://agent.example.com/\0" }, "webhookUrl invalid_url"),
    refused("with a tab in its webhook", { webhookUrl: "https://agent.exam\tple.com/" }, "webhookUrl invalid_url"),
    refused("with a line break after its webhook", { webhookUrl: "https://agent.example.com/\n" }, "webhookUrl invalid_url"),
    refused("with a lone surrogate in its webhook", { webhookUrl: "https://agent.example.com/\ud800" }, "webhookUrl invalid_url"),
    refused("with a webhook by ftp", { webhookUrl: "ftp://agent.example.com/" }, "webhookUrl invalid_url"),
    refused("with a password in its webhook", { webhookUrl: "https://a:b@agent.example.com/" }, "webhookUrl invalid_url"),
    refused("with a webhook in a private network", { webhookUrl: "https://10.0.0.1/" }, "webhookUrl forbidden_url"),
    refused("with the address of cloud metadata", { webhookUrl: "https://169.254.169.254/" }, "webhookUrl forbidden_url"),
    refused("with a private address in other words", { webhookUrl: "https://[::ffff:10.0.0.1]/" }, "webhookUrl forbidden_url"),
    refused("with plain HTTP to the world", { webhookUrl: "http://agent.example.com/" }, "webhookUrl forbidden_url"),
    { name: "without a key", path, key: null, body: good, status: 401, code: "unauthorized", lacks: ["whsec_"] },
    { name: "that is nobody's", method: "GET", path: `${path}/nobody`, status: 404, code: "not_found" },
    { name: "changed, that is nobody's", method: "PATCH", path: `${path}/nobody`, body: {}, status: 404, code: "not_found" },
    { name: "paid for, that is nobody's", path: `${path}/nobody/checkout`, status: 404, code: "not_found" },
    { name: "cancelled, that is nobody's", path: `${path}/nobody/cancel`, status: 404, code: "not_found" },
    { name: "rotated, that is nobody's", path: `${path}/nobody/webhook-secret/rotate`, body: {}, status: 404, code: "not_found" },
    { name: "with a filter that is none", method: "GET", path: `${path}?state=PUBLISHED`, status: 400, code: "validation_error" },
  ],
  { afterwards: async (world) => expect((await world.sdk.listings.list()).pagination.total).toBe(0) },
);

describe("in production", () => {
  test.each(["http://127.0.0.1:4000/", "https://localhost/", "https://[::1]/", "https://2130706433/"])(
    "%s is no webhook",
    async (webhookUrl) => {
      await using world = await createWorld({ dev: false });
      const response = await ask(world, { path, body: { ...good, webhookUrl } });
      expect([response.status, await response.json()]).toMatchObject([
        400,
        { error: { details: [{ path: "webhookUrl", code: "forbidden_url" }] } },
      ]);
    },
  );
});

test("a draft shows its secret once, is in no catalog, and reserves its slug", async () => {
  await using world = await createWorld();
  const made = await world.sdk.listings.create(good);
  expect(made).toMatchObject({
    state: "DRAFT",
    price: { amount: 2900, currency: "usd", interval: "month" },
    listedAt: null,
    expiresAt: null,
  });
  expect(made.webhookSecret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  const { webhookSecret, ...shown } = made;
  expect(await world.sdk.listings.get("writer")).toEqual(shown);
  expect(JSON.stringify(await world.sdk.listings.list())).not.toContain(webhookSecret);
  expect((await world.sdk.catalog.list()).data).toEqual([]);
  await expect(world.sdk.listings.create(good)).rejects.toMatchObject({ code: "slug_taken", status: 409 });
  const second = await secondWorkspace(world);
  expect((await ask(world, { path, key: second.apiKey, body: good })).status).toBe(409);
  await expect(world.sdk.listings.cancel("writer")).rejects.toMatchObject({ code: "invalid_state" });
});

test("of concurrent drafts with one slug, one is created", async () => {
  await using world = await createWorld();
  const results = await Promise.allSettled(Array.from({ length: 10 }, () => world.sdk.listings.create(good)));
  expect(results.filter((r) => r.status === "fulfilled")).toHaveLength(1);
  for (const r of results) if (r.status === "rejected") expect(r.reason).toMatchObject({ code: "slug_taken" });
});

test("a repeated request returns the same secret, which is stored encrypted", async () => {
  await using world = await createWorld();
  const headers = { "idempotency-key": "once" };
  const first = await (await ask(world, { path, body: good, headers })).text();
  const again = await ask(world, { path, body: good, headers });
  expect(again.headers.get("idempotency-replayed")).toBe("true");
  expect(await again.text()).toBe(first);
  const { idempotency } = world.app.deps.db.read.t;
  const rows = await world.app.deps.db.read.select().from(idempotency);
  expect(JSON.stringify(rows)).not.toContain("whsec_");
});

test("concurrent repeats of a request create one draft and return the same secret", async () => {
  await using world = await createWorld();
  for (const slug of ["a", "b", "c", "d"]) {
    const make = () => ask(world, { path, body: { ...good, slug }, headers: { "idempotency-key": slug } });
    const answers = await Promise.all(Array.from({ length: 12 }, make));
    expect(answers.map((a) => a.status)).toEqual(answers.map(() => 201));
    expect(new Set(await Promise.all(answers.map((a) => a.text()))).size).toBe(1);
  }
});

test("changes of a listing apply to new activations; existing ones keep their scopes", async () => {
  await using hooks = await startReceiver();
  await using world = await createWorld();
  await listAgent(world.sdk, hooks.url);
  const { id } = await activateAgent(world.sdk);
  const changed = await world.sdk.listings.update("writer", { name: "Better Writer", permissions: [...SCOPES, "assets:write"] });
  expect(changed).toMatchObject({
    name: "Better Writer",
    description: "It writes.",
    permissions: [...SCOPES, "assets:write"],
    state: "LISTED",
  });
  expect((await world.sdk.activations.get(id)).scopes).toEqual(SCOPES);
  expect((await world.sdk.catalog.get("writer")).permissions.map((p) => p.scope)).toContain("assets:write");
  expect(await world.sdk.listings.update("writer", {})).toEqual(changed);
  await expect(world.sdk.listings.update("writer", { webhookUrl: "https://192.168.0.1/" })).rejects.toMatchObject({
    code: "validation_error",
  });
});

test("a rotated secret signs beside the old one, and alone from the end of the overlap on", async () => {
  await using world = await createWorld();
  const { webhookSecret: first, id } = await world.sdk.listings.create(good);
  const secrets = async () => {
    const row = await listingById(world.app.deps.db.read, id);
    if (!row) throw new Error("gone");
    return getSigningSecrets(world.app.deps, row, world.clock.now());
  };
  expect(await secrets()).toEqual({ current: first, next: null });
  const second = await world.sdk.listings.rotateSecret("writer", { overlapSeconds: 3600 });
  expect(second.effectiveAt).toBe("2026-01-01T01:00:00.000Z");
  expect((await world.sdk.listings.get("writer")).secretRotatesAt).toBe(second.effectiveAt);
  expect(await secrets()).toEqual({ current: first, next: second.webhookSecret });
  const third = await world.sdk.listings.rotateSecret("writer", { overlapSeconds: 3600 });
  expect(await secrets()).toEqual({ current: first, next: third.webhookSecret });
  await world.clock.advance("3599s");
  expect((await secrets()).current).toBe(first);
  await world.clock.advance("1s");
  expect(await secrets()).toEqual({ current: third.webhookSecret, next: null });
  expect((await world.sdk.listings.get("writer")).secretRotatesAt).toBeNull();
  const fourth = await world.sdk.listings.rotateSecret("writer", { overlapSeconds: 0 });
  expect(await secrets()).toEqual({ current: fourth.webhookSecret, next: null });
  expect(new Set([first, second.webhookSecret, third.webhookSecret, fourth.webhookSecret]).size).toBe(4);
  await expect(world.sdk.listings.rotateSecret("writer", { overlapSeconds: 604_801 })).rejects.toMatchObject({ code: "validation_error" });
});

test("cancelling refuses every key at once, notifies every agent, and is final for them even after relisting", async () => {
  await using hooks = await startReceiver();
  await using world = await createWorld();
  await listAgent(world.sdk, hooks.url);
  const { id } = await activateAgent(world.sdk);
  const key = await getAgentKey(world, hooks, id);
  expect(await world.sdk.listings.cancel("writer")).toMatchObject({ state: "CANCELLED", endedAt: "2026-01-01T00:00:00.000Z" });
  const refused = await ask(world, { method: "GET", path: agentPath(id), key });
  expect([refused.status, await refused.json()]).toMatchObject([401, { error: { code: "key_revoked" } }]);
  expect(await world.sdk.activations.get(id)).toMatchObject({ status: "deactivated", deactivationReason: "admin_revoke" });
  await expect(world.sdk.catalog.get("writer")).rejects.toMatchObject({ code: "not_found" });
  expect(await world.sdk.listings.cancel("writer")).toMatchObject({ state: "CANCELLED" });
  await payFor(world.sdk, "writer");
  expect(await world.sdk.listings.get("writer")).toMatchObject({ state: "LISTED", endedAt: null });
  expect((await ask(world, { method: "GET", path: agentPath(id), key })).status).toBe(401);
  const again = await activateAgent(world.sdk);
  expect(again.id).not.toBe(id);
  await world.settle();
  expect((await world.sdk.activations.get(again.id)).status).toBe("active");
  expect((await world.sdk.activations.get(id)).status).toBe("deactivated");
});

test("a listing ends with its month to the millisecond, and a renewal extends it", async () => {
  await using hooks = await startReceiver();
  await using world = await createWorld();
  await listAgent(world.sdk, hooks.url);
  expect(await world.sdk.listings.get("writer")).toMatchObject({
    listedAt: "2026-01-01T00:00:00.000Z",
    expiresAt: "2026-02-01T00:00:00.000Z",
  });
  await payFor(world.sdk, "writer");
  expect((await world.sdk.listings.get("writer")).expiresAt).toBe("2026-03-01T00:00:00.000Z");
  const { id } = await activateAgent(world.sdk);
  const key = await getAgentKey(world, hooks, id);
  await world.clock.advance("59d");
  expect((await world.sdk.listings.get("writer")).state).toBe("EXPIRED");
  expect((await ask(world, { method: "GET", path: agentPath(id), key })).status).toBe(401);
  expect(await world.sdk.activations.get(id)).toMatchObject({
    status: "deactivated",
    deactivationReason: "admin_revoke",
    deactivatedAt: "2026-03-01T00:00:00.000Z",
  });
  expect((await world.sdk.listings.list({ state: "EXPIRED" })).data.map((l) => l.slug)).toEqual(["writer"]);
  expect((await world.sdk.listings.list({ state: "LISTED" })).data).toEqual([]);
});

test("the list of listings is paged and filtered, and contains the builder's own only", async () => {
  await using world = await createWorld();
  for (const slug of ["a", "b", "c"]) await world.sdk.listings.create({ ...good, slug });
  await payFor(world.sdk, "b");
  const second = await secondWorkspace(world);
  await ask(world, { path, key: second.apiKey, body: { ...good, slug: "theirs" } });
  expect((await world.sdk.listings.list({ limit: 2 }).toArray()).map((l) => l.slug)).toEqual(["c", "b", "a"]);
  expect((await world.sdk.listings.list({ state: "LISTED" })).data.map((l) => l.slug)).toEqual(["b"]);
  expect((await world.sdk.listings.list({ state: "DRAFT" })).pagination.total).toBe(2);
});

test("listings, activations and payments need separate permissions", async () => {
  await using world = await createWorld();
  const key = await keyFor(world, "listings:read", "listings:write");
  expect((await ask(world, { path, key, body: good })).status).toBe(201);
  const payment = (await (await ask(world, { path: `${path}/writer/checkout`, key })).json()) as { id: string };
  const confirm = await ask(world, { path: `/api/v1/marketplace/payments/${payment.id}/confirm`, key });
  expect([confirm.status, await confirm.json()]).toMatchObject([403, { error: { details: [{ message: "billing:write" }] } }]);
  expect((await ask(world, { method: "GET", path: "/api/v1/marketplace/catalog", key })).status).toBe(403);
});
