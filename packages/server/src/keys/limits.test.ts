import { describe, expect, test } from "vitest";
import { ask } from "../../test/scenario.ts";
import { HELLO, readId, serve, submitTo, toLogin } from "../../test/submission.ts";
import { createWorld, type TestWorld } from "../testing.ts";

const hello = { from: "receipts@acme.example", to: "ada@example.com", subject: "Hello", text: "x" };
const me = (world: TestWorld, key: string, headers: Record<string, string> = {}) =>
  ask(world, { method: "GET", path: "/api/v1/me", key, headers });
const codeOf = async (response: Response) => [response.status, ((await response.json()) as { error: { code: string } }).error.code];

describe("a key with an end", () => {
  test("is refused from then on, over HTTP, by SMTP and in the dashboard", async () => {
    await using world = await createWorld();
    const { key, expiresAt } = await world.sdk.keys.create({
      name: "contractor",
      permissions: ["transactional:send"],
      expiresAt: "2026-01-02T00:00:00.000Z",
    });
    expect(expiresAt).toBe("2026-01-02T00:00:00.000Z");
    const stateOf = async () => (await world.sdk.keys.list()).data.find(({ name }) => name === "contractor")?.state;
    expect(await stateOf()).toBe("active");
    const listener = await serve(world);
    expect((await me(world, key)).status).toBe(200);
    expect(readId(await submitTo(listener.port, HELLO, { login: toLogin(key) }))).toMatch(/^em_/);
    await world.clock.advance("24h");
    expect(await codeOf(await me(world, key))).toEqual([401, "key_expired"]);
    expect(await stateOf()).toBe("expired");
    expect(await submitTo(listener.port, HELLO, { login: toLogin(key) })).toMatch(
      /^535 5\.7\.8 This API key expired at 2026-01-02T00:00:00/,
    );
    const signIn = await world.fetch(`${world.url}/dashboard/sign-in`, {
      method: "POST",
      headers: { "content-type": "application/json", origin: world.url },
      body: JSON.stringify({ apiKey: key }),
    });
    expect(await codeOf(signIn)).toEqual([401, "unauthorized"]);
  });

  test("must have it in the future", async () => {
    await using world = await createWorld();
    const create = world.sdk.keys.create({ name: "x", permissions: ["keys:read"], expiresAt: "2026-01-01T00:00:00.000Z" });
    await expect(create).rejects.toMatchObject({ code: "validation_error", details: [{ path: "expiresAt", code: "in_the_past" }] });
  });
});

describe("a key for some senders", () => {
  test("sends from them and their domains only, by every way", async () => {
    await using world = await createWorld();
    const { key, senders } = await world.sdk.keys.create({
      name: "till",
      permissions: ["transactional:send", "templates:read"],
      senders: ["Receipts@ACME.example", "@shop.example", "Bücher.example"],
    });
    expect(senders).toEqual(["receipts@acme.example", "shop.example", "xn--bcher-kva.example"]);
    const send = (from: string) => ask(world, { path: "/api/v1/send", key, body: { ...hello, from } });
    for (const from of ["receipts@acme.example", "Acme <receipts@acme.example>", "any@shop.example"])
      expect((await send(from)).status).toBe(200);
    for (const from of ["ceo@acme.example", "any@sub.shop.example", "receipts@acme.example.evil.example"])
      expect(await codeOf(await send(from))).toEqual([403, "forbidden"]);
    const batch = await ask(world, { path: "/api/v1/send/batch", key, body: { emails: [hello, { ...hello, from: "ceo@acme.example" }] } });
    expect(batch.status).toBeGreaterThanOrEqual(400);
    const { port } = await serve(world);
    expect(await submitTo(port, HELLO, { login: toLogin(key) })).toMatch(/^550 5\.7\.1 This API key cannot send from hello@acme\.example/);
    expect(readId(await submitTo(port, HELLO.replace("hello@acme", "receipts@acme"), { login: toLogin(key) }))).toMatch(/^em_/);
  });

  test("has no permission to send in other ways, and names senders that exist", async () => {
    await using world = await createWorld();
    const create = (permissions: ["transactional:send", ...("campaigns:write" | "keys:write")[]], senders: string[]) =>
      world.sdk.keys.create({ name: "x", permissions, senders });
    await expect(create(["transactional:send", "keys:write"], ["a@acme.example"])).rejects.toMatchObject({
      details: [{ path: "permissions", code: "not_limitable" }],
    });
    await expect(create(["transactional:send"], ["a@acme.example", "nonsense"])).rejects.toMatchObject({
      details: [{ path: "senders.1", code: "invalid_sender" }],
    });
  });
});

