import { spawn } from "node:child_process";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createWorld } from "@mailsvc/server/testing";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { bundleProgram, DIST } from "./bundle.ts";
import { folder } from "./harness.ts";

beforeAll(() => bundleProgram());

const SEND = [
  ...["send", "--from", "hello@acme.example", "--to", "ada@example.com", "--subject", "s", "--text", "t"],
  ...["--wait=20s", "--idempotency-key", "auto", "--timeout", "20s"],
];

/** Moments in the life of `send --wait`: before the server has the request, after it has stored the mail, and while its outcome is asked for. */
const MOMENTS = ["before the server has it", "after the server has stored it", "while it waits"] as const;

/** A server in front of a world that tells when a moment has come, and then answers nothing any more until it is opened. */
async function startGate(moment: (typeof MOMENTS)[number]) {
  const world = await createWorld();
  onTestFinished(() => world.dispose());
  let isOpen = false;
  let reach = (): void => {};
  const reached = new Promise<void>((done) => {
    reach = done;
  });
  const pass = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const isWrite = request.method === "POST";
    const holds = (at: (typeof MOMENTS)[number]): boolean => !isOpen && moment === at;
    if (isWrite && holds("before the server has it")) return reach();
    if (!isWrite && holds("while it waits")) return reach();
    const headers = Object.fromEntries(
      ["authorization", "content-type", "idempotency-key"].flatMap((name) =>
        request.headers[name] ? [[name, String(request.headers[name])]] : [],
      ),
    );
    const answer = await world.fetch(`${world.url}${request.url}`, {
      method: request.method ?? "GET",
      headers,
      ...(isWrite && { body: Buffer.concat(parts) }),
    });
    if (isWrite && holds("after the server has stored it")) return reach();
    response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "application/json" });
    response.end(await answer.text());
  };
  const server = createServer((request, response) => void pass(request, response).catch(() => response.destroy()));
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    world,
    url,
    reached,
    open: () => {
      isOpen = true;
    },
  };
}

function start(argv: readonly string[], env: Record<string, string>, home: string) {
  const child = spawn(process.execPath, [join(DIST, "main.js"), ...argv], {
    cwd: home,
    env: { PATH: process.env["PATH"], HOME: home, ...env },
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (part) => {
    stdout += part;
  });
  child.stderr.on("data", (part) => {
    stderr += part;
  });
  child.stdin.end();
  return {
    child,
    ended: new Promise<{ code: number | null; signal: NodeJS.Signals | null; stdout: string; stderr: string }>((done) =>
      child.on("close", (code, signal) => done({ code, signal, stdout, stderr })),
    ),
  };
}

test.each(MOMENTS.flatMap((moment) => (["SIGKILL", "SIGINT", "SIGTERM"] as const).map((signal) => [moment, signal] as const)))(
  "a program that is ended %s by %s and run again sends the mail once",
  async (moment, signal) => {
    const gate = await startGate(moment);
    const { world } = gate;
    const env = { MAILSVC_URL: gate.url, MAILSVC_API_KEY: world.apiKey };
    const home = folder();
    const first = start(SEND, env, home);
    await Promise.race([gate.reached, first.ended.then(({ stderr }) => Promise.reject(new Error(stderr)))]);
    first.child.kill(signal);
    const ended = await first.ended;
    expect(signal === "SIGKILL" ? ended.signal : ended.code).toBe(signal === "SIGKILL" ? "SIGKILL" : 130);
    const stored = (await world.sdk.emails.list()).data;
    expect(stored).toHaveLength(moment === "before the server has it" ? 0 : 1);
    // The id is out before the program waits, also when it is killed then.
    const known = /em_\w{26}/.exec(ended.stdout)?.[0];
    expect(known).toBe(moment === "while it waits" ? stored[0]?.id : undefined);
    if (signal !== "SIGKILL" && moment === "while it waits") expect(JSON.parse(ended.stdout)).toEqual({ id: known, status: "queued" });
    gate.open();
    const again = await start(SEND, env, home).ended;
    expect([again.code, again.stderr]).toEqual([0, ""]);
    expect((await world.sdk.emails.list()).data.map(({ id }) => id)).toEqual([JSON.parse(again.stdout).id]);
    await world.settle();
    expect(await world.inbox.all({ to: "ada@example.com" })).toHaveLength(1);
  },
);
