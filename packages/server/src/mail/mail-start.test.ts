import { expect, test } from "vitest";
import { MAIL_LIMITS, takeStart } from "./mail-start.ts";

const count = (mail: Uint8Array): number => mail.filter((byte) => byte === 0x0a).length;

test("a mail within the limits is taken whole, also without a line end at its end", () => {
  for (const text of ["", "\n", "Subject: x", "Subject: x\r\n\r\n--\r\nAda", "a\nb\n"])
    expect(Buffer.from(takeStart(Buffer.from(text))).toString()).toBe(text);
});

test("of a longer mail the bytes, the lines and the boundaries count", () => {
  expect(takeStart(Buffer.alloc(10_000_000, "x")).length).toBe(MAIL_LIMITS.bytes);
  expect(count(takeStart(Buffer.alloc(100_000, "\n")))).toBe(MAIL_LIMITS.lines);
  const parts = takeStart(Buffer.from("Subject: x\n\n--x\n\ny\n".concat("--x\n".repeat(10_000))));
  expect(Buffer.from(parts).toString().match(/^--x$/gm)).toHaveLength(MAIL_LIMITS.boundaries);
});
