import { writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { createWorld } from "@mailsvc/server/testing";
import { expect, test, vi } from "vitest";
import { freePort } from "../../../test/support/free-port.ts";
import { project, through } from "./dev-folder.ts";
import { cli } from "./harness.ts";

// Only a limit: the tests go on as soon as there is something to see.
const WAIT = { timeout: 30_000, interval: 20 };

/** An agent without dependencies: it verifies events and prints their types. Its first argument names what it does besides. */
const AGENT = `
import { createHmac } from "node:crypto";
import { createServer } from "node:http";
const [, , port, how] = process.argv;
if (how === "broken") throw new Error("no settings");
createServer(async (request, response) => {
  const parts = [];
  for await (const part of request) parts.push(part);
  const body = Buffer.concat(parts);
  const good = createHmac("sha256", process.env.AGENT_WEBHOOK_SECRET).update(body).digest("hex") === request.headers["x-service-signature"];
  const { type } = JSON.parse(body);
  response.writeHead(!good ? 401 : how === "refuses" && type === "agent.activated" ? 410 : 200).end();
  console.log(\`got \${type} \${good}, other is \${process.env.OTHER}\`);
  if (how === "ends" && type === "agent.activated") setTimeout(() => process.exit(3), 50);
}).listen(Number(port), "127.0.0.1");
if (how === "deaf") process.on("SIGTERM", () => console.log("not yet"));
else process.on("SIGTERM", () => { console.log("bye"); process.exit(0); });
`;

/** Runs `agent dev --start` on a terminal until it shows `until`, presses Ctrl-C if asked to, and returns what it showed. */
async function dev(
  how: string,
  until: RegExp,
  interrupt: boolean,
  ...flags: string[]
): Promise<{ code: number; stderr: string; shown: string; port: number }> {
  await using world = await createWorld();
  const cwd = project(world, "starter");
  writeFileSync(join(cwd, "agent.mjs"), AGENT);
  writeFileSync(join(cwd, ".env"), "OTHER=mine\n");
  const port = await freePort();
  let shown = "";
  let press = (): void => {};
  const running = cli(
    ["agent", "dev", "--forward-to", `http://127.0.0.1:${port}/`, "--start", `"${process.execPath}" agent.mjs ${port} ${how}`, ...flags],
    {
      cwd,
      fetch: through(world),
      tty: { stdout: true, stderr: true },
      env: { NO_COLOR: "1" },
      onOutput: (text) => (shown += text),
      // An agent that does not end is given its ten seconds at once.
      now: () => Date.now() + (shown.includes("not yet") ? 20_000 : 0),
      onStart: (signal) => {
        press = () => signal("SIGINT");
      },
    },
  );
  await vi.waitFor(() => expect(shown).toMatch(until), WAIT);
  if (interrupt) press();
  const { code, stderr } = await running;
  return { code, stderr, shown, port };
}

test("--start runs the agent with the variables of .env, shows what it prints, and ends it", async () => {
  const { code, shown, port } = await dev("well", /✓ agent\.activated/, true);
  expect(code).toBe(0);
  expect(shown).toContain("│ got agent.activated true, other is mine");
  expect(shown).toContain("│ bye");
  await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow();
});

test("--once with --start runs the agent, waits until it has accepted its activation, and ends it", async () => {
  const { code, shown, port } = await dev("well", /│ bye/, false, "--once");
  expect(code).toBe(0);
  expect(shown).toMatch(/│ got agent\.activated true, other is mine[\s\S]*✓ activation \S+ turned on by the brand/);
  await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow();
});

test("--once with --start fails when the agent does not acknowledge its activation", async () => {
  const { code, shown, port } = await dev("refuses", /did not acknowledge/, false, "--once");
  expect(code).toBe(11);
  expect(shown).toMatch(/did not acknowledge agent\.activated[\s\S]*410/);
  await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow();
});

test.each([
  ["ends", 3],
  ["broken", 2],
])("--once with --start fails with an agent that %s", async (how, expected) => {
  expect((await dev(how, /The agent ended/, false, "--once")).code).toBe(expected);
});

test("an agent that ends by itself is not started again: the command ends with its code", async () => {
  const { code, shown } = await dev("ends", /The agent ended/, false);
  expect(code).toBe(3);
  expect(shown).toContain("The agent ended with code 3. Nothing starts it again");
});

test("an agent that does not start is shown with what it printed", async () => {
  const { code, stderr } = await dev("broken", /error/, false);
  expect(code).toBe(2);
  expect(stderr).toMatch(/The agent ended with code 1 before it listened[\s\S]*no settings/);
});

test("an agent that ignores SIGTERM is killed after ten seconds", async () => {
  const { code, shown, port } = await dev("deaf", /✓ agent\.activated/, true);
  expect(code).toBe(0);
  expect(shown).toMatch(/│ not yet[\s\S]*did not end within 10 s of SIGTERM and was killed/);
  await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow();
});

test("an address that is taken is refused before anything starts", async () => {
  await using world = await createWorld();
  const cwd = project(world, "starter");
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const result = await cli(["agent", "dev", "--forward-to", url, "--start", "touch started"], { cwd, fetch: through(world) });
  await new Promise((closed) => server.close(closed));
  expect(result).toMatchObject({ code: 2, stderr: expect.stringContaining("listens at 127.0.0.1:") });
});
