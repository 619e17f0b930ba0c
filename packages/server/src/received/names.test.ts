import { expect, test } from "vitest";
import { withoutNames } from "./pass-on.ts";

test.each([
  ["Best, Jean-Paul", ["Jean-Paul Sartre"], "Best, [name]"],
  ["JEAN-PAUL SARTRE and Jean", ["Jean-Paul Sartre"], "[name] and Jean"],
  ["May I? I will. Will", ["Will May"], "[name] I? I will. [name]"],
  ["Adam and Ada", ["Ada"], "Adam and [name]"],
  ["José écrit", ["Jose\u0301 (Paris) [x] * +"], "[name] écrit"],
  ["$& a.b", ["$&", "a.b"], "[name] [name]"],
  ["Nobody", [], "Nobody"],
])("%s without %j", (text, names, expected) => {
  expect(withoutNames(text, names)).toBe(expected);
});
