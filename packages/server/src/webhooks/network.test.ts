import type { AddressInfo } from "node:net";
import { createServer, type Server, type Socket } from "node:net";
import { deflateRawSync, gzipSync } from "node:zlib";
import type { WebhookTest } from "@mailsvc/sdk/contract";
import { afterAll, beforeAll, expect, test } from "vitest";
import { selfSigned } from "../../test/certificates.ts";
import { type Hook, hook, type Script } from "../../test/hook.ts";
import { createWorld, type TestWorld } from "../testing.ts";

let world: TestWorld;
let slugs = 0;

beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.dispose());

/** The result of test.ping for a webhook with this URL. */
const ping = async (webhookUrl: string, on = world): Promise<WebhookTest> => {
  slugs += 1;
  const slug = `agent-${slugs}`;
  await on.sdk.listings.create({ slug, name: "Agent", webhookUrl, permissions: [] });
  // Ten a minute.
  await on.clock.advance("1m");
  return on.sdk.deliveries.test(slug);
};

const answering = async (script: Script): Promise<{ told: WebhookTest; hooks: Hook }> => {
  await using hooks = await hook(script);
  return { told: await ping(hooks.url), hooks };
};

/** A TCP server. */
const listening = async (serve: (socket: Socket) => void): Promise<{ url: string; stop: () => Promise<void> }> => {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    serve(socket);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((closed) => server.close(closed));
    },
  };
};

test("in serve, hosts of one's own network are called once the operator has named them", async () => {
  await using hooks = await hook();
  const list = (on: TestWorld) => on.sdk.listings.create({ slug: "agent", name: "Agent", webhookUrl: hooks.url, permissions: [] });
  await using strict = await createWorld({ dev: false });
  await expect(list(strict)).rejects.toMatchObject({
    status: 400,
    details: [{ path: "webhookUrl", code: "forbidden_url" }],
    hint: expect.stringContaining("--webhook-allow"),
  });
  await using open = await createWorld({ dev: false, flags: { "webhook-allow": "127.0.0.1" } });
  await list(open);
  expect(await open.sdk.deliveries.test("agent")).toMatchObject({ ok: true, httpStatus: 200 });
  await expect(open.sdk.webhooks.create({ url: "http://10.0.0.1/", events: ["email.sent"] })).rejects.toMatchObject({ status: 400 });
});

test.each([
  [200, "ok", true],
  [201, "ok", true],
  [204, "ok", true],
  [299, "ok", true],
  [304, "http_status", false],
  [400, "http_status", false],
  [401, "signature_rejected", false],
  [404, "http_status", false],
  [410, "http_status", false],
  [429, "http_status", false],
  [500, "http_status", false],
  [503, "http_status", false],
] as const)("an answer %i is %s", async (status, kind, ok) => {
  const { told, hooks } = await answering(() => status);
  expect(told).toMatchObject({ ok, class: kind, httpStatus: status, message: ok ? null : expect.stringContaining(String(status)) });
  expect(told.hint.length).toBeGreaterThan(10);
  expect(hooks.calls).toHaveLength(1);
});

test.each([301, 302, 303, 307, 308])("a redirect %i is not followed", async (status) => {
  await using elsewhere = await hook();
  const { told } = await answering(() => (response) => void response.writeHead(status, { location: elsewhere.url }).end());
  expect(told).toMatchObject({ ok: false, class: "redirect", httpStatus: status });
  expect(elsewhere.calls).toEqual([]);
});

test("1xx responses are skipped", async () => {
  const { told } = await answering(() => (response) => {
    response.writeProcessing();
    response.writeEarlyHints({ link: "</style.css>; rel=preload" });
    response.writeHead(202).end("taken");
  });
  expect(told).toMatchObject({ ok: true, httpStatus: 202, answer: "taken" });
});

test("an endless response is read up to 16 KiB", async () => {
  let written = 0;
  const { told } = await answering(() => (response) => {
    response.writeHead(200, { "content-type": "text/plain" });
    const more = (): void => {
      while (!response.destroyed && response.write("x".repeat(65_536))) written += 65_536;
      if (!response.destroyed) response.once("drain", more);
    };
    more();
  });
  expect(told).toMatchObject({ ok: true, class: "ok", httpStatus: 200 });
  expect(told.answer).toHaveLength(2048);
  // It did not wait for its limit of eight seconds.
  expect(told.ms).toBeLessThan(7900);
  expect(written).toBeLessThan(50_000_000);
});

