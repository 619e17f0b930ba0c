import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { wire } from "../../test/wire.ts";
import { readConfig } from "../config.ts";
import type { SqliteDb } from "../db/sqlite/database.ts";
import { realTime } from "../lib/clock.ts";
import { silentLog } from "../lib/log.ts";
import { type RunningServer, serve } from "../serve.ts";
import { GRACE_MS } from "../shutdown.ts";
import { listen } from "./server.ts";

let folder: string;
let server: RunningServer;

const config = (data: string) => readConfig({ flags: { port: "0", data, "max-body": "1" }, env: {}, dev: true });

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "mailsvc-server-"));
  server = await serve(config(folder), silentLog);
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

const hello = JSON.stringify({ from: "a@acme.test", to: "ada@example.com", subject: "Hello", text: "x" });
const auth = () => `Authorization: Bearer ${server.apiKey}`;
const head = (request: string, ...headers: string[]): string =>
  `${[`${request} HTTP/1.1`, "Host: 127.0.0.1", ...headers].join("\r\n")}\r\n\r\n`;
const post = (body: string, ...headers: string[]): string =>
  head("POST /api/v1/send", auth(), "Content-Type: application/json", `Content-Length: ${Buffer.byteLength(body)}`, ...headers) + body;
/** Sends bytes on their own connection, and gives what comes back. */
const say = async (bytes: string): Promise<string> => {
  const line = await wire(server.url);
  line.write(bytes);
  return line.read();
};

test("a new connection is served while 300 others read continuously", async () => {
  for (let i = 0; i < 100; i += 1) await say(post(hello, "Connection: close"));
  const list = head("GET /api/v1/emails?limit=100", auth());
  const { hostname, port } = new URL(server.url);
  const readers = Array.from({ length: 300 }, () => {
    const socket = connect({ host: hostname, port: Number(port) }, () => socket.write(list));
    // A whole list ends in its pagination: ask again at once.
    socket.setEncoding("latin1").on("data", (text: unknown) => String(text).endsWith("}}") && socket.write(list));
    socket.on("error", () => {});
    return socket;
  });
  // All have been answered once, so the storm of their connections is over.
  await Promise.all(readers.map((reader) => once(reader, "data")));
  const waits: number[] = [];
  for (let i = 0; i < 5; i += 1) {
    const since = performance.now();
    expect(await say(head("GET /readyz", "Connection: close"))).toMatch(/^HTTP\/1\.1 200 /);
    waits.push(performance.now() - since);
  }
  for (const reader of readers) reader.destroy();
  // A quiet machine needs 10 to 40 ms, a busy one a second.
  expect(waits.sort((a, b) => a - b)[2]).toBeLessThan(3000);
});

test("a full disk is answered 503 with Retry-After; reads go on, and writes as soon as there is space", async () => {
  const db = server.app.deps.db as SqliteDb;
  const authorization = { authorization: `Bearer ${server.apiKey}` };
  const body = JSON.stringify({ ...JSON.parse(hello), text: "x".repeat(900_000) });
  const send = () =>
    fetch(`${server.url}/api/v1/send`, { method: "POST", headers: { ...authorization, "content-type": "application/json" }, body });
  await db.exclusive((c) => void c.pragma(`max_page_count = ${c.pragma("page_count", { simple: true })}`));
  const full = await send();
  expect([full.status, full.headers.get("retry-after")]).toEqual([503, "1"]);
  expect(await full.text()).not.toMatch(/insert|contents/i);
  expect((await fetch(`${server.url}/api/v1/emails`, { headers: authorization })).status).toBe(200);
  const ready = await fetch(`${server.url}/readyz`, { headers: authorization });
  expect([ready.status, await ready.text()]).toEqual([503, expect.stringContaining("SQLITE_FULL")]);
  expect(await (await fetch(`${server.url}/readyz`)).text()).not.toContain("SQLITE_FULL");
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
  await db.exclusive((c) => void c.pragma("max_page_count = 1000000"));
  expect((await send()).status).toBe(200);
});

