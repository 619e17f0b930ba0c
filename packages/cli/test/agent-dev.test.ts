import { readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { createAgent } from "@mailsvc/agent-kit";
import { nodeHandler } from "@mailsvc/agent-kit/node";
import { createWorld } from "@mailsvc/server/testing";
import { expect, onTestFinished, test, vi } from "vitest";
import { project, SERVER, through } from "./dev-folder.ts";
import { cli } from "./harness.ts";

// Only a limit: the tests go on as soon as there is something to see.
const WAIT = { timeout: 30_000, interval: 20 };

test("says how to start a server when none runs", async () => {
  const result = await cli(["agent", "dev", "--forward-to", "http://127.0.0.1:4000/"]);
  expect(result).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("mailsvc dev") });
});

test.each([
  [[], "--forward-to is needed"],
  [["--forward-to", "localhost:4000"], "--forward-to: "],
  [["--forward-to", "http://127.0.0.1:4000/", "--slug", "Not A Slug"], "--slug: "],
])("refuses %j", async (flags, message) => {
  expect(await cli(["agent", "dev", ...flags])).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining(message) });
});

test("an agent is listed with the scopes of its package.json, and asks for no more than runs and messages without", async () => {
  await using world = await createWorld();
  const cwd = project(world, "usual");
  const dev = (...flags: string[]) =>
    cli(["agent", "dev", "--forward-to", "http://127.0.0.1:9/webhook", "--once", ...flags], { cwd, fetch: through(world) });
  const scopesOf = async (slug: string): Promise<string[]> => [...(await world.builder.sdk.listings.get(slug)).permissions].sort();
  await dev();
  expect(await scopesOf("usual")).toEqual(["agent:post_messages", "agent:read_messages", "agent:read_runs", "agent:write_runs"]);
  const write = (scopes: unknown): void => writeFileSync(join(cwd, "package.json"), JSON.stringify({ name: "own", mailsvc: { scopes } }));
  write(["agent:wakeups"]);
  await dev();
  expect(await scopesOf("own")).toEqual(["agent:wakeups"]);
  write(["agent:wakeups", "brand:read"]);
  await dev();
  const [activation] = (await world.sdk.activations.list({ agentSlug: "own" })).data;
  expect([...(activation?.scopes ?? [])].sort()).toEqual(["agent:wakeups", "brand:read"]);
  await dev("--slug", "other", "--scope", "brand:read", "agent:wakeups");
  expect(await scopesOf("other")).toEqual(["agent:wakeups", "brand:read"]);
  write(["agent:everything"]);
  expect(await dev()).toMatchObject({ code: 2, stderr: expect.stringContaining('"agent:everything"') });
});

test("--once lists, pays, activates and writes .env; a second time everything is reused", async () => {
  await using world = await createWorld();
  const cwd = project(world, "@acme/Launch Writer");
  writeFileSync(join(cwd, ".env"), "# mine\nOTHER=1\nMAILSVC_URL=http://old.example\n", { mode: 0o644 });
  const once = ["agent", "dev", "--forward-to", "http://127.0.0.1:9/webhook", "--once"];

  const first = await cli(once, { cwd, fetch: through(world) });
  expect(first.stderr).toBe("");
  expect(first.json).toMatchObject({ slug: "launch-writer", listing: "created", paid: true, activated: true });
  expect(await world.builder.sdk.listings.get("launch-writer")).toMatchObject({
    state: "LISTED",
    webhookUrl: "http://127.0.0.1:9/webhook",
  });
  const env = readFileSync(join(cwd, ".env"), "utf8");
  expect(env).toMatch(
    new RegExp(`^# mine\\nOTHER=1\\nAGENT_WEBHOOK_SECRET=whsec_\\S+\\nMAILSVC_URL=${SERVER}\\nAGENT_MASTER_KEY=\\S{44}\\n$`),
  );
  expect(statSync(join(cwd, ".env")).mode & 0o777).toBe(0o600);

  const second = await cli(once, { cwd, fetch: through(world) });
  expect(second.json).toMatchObject({
    listing: "found",
    paid: false,
    variables: [],
    activated: false,
    activationId: first.json.activationId,
  });
  expect(readFileSync(join(cwd, ".env"), "utf8")).toBe(env);
  expect((await world.sdk.activations.list()).data).toHaveLength(1);

  const fresh = await cli([...once, "--fresh"], { cwd, fetch: through(world) });
  expect(fresh.json.activationId).not.toBe(first.json.activationId);
  expect((await world.sdk.activations.list({ status: "active" })).data).toMatchObject([{ id: fresh.json.activationId }]);
});

