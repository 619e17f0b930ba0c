// Checks a change in one to three minutes: what is generated, types, the rules that name a forgotten place, and the tests of the modules that the
// change touches, those of the server on both databases. The change is what differs from the branch `main`, or from a commit that is named:
//
//   npm run check
//   npm run check -- HEAD~1
import { spawnSync } from "node:child_process";
import { existsSync, globSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));
const bin = (path) => join(root, "node_modules", path);

/** Tests of the rules in CONTRIBUTING.md, which read sources and generated files. */
const RULES = [
  "architecture",
  "contract",
  "exports",
  "fragments",
  "lint",
  "links",
  "lists-in-docs",
  "pages-and-code",
  "parity",
  "plain-words",
  "table-owners",
].map((name) => `test/${name}.test.ts`);

/** Tests of what is declared for each table. */
const DECLARATIONS = ["table-data/person", "table-data/retention", "workspaces/deletion"].map(
  (name) => `packages/server/src/${name}.test.ts`,
);

const git = (...args) => {
  const { status, stdout } = spawnSync("git", args, { cwd: root, encoding: "utf8" });
  return status === 0 ? stdout.split("\n").filter((line) => line !== "") : [];
};

const listChanged = (named) => {
  const [base = "HEAD"] = named === undefined ? git("merge-base", "main", "HEAD") : [named];
  return [...new Set([...git("diff", "--name-only", base), ...git("ls-files", "--others", "--exclude-standard")])];
};

/** The tests next to changed sources, and changed tests. A file that composes a package stands for no module: `npm test` has its tests. */
const listTests = (changed) => {
  const folders = new Set(changed.map((path) => /^packages\/[^/]+\/src\/(?:marketplace\/)?[^/]+\//.exec(path)?.[0]).filter(Boolean));
  const beside = [...folders].flatMap((folder) => globSync(`${folder}**/*.test.{ts,tsx}`, { cwd: root }));
  const tests = changed.filter((path) => /^packages\/.*\.test\.tsx?$/.test(path) && existsSync(join(root, path)));
  return [...new Set([...beside.map((path) => path.replaceAll("\\", "/")), ...tests])].sort();
};

/** A pattern for the tests of the nouns whose contract changed, by the names of its files; null for none. */
const findNouns = (changed) => {
  const files = changed.flatMap((path) => /^packages\/sdk\/src\/contract\/(?:[\w-]+\/)*([\w-]+)\.ts$/.exec(path)?.[1] ?? []);
  const nouns = files.map((file) => file.replaceAll(/-(\w)/g, (_, letter) => letter.toUpperCase()));
  return nouns.length === 0 ? null : `examples of (?:agent\\.)?(?:${nouns.join("|")})\\b`;
};

const run = (name, args) => {
  const start = performance.now();
  console.log(`\n${name}`);
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: "inherit" });
  const failed = status !== 0;
  console.log(`${name}: ${failed ? "failed" : "passed"} after ${Math.round((performance.now() - start) / 1000)} s`);
  return failed ? [name] : [];
};

const vitest = (project, files) => [bin("vitest/vitest.mjs"), "run", "--project", project, ...files];
const changed = listChanged(process.argv[2]);
const tests = listTests(changed);
const server = tests.filter((path) => path.startsWith("packages/server/"));
const places = new Set(tests.map((path) => dirname(path)));
console.log(`${changed.length} files changed; tests of ${places.size} folders.`);

// First, because a type that is not generated anew is missing in many places.
if (run("generated files", vitest("e2e", ["test/drift.test.ts"])).length > 0) {
  console.log("\nRun npm run generate, and check again.");
  process.exit(1);
}
const nouns = findNouns(changed);
const failed = [
  ...run("types", [bin("typescript/bin/tsc"), "--noEmit"]),
  ...run("rules", vitest("e2e", RULES)),
  ...(nouns === null ? [] : run("examples", vitest("e2e", ["test/strangers.test.ts", "-t", nouns]))),
  ...(nouns === null ? [] : run("transcripts", vitest("unit", ["packages/cli/test/transcripts.test.ts"]))),
  ...run("modules", vitest("unit", [...DECLARATIONS, ...tests])),
  ...(server.length > 0 ? run("modules on Postgres", vitest("postgres", server)) : []),
];
console.log(failed.length === 0 ? "\nAll passed." : `\nFailed: ${failed.join(", ")}`);
process.exit(failed.length === 0 ? 0 : 1);
