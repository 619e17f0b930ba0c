import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eq } from "drizzle-orm";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { relayWorld, waitUntil } from "../../test/relays.ts";
import type { Script } from "../../test/smtp-peer.ts";
import { createWorld } from "../testing.ts";
import { RelayFileError, readRelayFile } from "./file.ts";
import { listNames } from "./routes.ts";
import { relaySecretsPlace } from "./settings.ts";

describe("routes", () => {
  test("a campaign's relay counts before its sender's, an address's before its domain's, and that before the workspace's", async () => {
    await using t = await relayWorld({}, { relay: { fallback: [] } });
    const { world } = t;
    const taken = async (send: () => Promise<unknown>): Promise<string> => {
      const before = t.a.messages;
      const beforeB = t.b.messages;
      await send();
      await world.settle();
      return t.a.messages > before ? "a" : t.b.messages > beforeB ? "b" : "captured";
    };
    const single = () => t.send("ada@example.com");
    expect(await taken(single)).toBe("captured");
    await t.operator.workspaces.update(world.workspaceId, { relay: "b" });
    expect(await taken(single)).toBe("b");
    const domain = await world.sdk.senders.create({ domain: "acme.test" });
    await world.sdk.senders.update(domain.id, { relay: "a" });
    expect(await taken(single)).toBe("a");
    const address = await world.sdk.senders.create({ email: "hello@acme.test" });
    await world.sdk.senders.update(address.id, { relay: "b" });
    expect(await taken(single)).toBe("b");
    await world.sdk.contacts.create({ email: "cam@example.com" });
    const campaign = { name: "News", subjectLine: "News", fromEmail: "hello@acme.test", html: "<p>Hi</p>" };
    expect(await taken(() => world.campaign({ ...campaign, relay: "a" }))).toBe("a");
    expect(await taken(() => world.campaign(campaign))).toBe("b");
    await world.sdk.senders.update(address.id, { relay: null });
    expect(await taken(single)).toBe("a");
  });

  test("a relay of one workspace takes no other one's mail, and cannot be named there", async () => {
    await using t = await relayWorld();
    const other = await t.world.createWorkspace("Other");
    await t.operator.relays.add({ name: "own", host: "127.0.0.1", port: t.a.port, workspaceId: other.workspaceId });
    const refused = { code: "validation_error", details: [{ path: "relay", code: "unknown_relay" }] };
    await expect(t.operator.workspaces.update(t.world.workspaceId, { relay: "own" })).rejects.toMatchObject(refused);
    await expect(t.operator.workspaces.update(t.world.workspaceId, { relay: "missing" })).rejects.toMatchObject(refused);
    await t.operator.workspaces.update(other.workspaceId, { relay: "own" });
    // It was open to all, and then closed.
    await t.operator.workspaces.update(t.world.workspaceId, { relay: "a" });
    await t.operator.relays.update("a", { workspaceId: other.workspaceId });
    const id = await t.send("ada@example.com");
    await t.world.settle();
    expect(await t.world.sdk.emails.get(id)).toMatchObject({
      status: "deferred",
      lastError: { message: expect.stringMatching(/no relay a that this mail may take.*mailsvc relays add a/) },
    });
    expect(t.a.messages).toBe(0);
  });

  test("a relay called default that is for one workspace, of an earlier version, takes no mail of another one", async () => {
    await using t = await relayWorld({}, { relay: { name: "default", fallback: [] } });
    const { db, relays } = t.world.app.deps;
    const settings = { name: "default", host: "127.0.0.1", port: t.a.port, workspaceId: "ws_other" };
    await db.tx(async (tx) => void (await tx.update(tx.t.relays).set({ settings, updatedAt: 2 }).where(eq(tx.t.relays.name, "default"))));
    relays.clear();
    const id = await t.send("ada@example.com");
    await t.world.settle();
    expect(await t.world.sdk.emails.get(id)).toMatchObject({
      status: "deferred",
      lastError: { message: expect.stringContaining("no relay default") },
    });
    expect([t.a.messages, t.b.messages]).toEqual([0, 0]);
  });

  test("a relay that is changed takes the next mail with what it is now", async () => {
    await using t = await relayWorld();
    await t.operator.workspaces.update(t.world.workspaceId, { relay: "a" });
    await t.send("ada@example.com");
    await t.world.settle();
    await t.operator.relays.update("a", { port: t.b.port, fallback: [] });
    await t.send("bob@example.com");
    await t.world.settle();
    expect([t.a.recipients, t.b.recipients]).toEqual([["ada@example.com"], ["bob@example.com"]]);
  });
});

