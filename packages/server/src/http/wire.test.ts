import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { wire } from "../../test/wire.ts";
import { readConfig } from "../config.ts";
import { silentLog } from "../lib/log.ts";
import { type RunningServer, serve } from "../serve.ts";
import { ListenError } from "./listen-error.ts";

let folder: string;
let server: RunningServer;

const config = (data: string, flags: Record<string, string> = {}) =>
  readConfig({ flags: { port: "0", data, "max-body": "1", ...flags }, env: {}, dev: true });

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "mailsvc-wire-"));
  server = await serve(config(folder, { "ready-file": join(folder, "ready.json") }), silentLog);
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
const statusesIn = (text: string): number[] => [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((m) => Number(m[1]));

/** Sends bytes, and gives what comes back until the server closes the connection. */
const say = async (bytes: string | Uint8Array): Promise<string> => {
  const line = await wire(server.url);
  line.write(bytes);
  return line.read();
};
const ask = async (request: string, ...headers: string[]): Promise<string> => say(head(request, "Connection: close", ...headers));

afterEach(async () => {
  // Whatever a test did, the server still answers, and nothing is in flight.
  const response = await fetch(`${server.url}/healthz`, { signal: AbortSignal.timeout(20_000) });
  expect(response.status).toBe(200);
  await vi.waitFor(() => expect(server.app.inFlight.count).toBe(0), { timeout: 20_000 });
});

test("the ready file holds the address and the key, and only its owner may read it", () => {
  const file = join(folder, "ready.json");
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({
    url: server.url,
    workspaceId: server.workspaceId,
    apiKey: server.apiKey,
    operatorKey: server.operatorKey,
    profiles: server.profiles,
    pid: process.pid,
    dashboardUrl: `${server.url}/dashboard`,
    smtpUrl: server.smtpUrl,
  });
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("a port or folder in use is reported with a clear message", async () => {
  const other = mkdtempSync(join(tmpdir(), "mailsvc-wire-"));
  const { port } = new URL(server.url);
  await expect(serve(config(other, { port }), silentLog)).rejects.toThrow(ListenError);
  await expect(serve(config(other, { port }), silentLog)).rejects.toThrow(`Port ${port} of 127.0.0.1 is in use.`);
  await expect(serve(config(folder), silentLog)).rejects.toThrow("Another mailsvc server");
  rmSync(other, { recursive: true, force: true });
});

/** The error in an answer, whose id is in its header too. */
function readError(answer: string): unknown {
  const [head = "", body = ""] = answer.split("\r\n\r\n");
  const { error } = JSON.parse(body) as { error: { requestId: string } };
  expect(head.toLowerCase()).toContain(`x-request-id: ${error.requestId}`);
  return error;
}

describe("requests that are not valid HTTP", () => {
  test.each([
    ["garbage", "\x00\x01\x02\xff garbage\r\n\r\n"],
    ["a TLS handshake", Uint8Array.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03, ...new Array(64).fill(7)])],
    ["SMTP", "EHLO mail.example.com\r\nMAIL FROM:<a@b.example>\r\n"],
    ["HTTP/9", "GET / HTTP/9.9\r\nHost: x\r\n\r\n"],
    ["HTTP/2 by surprise", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    ["a header without a colon", "GET /healthz HTTP/1.1\r\nHost: x\r\nnonsense\r\n\r\n"],
    ["a header name with a blank", "GET /healthz HTTP/1.1\r\nHost: x\r\nX A: 1\r\n\r\n"],
    ["NUL in a header", "GET /healthz HTTP/1.1\r\nHost: x\r\nX-A: a\0b\r\n\r\n"],
    ["no Host", "GET /healthz HTTP/1.1\r\n\r\n"],
    ["two Hosts", "GET /healthz HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n"],
    ["two equal Hosts", "POST /api/v1/send HTTP/1.1\r\nHost: x\r\nHOST: x\r\nContent-Length: 2\r\n\r\n{}"],
    ["a length that is no number", "POST /api/v1/send HTTP/1.1\r\nHost: x\r\nContent-Length: ten\r\n\r\n"],
    ["a negative length", "POST /api/v1/send HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n"],
    ["two lengths", "POST /api/v1/send HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello"],
    ["a length and chunks", "POST /api/v1/send HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
  ])("%s is answered with 400 and dropped", async (_what, bytes) => {
    const answer = await say(bytes);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(readError(answer)).toMatchObject({ code: "validation_error", status: 400 });
  });

  test.each([
    ["an expectation", "GET /healthz HTTP/1.1\r\nHost: x\r\nExpect: a miracle\r\nConnection: close\r\n\r\n", "expectation_failed", 417],
    ["a head of 64 KB", `GET /healthz HTTP/1.1\r\nHost: x\r\nX-Big: ${"x".repeat(65_536)}\r\n\r\n`, "headers_too_large", 431],
  ])("%s is answered with an error like all others", async (_what, bytes, code, status) => {
    expect(readError(await say(bytes))).toMatchObject({ code, status });
  });

  test("headers of 64 KB are refused", async () => {
    expect(await ask("GET /healthz", `X-Big: ${"x".repeat(65_536)}`)).toMatch(/^HTTP\/1\.1 431 /);
  });

  test("an empty body may have any media type", async () => {
    const empty = ["Content-Type: application/x-www-form-urlencoded", "Content-Length: 0"];
    expect(await ask("POST /api/v1/marketplace/listings/nobody/cancel", auth(), ...empty)).toMatch(/^HTTP\/1\.1 404 /);
  });

  test("five hundred headers are refused or accepted, and the server goes on", async () => {
    const [status] = statusesIn(await ask("GET /healthz", ...Array.from({ length: 500 }, (_, i) => `X-${i}: 1`)));
    expect([200, 400, 431]).toContain(status);
  });
});

describe("unusual paths", () => {
  test.each([
    ["GET //api/v1/me", 404],
    ["GET /api/v1//me", 404],
    ["GET /api/v1/../../etc/passwd", 404],
    ["GET /..%2f..%2f..%2fetc%2fpasswd", 404],
    ["GET /api/v1/%6d%65", 200],
    ["GET /API/V1/ME", 404],
    ["GET /api/v1/me%2F", 404],
    ["GET /api/v1/emails/%ZZ", 400],
    ["GET /api/v1/emails/%ff", 400],
    ["GET /api/v1/emails/%00", 400],
    ["GET /api/v1/me#fragment", 200],
    ["GET *", 404],
    ["OPTIONS *", 404],
    ["GET http://evil.example/api/v1/me", 200],
    ["GET /\\..\\..\\etc", 404],
    [`GET /${"a".repeat(8000)}`, 404],
    ["TRACE /api/v1/me", 405],
    ["CONNECT /api/v1/me", 404],
  ])("%s is %i", async (request, status) => {
    const text = await ask(request, auth());
    if (request.startsWith("CONNECT")) expect(statusesIn(text).every((s) => s < 500)).toBe(true);
    else expect([statusesIn(text), text.slice(0, 300)]).toEqual([[status], text.slice(0, 300)]);
    expect(text).not.toMatch(/root:|node_modules/);
  });
});

describe("slow clients, and clients that disconnect", () => {
  test("a hundred clients that never finish their headers do not delay others", async () => {
    const slow = await Promise.all(Array.from({ length: 100 }, () => wire(server.url)));
    for (const line of slow) line.write("POST /api/v1/send HTTP/1.1\r\nHost: x\r\nX-Sl");
    const since = performance.now();
    expect(await say(post(hello, "Connection: close"))).toMatch(/^HTTP\/1\.1 200 /);
    // The hundred slow ones have ten seconds.
    expect(performance.now() - since).toBeLessThan(5000);
    for (const line of slow) line.cut();
    await Promise.all(slow.map((line) => line.closed));
  });

  test("a body that arrives byte by byte is read completely", async () => {
    const line = await wire(server.url);
    const bytes = post(hello, "Connection: close");
    const at = bytes.length - hello.length;
    line.write(bytes.slice(0, at));
    for (const byte of hello) {
      line.write(byte);
      await new Promise((turn) => setImmediate(turn));
    }
    expect(await line.read()).toMatch(/^HTTP\/1\.1 200 /);
  });

  test("a client that disconnects within its body has no effect", async () => {
    const before = (await (
      await fetch(`${server.url}/api/v1/emails`, { headers: { authorization: `Bearer ${server.apiKey}` } })
    ).json()) as { pagination: { total: number } };
    for (let i = 0; i < 20; i += 1) {
      const line = await wire(server.url);
      line.write(post(hello).slice(0, -10));
      if (i % 2) await new Promise((turn) => setImmediate(turn));
      line.cut();
      await line.closed;
    }
    while (server.app.inFlight.count > 0) await new Promise((turn) => setImmediate(turn));
    const after = (await (
      await fetch(`${server.url}/api/v1/emails`, { headers: { authorization: `Bearer ${server.apiKey}` } })
    ).json()) as { pagination: { total: number } };
    expect(after.pagination.total).toBe(before.pagination.total);
  });

  test("a client that closes its side after its requests gets all responses, and then the connection is closed", async () => {
    for (const requests of [[post(hello)], [head("GET /api/v1/emails?limit=1", auth())], [post(hello), head("GET /healthz"), post("{")]]) {
      const line = await wire(server.url);
      line.write(requests.join(""));
      line.half();
      expect(statusesIn(await line.read())).toEqual([200, 200, 400].slice(0, requests.length));
      await line.closed;
    }
  });

  test("a client that closes its side within its request is told so", async () => {
    const line = await wire(server.url);
    line.write(post(hello).slice(0, -10));
    line.half();
    expect(statusesIn(await line.read())).toEqual([400]);
    await line.closed;
  });

  test("a client that disconnects before its response does not affect others", async () => {
    const lines = await Promise.all(Array.from({ length: 30 }, () => wire(server.url)));
    for (const line of lines) {
      line.write(post(hello));
      line.cut();
    }
    await Promise.all(lines.map((line) => line.closed));
    expect(await say(post(hello, "Connection: close"))).toMatch(/^HTTP\/1\.1 200 /);
  });

  test.each(["cut", "half"] as const)("waiting for mail ends when the client disconnects: %s", async (leave) => {
    const line = await wire(server.url);
    line.write(head("GET /__dev/inbox/wait?to=never%40example.com&timeout=60"));
    while (server.app.inFlight.count === 0) await new Promise((turn) => setImmediate(turn));
    line[leave]();
    await line.closed;
    await vi.waitFor(() => expect(server.app.inFlight.count).toBe(0), { timeout: 20_000 });
  });

  test("the connection of a follower of events is closed when the client closes its side", async () => {
    const line = await wire(server.url);
    line.write(head("GET /api/v1/events/stream", auth()));
    await line.read("text/event-stream");
    line.half();
    await line.closed;
  });

  test("a client that closes its side after a request that came behind a read gets the response", async () => {
    const line = await wire(server.url);
    line.write(head("GET /__dev/inbox/wait?to=never%40example.com&timeout=1"));
    await line.read(/not_found.*\}/s);
    line.write(post(hello));
    line.half();
    expect(statusesIn(await line.read())).toEqual([404, 200]);
  });
});

describe("what HTTP/1.1 allows", () => {
  test("requests in a row on one connection are answered in their order", async () => {
    const line = await wire(server.url);
    line.write(post(hello) + head("GET /api/v1/me", auth()) + post("{") + head("GET /nothing") + head("GET /healthz", "Connection: close"));
    expect(statusesIn(await line.read())).toEqual([200, 200, 400, 404, 200]);
  });

  test("after an invalid request the connection serves the next one", async () => {
    const line = await wire(server.url);
    line.write(post('{"to":'));
    expect(statusesIn(await line.read(/invalid_json.*\}/s))).toEqual([400]);
    line.write(post(hello, "Connection: close"));
    expect(statusesIn(await line.read())).toEqual([400, 200]);
  });

  test("one connection serves requests of all kinds in turn", async () => {
    const line = await wire(server.url);
    const list = (...headers: string[]): string => head("GET /api/v1/emails?limit=1", auth(), ...headers);
    const requests = [post(hello), post("{}"), list(), post(hello), post("not json"), list(), post(hello)];
    for (const [i, request] of requests.entries()) {
      line.write(request);
      await line.read(new RegExp(`(?:HTTP/1\\.1 \\d{3} [\\s\\S]*\\}){${i + 1}}`));
    }
    line.write(list("Connection: close"));
    expect(statusesIn(await line.read())).toEqual([200, 400, 200, 200, 400, 200, 200, 200]);
  });

  test("a chunked body is read", async () => {
    const chunked = head("POST /api/v1/send", auth(), "Content-Type: application/json", "Transfer-Encoding: chunked", "Connection: close");
    const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
    expect(await say(`${chunked}${chunk(hello.slice(0, 9))}${chunk(hello.slice(9))}0\r\n\r\n`)).toMatch(/^HTTP\/1\.1 200 /);
    expect(statusesIn(await say(`${chunked}zz\r\n${hello}\r\n0\r\n\r\n`))[0]).toBe(400);
    expect(statusesIn(await say(`${chunked}5\r\n${hello}\r\n0\r\n\r\n`))[0]).toBe(400);
  });

  test("Expect: 100-continue is answered 100", async () => {
    const line = await wire(server.url);
    const bytes = post(hello, "Expect: 100-continue", "Connection: close");
    line.write(bytes.slice(0, bytes.length - hello.length));
    expect(await line.read("\r\n\r\n")).toMatch(/^HTTP\/1\.1 100 /);
    line.write(hello);
    expect(statusesIn(await line.read())).toEqual([100, 200]);
  });

  test("an unknown expectation is refused or ignored, and does not hang", async () => {
    expect([200, 417]).toContain(statusesIn(await say(post(hello, "Expect: 200-maybe", "Connection: close"))).at(-1));
  });

  test("an HTTP/1.0 request is answered and its connection closed", async () => {
    expect(await say("GET /healthz HTTP/1.0\r\n\r\n")).toMatch(/^HTTP\/1\.1 200 [\s\S]*\{"status":"ok"/);
  });

  test("HEAD has the headers and no body", async () => {
    const text = await ask("HEAD /api/v1/me", auth());
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
    expect(text.split("\r\n\r\n")[1]).toBe("");
  });

  test("the body of a GET is skipped, and the next request is understood", async () => {
    const line = await wire(server.url);
    line.write(`${head("GET /api/v1/me", auth(), "Content-Length: 7")}garbage${head("GET /healthz", "Connection: close")}`);
    expect(statusesIn(await line.read())).toEqual([200, 200]);
  });

  test("two Authorization headers are not combined to a key", async () => {
    expect(statusesIn(await ask("GET /api/v1/me", "Authorization: Basic YTpi", auth()))[0]).toBe(401);
  });

  test("an unsupported upgrade is served as a plain request", async () => {
    const [status] = statusesIn(await ask("GET /healthz", "Upgrade: websocket", "Connection: Upgrade, close", "Sec-WebSocket-Key: x"));
    expect(status).toBe(200);
  });
});

describe("ambiguous requests (request smuggling) are refused, and a request hidden in them is not served", () => {
  const hidden = { toString: () => head("GET /api/v1/me", auth(), "Connection: close") };
  const send = (...headers: string[]) => head("POST /api/v1/send", auth(), "Content-Type: application/json", ...headers);
  test.each([
    ["a length and chunks", () => `${send("Content-Length: 4", "Transfer-Encoding: chunked")}0\r\n\r\n${hidden}`],
    ["chunks and a length", () => `${send("Transfer-Encoding: chunked", "Content-Length: 100")}0\r\n\r\n${hidden}`],
    ["two lengths", () => `${send("Content-Length: 2", "Content-Length: 200")}{}${hidden}`],
    ["a list of lengths", () => `${send("Content-Length: 2, 200")}{}${hidden}`],
    ["a length with a sign", () => `${send("Content-Length: +2")}{}${hidden}`],
    ["a length in hexadecimal", () => `${send("Content-Length: 0x2")}{}${hidden}`],
    ["a coding nobody knows", () => `${send("Transfer-Encoding: xchunked")}0\r\n\r\n${hidden}`],
    ["chunks that are not the last coding", () => `${send("Transfer-Encoding: chunked, identity")}0\r\n\r\n${hidden}`],
    ["a blank before the colon", () => `${send("Transfer-Encoding : chunked")}0\r\n\r\n${hidden}`],
    ["a header that goes on in the next line", () => `${send("X-A: b\r\n Transfer-Encoding: chunked")}0\r\n\r\n${hidden}`],
    ["a line that ends in LF alone", () => `${send("X-A: b\nTransfer-Encoding: chunked")}0\r\n\r\n${hidden}`],
    ["a line that ends in CR alone", () => `${send("X-A: b\rTransfer-Encoding: chunked")}0\r\n\r\n${hidden}`],
    ["NUL in a header", () => send("X-A: a\0b")],
    ["a name of a header that is none", () => send("X A: b")],
    ["a chunk of a size below zero", () => `${send("Transfer-Encoding: chunked")}-1\r\n{}\r\n0\r\n\r\n${hidden}`],
    [
      "a chunk of more than there is in the world",
      () => `${send("Transfer-Encoding: chunked")}fffffffffffffffff\r\n{}\r\n0\r\n\r\n${hidden}`,
    ],
  ])("%s", async (_name, bytes) => {
    const statuses = statusesIn(await say(bytes()));
    expect(statuses.length).toBeLessThanOrEqual(1);
    for (const status of statuses) expect([400, 431, 501]).toContain(status);
  });
});

describe("bodies beyond the limit (1 MB here)", () => {
  const chunkOf = (size: number) => `${size.toString(16)}\r\n${"x".repeat(size)}\r\n`;

  test("are refused by Content-Length, before they are sent", async () => {
    const line = await wire(server.url);
    line.write(head("POST /api/v1/send", auth(), "Content-Type: application/json", "Content-Length: 2000000"));
    const text = await line.read();
    expect(text).toMatch(/^HTTP\/1\.1 413 [\s\S]*payload_too_large/);
    expect(text.toLowerCase()).toContain("connection: close");
  });

  test("are refused while their chunks arrive, without being kept in memory", async () => {
    const line = await wire(server.url);
    line.write(head("POST /api/v1/send", auth(), "Content-Type: application/json", "Transfer-Encoding: chunked"));
    for (let i = 0; i < 20; i += 1) line.write(chunkOf(65_536));
    expect(await line.read(/payload_too_large/)).toMatch(/^HTTP\/1\.1 413 /);
    line.cut();
    await line.closed;
  });

  test.each([
    ["with a length", "Content-Length: 41943040", (part: Buffer) => [part]],
    ["in chunks", "Transfer-Encoding: chunked", (part: Buffer) => [`${part.length.toString(16)}\r\n`, part, "\r\n"]],
  ])("of which a client sends all before it listens: it hears so all the same (%s)", async (_how, framing, framed) => {
    const { hostname, port } = new URL(server.url);
    const socket = connect({ host: hostname, port: Number(port) });
    const part = Buffer.alloc(1024 * 1024, "x");
    const all = [head("POST /api/v1/send", auth(), "Content-Type: application/json", framing), ...Array(40).fill(part).flatMap(framed)];
    for (const bytes of all) await new Promise<void>((sent, failed) => socket.write(bytes, (error) => (error ? failed(error) : sent())));
    let heard = "";
    socket.setEncoding("latin1").on("data", (text) => {
      heard += text;
    });
    await once(socket, "end");
    socket.destroy();
    expect(heard).toMatch(/^HTTP\/1\.1 413 [\s\S]*payload_too_large/);
  });

  test("are refused by dev endpoints as well", async () => {
    const line = await wire(server.url);
    line.write(head("POST /__dev/faults", "Content-Type: application/json", "Content-Length: 2000000"));
    expect(await line.read()).toMatch(/^HTTP\/1\.1 413 /);
  });
});

describe("dev endpoints over a real connection", () => {
  test.each([
    ["by name", "Host: localhost", 200],
    ["under a name that was bent to this machine", "Host: evil.example", 403],
    ["by a page of another site", "Host: 127.0.0.1\r\nOrigin: https://evil.example", 403],
  ])("%s", async (_how, host, status) => {
    expect(statusesIn(await say(`GET /__dev/clock HTTP/1.1\r\n${host}\r\nConnection: close\r\n\r\n`))).toEqual([status]);
  });

  test("the fault drop closes the connection without a response", async () => {
    const json = { "content-type": "application/json" };
    await fetch(`${server.url}/__dev/faults`, {
      method: "POST",
      headers: json,
      body: JSON.stringify({ path: "/api/v1/me", drop: true, count: 1 }),
    });
    await expect(fetch(`${server.url}/api/v1/me`)).rejects.toThrow("fetch failed");
    await fetch(`${server.url}/__dev/faults`, { method: "DELETE" });
    expect((await fetch(`${server.url}/api/v1/me`)).status).toBe(401);
  });

  test("reset sets a running clock to the real time, however far it was advanced", async () => {
    const dev = async (path: string, body = {}) =>
      (
        await fetch(`${server.url}/__dev/${path}`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(body),
        })
      ).json() as Promise<{ now: string; mode: string }>;
    const moved = await dev("clock/advance", { by: "2d" });
    expect(Date.parse(moved.now) - Date.now()).toBeGreaterThan(86_400_000);
    await dev("reset");
    const shown = (await (await fetch(`${server.url}/__dev/clock`)).json()) as { now: string; mode: string };
    expect(Math.abs(Date.parse(shown.now) - Date.now())).toBeLessThan(60_000);
    expect(shown.mode).toBe("running");
  });
});
