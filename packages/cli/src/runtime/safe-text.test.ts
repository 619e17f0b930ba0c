import { describe, expect, test } from "vitest";
import { safeJson, safeLines, safeText } from "../text/safe-text.ts";

describe("text from elsewhere", () => {
  test.each([
    ["colours", "\u001b[31mred\u001b[0m", "red"],
    ["a window title", "\u001b]0;title\u0007x", "x"],
    ["a link", "\u001b]8;;http://evil.test\u001b\\click\u001b]8;;\u001b\\", "click"],
    ["a sequence that never ends", "a\u001b]52;c;AAAA", "a"],
    ["one-byte introducers", "a\u009b2Jb\u009d0;t\u009cc", "abc"],
    ["backspaces and returns", "good\b\b\b\bbad\rx", "goodbadx"],
    ["reversed text", "a\u202eb\u2066c", "abc"],
    ["hidden tags", "a\u{e0041}b", "ab"],
    ["half a character", "a\ud800b", "a\ufffdb"],
  ])("loses %s", (_name, text, safe) => {
    expect(safeText(text)).toBe(safe);
  });

  test("keeps letters of all scripts, joined emoji and, where asked, lines", () => {
    const text = "Grüße 你好 שלום 👩‍👧 naïve";
    expect(safeText(text)).toBe(text);
    expect(safeLines("a\r\nb\tc")).toBe("a\nb\tc");
    expect(safeText("a\nb")).toBe("a b");
  });

  test("is the same value in JSON, escaped", () => {
    const value = { s: "\u009b\u202e\u007f\u{e0041}\u001b" };
    expect(JSON.parse(safeJson(value))).toEqual(value);
    expect(safeJson(value)).toMatch(/^[\x20-\x7e]+$/);
  });
});