describe("a key for some networks", () => {
  test("is refused elsewhere, also behind a proxy that is trusted, and over SMTP", async () => {
    await using world = await createWorld();
    const { key } = await world.sdk.keys.create({
      name: "till",
      permissions: ["transactional:send"],
      networks: ["203.0.113.0/24", "2001:db8::/32"],
    });
    const from = (address: string) => me(world, key, { "x-forwarded-for": address });
    expect((await from("203.0.113.9")).status).toBe(200);
    expect((await from("2001:db8::1")).status).toBe(200);
    for (const address of ["203.0.114.9", "2001:db9::1"]) expect(await codeOf(await from(address))).toEqual([403, "forbidden"]);
    const { port } = await serve(world);
    expect(await submitTo(port, HELLO, { login: toLogin(key) })).toMatch(/^550 5\.7\.1 This API key cannot be used from 127\.0\.0\.1/);
  });

  test("names networks that can be read", async () => {
    await using world = await createWorld();
    const create = world.sdk.keys.create({ name: "x", permissions: ["keys:read"], networks: ["10.0.0.0/8", "10.1"] });
    await expect(create).rejects.toMatchObject({ details: [{ path: "networks.1", code: "invalid_network" }] });
  });

  test("creates no key without its limits", async () => {
    await using world = await createWorld();
    const { key } = await world.sdk.keys.create({ name: "x", permissions: ["keys:write"], networks: ["203.0.113.0/24"] });
    const headers = { "x-forwarded-for": "203.0.113.9" };
    const made = await ask(world, { path: "/api/v1/keys", key, headers, body: { name: "y", permissions: ["keys:write"] } });
    expect(await codeOf(made)).toEqual([403, "forbidden"]);
  });
});

describe("the last use of a key", () => {
  test("is shown at once, and written to the minute", async () => {
    await using world = await createWorld();
    const { key, id, lastUsedAt } = await world.sdk.keys.create({ name: "shop", permissions: ["transactional:send"] });
    expect(lastUsedAt).toBeNull();
    await world.clock.advance("1h");
    await ask(world, { path: "/api/v1/send", key, body: hello });
    await world.clock.advance("30s");
    await ask(world, { path: "/api/v1/send", key, body: hello });
    const find = async () => (await world.sdk.keys.list()).data.find((one) => one.id === id)?.lastUsedAt;
    expect(await find()).toBe("2026-01-01T01:00:00.000Z");
    const { db, keyUse } = world.app.deps;
    const stored = async () => (await db.read.select().from(db.read.t.keys)).find((row) => row.id === id)?.lastUsedAt;
    expect(await stored()).toBeNull();
    await keyUse.save();
    expect(await stored()).toBe(Date.parse("2026-01-01T01:00:00.000Z"));
    await world.clock.advance("1m");
    await ask(world, { path: "/api/v1/send", key, body: hello });
    expect(await find()).toBe("2026-01-01T01:01:30.000Z");
  });

  test("is kept when the server stops", async () => {
    await using world = await createWorld();
    const { keyUse, db } = world.app.deps;
    await world.sdk.lists.list();
    await keyUse.stop();
    expect((await db.read.select().from(db.read.t.keys)).some(({ lastUsedAt }) => lastUsedAt === world.clock.now())).toBe(true);
  });
});
