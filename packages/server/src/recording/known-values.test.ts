import fc from "fast-check";
import { expect, test } from "vitest";
import { KnownValues } from "./secrets.ts";

function knowing(...values: string[]): KnownValues {
  const known = new KnownValues();
  for (const value of values) known.add(value);
  return known;
}

test("values are removed wherever they are, and short ones are not", () => {
  const known = knowing("plain-looking", "plain-l", "short");
  expect(known.removeFrom("plain-looking, plain-lookingplain-looking; short plain-l", "[x]")).toBe("[x], [x][x]; short plain-l");
});

test("of values that begin alike or overlap, nothing remains", () => {
  expect(knowing("abcdefgh", "abcdefghij").removeFrom("<abcdefghij> <abcdefghi>", "[x]")).toBe("<[x]> <[x]i>");
  expect(knowing("abcdefgh", "efghijkl", "fghijklmno").removeFrom("1abcdefghijklmno2", "[x]")).toBe("1[x]2");
});

test("each character of a value is removed, and no other one", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 60 });
  const values = fc.array(fc.string({ unit: fc.constantFrom("a", "b"), minLength: 8, maxLength: 12 }), { maxLength: 5 });
  fc.assert(
    fc.property(text, values, (given, secrets) => {
      const covered = [...given].map((_, i) =>
        secrets.some((secret) => [...secret].some((_char, back) => back <= i && given.startsWith(secret, i - back))),
      );
      expect(knowing(...secrets).removeFrom(given, "")).toBe([...given].filter((_, i) => !covered[i]).join(""));
    }),
  );
});

test("thousands of values are looked for in one walk", () => {
  const known = knowing(...Array.from({ length: 5000 }, (_, i) => `secret-${i.toString(36)}-${(i * 7919).toString(36)}`));
  const text = `secret- looking text without any, ${"lorem ipsum dolor ".repeat(60_000)}secret-0-0 end`;
  expect(known.removeFrom(text, "[x]").endsWith(" secret-0-0 end")).toBe(false);
  expect(known.removeFrom(text, "[x]").length).toBe(text.length - "secret-0-0".length + "[x]".length);
});
