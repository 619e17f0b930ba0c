import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type Wire, wire } from "../../test/wire.ts";
import { readConfig } from "../config.ts";
import { realTime } from "../lib/clock.ts";
import { silentLog } from "../lib/log.ts";
import { type RunningServer, serve } from "../serve.ts";
import { type PlainOptions, PlainServer } from "./plain.ts";

let folder: string;
let server: RunningServer;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "mailsvc-plain-"));
  server = await serve(readConfig({ flags: { port: "0", data: folder }, env: {}, dev: true }), silentLog);
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

const hello = JSON.stringify({ from: "a@acme.test", to: "ada@example.com", subject: "Grüße", text: "x" });
const post = (body: string, ...headers: string[]): string =>
  `${[
    "POST /api/v1/send HTTP/1.1",
    "Host: 127.0.0.1",
    `Authorization: Bearer ${server.apiKey}`,
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...headers,
  ].join("\r\n")}\r\n\r\n${body}`;
const get = (...headers: string[]): string =>
  `${["GET /api/v1/emails?limit=1 HTTP/1.1", "Host: x", `Authorization: Bearer ${server.apiKey}`, ...headers].join("\r\n")}\r\n\r\n`;
const statusesIn = (text: string): string[] => [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((m) => m[1] as string);
const until = (n: number): RegExp => new RegExp(`(?:HTTP/1\\.1 \\d{3} [\\s\\S]*\\}){${n}}`);

const open = (): Promise<Wire> => wire(server.url);
/** The names of the headers of an answer, and those of its values that are the same each time. */
const shapeOf = (answer: string) =>
  (answer.split("\r\n\r\n")[0] as string)
    .split("\r\n")
    .slice(1)
    .map((line) => (/^(?:date|x-request-id|ratelimit)/i.test(line) ? line.split(":")[0] : line))
    .sort();

describe("a connection", () => {
  test("answers plain requests as the runtime's server would: the same headers, and the body whole", async () => {
    const [plain, other] = [await open(), await open()];
    plain.write(post(hello));
    const bytes = post(hello);
    other.write(bytes.slice(0, 40));
    await realTime.sleep(20);
    other.write(bytes.slice(40));
    const [one, two] = [await plain.read(until(1)), await other.read(until(1))];
    expect(shapeOf(one)).toEqual(shapeOf(two));
    expect(one).toMatch(/\r\nDate: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\r\n/);
    for (const line of [plain, other]) line.cut();
  });

  test("serves a plain request after the other, and goes on when others come in between", async () => {
    const line = await open();
    const requests = [post(hello), post("{}"), get(), post(hello), post("not json"), get(), post(hello)];
    for (const [i, request] of requests.entries()) {
      line.write(request);
      await line.read(until(i + 1));
    }
    line.write(get("Connection: close"));
    expect(statusesIn(await line.read())).toEqual(["200", "400", "200", "200", "400", "200", "200", "200"]);
  });

  test("keeps what comes before its answer is there, and answers in order", async () => {
    const line = await open();
    line.write(post(hello));
    line.write(post("{}"));
    line.write(get("Connection: close"));
    expect(statusesIn(await line.read())).toEqual(["200", "400", "200"]);
  });

  test("of which the client ends its half gets its answer, and is closed", async () => {
    const line = await open();
    line.write(post(hello));
    line.half();
    const answer = await line.read();
    expect(statusesIn(answer)).toEqual(["200"]);
    expect(answer).toMatch(/\r\nConnection: close\r\n/);
    await line.closed;
  });

  test("that is cut in the middle harms nobody", async () => {
    for (let i = 0; i < 20; i += 1) {
      const line = await open();
      line.write(post(hello));
      line.cut();
      await line.closed;
    }
    await vi.waitFor(() => expect(server.app.flight.count).toBe(0));
    const line = await open();
    line.write(post(hello, "X-A: b"));
    expect(statusesIn(await line.read(until(1)))).toEqual(["200"]);
    line.cut();
  });
});

/** A bare server of plain requests on a port of its own. */
const bare = async (options: Partial<PlainOptions>) => {
  const plain = new PlainServer({
    find: () => undefined,
    handOver: (socket) => void socket.destroy(),
    now: () => 0,
    firstMs: 60_000,
    idleMs: 60_000,
    ...options,
  });
  const listening = createServer({ allowHalfOpen: true }, (socket) => plain.accept(socket));
  await new Promise<void>((ready) => listening.listen(0, "127.0.0.1", ready));
  const { port } = listening.address() as AddressInfo;
  return {
    plain,
    url: `http://127.0.0.1:${port}`,
    port,
    [Symbol.asyncDispose]: () => {
      plain.closeAll();
      return new Promise<void>((closed) => void listening.close(() => closed()));
    },
  };
};

test("a client that does not read its answers is not listened to", async () => {
  let served = 0;
  const body = "x".repeat(30_000_000);
  await using place = await bare({
    find: () => async (exchange) => {
      served += 1;
      exchange.respond({ status: 200, headers: [], body });
    },
  });
  const socket = connect(place.port, "127.0.0.1");
  socket.pause();
  socket.write(post(hello));
  await vi.waitFor(() => expect(served).toBe(1));
  socket.write(post(hello));
  await realTime.sleep(50);
  expect(served).toBe(1);
  let received = 0;
  socket.on("data", (bytes: Buffer) => void (received += bytes.length)).resume();
  await vi.waitFor(() => expect([served, received > 2 * body.length]).toEqual([2, true]), 10_000);
  socket.destroy();
});

test("what comes after the last answer of a connection is not done", async () => {
  let served = 0;
  const { promise, resolve: finish } = Promise.withResolvers<void>();
  await using place = await bare({
    find: () => async (exchange) => {
      served += 1;
      await promise;
      exchange.respond({ status: 200, headers: [["connection", "close"]], body: "last" });
    },
  });
  const line = await wire(place.url);
  line.write(post(hello));
  await vi.waitFor(() => expect(served).toBe(1));
  line.write(post(hello));
  await realTime.sleep(20);
  finish();
  expect(statusesIn(await line.read())).toEqual(["200"]);
  expect(served).toBe(1);
});

test("an answer that is on its way is not cut off by a server that stops", async () => {
  const body = "x".repeat(20_000_000);
  await using place = await bare({
    find: () => async (exchange) => void exchange.respond({ status: 200, headers: [], body }),
  });
  const socket = connect(place.port, "127.0.0.1");
  socket.pause();
  socket.write(post(hello));
  await vi.waitFor(() => expect([...place.plain.connections].some(({ socket: other }) => other.writableLength > 0)).toBe(true));
  place.plain.closeIdle();
  let received = 0;
  socket.on("data", (bytes: Buffer) => void (received += bytes.length)).resume();
  await vi.waitFor(() => expect(received).toBeGreaterThan(body.length), 10_000);
  socket.destroy();
});

test("a handler that waits hears that its client has gone, and of a client that stays nothing is kept", async () => {
  let aborted = 0;
  let waits = false;
  await using place = await bare({
    find: () => async (exchange) => {
      const signal = exchange.signal();
      signal.addEventListener("abort", () => void (aborted += 1));
      if (waits) await new Promise((gone) => signal.addEventListener("abort", gone));
      exchange.respond({ status: 200, headers: [], body: "}" });
    },
  });
  const line = await wire(place.url);
  for (let i = 1; i <= 20; i += 1) {
    line.write(post(hello));
    await line.read(until(i));
  }
  const [connection] = place.plain.connections;
  expect(connection?.socket.listenerCount("close")).toBeLessThan(5);
  waits = true;
  line.write(post(hello));
  await vi.waitFor(() => expect(connection?.busy).toBe(true));
  line.cut();
  await vi.waitFor(() => expect(aborted).toBe(1));
});

test("a header that would be two is not sent", async () => {
  const told: unknown[] = [];
  await using place = await bare({
    find: () => async (exchange) => {
      try {
        exchange.respond({ status: 200, headers: [["x-a", "b\r\nset-cookie: c"]], body: "" });
      } catch (error) {
        told.push(error);
        exchange.respond({ status: 500, headers: [], body: "" });
      }
    },
  });
  const line = await wire(place.url);
  line.write(post(hello));
  expect(await line.read("\r\n\r\n")).toMatch(/^HTTP\/1\.1 500 (?![\s\S]*cookie)/);
  expect(told).toHaveLength(1);
  line.cut();
});

describe("connections that say nothing", () => {
  test("are let go", async () => {
    await using place = await bare({ firstMs: 30 });
    const silent = await wire(place.url);
    await silent.closed;
    await vi.waitFor(() => expect(place.plain.connections.size).toBe(0));
  });

  test("are closed when there is to be nothing more, and those that are served are not", async () => {
    const { promise, resolve: finish } = Promise.withResolvers<void>();
    await using place = await bare({
      find: () => async (exchange) => {
        await promise;
        exchange.respond({ status: 200, headers: [], body: "done" });
      },
    });
    const [idle, served] = [await wire(place.url), await wire(place.url)];
    served.write(post(hello));
    await vi.waitFor(() => expect([...place.plain.connections].map(({ busy }) => busy).sort()).toEqual([false, true]));
    place.plain.closeIdle();
    await idle.closed;
    finish();
    expect(await served.read("done")).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    place.plain.closeIdle();
    await served.closed;
  });

  test("do not hold up a server that stops", async () => {
    const data = mkdtempSync(join(tmpdir(), "mailsvc-plain-stop-"));
    const other = await serve(readConfig({ flags: { port: "0", data }, env: {}, dev: true }), silentLog);
    const lines = await Promise.all([1, 2, 3].map(() => wire(other.url)));
    lines[0]?.write(post(hello).replace(server.apiKey ?? "", other.apiKey ?? ""));
    await lines[0]?.read(until(1));
    await other.close();
    await Promise.all(lines.map((line) => line.closed));
    rmSync(data, { recursive: true, force: true });
  });
});
