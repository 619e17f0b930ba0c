import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { endOf, SmtpReplies, toWire } from "./smtp-wire.ts";

const readAll = async (chunks: readonly Buffer[]): Promise<string[]> => {
  const replies = new SmtpReplies();
  for (const chunk of chunks) replies.push(chunk);
  replies.end();
  const all: string[] = [];
  for (;;) {
    const reply = await replies.next().catch(() => null);
    if (reply === null) return all;
    all.push(reply);
  }
};

describe("Replies of a mail server", () => {
  test.each<[string, string[]]>([
    ["250 ok\r\n", ["250 ok"]],
    ["250\r\n", ["250"]],
    ["250 ok \r\r\n", ["250 ok"]],
    ["250 ok\n354 go\n", ["250 ok", "354 go"]],
    ["250-a\r\n250-b\r\n250 c\r\n", ["250-a\n250-b\n250 c"]],
    ["550-a\r\nwithout its code\r\n\r\n550 c\r\n250 ok\r\n", ["550-a\nwithout its code\n\n550 c", "250 ok"]],
    ["\r\n250 ok\r\n\r\n354 go\r\n", ["250 ok", "354 go"]],
    ["what?\r\n250 ok\r\n", ["what?", "250 ok"]],
    ["550 fürs Erste\r\n", ["550 fürs Erste"]],
    ["250 ok\r\n250 half", ["250 ok"]],
    ["250-a\r\n250-b\r\n", []],
  ])("%j are read as %j, wherever they are split", async (text, replies) => {
    const bytes = Buffer.from(text);
    for (let cut = 0; cut <= bytes.length; cut += 1)
      expect(await readAll([bytes.subarray(0, cut), bytes.subarray(cut)]), `cut at ${cut}`).toEqual(replies);
    expect(await readAll([...bytes].map((byte) => Buffer.from([byte])))).toEqual(replies);
  });

  test("keep bytes that are not UTF-8 readable", async () => {
    expect(await readAll([Buffer.from("550 f\xfcr\r\n", "latin1")])).toEqual(["550 f\xfcr"]);
  });

  test("are the same for any split of any number of them", async () => {
    const line = fc.stringMatching(/^[a-z0-9.-]{1,10}$/);
    const reply = fc
      .array(line, { minLength: 1, maxLength: 3 })
      .map((lines) => lines.map((text, i) => `250${i < lines.length - 1 ? "-" : " "}${text}`));
    await fc.assert(
      fc.asyncProperty(fc.array(reply, { maxLength: 4 }), fc.array(fc.nat(80)), async (replies, cuts) => {
        const bytes = Buffer.from(replies.map((lines) => `${lines.join("\r\n")}\r\n`).join(""));
        const ends = [...cuts, bytes.length].sort((a, b) => a - b);
        const chunks = ends.map((end, i) => bytes.subarray(ends[i - 1] ?? 0, end));
        expect(await readAll(chunks)).toEqual(replies.map((lines) => lines.join("\n")));
      }),
    );
  });

  test("tell a refusal that lacks its end, and no more of another reply, when the connection has ended", async () => {
    const cut = async (text: string): Promise<unknown> => {
      const replies = new SmtpReplies();
      replies.push(Buffer.from(text));
      replies.end();
      return replies.next().catch((failure: unknown) => failure);
    };
    expect(await cut("550 5.1.1 no such us")).toMatchObject({ code: "ECONNECTION", response: "550 5.1.1 no such us", responseCode: 550 });
    expect(await cut("550-5.1.1 no\r\n550 re")).toMatchObject({ response: "550-5.1.1 no\n550 re" });
    for (const text of ["", "55", "250 qu"]) expect(await cut(text)).toMatchObject({ code: "ECONNECTION", response: undefined });
  });

  test.each([
    ["in one line", "x"],
    ["in many lines", "250-x\r\n"],
  ])("end with a failure if one never ends, %s", async (_, more) => {
    const replies = new SmtpReplies();
    const next = replies.next();
    for (let length = 0; length <= 128 * 1024; length += more.length) replies.push(Buffer.from(more));
    await expect(next).rejects.toMatchObject({ code: "EPROTOCOL" });
  });
});

/** A message in pieces that end at `cuts`. */
const inPieces = (message: Buffer, cuts: readonly number[]): string => {
  const ends = [...cuts.map((cut) => Math.min(cut, message.length)).sort((a, b) => a - b), message.length];
  return ends.map((end, i) => toWire(message, i === 0 ? 0 : (ends[i - 1] ?? 0), end).toString("latin1")).join("");
};

describe("A message on the wire", () => {
  test.each([
    ["a\r\nb\r\n", "a\r\nb\r\n.\r\n"],
    ["a\r\nb", "a\r\nb\r\n.\r\n"],
    ["a\nb\n", "a\r\nb\r\n.\r\n"],
    ["a\rb\r", "a\r\nb\r\n.\r\n"],
    [".", "..\r\n.\r\n"],
    ["a\r\n.\r\nb\r\n", "a\r\n..\r\nb\r\n.\r\n"],
    ["a\n.\nb\r\n", "a\r\n..\r\nb\r\n.\r\n"],
    ["a\r.\rb\r\n", "a\r\n..\r\nb\r\n.\r\n"],
    ["a\n\r\n.b", "a\r\n\r\n..b\r\n.\r\n"],
    ["a\r\r\n.b", "a\r\n\r\n..b\r\n.\r\n"],
    ["a..\r\n", "a..\r\n.\r\n"],
    ["", ".\r\n"],
  ])("%j is written as %j, wherever it is split", (text, wire) => {
    const message = Buffer.from(text, "latin1");
    for (let cut = 0; cut <= message.length; cut += 1) expect(inPieces(message, [cut]) + endOf(message)).toBe(wire);
  });

  test("has CRLF only and no dot that ends it early, whatever its bytes are and wherever it is split", () => {
    const bytes = fc.array(fc.oneof(fc.constantFrom(0x0a, 0x0d, 0x2e), fc.integer({ min: 0, max: 255 })), { maxLength: 60 });
    fc.assert(
      fc.property(bytes, fc.array(fc.nat(60)), (values, cuts) => {
        const message = Buffer.from(values);
        const lines = message.toString("latin1").split(/\r\n|\r|\n/);
        if (lines.at(-1) === "") lines.pop();
        const expected = lines.map((line) => `${line.startsWith(".") ? "." : ""}${line}\r\n`).join("");
        expect(inPieces(message, cuts) + endOf(message)).toBe(`${expected}.\r\n`);
      }),
    );
  });

  test("is not copied if nothing is to be changed", () => {
    const message = Buffer.from("a\r\nb.\r\n");
    expect(toWire(message, 1, 5).buffer).toBe(message.buffer);
  });
});
