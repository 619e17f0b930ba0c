import { served } from "@mailsvc/sdk/contract";
import { describe, expect, test } from "vitest";
import { ask } from "../../test/scenario.ts";
import { keyFor, secondWorkspace } from "../../test/tenant.ts";
import { DAY } from "../lib/units.ts";
import { createWorld, type TestWorld } from "../testing.ts";
import { AUDITED } from "./changes.ts";

const list = async (world: TestWorld, query: Parameters<TestWorld["sdk"]["audit"]["list"]>[0] = {}) =>
  (await world.sdk.audit.list({ limit: 100, ...query })).data;
const lines = async (world: TestWorld, query = {}) => (await list(world, query)).map(({ action, name }) => `${action} ${name}`);

describe("changes", () => {
  test("are recorded with who, what and the fields before and after", async () => {
    await using world = await createWorld();
    const { sdk } = world;
    const { id } = await sdk.lists.create({ name: "News", description: "weekly" });
    await sdk.lists.update(id, { name: "Newsletter", public: true });
    await sdk.lists.delete(id);
    const key = expect.objectContaining({ kind: "key", id: expect.stringMatching(/^key_/), name: expect.any(String) });
    expect(await list(world)).toEqual([
      expect.objectContaining({ action: "lists.delete", actor: key, object: id, name: "Newsletter", changes: [] }),
      expect.objectContaining({
        action: "lists.update",
        actor: key,
        object: id,
        changes: [{ field: "name", before: "News", after: "Newsletter" }],
      }),
      expect.objectContaining({
        action: "lists.create",
        object: id,
        name: "News",
        requestId: expect.stringMatching(/^req_/),
        changes: [
          { field: "name", before: null, after: "News" },
          { field: "description", before: null, after: "weekly" },
        ],
      }),
    ]);
  });

  test("of keys say the name before", async () => {
    await using world = await createWorld();
    const { id } = await world.sdk.keys.create({ name: "shop", permissions: ["contacts:read"] });
    await world.sdk.keys.update(id, { name: "web shop" });
    const [renamed] = await list(world);
    expect(renamed).toMatchObject({ action: "keys.update", object: id, changes: [{ field: "name", before: "shop", after: "web shop" }] });
  });

  test("of actions have the fields that changed, and updates that change nothing are none", async () => {
    await using world = await createWorld();
    const { id, revision } = await world.sdk.templates.create({ name: "Hello", subject: "Hi", html: "<p>Hi</p>" });
    await world.sdk.templates.publish(id, { revision });
    await world.sdk.templates.update(id, { subject: "Hi" });
    await world.sdk.templates.preview(id, {});
    const [published, ...others] = await list(world);
    expect([published?.action, others.map(({ action }) => action)]).toEqual(["templates.publish", ["templates.create"]]);
    expect(published?.changes).toContainEqual({ field: "version", before: null, after: 1 });
  });

  test("are not recorded when the request is refused, and once when it is repeated", async () => {
    await using world = await createWorld();
    await expect(world.sdk.lists.update("list_01jc3v2m9k8q4w6x0y5z7a1b2c", { name: "x" })).rejects.toMatchObject({ code: "not_found" });
    await expect(world.sdk.templates.create({ name: "Bad", html: "{{#if}}" })).rejects.toMatchObject({ status: 400 });
    const twice = { idempotencyKey: "once" };
    await world.sdk.lists.create({ name: "News" }, twice);
    await world.sdk.lists.create({ name: "News" }, twice);
    expect(await lines(world)).toEqual(["lists.create News"]);
  });

  test("never hold secrets, whichever field has them, and long values are cut", async () => {
    await using world = await createWorld();
    const { sdk } = world;
    const { key } = await sdk.keys.create({ name: "shop", permissions: ["transactional:send"] });
    const webhook = await sdk.webhooks.create({
      url: "https://hooks.acme.test/in?token=abc123",
      events: ["email.bounced"],
    });
    await sdk.webhooks.rotateSecret(webhook.id);
    await sdk.templates.create({ name: "Long", html: `<p>${"x".repeat(5000)}</p>` });
    const entries = await list(world);
    const text = JSON.stringify(entries);
    for (const secret of [key, webhook.secret, "abc123", "whsec_"]) expect(text).not.toContain(secret);
    expect(text.length).toBeLessThan(6000);
    expect(await lines(world)).toEqual(expect.arrayContaining(["keys.create shop", `webhooks.rotateSecret ${null}`]));
    expect(entries.find(({ action }) => action === "keys.create")?.changes).toContainEqual({
      field: "permissions",
      before: null,
      after: ["transactional:send"],
    });
  });

  test("of people, mail and suppressions are in events, not here", async () => {
    await using world = await createWorld();
    const { sdk } = world;
    await sdk.contacts.create({ email: "ada@example.com" });
    await sdk.suppressions.create({ email: "bob@example.com" });
    await sdk.emails.send({ from: "a@acme.test", to: "ada@example.com", subject: "s", text: "t" });
    const { id } = await sdk.lists.create({ name: "News" });
    await sdk.lists.add(id, { contacts: ["ada@example.com"] });
    await sdk.people.erase("ada@example.com");
    expect(await lines(world)).toEqual(["lists.create News"]);
  });

  test("through the APIs of other services are those of their operations here", async () => {
    await using world = await createWorld();
    const response = await ask(world, { path: "/resend/audiences", body: { name: "Customers" } });
    expect(response.status).toBe(201);
    expect(await lines(world)).toEqual(["lists.create Customers"]);
  });
});

