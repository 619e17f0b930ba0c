import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { wire } from "../../test/wire.ts";
import { readConfig } from "../config.ts";
import { silentLog } from "../lib/log.ts";
import { type RunningServer, serve } from "../serve.ts";

let folder: string;
let server: RunningServer;
let dev: RunningServer;
let otherKey: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "mailsvc-mcp-"));
  const flags = { port: "0", mcp: "write", "ready-file": join(folder, "ready.json") };
  server = await serve(readConfig({ flags: { ...flags, data: join(folder, "live") }, env: {}, dev: false }), silentLog);
  dev = await serve(readConfig({ flags: { port: "0", data: join(folder, "dev") }, env: {}, dev: true }), silentLog);
  const created = await fetch(`${server.url}/api/v1/workspaces`, {
    method: "POST",
    headers: { authorization: `Bearer ${server.operatorKey}`, "content-type": "application/json" },
    body: JSON.stringify({ name: "Other" }),
  });
  otherKey = ((await created.json()) as { apiKey: string }).apiKey;
});
afterAll(async () => {
  await Promise.all([server.close(), dev.close()]);
  rmSync(folder, { recursive: true, force: true });
});
afterEach(async () => {
  // Whatever a test did, the server still answers, and nothing is in flight.
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
  await vi.waitFor(() => expect(server.app.inFlight.count).toBe(0), { timeout: 20_000 });
});

interface Sent {
  readonly body?: string;
  readonly headers?: Record<string, string>;
  readonly method?: string;
  readonly key?: string;
  readonly to?: RunningServer;
}

async function post({
  body,
  headers = {},
  method = "POST",
  key,
  to = server,
}: Sent): Promise<{ status: number; text: string; headers: Headers }> {
  const response = await fetch(`${to.url}/mcp`, {
    method,
    headers: {
      authorization: `Bearer ${key ?? to.apiKey}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...headers,
    },
    ...(body === undefined ? {} : { body }),
    signal: AbortSignal.timeout(60_000),
  });
  return { status: response.status, text: await response.text(), headers: response.headers };
}

const rpc = (message: object): string => JSON.stringify({ jsonrpc: "2.0", ...message });
const initialize = (capabilities: object): string =>
  rpc({ id: 1, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities, clientInfo: { name: "t", version: "1" } } });

describe("who may call", () => {
  test("a request without a key, or with a wrong one, is refused with 401", async () => {
    const missing = await fetch(`${server.url}/mcp`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: initialize({}),
    });
    expect([missing.status, missing.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
    expect(await missing.json()).toMatchObject({ jsonrpc: "2.0", id: null, error: { code: -32_600, data: { code: "unauthorized" } } });
    expect((await post({ body: initialize({}), key: "ms_live_wrong" })).status).toBe(401);
    expect((await post({ body: initialize({}), key: server.operatorKey ?? "" })).status).toBe(403);
  });

  test("a page of another site is refused, in production and in dev mode", async () => {
    for (const to of [server, dev])
      expect((await post({ body: initialize({}), to, headers: { origin: "https://evil.example" } })).status).toBe(403);
    expect((await post({ body: initialize({}), headers: { origin: server.url } })).status).toBe(200);
  });

  test("a name that leads here by a trick of DNS is refused in dev mode, even with the key", async () => {
    const line = await wire(dev.url);
    const body = initialize({});
    line.write(
      `POST /mcp HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\nAuthorization: Bearer ${dev.apiKey}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    expect(await line.read()).toMatch(/^HTTP\/1\.1 403 /);
  });
});

