import fc from "fast-check";
import { expect, test } from "vitest";
import { parseSse, type SseMessage } from "./sse.ts";

const parse = async (...chunks: Uint8Array[]): Promise<SseMessage[]> => {
  const messages: SseMessage[] = [];
  for await (const message of parseSse(
    (async function* () {
      yield* chunks;
    })(),
  ))
    messages.push(message);
  return messages;
};

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

test("messages, comments, ids without data, and lines of several kinds", async () => {
  expect(await parse(bytes(": hi\n\nid: 1\ndata: a\n\nid: 2\r\ndata:b\r\ndata: c\r\n\r\nid: 3\n\ndata\n\nevent: x\n\ndata: lost"))).toEqual(
    [
      { id: "1", data: "a" },
      { id: "2", data: "b\nc" },
      { id: "3", data: null },
      { id: "3", data: "" },
    ],
  );
});

test("however the bytes are cut, the messages are the same", async () => {
  const whole = bytes("id: 1\r\ndata: ä€😀\r\n\r\n: ping\nid: 2\n\ndata: x\r\rid: 3\ndata: y\n\n");
  const expected = await parse(whole);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 0, max: whole.length })), async (cuts) => {
      const at = [0, ...cuts.sort((a, b) => a - b), whole.length];
      const chunks = at.slice(1).map((end, i) => whole.subarray(at[i], end));
      expect(await parse(...chunks)).toEqual(expected);
    }),
  );
});