test("a relay that is added while the others are read is known afterwards", async () => {
  await using t = await relayWorld();
  const { relays, db } = t.world.app.deps;
  const [begun, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let first = true;
  const slow = new Proxy(db.read, {
    get: (read, name) => {
      if (name !== "select" || !first) return Reflect.get(read, name);
      first = false;
      return () => ({
        from: async () => {
          const rows = await read.select().from(read.t.relays);
          begun.resolve();
          await held.promise;
          return rows;
        },
      });
    },
  });
  relays.clear();
  const read = relays.refresh(slow);
  await begun.promise;
  await t.operator.relays.add({ name: "c", host: "127.0.0.1", port: t.b.port });
  held.resolve();
  await read;
  expect(relays.find("c")).not.toBeNull();
});

describe("the API", () => {
  test("no secret of a relay is in any answer, or readable in the database", async () => {
    await using t = await relayWorld();
    await t.operator.relays.add({ name: "secret", host: "mail.example.com", user: "u", password: "hunter-2" });
    const answers = [
      await t.operator.relays.get("secret"),
      await t.operator.relays.update("secret", { ratePerSecond: 5 }),
      await t.operator.relays.list(),
      await t.world.app.deps.db.read.select().from(t.world.app.deps.db.read.t.relays),
    ];
    expect(
      JSON.stringify(answers, (_, value) => (value instanceof Uint8Array ? Buffer.from(value).toString("latin1") : value)),
    ).not.toContain("hunter");
    expect(answers[0]).toMatchObject({ auth: "password", user: "u", tls: "required", port: 587, verify: true, ratePerSecond: null });
    expect(answers[1]).toMatchObject({ auth: "password", ratePerSecond: 5 });
  });

  test("a test tells what to do about a mail server that refuses to talk", async () => {
    await using t = await relayWorld({ a: { greeting: { reply: "554 5.3.2 go away" } } });
    expect((await t.operator.relays.test("a", {})).steps.at(-1)).toMatchObject({
      ...{ step: "greet", ok: false, detail: "The mail server turns connections away: 554 5.3.2 go away" },
      hint: expect.stringContaining("ask its operator"),
    });
  });

  test("the relay default cannot be removed in production: what waits for it would be captured", async () => {
    await using t = await relayWorld(
      { a: { MAIL: { reply: "451 4.3.0 later" } } },
      { dev: false, flags: { "trust-sender": "acme.test" }, relay: { name: "default" } },
    );
    const id = await t.send("ada@example.com");
    await t.world.settle();
    await expect(t.operator.relays.remove("default")).rejects.toMatchObject({
      code: "conflict",
      hint: expect.stringContaining("mailsvc relays update default"),
    });
    await t.world.clock.advance("3h");
    expect(await t.world.sdk.emails.get(id)).toMatchObject({ status: "deferred" });
  });

  test("a relay cannot be removed while mail of a campaign that is sent waits for it, and its name is not lost", async () => {
    const later: Script = { RCPT: { reply: "450 4.2.0 greylisted" } };
    await using t = await relayWorld({ a: later }, { relay: { fallback: [] } });
    await t.operator.relays.add({ name: "default", host: "127.0.0.1", port: t.b.port });
    await t.world.sdk.contacts.create({ email: "cam@example.com" });
    const campaign = { name: "News", subjectLine: "News", fromEmail: "hello@acme.test", html: "<p>Hi</p>", relay: "a" };
    const { id } = await t.world.campaign(campaign);
    await t.world.clock.advance("10s");
    expect(await t.world.sdk.campaigns.get(id)).toMatchObject({ status: "SENT" });
    await t.operator.relays.remove("b");
    await expect(t.operator.relays.remove("a")).rejects.toMatchObject({ code: "conflict", message: expect.stringContaining(id) });
    expect(await listNames(t.world.app.deps.db.read)).toEqual(["a"]);
    later.RCPT = { reply: "250 ok" };
    t.a.cutAll();
    await t.world.clock.advance("1h");
    expect([t.a.recipients, t.b.recipients]).toEqual([["cam@example.com"], []]);
    expect(await listNames(t.world.app.deps.db.read)).toEqual([]);
    await t.operator.relays.remove("a");
  });

  test("a relay that something names cannot be removed", async () => {
    await using t = await relayWorld();
    await t.operator.workspaces.update(t.world.workspaceId, { relay: "a" });
    await expect(t.operator.relays.remove("a")).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringContaining(t.world.workspaceId),
    });
    await expect(t.operator.relays.remove("b")).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringContaining("the relay a"),
    });
    await t.operator.workspaces.update(t.world.workspaceId, { relay: null });
    await t.operator.relays.remove("a");
    await t.operator.relays.remove("b");
    expect(await t.operator.relays.list()).toEqual({ data: [] });
  });

  test.each([
    [{ password: "x" }, "user"],
    [{ user: "u" }, "password"],
    [{ user: "u", password: "x", tls: "off" }, "tls"],
    [{ user: "u", password: "x", tls: "opportunistic" }, "tls"],
    [{ clientId: "c" }, "clientId"],
    [{ user: "u", oauth: "microsoft", clientId: "c", clientSecret: "s" }, "tenant"],
    [{ user: "u", oauth: "google", clientId: "c", clientSecret: "s" }, "refreshToken"],
    [{ user: "u", oauth: "custom", clientId: "c", clientSecret: "s", tokenUrl: "http://login.example.com/" }, "tokenUrl"],
    [{ fallback: ["nobody"] }, "fallback"],
    [{ fallback: ["x"] }, "fallback"],
    [{ workspaceId: "ws_nobody" }, "workspaceId"],
    [{ name: "default", workspaceId: "ws_nobody" }, "workspaceId"],
    [{ dkim: [{ domain: "acme.test", selector: "s", privateKey: "no key" }] }, "dkim"],
  ] as const)("%j is refused, naming the field %s", async (settings, path) => {
    await using world = await createWorld();
    const { operator } = await relayWorldOf(world);
    await expect(operator.relays.add({ name: "x", host: "mail.example.com", ...settings } as never)).rejects.toMatchObject({
      code: "validation_error",
      details: [{ path }],
    });
  });

  test("only the operator manages relays", async () => {
    await using world = await createWorld();
    await expect(world.sdk.relays.list()).rejects.toMatchObject({ status: 403 });
  });

  test("readiness tells the state of each relay, and a relay that is down does not end it", async () => {
    await using t = await relayWorld();
    await t.operator.workspaces.update(t.world.workspaceId, { relay: "a" });
    await t.a.close();
    await t.send("ada@example.com");
    await t.world.settle();
    expect(await t.world.sdk.health.ready()).toMatchObject({ status: "ready", relays: { a: "down", b: "up" } });
  });
});

