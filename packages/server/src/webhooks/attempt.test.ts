import { expect, test } from "vitest";
import { toResponseSnippet } from "./attempt.ts";

const snippet = (text: string, secrets: string[] = []) => toResponseSnippet(Buffer.from(text), secrets);
const KEY = "ms_agent_4eC39HqLyjWDarjtT1zdp7dcABCDEFGHIJKLMNOPQRSTUV";

test.each([
  ["nothing", "", null],
  ["only space", " \r\n\t ", null],
  ["a text", "all right", "all right"],
  ["control characters", "a\u0000b\u001b[31mc\u009b", "a\uFFFDb\uFFFD[31mc\uFFFD"],
  ["line breaks", "a\r\nb\tc", "a\r\nb\tc"],
  ["a key", `{"got":"${KEY}"}`, '{"got":"***"}'],
  ["a key in capitals", KEY.toUpperCase(), "***"],
  ["a developer's key", "ms_live_abc123", "***"],
  ["a webhook secret", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw+/==", "***"],
  ["a webhook secret in a URL", "?s=whsec_MfKQ9r8GKY%2BqrTw&x=1", "?s=***&x=1"],
])("the snippet of %s", (_name, text, kept) => {
  expect(snippet(text)).toBe(kept);
});

test("secrets of any shape are redacted when they are known", () => {
  expect(snippet("the secret is swordfish, swordfish!", ["swordfish", ""])).toBe("the secret is ***, ***!");
});

test("bytes that are not UTF-8 become replacement characters", () => {
  expect(toResponseSnippet(Uint8Array.of(0xff, 0xfe, 0x41), [])).toBe("\uFFFD\uFFFDA");
});

test("a snippet has at most 2 KiB, and no half character at its end", () => {
  const kept = snippet("é".repeat(5000)) ?? "";
  expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(2048);
  expect(Buffer.byteLength(snippet(`a${"🚀".repeat(2000)}`) ?? "")).toBe(2045);
  expect(kept).not.toContain("\uFFFD");
});

test("a key across the end of the snippet is redacted as a whole", () => {
  for (let before = 2048 - KEY.length - 2; before <= 2048; before += 1)
    expect(snippet(`${"x".repeat(before)}${KEY}`)).not.toContain("ms_agent");
});
