import { expect, test } from "vitest";
import { JoinedBytes } from "./joined-bytes.ts";

test("bytes are joined in their order, as Blob joins them", async () => {
  const parts = [
    new Uint8Array([1, 2]),
    new Uint8Array(),
    new Uint8Array([9, 3, 4]).subarray(1),
    new Uint8Array([5]).buffer,
    "Grüße, 🎉\r\n",
  ];
  for (const all of [parts, [], [new Uint8Array()]])
    expect(new Uint8Array(await new JoinedBytes(all).arrayBuffer())).toEqual(new Uint8Array(await new Blob(all).arrayBuffer()));
});

test("the caller's bytes stay its own", async () => {
  const part = new Uint8Array([1]);
  const joined = await new JoinedBytes([part]).arrayBuffer();
  part[0] = 2;
  expect([...new Uint8Array(joined)]).toEqual([1]);
});
