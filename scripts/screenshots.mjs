// Makes the pictures of the dashboard that the documentation shows: docs/pictures. It needs a Chromium, as the tests of the dashboard do.
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";

// Its program is not among what the package exports.
const vitest = join(createRequire(import.meta.url).resolve("vitest/package.json"), "../vitest.mjs");
const { status } = spawnSync(process.execPath, [vitest, "run", "--project", "unit", "packages/dashboard/test/pictures.test.ts"], {
  stdio: "inherit",
  env: { ...process.env, PICTURES: process.argv[2] ?? "all" },
});
process.exitCode = status ?? 1;
