// Runs the build, lint and types side by side, then the tests. Continues when a part fails, and ends with the count:
//
//   npm test                    all tests but those that take minutes, which vitest.config.ts lists
//   npm test -- --ci            those of CI, which take at most twenty minutes on two cores
//   npm test -- --all           every test
//   npm test -- packages/sdk    the tests that are named; arguments go to vitest
//
// The count is also written to node_modules/.cache/mailsvc/results.json.
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

// The compiler of TypeScript collects its garbage less often: a quarter less processor time for a tenth more memory. For all that runs
// below, tests that build or check included.
process.env.GOGC ??= "400";

const root = fileURLToPath(new URL("../", import.meta.url));
const cache = join(root, "node_modules/.cache/mailsvc");
const resultsFile = join(cache, "results.json");
const vitestFile = join(cache, "vitest.json");
const bin = (path) => join(root, "node_modules", path);

/** Runs a program on this Node and returns its exit code, 128 + n if signal n ended it. Its output goes to `heard`, or to the terminal. */
const node = (args, heard) =>
  new Promise((done) => {
    const child = spawn(process.execPath, args, { cwd: root, stdio: heard ? ["ignore", "pipe", "pipe"] : "inherit" });
    if (heard) for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", heard);
    const stop = () => child.kill("SIGTERM");
    process.once("SIGTERM", stop);
    child.on("error", () => done(1));
    child.on("close", (code, signal) => {
      process.off("SIGTERM", stop);
      done(signal ? 128 + (constants.signals[signal] ?? 0) : (code ?? 1));
    });
  });

const stages = [
  { name: "build", args: [join(root, "scripts/build.mjs")] },
  { name: "lint", args: [bin("@biomejs/biome/bin/biome"), "check", "--error-on-warnings", "."] },
  // Four checkers, as many as there are otherwise, take twice the processor time, which the build needs.
  { name: "types", args: [bin("typescript/bin/tsc"), "--noEmit", "--checkers", "1"] },
];

const args = process.argv.slice(2);
/** The mode of vitest in which files are left out, null for every file or those that are named. */
const mode = args.length === 0 ? "quick" : args[0] === "--ci" ? "ci" : null;
const vitestArgs = mode === null ? args.filter((arg) => arg !== "--all") : ["--mode", mode];

/** Counts tests by vitest's report. A run without a report, or one that failed outside of tests, counts as one more failure. */
const countTests = (code) => {
  try {
    const report = JSON.parse(readFileSync(vitestFile, "utf8"));
    const broken = report.testResults.filter(
      (file) => file.status === "failed" && file.assertionResults.every((t) => t.status !== "failed"),
    );
    const failed = report.numFailedTests + broken.length;
    return { passed: report.numPassedTests, failed: code !== 0 && failed === 0 ? 1 : failed };
  } catch {
    return { passed: 0, failed: 1 };
  }
};

const main = async () => {
  mkdirSync(cache, { recursive: true });
  for (const file of [resultsFile, vitestFile]) rmSync(file, { force: true });
  let passed = 0;
  let failed = 0;
  const parts = [];
  // They run at the same time, because none of them keeps a core busy all the time.
  const running = stages.map(async ({ name, args }) => {
    let said = "";
    const code = await node(args, (text) => {
      said += text;
    });
    return { name, code, said };
  });
  for (const stage of running) {
    const { name, code, said } = await stage;
    console.log(`\n> ${name}\n${said.trimEnd()}`);
    const ok = code === 0;
    ok ? passed++ : failed++;
    parts.push(`${name} ${ok ? "passed" : "failed"}`);
  }
  console.log("\n> tests");
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${vitestFile}`];
  const tests = countTests(await node([bin("vitest/vitest.mjs"), "run", ...reporters, ...vitestArgs]));
  parts.push(`tests ${tests.passed} passed, ${tests.failed} failed`);
  passed += tests.passed;
  failed += tests.failed;
  writeFileSync(resultsFile, JSON.stringify({ passed, failed }));
  console.log(`\n${parts.join(" · ")}`);
  if (mode !== null) {
    const { countLeftOut } = await import("../vitest.config.ts");
    console.log(`${countLeftOut(mode)} test files did not run, because they take minutes. To run them as well: npm test -- --all`);
  }
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
};

await main();
