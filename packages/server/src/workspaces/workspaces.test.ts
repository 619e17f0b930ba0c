import { contract, type Endpoint, paramNames } from "@mailsvc/sdk/contract";
import { describe, expect, test } from "vitest";
import { createAgent } from "../../test/agent-at-work.ts";
import { startReceiver } from "../../test/marketplace.ts";
import { ask, pathAtOnce } from "../../test/scenario.ts";
import { keyFor } from "../../test/tenant.ts";
import { createWorld, type TestWorld } from "../testing.ts";

async function codeOf(response: Response): Promise<[number, string]> {
  return [response.status, ((await response.json()) as { error: { code: string } }).error.code];
}

function list(world: TestWorld, key: string | null): Promise<Response> {
  return ask(world, { method: "GET", path: "/api/v1/workspaces", key });
}

describe("workspaces", () => {
  test("the operator creates, lists and renames them; the owner key is shown once", async () => {
    await using world = await createWorld();
    const create = { path: "/api/v1/workspaces", key: world.operatorKey, body: { name: " Acme " } };
    const answer = await ask(world, create);
    expect(answer.status).toBe(201);
    const acme = (await answer.json()) as { id: string; apiKey: string };
    expect(acme).toEqual({
      id: expect.stringMatching(/^ws_/),
      name: "Acme",
      relay: null,
      replies: false,
      createdAt: "2026-01-01T00:00:00.000Z",
      apiKey: expect.stringMatching(/^ms_dev_/),
    });
    const me = await ask(world, { method: "GET", path: "/api/v1/me", key: acme.apiKey });
    expect(await me.json()).toMatchObject({ workspace: { id: acme.id, name: "Acme" }, key: { owner: true } });
    const renamed = await ask(world, {
      method: "PATCH",
      path: `/api/v1/workspaces/${acme.id}`,
      key: world.operatorKey,
      body: { name: "Acme Inc." },
    });
    expect(await renamed.json()).toEqual({
      id: acme.id,
      name: "Acme Inc.",
      relay: null,
      replies: false,
      createdAt: "2026-01-01T00:00:00.000Z",
    });
    const listed = await (await list(world, world.operatorKey)).text();
    expect((JSON.parse(listed) as { data: { name: string }[] }).data.map(({ name }) => name)).toEqual(["Acme Inc.", "builder", "brand"]);
    expect(listed).not.toContain("apiKey");
  });

  test("a repeated creation gives the same workspace and key, of which the database holds no readable copy", async () => {
    await using world = await createWorld({ dev: false });
    const send = () =>
      ask(world, {
        path: "/api/v1/workspaces",
        key: world.operatorKey,
        body: { name: "x" },
        headers: { "idempotency-key": "once" },
      });
    const [first, second] = [await (await send()).json(), await (await send()).json()];
    expect(second).toEqual(first);
    const { read } = world.app.deps.db;
    const stored = JSON.stringify([await read.select().from(read.t.meta), await read.select().from(read.t.idempotency)]);
    expect(stored).not.toContain((first as { apiKey: string }).apiKey);
    expect(stored).not.toContain(world.operatorKey);
  });

  test("other keys cannot manage them, and the operator key opens nothing else", async () => {
    await using hooks = await startReceiver();
    await using world = await createWorld();
    const agent = await createAgent(world, hooks);
    for (const key of [world.apiKey, agent.key]) expect(await codeOf(await list(world, key))).toEqual([403, "forbidden"]);
    expect(await codeOf(await list(world, null))).toEqual([401, "unauthorized"]);
    expect(await codeOf(await list(world, `${world.operatorKey.slice(0, -1)}x`))).toEqual([401, "unauthorized"]);
    for (const path of ["/api/v1/me", "/api/v1/contacts", `/api/agents/activations/${agent.activationId}`])
      expect(await codeOf(await ask(world, { method: "GET", path, key: world.operatorKey }))).toEqual([403, "forbidden"]);
  });

  test("the operator key of another server is unknown", async () => {
    await using world = await createWorld({ seed: 1 });
    await using other = await createWorld({ seed: 2 });
    expect(await codeOf(await list(world, other.operatorKey))).toEqual([401, "unauthorized"]);
  });

  test("a name must be there, and a workspace that is not is not found", async () => {
    await using world = await createWorld();
    const create = (body: object) => ask(world, { path: "/api/v1/workspaces", key: world.operatorKey, body });
    for (const body of [{}, { name: "" }, { name: "a\nb" }, { name: 7 }, { name: "x", owner: true }])
      expect(await codeOf(await create(body))).toEqual([400, "validation_error"]);
    const renamed = ask(world, {
      method: "PATCH",
      path: "/api/v1/workspaces/ws_none",
      key: world.operatorKey,
      body: { name: "x" },
    });
    expect(await codeOf(await renamed)).toEqual([404, "not_found"]);
  });

  test("dev mode has a brand and a builder, and a reset keeps their keys", async () => {
    await using world = await createWorld();
    const { builder } = world;
    expect((await world.sdk.me.get()).workspace.name).toBe("brand");
    await world.sdk.lists.create({ name: "gone" });
    await world.sdk.world.reset();
    expect((await builder.sdk.me.get()).workspace).toMatchObject({ id: builder.workspaceId, name: "builder" });
    expect((await world.sdk.lists.list()).data).toEqual([]);
    expect((await list(world, world.operatorKey)).status).toBe(200);
  });

  test("production has one workspace and keys of its own kind", async () => {
    await using world = await createWorld({ dev: false });
    expect(world.apiKey).toMatch(/^ms_live_/);
    expect(world.operatorKey).toMatch(/^ms_op_/);
    expect(world.app.installation.profiles).toBeNull();
    expect(((await (await list(world, world.operatorKey)).json()) as { data: unknown[] }).data).toHaveLength(1);
  });
});