describe("a pace", () => {
  test("no more mails leave in a second than the relay takes, and the rest leave later by the clock", async () => {
    await using t = await relayWorld({}, { relay: { ratePerSecond: 2, fallback: [] } });
    await t.operator.workspaces.update(t.world.workspaceId, { relay: "a" });
    for (let n = 0; n < 9; n += 1) await t.send(`n${n}@example.com`);
    await t.world.settle();
    const counts = [t.a.messages];
    for (let second = 0; second < 5; second += 1) {
      await t.world.clock.advance("1s");
      counts.push(t.a.messages);
    }
    expect(counts[0]).toBe(1);
    for (const [i, count] of counts.slice(1).entries()) expect(count - (counts[i] ?? 0)).toBeLessThanOrEqual(2);
    expect(counts.at(-1)).toBe(9);
  });

  test("a single mail does not wait behind a campaign", async () => {
    await using t = await relayWorld({}, { relay: { ratePerSecond: 5, fallback: [] } });
    await t.operator.workspaces.update(t.world.workspaceId, { relay: "a" });
    for (let n = 0; n < 60; n += 1) await t.world.sdk.contacts.create({ email: `c${n}@example.com` });
    const { id } = await t.world.sdk.campaigns.create({
      name: "News",
      subjectLine: "News",
      fromEmail: "hello@acme.test",
      html: "<p>Hi</p>",
    });
    await t.world.sdk.campaigns.send(id);
    await t.world.settle();
    await t.world.clock.advance("1s");
    await t.send("ada@example.com");
    await t.world.clock.advance("1s");
    expect(t.a.recipients).toContain("ada@example.com");
    expect(t.a.messages).toBeLessThan(20);
    await t.world.clock.advance("20s");
    expect(new Set(t.a.recipients).size).toBe(61);
    expect(t.a.messages).toBe(61);
  });

  test("mail that waits for a relay when that is changed leaves at the new pace", async () => {
    await using t = await relayWorld({ a: { RCPT: { silence: true } } });
    await t.operator.workspaces.update(t.world.workspaceId, { relay: "a" });
    for (let n = 0; n < 20; n += 1) await t.send(`n${n}@example.com`);
    await waitUntil(() => t.a.silent === 2);
    await t.operator.relays.update("a", { port: t.b.port, ratePerSecond: 2, fallback: [] });
    // Waiting mail looks for another relay once a second.
    await waitUntil(() => t.b.messages > 0);
    t.a.cutSilent();
    const counts = [t.b.messages];
    for (let second = 0; second < 3; second += 1) {
      await t.world.clock.advance("1s");
      counts.push(t.b.messages);
    }
    expect(counts[0]).toBe(1);
    for (const [i, count] of counts.slice(1).entries()) expect(count - (counts[i] ?? 0)).toBeLessThanOrEqual(2);
    await t.world.clock.advance("10m");
    expect(new Set(t.b.recipients).size).toBe(20);
    expect(t.b.messages).toBe(20);
  });
});