describe("sessions of the older era", () => {
  const open = async (capabilities: object, key?: string) =>
    (await post({ body: initialize(capabilities), ...(key && { key }) })).headers.get("mcp-session-id");

  test("there is one only for a client that can ask a person, and its id cannot be guessed", async () => {
    expect(await open({})).toBeNull();
    const ids = await Promise.all([open({ elicitation: {} }), open({ elicitation: {} })]);
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) expect(id).toMatch(/^[\w-]{32}$/);
  });

  test("a session belongs to its key, and ends when the client deletes it", async () => {
    const id = (await open({ elicitation: {} })) ?? "";
    const list = { body: rpc({ id: 2, method: "tools/list" }), headers: { "mcp-session-id": id, "mcp-protocol-version": "2025-11-25" } };
    expect((await post(list)).status).toBe(200);
    expect((await post({ ...list, key: otherKey })).status).toBe(404);
    expect((await post({ method: "DELETE", headers: list.headers, key: otherKey })).status).toBe(404);
    expect((await post({ method: "DELETE", headers: list.headers })).status).toBe(200);
    expect((await post(list)).status).toBe(404);
    expect((await post({ ...list, headers: { "mcp-session-id": "x".repeat(5000) } })).status).toBe(404);
  });

  test("a call that is cancelled while a person is asked does nothing, and its stream ends without an answer", async () => {
    const headers = { "mcp-session-id": (await open({ elicitation: {} })) ?? "", "mcp-protocol-version": "2025-11-25" };
    const input = { email: "ada@example.com" };
    const call = rpc({ id: 5, method: "tools/call", params: { name: "api_call", arguments: { operation: "contacts.create", input } } });
    const response = await fetch(`${server.url}/mcp`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${server.apiKey}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...headers,
      },
      body: call,
    });
    const stream = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    const first = (await stream?.read())?.value ?? "";
    expect(first).toContain("elicitation/create");
    const { id } = JSON.parse(first.slice(first.indexOf("{"))) as { id: number };
    expect((await post({ body: rpc({ method: "notifications/cancelled", params: { requestId: 5 } }), headers })).status).toBe(202);
    expect((await post({ body: rpc({ id, result: { action: "accept", content: { confirm: true } } }), headers })).status).toBe(202);
    let rest = "";
    for (let part = await stream?.read(); part && !part.done; part = await stream?.read()) rest += part.value;
    expect(rest).not.toContain('"id":5');
    const found = await fetch(`${server.url}/api/v1/contacts`, { headers: { authorization: `Bearer ${server.apiKey}` } });
    expect(await found.json()).toMatchObject({ data: [] });
  });
});

test("a key has twenty sessions at most, and ends its own when it begins more", async () => {
  const open = async (key?: string) =>
    (await post({ body: initialize({ elicitation: {} }), ...(key && { key }) })).headers.get("mcp-session-id") ?? "";
  const list = async (id: string, key?: string) =>
    (
      await post({
        body: rpc({ id: 2, method: "tools/list" }),
        headers: { "mcp-session-id": id, "mcp-protocol-version": "2025-11-25" },
        ...(key && { key }),
      })
    ).status;
  const theirs = await open(otherKey);
  const first = await open();
  const second = await open();
  for (let n = 0; n < 18; n += 1) await open();
  // Used again, so that it is not the oldest.
  expect(await list(first)).toBe(200);
  const last = await open();
  expect([await list(first), await list(second), await list(last), await list(theirs, otherKey)]).toEqual([200, 404, 200, 200]);
});