test("a database that cannot be written is not ready, even before a request tries to write", async () => {
  const other = mkdtempSync(join(tmpdir(), "mailsvc-wire-"));
  const broken = await serve(config(other), silentLog);
  try {
    expect((await fetch(`${broken.url}/readyz`)).status).toBe(200);
    await (broken.app.deps.db as SqliteDb).exclusive((c) => void c.pragma("query_only = ON"));
    await vi.waitFor(async () => expect((await fetch(`${broken.url}/readyz`)).status).toBe(503), { timeout: 20_000, interval: 200 });
    await (broken.app.deps.db as SqliteDb).exclusive((c) => void c.pragma("query_only = OFF"));
  } finally {
    await broken.close();
    rmSync(other, { recursive: true, force: true });
  }
});

describe("limits of connections", () => {
  const bare = async (
    options: Partial<Pick<Parameters<typeof listen>[1], "maxConnections" | "headersTimeoutMs" | "tap">>,
    router: Parameters<typeof listen>[0] = server.app.http,
  ) => {
    const listening = await listen(router, {
      host: "127.0.0.1",
      port: 0,
      fd: null,
      https: false,
      inFlight: server.app.inFlight,
      real: realTime,
      log: silentLog,
      maxConnections: 1000,
      onConnection: () => {},
      ...options,
    });
    return { url: listening.url, [Symbol.asyncDispose]: () => listening.close(0).finally(() => (server.app.inFlight.draining = false)) };
  };

  test("of thousands of requests that a connection sends at once few are under way, and others are served meanwhile", async () => {
    const COUNT = 20_000;
    let open = 0;
    let most = 0;
    let answered = 0;
    const all = Promise.withResolvers<void>();
    const tap = (_: IncomingMessage, res: ServerResponse): void => {
      open += 1;
      most = Math.max(most, open);
      res.on("close", () => {
        open -= 1;
        answered += 1;
        if (answered === COUNT) all.resolve();
      });
    };
    await using place = await bare({ tap });
    const { hostname, port } = new URL(place.url);
    const flood = connect({ host: hostname, port: Number(port) }).resume();
    const request = head("GET /nothing");
    flood.write(request.repeat(COUNT));
    while (answered < 100) await new Promise(setImmediate);
    const other = await wire(place.url);
    other.write(head("GET /nothing", "Connection: close"));
    expect(await other.read()).toMatch(/^HTTP\/1\.1 404 /);
    expect(answered).toBeLessThan(COUNT / 2);
    await all.promise;
    // 64, and what one read of the connection holds besides.
    expect(most).toBeLessThan(64 + 2 * (65_536 / request.length));
    flood.destroy();
  });

  test("a request head that takes too long is answered 408, and its connection is closed", async () => {
    await using place = await bare({ headersTimeoutMs: 200 });
    const slow = await wire(place.url);
    slow.write("POST /api/v1/send HTTP/1.1\r\nHost: x\r\nX-Sl");
    expect(await slow.read()).toMatch(/^HTTP\/1\.1 408 /);
    await slow.closed;
  });

  test("a connection that waits for many responses gets no 408 in their place when its next head is late", async () => {
    const hanging = Object.create(server.app.http, { serveDirectly: { value: () => true } });
    await using place = await bare({ headersTimeoutMs: 200 }, hanging);
    const line = await wire(place.url);
    line.write(`${head("GET /slow").repeat(100)}POST /api/v1/send HTTP/1.1\r\nX-Sl`);
    expect(await line.read()).toBe("");
    await line.closed;
  });

  test("connections beyond the limit are closed, and the others go on", async () => {
    await using place = await bare({ maxConnections: 2 });
    const lines = await Promise.all([wire(place.url), wire(place.url)]);
    const third = await wire(place.url);
    await third.closed;
    lines[0]?.write(head("GET /healthz", "Connection: close"));
    expect(await lines[0]?.read()).toMatch(/^HTTP\/1\.1 200 /);
    lines[1]?.cut();
  });
});

