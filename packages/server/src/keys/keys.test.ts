import { PERMISSIONS } from "@mailsvc/sdk/contract";
import { describe, expect, test } from "vitest";
import { ask } from "../../test/scenario.ts";
import { keyFor, secondWorkspace } from "../../test/tenant.ts";
import { seededRandom } from "../lib/random.ts";
import { createWorld, type TestWorld } from "../testing.ts";
import { KEY_PATTERN, makeKey, parseKeyKind, previewKey } from "./secret.ts";

const me = (world: TestWorld, key: string) => ask(world, { method: "GET", path: "/api/v1/me", key });
const codeOf = async (response: Response) => [response.status, ((await response.json()) as { error: { code: string } }).error.code];

describe("keys", () => {
  test("a key is shown once, and works at once", async () => {
    await using world = await createWorld();
    const made = await world.sdk.keys.create({ name: " shop ", permissions: ["transactional:send", "transactional:send"] });
    expect(made).toMatchObject({
      name: "shop",
      permissions: ["transactional:send"],
      owner: false,
      revokedAt: null,
      preview: previewKey(made.key),
    });
    expect(made.key).toMatch(KEY_PATTERN);
    expect((await me(world, made.key)).status).toBe(200);
    const listed = await (await ask(world, { method: "GET", path: "/api/v1/keys" })).text();
    expect(listed).toContain(made.preview);
    expect(listed).not.toContain(made.key);
    expect(listed).not.toContain(world.apiKey);
  });

  test("only the hash of a key is stored", async () => {
    await using world = await createWorld({ dev: false });
    const made = await world.sdk.keys.create({ name: "x", permissions: ["keys:read"] });
    const { db } = world.app.deps;
    const everything = JSON.stringify([await db.read.select().from(db.read.t.keys), await db.read.select().from(db.read.t.meta)]);
    expect(everything).not.toContain(made.key);
    expect(everything).not.toContain(world.apiKey);
  });

  test("a key cannot grant permissions it does not have", async () => {
    await using world = await createWorld();
    const clerk = await keyFor(world, "keys:write", "senders:read");
    const create = (permissions: string[]) => ask(world, { path: "/api/v1/keys", key: clerk, body: { name: "x", permissions } });
    expect((await create(["senders:read"])).status).toBe(201);
    const refused = await create(["senders:read", "transactional:send", "keys:read"]);
    expect(await refused.json()).toMatchObject({
      error: {
        code: "forbidden",
        details: [
          { path: "permissions", message: "transactional:send" },
          { path: "permissions", message: "keys:read" },
        ],
      },
    });
  });

  test("a key cannot revoke one that can do more than itself", async () => {
    await using world = await createWorld();
    const clerk = await keyFor(world, "keys:write", "senders:read");
    const weaker = await world.sdk.keys.create({ name: "weaker", permissions: ["senders:read"] });
    const stronger = await world.sdk.keys.create({ name: "stronger", permissions: ["senders:read", "contacts:read"] });
    const owner = (await world.sdk.me.get()).key;
    const revoke = (id: string) => ask(world, { method: "DELETE", path: `/api/v1/keys/${id}`, key: clerk });
    expect((await revoke(weaker.id)).status).toBe(200);
    for (const [id, detail] of [
      [stronger.id, "contacts:read"],
      [owner.id, "Only an owner key can revoke an owner key."],
    ] as const) {
      const refused = await revoke(id);
      expect(refused.status).toBe(403);
      expect(await refused.json()).toMatchObject({ error: { code: "forbidden", details: [{ path: "id", message: detail }] } });
    }
    expect((await me(world, world.apiKey)).status).toBe(200);
    expect((await world.sdk.keys.list({ revoked: true })).data.map(({ id }) => id)).toEqual([weaker.id]);
  });

  test("a key is renamed, keeps what it may do, and goes on working", async () => {
    await using world = await createWorld();
    const { key, ...made } = await world.sdk.keys.create({ name: "shop", permissions: ["transactional:send"] });
    expect(await world.sdk.keys.update(made.id, { name: "web shop" })).toEqual({ ...made, name: "web shop" });
    expect((await world.sdk.keys.list({ revoked: false })).data.map(({ name }) => name)).toEqual(["web shop", "owner"]);
    expect(await world.sdk.keys.get(made.id)).toEqual({ ...made, name: "web shop" });
    await expect(world.sdk.keys.get("key_none")).rejects.toMatchObject({ code: "not_found" });
    expect((await ask(world, { method: "GET", path: `/api/v1/keys/${made.id}`, key: (await secondWorkspace(world)).apiKey })).status).toBe(
      404,
    );
    expect((await me(world, key)).status).toBe(200);
    await expect(world.sdk.keys.update("key_none", { name: "x" })).rejects.toMatchObject({ code: "not_found" });
    await expect(world.sdk.keys.update(made.id, { name: "" })).rejects.toMatchObject({ code: "validation_error" });
  });

  test("a key cannot rename one that can do more than itself, nor one of another workspace", async () => {
    await using world = await createWorld();
    const { id } = (await world.sdk.me.get()).key;
    const clerk = await keyFor(world, "keys:read", "keys:write");
    const rename = (key: string) => ask(world, { method: "PATCH", path: `/api/v1/keys/${id}`, key, body: { name: "mine" } });
    const refused = await rename(clerk);
    expect([refused.status, JSON.stringify(await refused.json())]).toEqual([403, expect.stringContaining("rename an owner key")]);
    expect((await rename((await secondWorkspace(world)).apiKey)).status).toBe(404);
    expect((await world.sdk.me.get()).key.name).toBe("owner");
  });

  test("the owner key may grant every permission, but not ownership", async () => {
    await using world = await createWorld();
    const all = await world.sdk.keys.create({ name: "all", permissions: [...PERMISSIONS] });
    expect(all).toMatchObject({ owner: false, permissions: [...PERMISSIONS] });
  });

  test("a revoked key stops working at once and permanently; revoking twice is harmless", async () => {
    await using world = await createWorld();
    const made = await world.sdk.keys.create({ name: "x", permissions: ["keys:read"] });
    const first = await world.sdk.keys.revoke(made.id);
    await world.clock.advance("1h");
    expect(await world.sdk.keys.revoke(made.id)).toEqual(first);
    expect(await codeOf(await me(world, made.key))).toEqual([401, "key_revoked"]);
  });

  test("a key may revoke itself", async () => {
    await using world = await createWorld();
    const made = await world.sdk.keys.create({ name: "x", permissions: ["keys:write"] });
    expect((await ask(world, { method: "DELETE", path: `/api/v1/keys/${made.id}`, key: made.key })).status).toBe(200);
    expect((await me(world, made.key)).status).toBe(401);
  });

  test("the last owner key cannot be revoked, not even by two at once", async () => {
    await using world = await createWorld();
    const { id } = (await world.sdk.me.get()).key;
    const answers = await Promise.all([1, 2].map(() => ask(world, { method: "DELETE", path: `/api/v1/keys/${id}` })));
    for (const answer of answers) expect(await codeOf(answer)).toEqual([409, "invalid_state"]);
    expect((await me(world, world.apiKey)).status).toBe(200);
  });

  test("keys are listed newest first, live and revoked apart", async () => {
    await using world = await createWorld();
    const [a, b] = [
      await world.sdk.keys.create({ name: "a", permissions: ["keys:read"] }),
      await world.sdk.keys.create({ name: "b", permissions: ["keys:read"] }),
    ];
    await world.sdk.keys.revoke(a.id);
    const names = async (query: { revoked?: "true" | "false" }) => (await world.sdk.keys.list(query as never)).data.map((k) => k.name);
    expect(await names({})).toEqual(["b", "a", "owner"]);
    expect(await names({ revoked: "false" })).toEqual(["b", "owner"]);
    expect(await names({ revoked: "true" })).toEqual(["a"]);
    expect(b.revokedAt).toBeNull();
  });

  test("a key can show its workspace, itself and the server", async () => {
    await using world = await createWorld();
    const key = await keyFor(world, "senders:read");
    expect(await (await me(world, key)).json()).toMatchObject({
      workspace: { id: world.workspaceId },
      key: { permissions: ["senders:read"], owner: false },
      server: { dev: true, mailer: "capture", now: "2026-01-01T00:00:00.000Z" },
    });
  });
});

describe("the form of a key", () => {
  const random = seededRandom(3);
  const keys = Array.from({ length: 200 }, () => makeKey(random, "live"));

  test("every key is well formed, and no two are the same", () => {
    expect(keys.every((key) => parseKeyKind(key) === "live")).toBe(true);
    expect(new Set(keys).size).toBe(200);
  });

  test("one wrong, missing or doubled character is noticed", () => {
    for (const key of keys.slice(0, 20))
      for (let i = 8; i < key.length; i += 5) {
        expect(parseKeyKind(`${key.slice(0, i)}${key[i] === "a" ? "b" : "a"}${key.slice(i + 1)}`)).toBeNull();
        expect(parseKeyKind(key.slice(0, i) + key.slice(i + 1))).toBeNull();
        expect(parseKeyKind(key.slice(0, i) + key[i] + key.slice(i))).toBeNull();
      }
  });
});