test("compressed responses are not decompressed", async () => {
  // A hundred megabytes in a hundred kilobytes, and compressed twice.
  const bomb = gzipSync(Buffer.alloc(100 * 1024 * 1024));
  for (const [encoding, bytes] of [
    ["gzip", bomb],
    ["gzip, gzip", gzipSync(bomb)],
    ["deflate", deflateRawSync(Buffer.alloc(1024 * 1024))],
    ["br", Buffer.alloc(100_000, 1)],
    ["zstd", Buffer.alloc(100_000, 1)],
  ] as const) {
    const before = process.memoryUsage().rss;
    const { told, hooks } = await answering(() => (response) => void response.writeHead(200, { "content-encoding": encoding }).end(bytes));
    expect(told).toMatchObject({ ok: true });
    expect(Buffer.byteLength(told.answer ?? "")).toBeLessThanOrEqual(2048 * 3);
    expect(hooks.calls[0]?.headers["accept-encoding"]).toBe("identity");
    expect(process.memoryUsage().rss - before).toBeLessThan(50 * 1024 * 1024);
  }
});

test("an incomplete response is a failure", async () => {
  const { told } = await answering(() => (response) => {
    response.writeHead(200, { "content-length": "1000" });
    response.write("half of it");
    setImmediate(() => response.destroy());
  });
  expect(told).toMatchObject({ ok: false, class: "connection", httpStatus: null });
});

test("a connection that is reset, refused or closed is of class connection", async () => {
  const reset = await listening((socket) => void socket.once("data", () => socket.resetAndDestroy()));
  const closed = await listening((socket) => void socket.once("data", () => socket.end()));
  const gone = await listening(() => {});
  await gone.stop();
  try {
    for (const { url } of [reset, closed, gone])
      expect(await ping(url)).toMatchObject({ ok: false, class: "connection", httpStatus: null });
  } finally {
    await reset.stop();
    await closed.stop();
  }
});

test.each([
  ["no HTTP", "SSH-2.0-OpenSSH_9.6\r\n"],
  ["a header without an end", `HTTP/1.1 200 OK\r\nx-a: ${"a".repeat(20_000)}\r\n\r\n`],
  ["many headers", `HTTP/1.1 200 OK\r\n${Array.from({ length: 2000 }, (_, i) => `x-${i}: aaaaaaaaaa`).join("\r\n")}\r\n\r\n`],
  ["two lengths", "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab"],
  ["a version that does not exist", "HTTP/3.0 200 OK\r\ncontent-length: 2\r\n\r\nok"],
])("a response with %s is invalid", async (_name, bytes) => {
  const peer = await listening((socket) => void socket.once("data", () => socket.write(bytes)));
  try {
    expect(await ping(peer.url)).toMatchObject({ ok: false, class: "bad_response", httpStatus: null });
  } finally {
    await peer.stop();
  }
});

// Receivers behind some proxies write the version of the request that the proxy got.
test.each(["HTTP/1.0", "HTTP/2.0"])("a status line that begins with %s is read", async (version) => {
  const respond = (status: string) =>
    listening((socket) => void socket.once("data", () => socket.end(`${version} ${status}\r\ncontent-length: 2\r\n\r\nok`)));
  const peers = [await respond("200 OK"), await respond("503 Busy")];
  try {
    expect(await Promise.all(peers.map(({ url }) => ping(url)))).toMatchObject([
      { ok: true, class: "ok", httpStatus: 200 },
      { ok: false, class: "http_status", httpStatus: 503 },
    ]);
  } finally {
    await Promise.all(peers.map(({ stop }) => stop()));
  }
});

