import { request } from "node:http";
import { Duplex } from "node:stream";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { type Random, seededRandom } from "../lib/random.ts";
import { Answer } from "./answer.ts";
import { BadAnswer } from "./answer-head.ts";

type Read = { status: number; body: string; keeps: boolean; over: boolean } | { bad: string };

/** What is read of these pieces, and of the end of the connection behind them if there is one. */
const readAll = (pieces: readonly Uint8Array[], closes = false): Read => {
  const answer = new Answer();
  try {
    const over = pieces.some((piece) => answer.push(Buffer.from(piece))) || (closes && answer.close());
    return { status: answer.status, body: Buffer.from(answer.bytes).toString("latin1"), keeps: answer.keepMs > 0, over };
  } catch (error) {
    return { bad: (error as BadAnswer).code };
  }
};

const read = (text: string, closes = false): Read => readAll([Buffer.from(text, "latin1")], closes);

const whole = (status: number, body: string, keeps = true): Read => ({ status, body, keeps, over: true });

const OK = "HTTP/1.1 200 OK\r\n";

describe("an answer", () => {
  test.each<[what: string, text: string, expected: Read]>([
    ["with a length", `${OK}Content-Length: 2\r\n\r\nok`, whole(200, "ok")],
    ["with an empty body", `${OK}content-length: 0\r\n\r\n`, whole(200, "")],
    ["without a reason", "HTTP/1.1 204\r\n\r\n", whole(204, "")],
    ["with a reason in Latin-1", "HTTP/1.1 200 Gr\xfc\xdfe\r\ncontent-length: 0\r\n\r\n", whole(200, "")],
    ["204 with a length, which has no body all the same", "HTTP/1.1 204 No Content\r\ncontent-length: 5\r\n\r\n", whole(204, "")],
    ["304", "HTTP/1.1 304 Not Modified\r\n\r\n", whole(304, "")],
    ["in chunks", `${OK}Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1;x=y\r\nc\r\n0\r\n\r\n`, whole(200, "abc")],
    ["in chunks, with a trailer", `${OK}transfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\nx-a: b\r\n\r\n`, whole(200, "a")],
    ["in one large chunk", `${OK}transfer-encoding: CHUNKED\r\n\r\n0000A\r\n0123456789\r\n0\r\n\r\n`, whole(200, "0123456789")],
    ["packed, then in chunks", `${OK}transfer-encoding: gzip, chunked\r\n\r\n1\r\na\r\n0\r\n\r\n`, whole(200, "a")],
    [
      "behind others that announce it",
      `HTTP/1.1 102 P\r\n\r\nHTTP/1.1 103 E\r\nlink: x\r\n\r\n${OK}content-length: 0\r\n\r\n`,
      whole(200, ""),
    ],
    ["that wants the connection closed", `${OK}connection: close\r\ncontent-length: 0\r\n\r\n`, whole(200, "", false)],
    ["that says so among others", `${OK}connection: x, Close\r\ncontent-length: 0\r\n\r\n`, whole(200, "", false)],
    ["of HTTP/1.0", "HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 0\r\n\r\n", whole(200, "", false)],
    ["with something behind it", `${OK}content-length: 1\r\n\r\nabc`, whole(200, "a", false)],
    ["in chunks, with something behind it", `${OK}transfer-encoding: chunked\r\n\r\n0\r\n\r\nHTTP/1.1`, whole(200, "", false)],
    ["whose connection is kept too briefly", `${OK}keep-alive: timeout=1\r\ncontent-length: 0\r\n\r\n`, whole(200, "", false)],
    ["whose connection is kept for a while", `${OK}keep-alive: timeout=5, max=9\r\ncontent-length: 0\r\n\r\n`, whole(200, "")],
    ["with blanks around its values", `${OK}content-length:   1  \r\n\r\na`, whole(200, "a")],
  ])("%s is read", (_what, text, expected) => {
    expect(read(text)).toEqual(expected);
    // And so it is when it comes byte by byte.
    const last = expected as Extract<Read, { status: number }>;
    const bytes = Buffer.from(text, "latin1");
    const slowly = readAll(Array.from(bytes, (byte) => Buffer.from([byte])));
    // What comes behind it is not seen by then.
    expect({ ...slowly, keeps: last.keeps }).toEqual(expected);
  });

  test("without a length lasts as long as the connection", () => {
    expect(read(`${OK}\r\nab`)).toEqual({ status: 200, body: "ab", keeps: false, over: false });
    expect(read(`${OK}\r\nab`, true)).toEqual(whole(200, "ab", false));
    expect(read(`${OK}transfer-encoding: gzip\r\n\r\nab`, true)).toEqual(whole(200, "ab", false));
  });

  test.each([
    ["in the middle of its head", OK],
    ["in the middle of its body", `${OK}content-length: 3\r\n\r\nab`],
    ["in the middle of a chunk", `${OK}transfer-encoding: chunked\r\n\r\n3\r\nab`],
    ["before the last chunk", `${OK}transfer-encoding: chunked\r\n\r\n2\r\nab\r\n`],
    ["in the trailer", `${OK}transfer-encoding: chunked\r\n\r\n0\r\nx-a: b\r\n`],
    ["behind one that announces it", "HTTP/1.1 103 Early Hints\r\n\r\n"],
  ])("that breaks off %s is none", (_where, text) => expect(read(text, true)).toMatchObject({ over: false }));

  test("is read no further than it is of interest", () => {
    const long = "x".repeat(20_000);
    for (const text of [
      `${OK}content-length: 30000\r\n\r\n${long}`,
      `${OK}transfer-encoding: chunked\r\n\r\n7530\r\n${long}`,
      `${OK}\r\n${long}`,
    ])
      expect(read(text)).toEqual(whole(200, "x".repeat(16_384), false));
    expect(read(`${OK}content-length: 16384\r\n\r\n${"x".repeat(16_384)}`)).toEqual(whole(200, "x".repeat(16_384)));
  });

  test("in small chunks between long lines is read no further than a long one", () => {
    const chunk = `1;x="${"y".repeat(900)}"\r\na\r\n`;
    const pieces = Array.from({ length: 1000 }, () => Buffer.from(chunk));
    const answer = new Answer();
    expect(answer.push(Buffer.from(`${OK}transfer-encoding: chunked\r\n\r\n`))).toBe(false);
    const read = pieces.findIndex((piece) => answer.push(piece));
    expect(read).toBeGreaterThan(100);
    expect(read).toBeLessThan(300);
    expect([answer.status, answer.bytes.length, answer.keepMs]).toEqual([200, read + 1, 0]);
  });

  test("holds on to nothing but what is kept of it", async () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    for (const head of [`${OK}content-length: 9\r\n\r\n`, `${OK}transfer-encoding: chunked\r\n\r\n9\r\n`, `${OK}x-a: `]) {
      const answer = new Answer();
      /** A few bytes of the 64 KiB that a connection reads at a time. */
      const push = (text: string): WeakRef<ArrayBufferLike> => {
        const large = Buffer.alloc(65_536);
        expect(answer.push(large.subarray(0, large.write(text)))).toBe(false);
        return new WeakRef(large.buffer);
      };
      const pushed = [push(head), push("a"), push("b")];
      await new Promise((next) => setImmediate(next));
      collect();
      expect(pushed.map((buffer) => buffer.deref())).toEqual([undefined, undefined, undefined]);
    }
  });

  const field = (line: string): string => `${OK}${line}\r\ncontent-length: 0\r\n\r\n`;
  test.each([
    ["another protocol", "SSH-2.0-OpenSSH_9.6\r\n", "NOT_HTTP"],
    ["the beginning of another one", "HTTX", "NOT_HTTP"],
    ["TLS", "\x16\x03\x01", "NOT_HTTP"],
    ["HTTP/2", "\x00\x00\x12\x04\x00", "NOT_HTTP"],
    ["HTTP/1.2", "HTTP/1.2 200 OK\r\n\r\n", "STATUS_LINE"],
    ["a status of two digits", "HTTP/1.1 20 OK\r\n\r\n", "STATUS_LINE"],
    ["a status of four digits", "HTTP/1.1 2000 OK\r\n\r\n", "STATUS_LINE"],
    ["a status beyond 599", "HTTP/1.1 600 OK\r\n\r\n", "STATUS_LINE"],
    ["another protocol that nobody asked for", "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n", "INTERIM"],
    ["lines that end in LF", "HTTP/1.1 200 OK\ncontent-length: 0\n\n", "LINE_END"],
    ["a bare CR", "HTTP/1.1 200 OK\rcontent-length: 0", "LINE_END"],
    ["a folded line", field("x-a: b\r\n c"), "HEADER"],
    ["a line without a colon", field("x-a"), "HEADER"],
    ["a blank before a colon", field("x-a : b"), "HEADER"],
    ["a header without a name", field(": b"), "HEADER"],
    ["a tab in a field that matters", `${OK}transfer-encoding: chunked\t\r\n\r\n`, "HEADER"],
    ["an announcement of HTTP/1.0", "HTTP/1.0 103 Early Hints\r\n\r\n", "INTERIM"],
    ["an announcement with a length", "HTTP/1.1 103 Early Hints\r\ncontent-length: 0\r\n\r\n", "INTERIM"],
    ["a NUL", field("x-a: \0"), "HEADER"],
    ["two lengths", field("content-length: 1"), "CONTENT_LENGTH"],
    ["the same length twice", field("content-length: 0"), "CONTENT_LENGTH"],
    ["a list of lengths", `${OK}content-length: 1, 1\r\n\r\na`, "CONTENT_LENGTH"],
    ["a length with a sign", `${OK}content-length: +1\r\n\r\na`, "CONTENT_LENGTH"],
    ["no length where one is announced", `${OK}content-length:\r\n\r\n`, "CONTENT_LENGTH"],
    ["a length and chunks", field("transfer-encoding: chunked"), "TRANSFER_ENCODING"],
    ["an encoding without a name", `${OK}transfer-encoding:\r\n\r\n`, "TRANSFER_ENCODING"],
    ["a chunk without a length", `${OK}transfer-encoding: chunked\r\n\r\n\r\n`, "CHUNK"],
    ["a chunk with a negative length", `${OK}transfer-encoding: chunked\r\n\r\n-1\r\n`, "CHUNK"],
    ["a chunk of a length beyond all measure", `${OK}transfer-encoding: chunked\r\n\r\n${"f".repeat(9)}\r\n`, "CHUNK"],
    ["a chunk that is longer than it says", `${OK}transfer-encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n`, "CHUNK"],
    ["chunks whose lines end in LF", `${OK}transfer-encoding: chunked\r\n\r\n1\na\n0\n\n`, "CHUNK"],
    ["a line between chunks without an end", `${OK}transfer-encoding: chunked\r\n\r\n1;${"x".repeat(2000)}`, "CHUNK"],
    ["a length in its trailer", `${OK}transfer-encoding: chunked\r\n\r\n0\r\ncontent-length: 1\r\n\r\n`, "TRAILER"],
    ["a chunk's note that is none", `${OK}transfer-encoding: chunked\r\n\r\n1;\r\na\r\n0\r\n\r\n`, "CHUNK"],
    ["a trailer without an end", `${OK}transfer-encoding: chunked\r\n\r\n0\r\n${"x-a: b\r\n".repeat(4000)}`, "TRAILER"],
    ["a head without an end", `${OK}${"x-a: b\r\n".repeat(3000)}`, "HEADERS_TOO_LONG"],
    ["announcements without an end", "HTTP/1.1 102 Processing\r\n\r\n".repeat(3000), "INTERIM"],
  ])("with %s is a bad one", (_what, text, code) => {
    expect(read(text)).toEqual({ bad: code });
    expect(readAll(Array.from(Buffer.from(text, "latin1"), (byte) => Buffer.from([byte])))).toEqual({ bad: code });
  });
});