test("after 300 invalid keys an address gets 429, and its valid keys still work", async () => {
  const tryKey = async (i: number): Promise<number> =>
    (await fetch(`${server.url}/api/v1/me`, { headers: { authorization: `Bearer wrong${i}` } })).status;
  let refused = 0;
  let status = await tryKey(0);
  // Five more are allowed each second, so a slow machine gets there later.
  while (status === 401) {
    refused += 1;
    status = await tryKey(refused);
  }
  expect(status).toBe(429);
  expect(refused).toBeGreaterThanOrEqual(300 - 5);
  expect((await fetch(`${server.url}/api/v1/me`, { headers: { authorization: `Bearer ${server.apiKey}` } })).status).toBe(200);
});

test("closing does not wait for idle connections", async () => {
  const other = mkdtempSync(join(tmpdir(), "mailsvc-wire-"));
  const closing = await serve(config(other), silentLog);
  const lines = await Promise.all([1, 2, 3].map(() => wire(closing.url)));
  lines[0]?.write(post(hello).replace(server.apiKey ?? "", closing.apiKey ?? ""));
  await lines[0]?.read("queued");
  const closed = Promise.all([closing.close(), ...lines.map((line) => line.closed)]).then(() => "closed");
  expect(await Promise.race([closed, realTime.sleep(GRACE_MS).then(() => "waited")])).toBe("closed");
  rmSync(other, { recursive: true, force: true });
});

test("closing completes the requests in flight and accepts no new ones", async () => {
  const other = mkdtempSync(join(tmpdir(), "mailsvc-wire-"));
  const closing = await serve(config(other), silentLog);
  const key = `Authorization: Bearer ${closing.apiKey}`;
  const line = await wire(closing.url);
  line.write(head("POST /api/v1/send", key, "Content-Type: application/json", `Content-Length: ${hello.length}`));
  while (closing.app.inFlight.count === 0) await new Promise((turn) => setImmediate(turn));
  const closed = closing.close();
  line.write(hello);
  expect(await line.read(/queued/)).toMatch(/^HTTP\/1\.1 200 /);
  await closed;
  await expect(wire(closing.url)).rejects.toThrow("ECONNREFUSED");
  rmSync(other, { recursive: true, force: true });
});

test("closing answers a request that was on its way on a connection in use, and tells that the connection ends", async () => {
  const other = mkdtempSync(join(tmpdir(), "mailsvc-wire-"));
  const closing = await serve(config(other), silentLog);
  const request = post(hello).replace(server.apiKey ?? "", closing.apiKey ?? "");
  const line = await wire(closing.url);
  line.write(request);
  expect(await line.read("queued")).not.toMatch(/connection: close/i);
  const closed = closing.close();
  line.write(request);
  expect(await line.read()).toMatch(/queued[\s\S]*HTTP\/1\.1 200 [\s\S]*connection: close[\s\S]*queued/i);
  await closed;
  rmSync(other, { recursive: true, force: true });
});

test("closing answers the first request of a connection that was just opened, and of those that wait to be accepted", async () => {
  const other = mkdtempSync(join(tmpdir(), "mailsvc-wire-"));
  const closing = await serve(config(other), silentLog);
  const request = post(hello).replace(server.apiKey ?? "", closing.apiKey ?? "");
  const opened = await wire(closing.url);
  const { hostname, port } = new URL(closing.url);
  const waiting = Array.from({ length: 20 }, () => connect({ host: hostname, port: Number(port) }));
  const answers = waiting.map(async (socket) => {
    let answer = "";
    socket.setEncoding("utf8").on("data", (text) => (answer += text));
    socket.write(request);
    await once(socket, "close");
    return answer.split("\r\n")[0];
  });
  // The kernel connects them at once. Node accepts one a turn, so all wait while the server is told to close.
  await new Promise<void>((done) => process.nextTick(done));
  const closed = closing.close();
  opened.write(request);
  expect(await opened.read("queued")).toMatch(/^HTTP\/1\.1 200 /);
  expect(await Promise.all(answers)).toEqual(waiting.map(() => "HTTP/1.1 200 OK"));
  await closed;
  rmSync(other, { recursive: true, force: true });
});
