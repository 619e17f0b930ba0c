import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Clock } from "../lib/clock.ts";
import type { Attempt } from "./attempt.ts";
import { EndpointClient } from "./client.ts";
import { Connection } from "./connection.ts";
import { Client } from "./undici.ts";

const OK = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

/** Real time that a test advances. */
const manualTime = (): Clock["real"] & { advance(ms: number): void } => {
  let now = 1000;
  const timers = new Set<{ at: number; fire: () => void }>();
  return {
    now: () => now,
    date: () => now,
    after: (ms, fire) => {
      const timer = { at: now + ms, fire };
      timers.add(timer);
      return { cancel: () => void timers.delete(timer) };
    },
    sleep: () => Promise.reject(new Error("Not used here.")),
    advance: (ms) => {
      now += ms;
      for (const timer of [...timers].filter(({ at }) => at <= now)) {
        timers.delete(timer);
        timer.fire();
      }
    },
  };
};

let server: Server;
/** The bytes received on each connection, in order. */
let heard: string[];
let sockets: Socket[];
/** Reaction of the webhook to the bytes of a connection. */
let serve: (socket: Socket, connection: number, text: string) => void;
let time: ReturnType<typeof manualTime>;
let crowded: boolean;
let advancing: boolean;
let client: EndpointClient;
let keepAliveMs: number;

