import { expect, test } from "vitest";
import { runExample } from "../../test/support/example-run.ts";

test("passes", async () => {
  const { code, output } = await runExample("test-with-node");
  expect(code, output).toBe(0);
  expect(output).toContain("a user gets a code and a link that work once");
  expect(output).toMatch(/pass 2\n[\s\S]*fail 0\n/);
});

test("fails for a wrong subject, and names the mail that was sent", async () => {
  const { code, output } = await runExample("test-with-node", {
    file: "password-reset.test.mjs",
    from: 'subject: "Reset your password"',
    to: 'subject: "Welcome", timeout: 1',
  });
  expect(code, output).toBe(1);
  expect(output).toMatch(/pass 1\n[\s\S]*fail 1\n/);
  expect(output).toContain("to ada@example.com: Reset your password");
});

test("fails when a stranger gets mail", async () => {
  const { code, output } = await runExample("test-with-node", {
    file: "password-reset.mjs",
    from: "if (name === undefined) return;",
    to: "",
  });
  expect(code, output).toBe(1);
  expect(output).toContain("mallory@example.com");
  expect(output).toMatch(/pass 1\n[\s\S]*fail 1\n/);
});