describe("what is no message of the protocol gets an error, never a 5xx", () => {
  const nested = `${'{"a":'.repeat(5000)}1${"}".repeat(5000)}`;
  test.each([
    ["no JSON", "{"],
    ["nothing", ""],
    ["a text", '"hello"'],
    ["null", "null"],
    ["a batch", `[${rpc({ id: 1, method: "ping" })},${rpc({ id: 2, method: "ping" })}]`],
    ["a batch of nothing", "[]"],
    ["no version", '{"id":1,"method":"ping"}'],
    ["an old version", '{"jsonrpc":"1.0","id":1,"method":"ping"}'],
    ["an id that is an object", rpc({ id: { a: 1 }, method: "ping" })],
    ["an id that is null", rpc({ id: null, method: "ping" })],
    ["a method that is a number", rpc({ id: 1, method: 5 })],
    ["a method with the name of a field of objects", rpc({ id: 1, method: "__proto__" })],
    ["a result nobody asked for", rpc({ id: 77, result: {} })],
    ["params that are a list", rpc({ id: 1, method: "tools/call", params: [1] })],
    ["5,000 levels", nested],
    [
      "5,000 levels of arguments",
      rpc({ id: 1, method: "tools/call", params: { name: "api_call", arguments: { operation: "x", input: 0 } } }).replace(
        '"input":0',
        `"input":${nested}`,
      ),
    ],
    ["a field __proto__", '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"whoami","arguments":{"__proto__":{"x":1}}}}'],
    ["bytes that are not UTF-8", "\u{d800}"],
  ])("%s", async (_, body) => {
    const { status, text } = await post({ body });
    expect(status).toBeLessThan(500);
    if (status >= 300) expect(JSON.parse(text)).toMatchObject({ jsonrpc: "2.0", error: { code: expect.any(Number) } });
  });

  test("what is no JSON is a parse error of JSON-RPC, and a text an invalid request", async () => {
    const codeOf = async (body: string) => (JSON.parse((await post({ body })).text) as { error: { code: number } }).error.code;
    expect(await Promise.all(["{", '"hello"', "null"].map(codeOf))).toEqual([-32_700, -32_600, -32_600]);
  });

  test("a batch is answered as the revision 2025-03-26 has it, and one without end is refused", async () => {
    const headers = { "mcp-protocol-version": "2025-03-26" };
    const batch = (...messages: string[]): string => `[${messages.join(",")}]`;
    const ping = rpc({ id: 1, method: "ping" });
    const answered = await post({
      body: batch(ping, rpc({ id: "two", method: "tools/list" }), rpc({ method: "notifications/initialized" })),
      headers,
    });
    expect(answered.status).toBe(200);
    for (const part of ['"id":1', '"id":"two"', '"emails_list"']) expect(answered.text).toContain(part);
    const endless = await post({ body: batch(...Array.from({ length: 1001 }, () => ping)), headers });
    expect([endless.status, JSON.parse(endless.text).error.code]).toEqual([400, -32_600]);
  });

  test("tools that do not exist, arguments of the wrong kind and paths in ids change nothing", async () => {
    const call = async (name: unknown, input: unknown) =>
      (
        await post({
          body: rpc({ id: 1, method: "tools/call", params: { name, arguments: input } }),
          headers: { "mcp-protocol-version": "2025-11-25" },
        })
      ).text;
    expect(await call("constructor", {})).toContain("There is no tool constructor");
    expect(await call(7, {})).toContain('"error"');
    expect(await call("why", { id: "../keys" })).toContain("not_found");
    expect(await call("why", { id: ["a"] })).toContain("needs the argument id");
    expect(await call("emails_list", { limit: { $gt: 0 } })).not.toContain("failed for a reason");
    expect(await call("api_call", { operation: "__proto__", input: {} })).toContain("There is no operation");
    expect(await call("api_call", { operation: "emails.get", input: { id: "a/../../keys" } })).toContain("not_found");
  });

  test("a body that is too large is refused with 413, and other types with 415", async () => {
    expect((await post({ body: rpc({ id: 1, method: "ping", params: { x: "x".repeat(5_000_000) } }) })).status).toBe(413);
    expect((await post({ body: initialize({}), headers: { "content-type": "text/plain" } })).status).toBe(415);
  });

  test("other methods are refused, and a stream that nobody has opened", async () => {
    for (const [method, status] of [
      ["PUT", 405],
      ["PATCH", 405],
      ["GET", 405],
      ["DELETE", 405],
    ] as const)
      expect([method, (await post({ method })).status]).toEqual([method, status]);
  });

  test("a client that leaves in the middle of a call leaves nothing behind", async () => {
    const leaving = new AbortController();
    const body = rpc({ id: 1, method: "tools/call", params: { name: "inbox_wait", arguments: { timeout: 50 } } });
    const headers = {
      authorization: `Bearer ${server.apiKey}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    };
    const asked = fetch(`${server.url}/mcp`, { method: "POST", headers, body, signal: leaving.signal });
    await vi.waitFor(() => expect(server.app.inFlight.count).toBe(1), { timeout: 20_000 });
    leaving.abort();
    await expect(asked).rejects.toThrow();
  });
});