beforeEach(async () => {
  heard = [];
  sockets = [];
  crowded = false;
  advancing = false;
  keepAliveMs = 60_000;
  serve = (socket) => void socket.write(OK);
  server = createServer((socket) => {
    const connection = sockets.push(socket) - 1;
    heard.push("");
    socket.on("error", () => {});
    socket.on("data", (bytes) => {
      heard[connection] = `${heard[connection]}${bytes}`;
      serve(socket, connection, bytes.toString());
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  time = manualTime();
  client = new EndpointClient(`http://127.0.0.1:${port}/hook?a=b`, {
    clock: {
      now: () => 0,
      after: (ms, _name, fire) => time.after(ms, fire),
      real: time,
      get advancing() {
        return advancing;
      },
    },
    fault: null,
    open: async (origin, closed) =>
      new Connection(origin, {
        Client,
        closed,
        keepAliveMs,
        connect: (_options, callback) => {
          const socket = connect(port, "127.0.0.1");
          socket.once("connect", () => callback(null, socket)).once("error", (error) => callback(error, null));
        },
      }),
    isCrowded: () => crowded,
  });
});
afterEach(async () => {
  client.close();
  for (const socket of sockets) socket.destroy();
  await new Promise((closed) => server.close(closed));
});

const attempt = (body = "{}"): Promise<Attempt> => client.attempt(["x-a", "b"], Buffer.from(body), []);

test("requests reuse a connection", async () => {
  expect(await attempt("é")).toMatchObject({ class: "ok", httpStatus: 200, answer: "ok" });
  expect(await attempt()).toMatchObject({ class: "ok" });
  const start = `POST /hook?a=b HTTP/1.1\r\nhost: ${new URL(client.origin).host}\r\nconnection: keep-alive\r\nx-a: b\r\n`;
  expect(heard).toEqual([`${start}content-length: 2\r\n\r\né${start}content-length: 2\r\n\r\n{}`]);
});

test("concurrent requests have a connection each, and these are kept", async () => {
  await Promise.all([attempt(), attempt(), attempt()]);
  expect(sockets).toHaveLength(3);
  await Promise.all([attempt(), attempt(), attempt()]);
  expect(sockets).toHaveLength(3);
});

test("no connection is kept when too many are open", async () => {
  crowded = true;
  await attempt();
  await attempt();
  expect(sockets).toHaveLength(2);
});

test("a connection that was closed while idle is not used again", async () => {
  await attempt();
  sockets[0]?.end();
  await once(sockets[0] as Socket, "close");
  expect(await attempt()).toMatchObject({ class: "ok" });
  expect(sockets).toHaveLength(2);
});

test("a request on a kept connection that ends without a response is sent again on a new one", async () => {
  await attempt();
  serve = (socket, connection) => void (connection === 0 ? socket.resetAndDestroy() : socket.write(OK));
  expect(await attempt()).toMatchObject({ class: "ok" });
  expect(sockets).toHaveLength(2);
});

test("and not a second time", async () => {
  await attempt();
  serve = (socket) => void socket.resetAndDestroy();
  expect(await attempt()).toMatchObject({ class: "connection", httpStatus: null });
  expect(sockets).toHaveLength(2);
});

test("a request with a partial or invalid response is not sent again", async () => {
  for (const [bytes, kind] of [
    ["HTTP/1.1 20", "connection"],
    ["HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nok", "connection"],
    ["nonsense\r\n\r\n", "bad_response"],
  ] as const) {
    serve = (socket) => void socket.write(OK);
    await attempt();
    const before = sockets.length;
    serve = (socket) => void socket.end(bytes);
    expect(await attempt()).toMatchObject({ class: kind, httpStatus: null });
    expect(sockets).toHaveLength(before);
  }
});

test("a connection with an unsolicited response is closed", async () => {
  await attempt();
  const [first] = sockets as [Socket];
  const closed = once(first, "close");
  first.write("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
  await closed;
  expect(await attempt()).toMatchObject({ class: "ok" });
  expect(sockets).toHaveLength(2);
});

test("a response that comes before the whole request was taken counts, but its connection is closed", async () => {
  serve = (socket) => {
    socket.pause();
    socket.write(OK);
  };
  expect(await attempt("x".repeat(20_000_000))).toMatchObject({ class: "ok" });
  sockets[0]?.resume();
  serve = (socket) => void socket.write(OK);
  expect(await attempt()).toMatchObject({ class: "ok" });
  expect(sockets).toHaveLength(2);
  expect(heard[1]).toMatch(/^POST /);
});

test("an idle connection is closed after a while", async () => {
  keepAliveMs = 30;
  await attempt();
  await once(sockets[0] as Socket, "close");
  expect(await attempt()).toMatchObject({ class: "ok" });
  expect(sockets).toHaveLength(2);
});

test("a connection is kept for as long as the receiver keeps it, less a second", async () => {
  serve = (socket, connection) => void socket.write(OK.replace("\r\n\r\n", `\r\nkeep-alive: timeout=${connection === 0 ? 1 : 30}\r\n\r\n`));
  await attempt();
  await attempt();
  await attempt();
  expect(sockets).toHaveLength(2);
});

test("an attempt is aborted after 8 seconds", async () => {
  const asked = new Promise<void>((resolve) => {
    serve = () => resolve();
  });
  const late = attempt();
  await asked;
  const closed = once(sockets[0] as Socket, "close");
  time.advance(7999);
  time.advance(1);
  expect(await late).toMatchObject({ class: "timeout", ms: 8000 });
  await closed;
});

test("while the clock is advanced, an endpoint that hangs is waited for once, and then for a quarter of a second", async () => {
  advancing = true;
  serve = () => {};
  const timesOut = async (limitMs: number): Promise<void> => {
    const before = sockets.length;
    const late = attempt();
    await expect.poll(() => heard[before] ?? "", { interval: 2 }).toContain("POST");
    time.advance(limitMs);
    expect(await late).toMatchObject({ class: "timeout", ms: limitMs });
  };
  await timesOut(8000);
  await timesOut(250);
  await timesOut(250);
  // After a response, or while the clock runs, the limit is 8 seconds again.
  serve = (socket) => void socket.write(OK);
  expect(await attempt()).toMatchObject({ class: "ok" });
  serve = () => {};
  sockets.at(-1)?.destroy();
  await timesOut(8000);
  advancing = false;
  await timesOut(8000);
});

test("the second request within an attempt has the time that the first one left", async () => {
  await attempt();
  const again = new Promise<void>((resolve) => {
    serve = (socket, connection) => {
      if (connection > 0) return resolve();
      time.advance(5000);
      socket.resetAndDestroy();
    };
  });
  const late = attempt();
  await again;
  time.advance(3000);
  expect(await late).toMatchObject({ class: "timeout", ms: 8000 });
});

test("each response doubles the number of concurrent requests, each failure halves it", async () => {
  const limits: number[] = [];
  for (let i = 0; i < 7; i += 1) {
    limits.push(client.limit);
    await attempt();
  }
  expect(limits).toEqual([1, 2, 4, 8, 16, 32, 64]);
  expect([client.limit, client.quick]).toEqual([64, true]);
  serve = (socket) => void socket.end("nonsense\r\n\r\n");
  await attempt();
  expect(client.limit).toBe(32);
});
