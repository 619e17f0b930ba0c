import { globSync } from "node:fs";
import { join, matchesGlob } from "node:path";
import { expect, test } from "vitest";
import config, { countLeftOut, LEFT_OUT } from "../vitest.config.ts";
import { root } from "./support/sources.ts";

// `npm test` runs the tests that are quick, CI those that fit into twenty minutes, `npm test -- --all` all of them.

/** The test files of each project in a mode of vitest, by the project's name. */
const listFiles = (mode: string): Map<string, string[]> => {
  const { test: options } = config({ mode, command: "serve" });
  const projects = options?.projects as { test: { name: string; include: string[]; exclude?: string[] } }[];
  const of = ({ include, exclude = [] }: (typeof projects)[number]["test"]): string[] =>
    globSync(include, { cwd: root, exclude: ["**/node_modules/**"] }).filter((file) => !exclude.some((glob) => matchesGlob(file, glob)));
  return new Map(projects.map(({ test: project }) => [project.name, of(project)]));
};

const all = listFiles("test");
const quick = listFiles("quick");
const count = (files: Map<string, string[]>): number => [...files.values()].flat().length;

test.each(LEFT_OUT)("%s names files that exist", (glob) => {
  expect(globSync(glob, { cwd: root })).not.toEqual([]);
});

test.each(["quick", "ci"])("a run of the kind %s says how many files it leaves out", (mode) => {
  expect(countLeftOut(mode)).toBeGreaterThan(50);
  expect(count(listFiles(mode)) + countLeftOut(mode)).toBe(count(all));
});

test("CI runs all that a quick run does, and more", () => {
  const ci = new Set([...listFiles("ci")].flatMap(([project, files]) => files.map((file) => `${project} ${file}`)));
  const missing = [...quick].flatMap(([project, files]) => files.map((file) => `${project} ${file}`)).filter((file) => !ci.has(file));
  expect(missing).toEqual([]);
  expect(ci.size).toBeGreaterThan(count(quick));
});

test("a full run leaves out no file", () => {
  const unit = globSync("{packages/*/{src,test},test,examples,bench}/**/*.test.{ts,tsx}", { cwd: root, exclude: ["**/node_modules/**"] });
  expect([...(all.get("unit") ?? []), ...(all.get("e2e") ?? [])].sort()).toEqual(unit.sort());
});

test.each([
  "packages/dashboard/test/shell.test.ts",
  "packages/server/src/queue/store.pg.test.ts",
  "packages/server/src/db/postgres/usable-databases.pg.test.ts",
  "packages/cli/test/process.test.ts",
  "test/architecture.test.ts",
  "test/build.test.ts",
  "test/docs.test.ts",
  "test/drift.test.ts",
  "test/lint.test.ts",
  "test/marketplace.test.ts",
  "test/quickstart.test.ts",
  "test/sdk-bundles.test.ts",
  "test/upgrade.test.ts",
])("a quick run has %s", (file) => {
  expect([...quick.values()].flat()).toContain(join(file));
});
