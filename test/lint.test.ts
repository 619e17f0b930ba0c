import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("../", import.meta.url));
const bad = {
  time: ["Date.now();", "new Date();", "Date();", "const now = Date.now;", "performance.now();", "process.hrtime();"],
  timers: ["setTimeout(() => {}, 1);", "setInterval(() => {}, 1);", "setImmediate(() => {});", "globalThis.setTimeout(() => {}, 1);"],
  borrowed: ["const later = setTimeout;", 'import { setTimeout as sleep } from "node:timers/promises";'],
  chance: ["Math.random();", "crypto.randomUUID();", "crypto.getRandomValues(new Uint8Array(2));", "randomUUID();", "randomBytes(4);"],
  environment: ["process.env.HOME;", 'process.env["HOME"];', "const { HOME } = process.env;"],
  started: ["Promise.all([f(1), await f(2)]);", "await Promise.allSettled([f(1), g(await f(2))]);"],
  print: ['console.log("x");', 'console.error("x");', 'process.stdout.write("x");'],
};
const good = ["new Date(5);", "clock.now();", "clearTimeout(timer);", "const o = { setTimeout: 5 };", "o.setTimeout;", "random.bytes(4);"];

let project = "";
type Diagnostic = { category: string; message: string; location: { path: string; start: { line: number } } };
let found: Diagnostic[] = [];

// One line a sample, so that the line of a finding names the sample.
const samples = [...Object.values(bad).flat(), ...good];
const files = {
  product: "packages/server/src/feature/feature.ts",
  clock: "packages/server/src/lib/clock.ts",
  test: "packages/server/src/feature/feature.test.ts",
  script: "scripts/sample.ts",
  clumsy: "packages/sdk/src/clumsy.ts",
};

beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), "lint-"));
  const config = JSON.parse(readFileSync(join(root, "biome.json"), "utf8")) as { plugins: { path: string }[]; linter: unknown };
  const plugins = config.plugins.map((plugin) => ({ ...plugin, path: join(root, plugin.path) }));
  writeFileSync(join(project, "biome.json"), JSON.stringify({ root: true, plugins, linter: config.linter }));
  for (const file of Object.values(files)) {
    mkdirSync(dirname(join(project, file)), { recursive: true });
    writeFileSync(join(project, file), file === files.clumsy ? "export const f = (x: any) => x!;\n" : `${samples.join("\n")}\n`);
  }
  const args = ["lint", "--error-on-warnings", "--max-diagnostics=500", "--reporter=json", "."];
  const { stdout, stderr, status } = spawnSync(join(root, "node_modules/.bin/biome"), args, { cwd: project, encoding: "utf8" });
  expect(status, stderr).toBe(1);
  found = (JSON.parse(stdout) as { diagnostics: Diagnostic[] }).diagnostics;
});
afterAll(() => rmSync(project, { recursive: true, force: true }));

/** The samples in a file to which our own rules object. */
const objectedTo = (file: string, message: RegExp): string[] => {
  const ours = found.filter((d) => d.location.path === file && message.test(d.message));
  return [...new Set(ours.map((d) => samples[d.location.start.line - 1] as string))].sort();
};
const ambient = /come in as arguments/;
const printing = /Only the command line's output prints/;

describe("product code", () => {
  test("takes time, timers, chance and the environment as arguments", () => {
    const { print: _print, started: _started, ...rest } = bad;
    expect(objectedTo(files.product, ambient)).toEqual(Object.values(rest).flat().sort());
  });

  test("does not print", () => {
    expect(objectedTo(files.product, printing)).toEqual([...bad.print].sort());
  });

  test("awaits nothing within a list of promises", () => {
    expect(objectedTo(files.product, /Await this before the list/)).toEqual([...bad.started].sort());
  });

  test("has no any and no non-null assertion", () => {
    const categories = found.filter((d) => d.location.path === files.clumsy).map((d) => d.category);
    expect(categories).toContain("lint/suspicious/noExplicitAny");
    expect(categories).toContain("lint/style/noNonNullAssertion");
  });
});

test("the clock may touch time and still does not print", () => {
  expect(objectedTo(files.clock, ambient)).toEqual([]);
  expect(objectedTo(files.clock, printing)).toEqual([...bad.print].sort());
});

test.each([files.test, files.script])("%s may do all of it", (file) => {
  expect(objectedTo(file, ambient)).toEqual([]);
  expect(objectedTo(file, printing)).toEqual([]);
});