const CANARY = "kanarienvogel";

/** Every endpoint that takes a developer key, from the contract: a new one is tested without being listed. A stream does not end. */
const keyed = Object.entries(contract).flatMap(([noun, verbs]) =>
  Object.entries(verbs as Record<string, Endpoint>)
    .filter(([, { stream }]) => !stream)
    .filter(([, { access }]) => access === "key" || (typeof access === "object" && "permission" in access))
    .map(([verb, endpoint]) => ({ id: `${noun}.${verb}`, endpoint })),
);

describe("two parties", () => {
  test("a brand activates the agent of a builder; nothing else of one is visible in a third workspace", async () => {
    await using hooks = await startReceiver();
    await using world = await createWorld();
    const { builder } = world;
    const stranger = await world.createWorkspace("stranger");
    const word = CANARY;
    // The brand's side.
    const contact = await world.sdk.contacts.create({ email: `${word}@example.com`, firstName: word, tags: [word] });
    const members = await world.sdk.lists.create({ name: word });
    const segment = await world.sdk.segments.create({ name: word, rules: { field: "tags", operator: "contains", value: word } });
    const template = await world.sdk.templates.create({ name: word, slug: word, subject: word, html: `<p>${word}</p>`, publish: true });
    const email = (await world.sdk.emails.send({ from: `${word}@acme.test`, to: `${word}@example.com`, subject: word, text: word })) as {
      id: string;
    };
    const suppression = await world.sdk.suppressions.create({ email: `gone-${word}@example.com` });
    const sender = await world.sdk.senders.create({ domain: `${word}.example` });
    const key = await world.sdk.keys.create({ name: word, permissions: ["contacts:read"] });
    await world.sdk.credits.grant({ amount: 4711, description: word });
    // The builder's side.
    const slug = "writer";
    await builder.sdk.listings.create({ slug, name: "Writer", description: "It writes.", webhookUrl: hooks.url, permissions: [] });
    const payment = await builder.sdk.listings.checkout(slug);
    await builder.sdk.payments.confirm(payment.id);
    expect((await world.sdk.catalog.list()).data.map((agent) => agent.slug)).toEqual([slug]);
    const activation = await world.sdk.activations.create({ agentSlug: slug, acceptedPermissions: [] });
    await world.settle();
    expect(hooks.bodies.length).toBeGreaterThan(0);
    // A builder sees the deliveries to its own webhook, but nothing of the brand behind them.
    const deliveries = await builder.sdk.deliveries.list(slug);
    expect(deliveries.data.length).toBeGreaterThan(0);

    const ids = [contact, members, segment, template, email, suppression, sender, key, payment, activation].map(({ id }) => id);
    const eventIds = deliveries.data.map(({ id }) => id);
    const secret = new RegExp([CANARY, "4711", world.workspaceId, builder.workspaceId, hooks.url].join("|"));
    const visibleTo = async (who: { apiKey: string }, named: readonly string[], path: string, { method, body }: Endpoint) => {
      const asked = { method, path, key: who.apiKey, ...(body && method !== "GET" && { body: {} }) };
      const answer = await ask(world, asked);
      const text = (await answer.text()) + JSON.stringify([...answer.headers]);
      // It lists the requests of the caller, who has asked for these ids.
      const isEcho = path.startsWith("/api/v1/requests");
      for (const id of named) if (!path.includes(id) && !isEcho) expect({ path, found: text.includes(id) }).toEqual({ path, found: false });
      return { status: answer.status, text };
    };
    let asked = 0;
    for (const { id, endpoint } of keyed) {
      const names = paramNames(endpoint.path);
      const values = names.length === 0 ? [""] : [...ids, ...eventIds, slug, word];
      for (const value of values) {
        const path = names.reduce(
          (p, name) => p.replace(`:${name}`, name === "slug" && names.length > 1 ? slug : value),
          pathAtOnce(endpoint),
        );
        if (path.includes(word) && !endpoint.path.includes(":slug")) continue;
        const { status, text } = await visibleTo(stranger, [...ids, ...eventIds], path, endpoint);
        asked += 1;
        // The catalog is for everybody.
        if (id.startsWith("catalog.") || id === "activations.create") continue;
        expect({ id, path, status, leaks: secret.test(text.replaceAll(path, "").replaceAll(word === value ? word : "\0", "")) }).toEqual({
          id,
          path,
          status: names.length > 0 ? expect.toBeOneOf([400, 404]) : expect.toSatisfy((s: number) => s < 500),
          leaks: false,
        });
      }
    }
    expect(asked).toBeGreaterThan(200);
    // None of these calls changed anything.
    expect((await world.sdk.contacts.get(contact.id)).email).toBe(`${word}@example.com`);
    expect((await world.sdk.activations.get(activation.id)).status).toBe(activation.status);
    expect((await world.sdk.keys.list({ revoked: false })).pagination.total).toBe(2);
    expect((await builder.sdk.listings.get(slug)).state).toBe("LISTED");
  });

  test("a key of one workspace cannot be used on another one's things by their ids", async () => {
    await using world = await createWorld();
    const other = await world.createWorkspace("other");
    const made = await other.sdk.keys.create({ name: "x", permissions: ["keys:read"] });
    const clerk = await keyFor(world, "keys:write");
    expect((await ask(world, { method: "DELETE", path: `/api/v1/keys/${made.id}`, key: clerk })).status).toBe(404);
  });
});