describe("the list", () => {
  test("is filtered by noun, operation, object, actor and time, and has pages", async () => {
    await using world = await createWorld();
    const { sdk } = world;
    const news = await sdk.lists.create({ name: "News" });
    await world.clock.advance("1h");
    const later = new Date(world.clock.now()).toISOString();
    await sdk.lists.create({ name: "Product" });
    await sdk.templates.create({ name: "Hello", html: "<p>Hi</p>" });
    expect(await lines(world, { action: "lists" })).toEqual(["lists.create Product", "lists.create News"]);
    expect(await lines(world, { action: "templates.create" })).toEqual(["templates.create Hello"]);
    expect(await lines(world, { action: "list" })).toEqual([]);
    expect(await lines(world, { action: "%" })).toEqual([]);
    expect(await lines(world, { object: news.id })).toEqual(["lists.create News"]);
    expect(await lines(world, { until: later })).toEqual(["lists.create News"]);
    expect(await lines(world, { since: later, action: "lists" })).toEqual(["lists.create Product"]);
    const [{ actor } = { actor: null }] = await list(world);
    expect(await lines(world, { actor: actor?.id ?? "", limit: 1 })).toEqual(["templates.create Hello"]);
    expect(await lines(world, { actor: "nobody" })).toEqual([]);
    expect(await sdk.audit.list({ limit: 1 }).toArray()).toHaveLength(3);
  });

  test("needs its permission, and shows nothing of another workspace", async () => {
    await using world = await createWorld();
    const other = await secondWorkspace(world);
    await other.sdk.lists.create({ name: "Theirs" });
    expect(await lines(world, { action: "lists" })).toEqual([]);
    expect((await other.sdk.audit.list({ action: "lists" })).data.map(({ name }) => name)).toEqual(["Theirs"]);
    expect((await ask(world, { method: "GET", path: "/api/v1/audit", key: await keyFor(world, "keys:read") })).status).toBe(403);
    expect((await ask(world, { method: "GET", path: "/api/v1/audit", key: await keyFor(world, "audit:read") })).status).toBe(200);
  });

  test("shows the operator's changes to who owns the server", async () => {
    await using world = await createWorld();
    await ask(world, { path: "/api/v1/queue/pause", body: {}, key: world.operatorKey });
    const [entry] = await list(world, { action: "queue" });
    expect(entry).toMatchObject({ action: "queue.pause", actor: { kind: "operator", id: null } });
  });

  test("is kept for as long as --keep says", async () => {
    await using world = await createWorld({ flags: { keep: "audit=30" } });
    await world.sdk.lists.create({ name: "Old" });
    await world.clock.advance("1d");
    world.clock.control.freeze(world.clock.now() + 40 * DAY);
    await world.clock.advance("3d");
    await world.sdk.lists.create({ name: "New" });
    expect(await lines(world)).toEqual(["lists.create New"]);
  });
});

test("every noun says if its changes are recorded, and every exception is a verb of it", () => {
  const verbs = Object.fromEntries(Object.entries(served).map(([noun, group]) => [noun, Object.keys(group)]));
  expect(Object.keys(AUDITED).sort()).toEqual(Object.keys(verbs).sort());
  for (const [noun, exceptions] of Object.entries(AUDITED))
    if (typeof exceptions !== "string") expect(verbs[noun]).toEqual(expect.arrayContaining([...exceptions]));
});
