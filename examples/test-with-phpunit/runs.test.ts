import { expect, test } from "vitest";
import { runExample } from "../../test/support/example-run.ts";

test("passes", async () => {
  const { code, output } = await runExample("test-with-phpunit");
  expect(code, output).toBe(0);
  expect(output).toMatch(/OK \(2 tests, 4 assertions\)/);
});

test("fails for a wrong subject, and names the mail that was sent", async () => {
  const { code, output } = await runExample("test-with-phpunit", {
    file: "PasswordResetTest.php",
    from: "subject: 'Reset your password')",
    to: "subject: 'Welcome', timeout: 1)",
  });
  expect(code, output).toBeGreaterThan(0);
  expect(output).toContain('No mail to ada@example.com about "Welcome". There is: to ada@example.com: Reset your password');
  expect(output).toContain("Tests: 2, Assertions: 1, Errors: 1.");
});

test("fails when a stranger gets mail", async () => {
  const { code, output } = await runExample("test-with-phpunit", {
    file: "PasswordResets.php",
    from: "        if ($name === null) {\n            return;\n        }\n",
    to: "",
  });
  expect(code, output).toBe(1);
  expect(output).toContain("Tests: 2, Assertions: 4, Failures: 1.");
});
