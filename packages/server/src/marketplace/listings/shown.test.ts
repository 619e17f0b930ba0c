import { expect, test } from "vitest";
import { connectMcp } from "../../../test/mcp-client.ts";
import { createWorld } from "../../testing.ts";

const AGENT = { slug: "writer", name: "Launch Writer", webhookUrl: "https://agent.example.com/webhook", permissions: [] };

test("what is about agents is shown once one is listed", async () => {
  await using world = await createWorld({ dev: false });
  const isShown = async () => (await world.sdk.me.get()).server.marketplace;
  const { data } = await connectMcp(world);
  const search = async () => JSON.stringify(await data("api_search", { query: "catalog list" }));
  expect(await isShown()).toBe(false);
  expect(await search()).not.toContain("catalog.list");
  expect(await data("api_search", { operation: "catalog.list" })).toMatchObject({ operations: [{ operation: "catalog.list" }] });
  await world.sdk.listings.create(AGENT);
  expect(await isShown()).toBe(true);
  expect(await search()).toContain("catalog.list");
});

test("a server that is told so, or is in dev mode, shows it from the start", async () => {
  await using told = await createWorld({ dev: false, flags: { marketplace: "1" } });
  expect((await told.sdk.me.get()).server.marketplace).toBe(true);
  await using dev = await createWorld();
  expect((await dev.sdk.me.get()).server.marketplace).toBe(true);
});
