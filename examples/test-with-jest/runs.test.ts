import { expect, test } from "vitest";
import { runExample } from "../../test/support/example-run.ts";

test("passes", async () => {
  const { code, output } = await runExample("test-with-jest");
  expect(code, output).toBe(0);
  expect(output).toContain("a user gets a code and a link that work once");
  expect(output).toContain("2 passed, 2 total");
});

test("fails when a stranger gets mail", async () => {
  const { code, output } = await runExample("test-with-jest", {
    file: "password-reset.mjs",
    from: "if (name === undefined) return;",
    to: "",
  });
  expect(code, output).toBe(1);
  expect(output).toContain("mallory@example.com");
  expect(output).toContain("1 failed, 1 passed, 2 total");
});