/** What the runtime's own client reads of these bytes, and of the end of the connection behind them. */
const readByNode = (bytes: Uint8Array): Promise<{ status: number; body: string } | null> =>
  new Promise((resolve) => {
    const socket = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() });
    const call = request({ createConnection: () => socket, method: "POST", headers: { "content-length": 0 } }, (response) => {
      const parts: Buffer[] = [];
      response.on("data", (part: Buffer) => parts.push(part));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(parts).toString("latin1") }));
      response.on("error", () => resolve(null));
    });
    call.on("error", () => resolve(null));
    call.on("upgrade", () => resolve(null));
    call.end();
    setImmediate(() => {
      socket.push(bytes);
      socket.push(null);
    });
  });

const SAMPLES = [
  `${OK}Content-Length: 2\r\n\r\nok`,
  `${OK}content-type: text/plain\r\nconnection: keep-alive\r\nkeep-alive: timeout=5\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n1;x\r\nc\r\n0\r\nx-a: b\r\n\r\n`,
  "HTTP/1.1 503 Busy\r\nretry-after: 7\r\ncontent-length: 4\r\n\r\nwait",
  `HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n${OK}content-length: 1\r\n\r\na`,
  "HTTP/1.0 200 OK\r\n\r\nto the end",
  "HTTP/1.1 204 No Content\r\n\r\n",
];

