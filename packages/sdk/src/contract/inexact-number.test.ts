import { expect, test } from "vitest";
import { findInexactNumber } from "./facts.ts";

test.each([
  ["1e400", "1e400"],
  ['{"a":[1,-1e400]}', "-1e400"],
  ['{"id":12345678901234567890}', "12345678901234567890"],
  ["-9007199254740993", "-9007199254740993"],
  [`1${"0".repeat(400)}`, `1${"0".repeat(400)}`],
])("%s has a number that would be changed", (json, number) => {
  expect(findInexactNumber(json)).toBe(number);
});

test.each([
  ...["0", "-0", "9007199254740992", "1e308", "0.1234567890123456789", "[]", '"12345678901234567890"', '"\\"12345678901234567891"'],
  `"${"12345678901234567891".repeat(50_000)}"`,
])("%.40s stays as it is", (json) => {
  expect(findInexactNumber(json)).toBeNull();
});