test("a lost secret is made anew, and the webhook moves", async () => {
  await using world = await createWorld();
  const cwd = project(world, "writer");
  const once = (url: string) => cli(["agent", "dev", "--forward-to", url, "--once"], { cwd, fetch: through(world) });
  await once("http://127.0.0.1:9/a");
  const before = readFileSync(join(cwd, ".env"), "utf8");
  writeFileSync(join(cwd, ".env"), before.replace(/^AGENT_WEBHOOK_SECRET=.*\n/m, ""));
  expect((await once("http://127.0.0.1:9/b")).json).toMatchObject({ listing: "updated", variables: ["AGENT_WEBHOOK_SECRET"] });
  expect((await world.builder.sdk.listings.get("writer")).webhookUrl).toBe("http://127.0.0.1:9/b");
  const after = readFileSync(join(cwd, ".env"), "utf8");
  expect(after.match(/AGENT_MASTER_KEY=.*/)?.[0]).toBe(before.match(/AGENT_MASTER_KEY=.*/)?.[0]);
  expect(after.match(/AGENT_WEBHOOK_SECRET=.*/)?.[0]).not.toBe(before.match(/AGENT_WEBHOOK_SECRET=.*/)?.[0]);
});

test.each([
  ["a", "approved"],
  ["r", "rejected"],
] as const)("shows events, and the key %s answers the request: %s", async (key, decision) => {
  await using world = await createWorld();
  const cwd = project(world, "writer");
  // The agent has another secret at first, as one that was not started again.
  let calls = 0;
  const secret = (): string => (calls++ < 2 ? "another" : (secretOf(cwd) ?? ""));
  const decisions: string[] = [];
  const agent = createAgent({ baseUrl: world.url, fetch: world.fetch, secret }).on("agent.activated", (ctx) =>
    ctx.run({ title: "Launch" }, async (run) => {
      decisions.push((await run.approval("start", { title: "Shall I begin?", text: "I am ready." })).decision);
    }),
  );
  const server = createServer(nodeHandler(agent));
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(async () => {
    await agent.stop();
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  let shown = "";
  const running = cli(["agent", "dev", "--forward-to", url], {
    cwd,
    fetch: through(world),
    input: stdin,
    tty: { stdout: true, stderr: true },
    env: { NO_COLOR: "1" },
    onOutput: (text) => (shown += text),
  });
  await vi.waitFor(() => expect(shown).toMatch(/Shall I begin\? {2}a approves, r rejects/), WAIT);
  expect(shown.indexOf("answers 401")).toBeGreaterThan(0);
  expect(shown.indexOf("answers 401")).toBeLessThan(shown.indexOf("turned on by the brand"));
  expect(shown).toMatch(/✓ agent\.activated +ok \d+ ms/);
  stdin.write(key);
  await vi.waitFor(() => expect(shown).toMatch(new RegExp(`${decision} Shall I begin\\?[^]*✓ approval_response`)), WAIT);
  await vi.waitFor(() => expect(decisions).toEqual([decision]), WAIT);
  stdin.write("\u0003");
  expect(await running).toMatchObject({ code: 0 });
});

const secretOf = (cwd: string): string | undefined => /^AGENT_WEBHOOK_SECRET=(.*)$/m.exec(readFileSync(join(cwd, ".env"), "utf8"))?.[1];
