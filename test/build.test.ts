import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
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

test("the built packages load of each other only what these export", () => {
  const exported = new Set(
    PACKAGES.flatMap((name) => {
      const { name: product, exports = {} } = JSON.parse(readFileSync(join(root, "packages", name, "package.json"), "utf8"));
      return Object.keys(exports).map((path) => product + path.slice(1));
    }),
  );
  const loaded = PACKAGES.flatMap((name) => {
    const dist = join(root, "packages", name, "dist");
    const files = readdirSync(dist, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".js"));
    return files.flatMap((file) =>
      [...readFileSync(join(dist, file), "utf8").matchAll(/(?:\bfrom|\bimport|\brequire\()\s*\(?"(@mailsvc\/[^"]+)"/g)].map(
        ([, path]) => path,
      ),
    );
  });
  expect(loaded).toContain("@mailsvc/sdk/contract");
  expect([...new Set(loaded)].filter((path) => !exported.has(path as string))).toEqual([]);
});

test("the server is one lean program with the migrations next to it", () => {
  const dist = join(root, "packages/server/dist");
  const [program = "", ...others] = readdirSync(join(dist, "chunks")).filter((file) => file.startsWith("main-program-"));
  expect(others).toEqual([]);
  expect(readFileSync(join(dist, "main.js"), "utf8")).toContain(`await import("./chunks/${program}")`);
  // Load of a start: the program and the chunks that it imports, directly or not.
  const loaded = new Map<string, string>();
  const foreign = new Set<string>();
  const load = (chunk: string): void => {
    const text = readFileSync(join(dist, "chunks", chunk), "utf8");
    loaded.set(chunk, text);
    for (const [, id = ""] of text.matchAll(/(?:^|;)import(?:[^"'();]*?from)?\s*["']([^"']+)["']/gm)) {
      if (!id.startsWith("./")) foreign.add(id);
      else if (!loaded.has(id.slice(2))) load(id.slice(2));
    }
  };
  load(program);
  // In few files: Node finds, reads and compiles each by itself.
  expect(loaded.size).toBeLessThan(5);
  const texts = [...loaded.values()];
  expect(texts.reduce((sum, text) => sum + text.length, 0)).toBeLessThan(2_605_000);
  // All of zod is in it as soon as one file imports `{ z }`, instead of `* as z`.
  expect(texts.some((text) => text.includes("fromJSONSchema"))).toBe(false);
  // Traces are loaded only where they are on.
  expect(texts.some((text) => text.includes("resourceSpans"))).toBe(false);
  // The APIs of other services, explanations, lint and checks of domains are loaded when they are first asked for.
  for (const later of ["missing_required_field", "function checkColors(", "function describeRefusal(", "function checkDmarc("])
    expect([later, texts.some((text) => text.includes(later))]).toEqual([later, false]);
  expect([...foreign].filter((id) => !isBuiltin(id))).toEqual(["better-sqlite3"]);
  for (const dialect of ["sqlite", "pg"]) expect(readdirSync(join(dist, "migrations", dialect)).some((f) => f.endsWith(".sql"))).toBe(true);
});
