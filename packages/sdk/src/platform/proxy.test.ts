import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { Mailsvc, UsageError } from "../index.ts";

const asked: string[] = [];
const origin = createServer((_request, response) => response.setHeader("content-type", "application/json").end('{"ok":true}'));
/** A proxy that leads every host to the origin. */
const proxy = createServer((request, response) => {
  asked.push(request.url ?? "");
  response.setHeader("content-type", "application/json").end('{"ok":true}');
}).on("connect", ({ url }, socket) => {
  asked.push(url ?? "");
  const there = connect((origin.address() as AddressInfo).port, "127.0.0.1", () => {
    socket.write("HTTP/1.1 200 OK\r\n\r\n");
    there.pipe(socket).pipe(there);
  });
  there.on("error", () => socket.destroy());
  socket.on("error", () => there.destroy());
});

beforeAll(async () => {
  for (const server of [origin, proxy]) await new Promise<void>((open) => server.listen(0, "127.0.0.1", open));
});
afterAll(() => {
  for (const server of [origin, proxy]) {
    server.closeAllConnections();
    server.close();
  }
});
beforeEach(() => {
  asked.length = 0;
  vi.stubEnv("HTTP_PROXY", `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`);
});

const get = (baseUrl: string): Promise<unknown> =>
  new Mailsvc({ apiKey: "ms_live_x", baseUrl, maxRetries: 0 }).request("GET", "/api/v1/me");

describe("a proxy of the environment", () => {
  test("leads to servers elsewhere", async () => {
    expect(await get("http://mail.test")).toMatchObject({ body: { ok: true } });
    expect(asked.join()).toContain("mail.test");
  });

  test("is left out for this machine, and for what NO_PROXY names", async () => {
    const { port } = origin.address() as AddressInfo;
    for (const host of ["127.0.0.1", "localhost"]) expect(await get(`http://${host}:${port}`)).toMatchObject({ body: { ok: true } });
    vi.stubEnv("NO_PROXY", "mail.test");
    await expect(get("http://mail.test")).rejects.toMatchObject({ name: "ConnectionError" });
    expect(asked).toEqual([]);
  });

  test("may be written without its scheme, and is refused if it is no address", async () => {
    vi.stubEnv("HTTP_PROXY", `127.0.0.1:${(proxy.address() as AddressInfo).port}`);
    expect(await get("http://mail.test")).toMatchObject({ body: { ok: true } });
    vi.stubEnv("HTTP_PROXY", "socks5://127.0.0.1:9");
    await expect(get("http://mail.test")).rejects.toThrow(UsageError);
  });
});