const PARTS = [
  "\r\n",
  "\n",
  "\r",
  " ",
  "\t",
  ":",
  ";",
  ",",
  "0",
  "1",
  "-",
  "+",
  "\0",
  "\xff",
  "content-length: 1\r\n",
  "transfer-encoding: chunked\r\n",
  "x",
];

const mangle = (text: string, random: Random): string => {
  const pick = (n: number): number => Math.floor(random.fraction() * n);
  let out = text;
  for (let times = 1 + pick(3); times > 0; times -= 1) {
    const at = pick(out.length + 1);
    const part = PARTS[pick(PARTS.length)] ?? "";
    const cut = pick(3) === 0 ? 0 : 1;
    out = `${out.slice(0, at)}${pick(3) === 0 ? "" : part}${out.slice(at + cut)}`;
  }
  return out;
};

test("whatever is read as a whole answer, the runtime's own client reads alike", { timeout: 60_000 }, async () => {
  const random = seededRandom(20_261_121);
  let agreed = 0;
  for (let i = 0; i < 6000; i += 1) {
    const text = mangle(SAMPLES[i % SAMPLES.length] ?? "", random);
    const ours = read(text, true);
    if ("bad" in ours || !ours.over) continue;
    agreed += 1;
    const bytes = Buffer.from(text, "latin1");
    // What stands behind the answer would only confuse the other one.
    const answer = new Answer();
    const end = bytes.findIndex((byte) => answer.push(Buffer.from([byte])));
    const its = end < 0 ? bytes : bytes.subarray(0, end + 1);
    expect([text, await readByNode(its)]).toEqual([text, { status: ours.status, body: ours.body }]);
  }
  expect(agreed).toBeGreaterThan(600);
});

test("a bad answer is an error of its own", () => {
  expect(() => new Answer().push(Buffer.from("no"))).toThrow(BadAnswer);
});