test("an attempt ends after 8 seconds, however slowly the receiver sends", async () => {
  const silent = await listening(() => {});
  await using dripping = await hook(() => (response) => {
    response.writeHead(200);
    const drip = setInterval(() => response.write("."), 100);
    response.on("close", () => clearInterval(drip));
  });
  const headers = await listening((socket) => {
    socket.write("HTTP/1.1 200 OK\r\n");
    const drip = setInterval(() => socket.write("x-a: b\r\n"), 100);
    socket.on("close", () => clearInterval(drip));
  });
  const dripped = (head: string, drop: string) =>
    listening((socket) => {
      socket.write(head);
      const drip = setInterval(() => socket.write(drop), 20);
      socket.on("close", () => clearInterval(drip));
    });
  const more = [
    headers,
    // One byte at a time; 1xx without a response; a body, chunk extension or trailer without an end.
    await dripped("HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n", "x"),
    await dripped("HTTP/1.1 200 OK\r\nx-long: ", "x"),
    await dripped("", "HTTP/1.1 102 Processing\r\n\r\n"),
    await dripped("", "HTTP/1.1 103 Early Hints\r\nlink: </x>; rel=preload\r\n\r\n"),
    await dripped("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", "1\r\nx\r\n"),
    await dripped("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;", "x"),
    await dripped("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n", "x-trailer: x\r\n"),
    await dripped("HTTP/1.1 200 OK\r\n\r\n", "."),
  ];
  const secure = [
    await listening(() => {}),
    // The start of a TLS handshake, and then a byte at a time.
    await dripped("\x16\x03\x03\x3f\xff\x02\x00\x3f\xfb\x03\x03", "\x01"),
  ];
  try {
    const urls = [silent.url, dripping.url, ...more.map(({ url }) => url), ...secure.map(({ url }) => url.replace("http:", "https:"))];
    // Test events are limited per workspace.
    await using beside = await createWorld();
    const told = await Promise.all(urls.map((url, i) => ping(url, i % 2 === 0 ? world : beside)));
    for (const one of told) {
      expect(one).toMatchObject({ ok: false, class: "timeout", httpStatus: null });
      expect(one.ms).toBeGreaterThanOrEqual(7900);
      // On a busy machine the timers come late; an attempt that does not end runs until the test gives up.
      expect(one.ms).toBeLessThan(40_000);
    }
  } finally {
    for (const one of [silent, ...more, ...secure]) await one.stop();
  }
});

test("an untrusted certificate is refused before anything is sent", async () => {
  await using hooks = await hook(() => 200, selfSigned(["localhost", "127.0.0.1"]));
  for (const url of [hooks.url, hooks.url.replace("127.0.0.1", "localhost")])
    expect(await ping(url)).toMatchObject({ ok: false, class: "tls", httpStatus: null });
  expect(hooks.calls).toEqual([]);
});

test("TLS to a plain HTTP port is of class tls", async () => {
  const plain = await listening((socket) => void socket.once("data", () => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n")));
  try {
    expect(await ping(plain.url.replace("http:", "https:"))).toMatchObject({ ok: false, class: "tls" });
  } finally {
    await plain.stop();
  }
});

test("localhost can be called by name in dev mode", async () => {
  await using hooks = await hook();
  expect(await ping(hooks.url.replace("127.0.0.1", "localhost"))).toMatchObject({ ok: true });
  expect(hooks.calls[0]?.headers.host).toBe(`localhost:${hooks.port}`);
});

test("a name that does not exist or resolves to a private address is not called", async () => {
  await using outside = await createWorld({
    lookup: async (host) => {
      if (host === "nowhere.example.com") throw Object.assign(new Error("x"), { code: "ENOTFOUND" });
      return [{ address: host === "inside.example.com" ? "10.1.2.3" : "169.254.169.254", family: 4 }];
    },
  });
  expect(await ping("https://nowhere.example.com/", outside)).toMatchObject({
    ok: false,
    class: "dns",
    message: expect.stringContaining("ENOTFOUND"),
  });
  expect(await ping("https://inside.example.com/", outside)).toMatchObject({ ok: false, class: "blocked_address" });
  expect(await ping("https://metadata.example.com/", outside)).toMatchObject({ ok: false, class: "blocked_address" });
});

test("a URL is checked again before each attempt", async () => {
  await using hooks = await hook();
  // As if it had been saved in dev mode.
  await using production = await createWorld({ dev: false });
  await production.sdk.listings.create({ slug: "agent", name: "Agent", webhookUrl: "https://agent.example.com/", permissions: [] });
  const { db } = production.app.deps;
  for (const webhookUrl of [
    hooks.url,
    hooks.url.replace("127.0.0.1", "2130706433"),
    hooks.url.replace("127.0.0.1", "[::ffff:127.0.0.1]"),
    "https://[",
  ]) {
    await db.tx((tx) => tx.update(tx.t.listings).set({ webhookUrl }));
    expect(await production.sdk.deliveries.test("agent")).toMatchObject({ ok: false, class: "blocked_address", httpStatus: null });
  }
  expect(hooks.calls).toEqual([]);
});

test("path and query of the URL are sent", async () => {
  await using hooks = await hook();
  let path = "";
  hooks.script = () => (response, request) => {
    path = request.url ?? "";
    response.end();
  };
  expect(await ping(`${hooks.url}/a%20b?token=1&x=%26`)).toMatchObject({ ok: true });
  expect(path).toBe("/webhook/a%20b?token=1&x=%26");
});
