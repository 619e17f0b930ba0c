import { expect, test } from "vitest";
import { createRedactor } from "./headers.ts";

test("a key is redacted with and without its scheme; the scheme of an empty key stays readable", () => {
  const shown = (authorization: string): string => createRedactor({ authorization })("Bearer ms_live_x, form: Bearer <API_KEY>");
  expect(shown("Bearer ms_live_x")).toBe("[redacted], form: Bearer <API_KEY>");
  expect(shown("Bearer ")).toBe("Bearer ms_live_x, form: Bearer <API_KEY>");
});
