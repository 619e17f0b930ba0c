import type { SettingsSchema } from "@mailsvc/sdk/contract";
import { expect, test } from "vitest";
import { withAgent } from "../../../test/agent-at-work.ts";
import { startReceiver } from "../../../test/marketplace.ts";
import { createWorld, type TestWorld } from "../../testing.ts";

const SCHEMA: SettingsSchema = {
  type: "object",
  properties: {
    language: { type: "string", enum: ["en", "de"], default: "en", title: "Language" },
    posts: { type: "integer", minimum: 1, maximum: 20 },
    share: { type: "number", minimum: 0, maximum: 1 },
    drafts: { type: "boolean" },
    topic: { type: "string", minLength: 2, maxLength: 10 },
  },
};
const describe = (world: TestWorld, settingsSchema: SettingsSchema | null) =>
  world.builder.sdk.listings.update("writer", { settingsSchema });

test("a brand fills in settings, and the agent gets all that count", async () => {
  await using world = await createWorld();
  await using made = await withAgent(world);
  const { client, activationId, heard } = made.agent;
  expect(await heard("agent.activated")).toMatchObject([{ settings: {} }]);
  await describe(world, SCHEMA);
  expect((await world.sdk.catalog.get("writer")).settingsSchema).toEqual(SCHEMA);
  expect(await world.sdk.activations.get(activationId)).toMatchObject({ settingsSchema: SCHEMA, settings: { language: "en" } });
  const set = { language: "de", posts: 3, share: 0.5, drafts: true, topic: "cats" };
  expect((await world.sdk.activations.update(activationId, { settings: set })).settings).toEqual(set);
  await world.sdk.activations.update(activationId, { settings: set });
  await world.sdk.activations.update(activationId, { creditLimit: 5 });
  expect((await client.self.get()).settings).toEqual(set);
  expect((await world.sdk.activations.update(activationId, { settings: { posts: 4 } })).settings).toEqual({ language: "en", posts: 4 });
  expect((await heard("agent.settings_changed")).map(({ settings }) => settings)).toEqual([set, { language: "en", posts: 4 }]);
});

test.each<[string, object, string, string]>([
  ["another choice", { language: "fr" }, "language", "invalid_value"],
  ["a text for a number", { posts: "3" }, "posts", "invalid_type"],
  ["a fraction for a whole number", { posts: 1.5 }, "posts", "invalid_type"],
  ["too little", { posts: 0 }, "posts", "too_small"],
  ["too much", { share: 2 }, "share", "too_big"],
  ["a number for yes", { drafts: 1 }, "drafts", "invalid_type"],
  ["nothing", { topic: null }, "topic", "invalid_type"],
  ["a short text", { topic: "x" }, "topic", "too_small"],
  ["a long text", { topic: "x".repeat(11) }, "topic", "too_big"],
  ["a control character", { topic: "a\u0007b" }, "topic", "invalid_characters"],
  ["an unknown setting", { color: "red" }, "color", "unknown_setting"],
  ["a name that every object has", { toString: "x" }, "toString", "unknown_setting"],
])("%s is refused with the name of the setting", async (_name, settings, name, code) => {
  await using world = await createWorld();
  await using made = await withAgent(world, ["brand:read"]);
  await describe(world, SCHEMA);
  await expect(world.sdk.activations.update(made.agent.activationId, { settings: { ...settings } })).rejects.toMatchObject({
    status: 400,
    code: "validation_error",
    details: [{ path: `settings.${name}`, code }],
  });
  expect(await made.agent.heard("agent.settings_changed")).toEqual([]);
});

test("required settings are asked for when the agent is turned on, and all faults are named at once", async () => {
  await using world = await createWorld();
  await using hooks = await startReceiver();
  const { sdk } = world.builder;
  const listing = { slug: "writer", name: "Writer", webhookUrl: hooks.url, permissions: [] };
  await sdk.listings.create({ ...listing, settingsSchema: { ...SCHEMA, required: ["topic", "language"] } });
  await sdk.payments.confirm((await sdk.listings.checkout("writer")).id);
  const turnOn = (settings?: object) =>
    world.sdk.activations.create({ agentSlug: "writer", acceptedPermissions: [], ...(settings && { settings: { ...settings } }) });
  await expect(turnOn()).rejects.toMatchObject({ details: [{ path: "settings.topic", code: "required" }] });
  await expect(turnOn({ posts: 0, color: 1 })).rejects.toMatchObject({
    details: [{ path: "settings.posts" }, { path: "settings.color" }, { path: "settings.topic" }],
  });
  const on = await turnOn({ topic: "cats" });
  expect(on.settings).toEqual({ language: "en", topic: "cats" });
});

test("values that no longer fit the schema give way to its defaults", async () => {
  await using world = await createWorld();
  await using made = await withAgent(world);
  const { activationId } = made.agent;
  await describe(world, SCHEMA);
  await world.sdk.activations.update(activationId, { settings: { language: "de", posts: 20, topic: "cats" } });
  await describe(world, {
    type: "object",
    properties: {
      language: { type: "string", enum: ["fr", "en"], default: "fr" },
      posts: { type: "integer", maximum: 5 },
      topic: { type: "string" },
    },
  });
  expect((await world.sdk.activations.get(activationId)).settings).toEqual({ language: "fr", topic: "cats" });
  await describe(world, null);
  expect(await world.sdk.activations.get(activationId)).toMatchObject({ settingsSchema: null, settings: {} });
});

test.each<[string, unknown]>([
  ["another type", { type: "array" }],
  ["a nested object", { type: "object", properties: { a: { type: "object", properties: {} } } }],
  ["a pattern", { type: "object", properties: { a: { type: "string", pattern: "(a+)+$" } } }],
  ["a default that does not fit", { type: "object", properties: { a: { type: "integer", maximum: 3, default: 4 } } }],
  ["a default that is no choice", { type: "object", properties: { a: { type: "string", enum: ["x"], default: "y" } } }],
  ["a required setting that is not there", { type: "object", properties: {}, required: ["a"] }],
  ["a name that every object has", { type: "object", properties: { constructor: { type: "string" } } }],
  [
    "too many settings",
    { type: "object", properties: Object.fromEntries(Array.from({ length: 31 }, (_, n) => [`a${n}`, { type: "string" }])) },
  ],
])("a listing cannot describe settings by %s", async (_name, settingsSchema) => {
  await using world = await createWorld();
  await using made = await withAgent(world, ["brand:read"]);
  await expect(describe(world, settingsSchema as SettingsSchema)).rejects.toMatchObject({
    status: 400,
    details: expect.arrayContaining([expect.objectContaining({ path: expect.stringMatching(/^settingsSchema/) })]),
  });
  expect((await made.agent.client.self.get()).settings).toEqual({});
});