describe("a file of relays", () => {
  let folder = "";
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "mailsvc-relays-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  const write = (name: string, content: string): string => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };

  test("holds relays that the API shows and does not change", async () => {
    write("secret", "hunter-2\n");
    const relays = [
      { name: "ses", host: "mail.example.com", user: "u", passwordFile: "secret", fallback: ["other"] },
      { name: "other", host: "127.0.0.1", port: 9 },
    ];
    const file = write("relays.json", JSON.stringify({ relays }));
    expect(readRelayFile(file)).toMatchObject([{ name: "ses", password: "hunter-2" }, { name: "other" }]);
    await using world = await createWorld({ flags: { relays: file } });
    const { operator } = await relayWorldOf(world);
    expect((await operator.relays.list()).data.map(({ name, source }) => [name, source])).toEqual([
      ["other", "file"],
      ["ses", "file"],
    ]);
    await expect(operator.relays.update("ses", { ratePerSecond: 1 })).rejects.toMatchObject({ code: "conflict" });
    await expect(operator.relays.add({ name: "ses", host: "x.example.com" })).rejects.toMatchObject({ code: "conflict" });
  });

  test("takes the place of a stored relay, which can then be removed, also the default one in production", async () => {
    const file = write("relays.json", JSON.stringify({ relays: [{ name: "default", host: "127.0.0.1", port: 9 }] }));
    await using world = await createWorld({ dev: false, flags: { relays: file } });
    const { operator } = await relayWorldOf(world);
    const { db, seal } = world.app.deps;
    const name = "default";
    const stored = {
      name,
      settings: { name, host: "old.example.com" },
      secrets: seal.seal("{}", relaySecretsPlace(name)),
      createdAt: 1,
      updatedAt: 1,
    };
    await db.tx(async (tx) => void (await tx.insert(tx.t.relays).values(stored)));
    expect(await operator.relays.remove(name)).toMatchObject({ name, host: "old.example.com" });
    expect(await db.read.$count(db.read.t.relays)).toBe(0);
    expect((await operator.relays.list()).data).toMatchObject([{ name, host: "127.0.0.1", source: "file" }]);
    await expect(operator.relays.remove(name)).rejects.toMatchObject({ code: "conflict" });
  });

  test.each([
    ["{", "The file is not valid JSON."],
    ['{"relays": {}}', 'The file must be {"relays": [ … ]}.'],
    ['{"relays": [{"name": "A", "host": "x"}]}', "relays[0].name: "],
    ['{"relays": [{"name": "a", "host": "x", "password": "hunter-2"}]}', "relays[0].user: A password needs its user."],
    ['{"relays": [{"name": "a", "host": "x", "passwordFile": "gone"}]}', "relays[0].passwordFile "],
    ['{"relays": [{"name": "a", "host": "x"}, {"name": "a", "host": "y"}]}', "The relay a is there twice."],
    ['{"relays": [{"name": "a", "host": "x", "fallback": ["b"]}]}', "The relay a names the fallback b"],
  ])("with a fault in it, %s, names the place and no secret", (content, message) => {
    const file = write("relays.json", content);
    let thrown: unknown;
    try {
      readRelayFile(file);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(RelayFileError);
    expect((thrown as Error).message).toContain(message);
    expect((thrown as Error).message).not.toContain("hunter");
  });
});

async function relayWorldOf(world: Awaited<ReturnType<typeof createWorld>>) {
  const { Mailsvc } = await import("@mailsvc/sdk");
  return { operator: new Mailsvc({ apiKey: world.operatorKey, baseUrl: world.url, fetch: world.fetch }) };
}
