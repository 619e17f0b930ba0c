import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { runExample } from "../../test/support/example-run.ts";

beforeEach(() => {
  vi.stubEnv("CHROMIUM", process.env["CHROMIUM"] ?? "/usr/bin/chromium");
});

test("passes", async () => {
  const { code, output } = await runExample("test-with-playwright");
  expect(code, output).toBe(0);
  expect(output).toContain("a user gets a link that works once");
  expect(output).toContain("2 passed");
});

test("fails when a stranger gets mail", async () => {
  const { code, output } = await runExample("test-with-playwright", {
    file: "app.mjs",
    from: "if (name === undefined) return;",
    to: "",
  });
  expect(code, output).toBe(1);
  expect(output).toContain("mallory@example.com");
  expect(output).toMatch(/1 failed[\s\S]*1 passed/);
});

test("says what is missing when there is no browser", async () => {
  vi.stubEnv("CHROMIUM", "/nowhere/chromium");
  const named = await runExample("test-with-playwright");
  expect(named.code).toBe(1);
  expect(named.output).toContain("CHROMIUM names /nowhere/chromium, where there is no browser.");
  vi.stubEnv("CHROMIUM", "");
  const empty = mkdtempSync(join(tmpdir(), "no-browsers-"));
  onTestFinished(() => rmSync(empty, { recursive: true, force: true }));
  vi.stubEnv("PLAYWRIGHT_BROWSERS_PATH", empty);
  const fetched = await runExample("test-with-playwright");
  expect(fetched.code).toBe(1);
  expect(fetched.output).toContain("playwright install");
});
