import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { checkReceiver } from "./check.ts";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

const servers: Server[] = [];
const sockets = new Set<Socket>();
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  for (const server of servers.splice(0)) await new Promise((closed) => server.close(closed));
});

/** A receiver that does this with each connection, once it has read something. */
async function hostile(answer: (socket: Socket) => void): Promise<string> {
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.once("data", () => {
      socket.resume();
      answer(socket);
    });
  });
  servers.push(server);
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhook`;
}

/** Writes again and again, as fast as it is read. */
function flood(socket: Socket, text: string): void {
  const write = (): void => {
    while (!socket.destroyed && socket.write(text));
    if (!socket.destroyed) socket.once("drain", () => setImmediate(write));
  };
  write();
}

const OK = "HTTP/1.1 200 OK\r\n";

test.each<[string, RegExp, (socket: Socket) => void]>([
  ["never answers", /no whole answer came within 0\.3 s/, () => {}],
  ["resets the connection", /ECONNRESET/, (socket) => socket.resetAndDestroy()],
  ["closes without a word", /socket hang up|ECONNRESET/, (socket) => socket.end()],
  ["does not speak HTTP", /HPE_/, (socket) => socket.end("220 mail.example ESMTP\r\n")],
  [
    "sends a body without end",
    /no whole answer|ECONNRESET|aborted/,
    (socket) => {
      socket.write(`${OK}\r\n`);
      flood(socket, "x".repeat(65_536));
    },
  ],
  [
    "sends headers without end",
    /HPE_HEADER_OVERFLOW/,
    (socket) => {
      socket.write(OK);
      flood(socket, `a: ${"x".repeat(1000)}\r\n`);
    },
  ],
  ["promises more than it sends", /aborted|ECONNRESET/, (socket) => socket.end(`${OK}content-length: 100\r\n\r\nshort`)],
  [
    "says 102 without end",
    /no whole answer/,
    (socket) => {
      const timer = setInterval(() => socket.write("HTTP/1.1 102 Processing\r\n\r\n"), 10);
      socket.once("close", () => clearInterval(timer));
    },
  ],
  [
    "sends one byte at a time",
    /no whole answer/,
    (socket) => {
      const timer = setInterval(() => socket.write("x"), 50);
      socket.once("close", () => clearInterval(timer));
      socket.write(`${OK}content-length: 1000\r\n\r\n`);
    },
  ],
])("a receiver that %s fails and does not hold the check", async (_name, problem, answer) => {
  const url = await hostile(answer);
  const { passed, failed, skipped, results } = await checkReceiver({
    url,
    secret: SECRET,
    only: "event-",
    timeoutMs: problem.source.includes("no whole") ? 300 : 20_000,
  });
  expect([passed, failed]).toEqual([0, 1]);
  expect(skipped).toBe(results.length - 1);
  expect(results.length).toBeGreaterThan(10);
  expect(results[0]?.failure?.problem).toMatch(problem);
  expect(results.at(-1)?.skipped).toContain("does not accept a signed test.ping");
});

test("redirects are not followed, and count as what they are", async () => {
  let asked = 0;
  const elsewhere = await hostile((socket) => {
    asked += 1;
    socket.end(`${OK}content-length: 0\r\n\r\n`);
  });
  const url = await hostile((socket) => socket.end(`HTTP/1.1 307 Moved\r\nlocation: ${elsewhere}\r\ncontent-length: 0\r\n\r\n`));
  const { results } = await checkReceiver({ url, secret: SECRET, only: "event-test.ping" });
  expect(results[0]?.failure?.problem).toBe("it answered 307, not a 2xx");
  expect(asked).toBe(0);
});

test("the check keeps at most 64 KiB of a response", async () => {
  const size = 50_000_000;
  const url = await hostile((socket) => {
    socket.write(`${OK}content-length: ${size}\r\n\r\n`);
    socket.end("x".repeat(size));
  });
  const { passed } = await checkReceiver({ url, secret: SECRET, only: "event-test.ping" });
  expect(passed).toBe(1);
});

test("one silent case does not end the check", async () => {
  let count = 0;
  const url = await hostile((socket) => {
    count += 1;
    if (count % 3 === 0) socket.end(`${OK}content-length: 0\r\n\r\n`);
    else socket.resetAndDestroy();
  });
  const { passed, skipped } = await checkReceiver({ url, secret: SECRET, only: "event-agent." });
  expect(passed).toBeGreaterThan(2);
  expect(skipped).toBe(0);
});

test("a receiver that answers only its first requests is not waited for to the end", async () => {
  let count = 0;
  const url = await hostile((socket) => {
    count += 1;
    if (count <= 5) socket.end(`${OK}content-length: 0\r\n\r\n`);
  });
  const { skipped, results } = await checkReceiver({ url, secret: SECRET, only: "body-", timeoutMs: 2000 });
  expect(results.filter(({ failure }) => failure)).toHaveLength(3);
  expect(skipped).toBe(results.length - 7);
  expect(results.at(-1)?.skipped).toContain("answered nothing in time in 3 cases");
});
