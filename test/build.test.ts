import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";

const root = dirname(fileURLToPath(new URL(".", import.meta.url)));
const PACKAGES = ["sdk", "agent-kit", "server", "cli"];

/** The repository with all its packages installed but those in node_modules of packages/cli. */
function copyWithoutNested(): string {
  const copy = mkdtempSync(join(tmpdir(), "mailsvc-build-"));
  onTestFinished(() => rmSync(copy, { recursive: true, force: true }));
  for (const path of [
    "package.json",
    "package-lock.json",
    "packaging",
    "scripts",
    ...PACKAGES.map((name) => `packages/${name}/package.json`),
  ])
    cpSync(join(root, path), join(copy, path), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  return copy;
}

const run = (file: string, args: readonly string[], env: Record<string, string> = {}) =>
  promisify(execFile)(process.execPath, [file, ...args], { env: { ...process.env, ...env } }).then(
    ({ stderr }) => ({ code: 0, stderr }),
    (error: { code: number; stderr: string }) => ({ code: error.code, stderr: error.stderr }),
  );

test("the build refuses a dependency whose installed version is not the one a package asks for", async () => {
  const copy = copyWithoutNested();
  const { code, stderr } = await run(join(copy, "scripts/build.mjs"), []);
  expect(code).toBe(1);
  expect(stderr).toMatch(/cli needs commander 15\.1\.0, found \d+\.\d+\.\d+/);
  expect(stderr).toContain("npm ci");
});

test("a nested package that is missing is installed before anything runs", async () => {
  const copy = copyWithoutNested();
  mkdirSync(join(copy, "bin"));
  writeFileSync(join(copy, "bin/npm.js"), 'console.error("npm", ...process.argv.slice(2)); process.exit(3);\n');
  writeFileSync(join(copy, "target.mjs"), "");
  const { code, stderr } = await run(join(copy, "scripts/bootstrap.mjs"), ["target.mjs"], { npm_execpath: join(copy, "bin/npm.js") });
  expect([code, stderr]).toEqual([3, expect.stringContaining("npm ci")]);
});
