import { expect, test } from "vitest";
import { runExample } from "../../test/support/example-run.ts";

test("passes", async () => {
  const { code, output } = await runExample("test-with-pytest");
  expect(code, output).toBe(0);
  expect(output).toContain("test_user_gets_a_code_and_a_link_that_work_once PASSED");
  expect(output).toContain("test_stranger_gets_no_mail PASSED");
});

test("fails for a wrong subject, and names the mail that was sent", async () => {
  const { code, output } = await runExample("test-with-pytest", {
    file: "test_password_reset.py",
    from: 'subject="Reset your password")',
    to: 'subject="Welcome", timeout=1)',
  });
  expect(code, output).toBe(1);
  expect(output).toContain("No mail to ada@example.com about 'Welcome'. There is: ['to ada@example.com: Reset your password']");
  expect(output).toContain("1 failed, 1 passed");
});

test("fails when a stranger gets mail", async () => {
  const { code, output } = await runExample("test-with-pytest", {
    file: "password_reset.py",
    from: "        if name is None:\n            return\n",
    to: "",
  });
  expect(code, output).toBe(1);
  expect(output).toContain("test_stranger_gets_no_mail FAILED");
  expect(output).toContain("1 failed, 1 passed");
});
