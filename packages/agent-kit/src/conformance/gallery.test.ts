import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type Handle, RIGHT, SECRET, WRONG } from "../../test/gallery.ts";
import { checkReceiver } from "./check.ts";

const folder = join(import.meta.dirname, "../../test/receivers");

/** Serves a receiver and returns its address. */
async function listen(handle: Handle): Promise<string> {
  const server: Server = createServer(async (request, response) => {
    try {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      const given = String(request.headers["x-service-signature"] ?? "");
      const answer = await handle({ raw: Buffer.concat(parts), request, given });
      const [status, text] = typeof answer === "number" ? [answer, ""] : answer;
      response.writeHead(status).end(text);
    } catch {
      response.writeHead(500).end();
    }
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhook`;
}

/** Starts a program that prints the port at which it listens. */
async function start(program: string, ...args: string[]): Promise<string> {
  const child: ChildProcess = spawn(program, args, {
    cwd: folder,
    env: { ...process.env, AGENT_WEBHOOK_SECRET: SECRET },
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(async () => {
    const ended = once(child, "exit");
    if (child.kill("SIGKILL")) await ended;
  });
  const [port] = (await once(child.stdout as NodeJS.ReadableStream, "data")) as [Buffer];
  return `http://127.0.0.1:${Number(String(port))}/webhook`;
}

test.each(Object.entries(WRONG))("a receiver that %s is told so first", async (_name, [handle, mistake]) => {
  const { causes, failed } = await checkReceiver({ url: await listen(handle()), secret: SECRET });
  expect(failed).toBeGreaterThan(0);
  expect(causes.map((cause) => `${cause.mistake} [${cause.cases.join()}]`)[0]).toMatch(mistake);
  // One mistake is not told in many ways.
  expect(causes.length, JSON.stringify(causes, null, 1)).toBeLessThanOrEqual(2);
});

test("the gallery has at least fifty wrong receivers", () => expect(Object.keys(WRONG).length).toBeGreaterThanOrEqual(50));

test.each(Object.entries(RIGHT))("a receiver that %s passes", async (_name, handle) => {
  const { results } = await checkReceiver({ url: await listen(handle()), secret: SECRET });
  expect(results.filter(({ passed }) => !passed)).toEqual([]);
});

test.each([
  ["Python", "python3", ["right.py"]],
  ["Node", process.execPath, ["right.mjs"]],
  ["a shell script, served as PHP is", process.execPath, ["cgi.mjs", "right.sh"]],
])("a right receiver in %s passes", async (_name, program, args) => {
  const url = await start(program, ...args);
  const { results } = await checkReceiver({ url, secret: SECRET });
  expect(results.filter(({ passed }) => !passed)).toEqual([]);
  // Again with the same receiver: ids are new each time.
  expect((await checkReceiver({ url, secret: SECRET, only: "order-" })).failed).toBe(0);
});
