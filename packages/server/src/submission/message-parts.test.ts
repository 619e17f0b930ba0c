import { expect, test } from "vitest";
import { listParts } from "./message-parts.ts";

/** A message of two parts, the first of so many bytes; and whether others had a turn while its parts were found. */
async function list(bytes: number) {
  const body = `--b\r\n\r\n${"x".repeat(bytes)}\r\n--b\r\n\r\nlast\r\n--b--\r\n`;
  let hadTurn = false;
  setImmediate(() => {
    hadTurn = true;
  });
  const { parts } = await listParts(Buffer.from(`Content-Type: multipart/mixed; boundary=b\r\n\r\n${body}`));
  return { delimiters: parts.map(({ delimiter }) => delimiter), hadTurn };
}

test("a small message waits for no turn of the event loop, a large one does", async () => {
  const delimiters = ["", "0", "0", "0--"];
  expect(await list(100)).toEqual({ delimiters, hadTurn: false });
  expect(await list(200 * 1024)).toEqual({ delimiters, hadTurn: true });
});
