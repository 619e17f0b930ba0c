import { expect, test } from "vitest";
import { activateAgent, listAgent, startReceiver } from "../../../test/marketplace.ts";
import { ask } from "../../../test/scenario.ts";
import { secondWorkspace } from "../../../test/tenant.ts";
import { createWorld } from "../../testing.ts";

test("every brand sees listed agents with their builder's name and scopes, and nothing else of the builder", async () => {
  await using hooks = await startReceiver();
  await using world = await createWorld();
  const listing = await listAgent(world.builder.sdk, hooks.url, { permissions: ["brand:read"] });
  const { apiKey: key, workspaceId } = await secondWorkspace(world);
  const response = await ask(world, { method: "GET", path: "/api/v1/marketplace/catalog", key });
  const text = await response.text();
  expect(JSON.parse(text)).toMatchObject({
    data: [
      {
        slug: "writer",
        name: "The writer",
        description: "It writes.",
        builder: { name: "builder" },
        price: { amount: 0, currency: "usd", interval: "month" },
        permissions: [{ scope: "brand:read", grants: "Read brand colors, logo and voice" }],
        listedAt: "2026-01-01T00:00:00.000Z",
        activationId: null,
      },
    ],
    pagination: { total: 1 },
  });
  for (const hidden of [hooks.url, listing.id, listing.webhookSecret, world.workspaceId, workspaceId]) expect(text).not.toContain(hidden);
});

test("the catalog is searched case-insensitively, paged, and shows the brand's own activations", async () => {
  await using hooks = await startReceiver();
  await using world = await createWorld();
  for (const slug of ["alpha", "beta", "gamma"]) await listAgent(world.builder.sdk, hooks.url, { slug });
  const { id } = await activateAgent(world.sdk, "beta");
  expect((await world.sdk.catalog.list({ limit: 2 }).toArray()).map((a) => [a.slug, a.activationId])).toEqual([
    ["gamma", null],
    ["beta", id],
    ["alpha", null],
  ]);
  expect((await world.sdk.catalog.list({ search: "the BETA" })).data.map((a) => a.slug)).toEqual(["beta"]);
  expect((await world.sdk.catalog.list({ search: "%" })).data).toEqual([]);
  await world.builder.sdk.listings.update("gamma", { name: "Écrivain 100%" });
  for (const search of ["Écrivain", "écriv", "ÉCRIVAIN", "e\u0301crivain", "0%"])
    expect((await world.sdk.catalog.list({ search })).data.map((a) => a.slug)).toEqual(["gamma"]);
  await world.sdk.activations.deactivate(id);
  expect((await world.sdk.catalog.get("beta")).activationId).toBeNull();
  await expect(world.sdk.catalog.get("delta")).rejects.toMatchObject({ code: "not_found" });
});

test("a cursor works for its own list only", async () => {
  await using hooks = await startReceiver();
  await using world = await createWorld();
  for (const slug of ["alpha", "beta"]) await listAgent(world.builder.sdk, hooks.url, { slug });
  await activateAgent(world.sdk, "beta");
  const { pagination } = await world.sdk.catalog.list({ limit: 1 });
  const cursor = pagination.nextCursor ?? "";
  expect((await world.sdk.catalog.list({ cursor })).data.map((a) => a.slug)).toEqual(["alpha"]);
  await expect(world.sdk.activations.list({ cursor })).rejects.toMatchObject({
    code: "validation_error",
    details: [{ path: "cursor", code: "invalid_cursor" }],
  });
});
