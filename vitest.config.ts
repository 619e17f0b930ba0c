import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { quickFolder } from "./packages/server/test/quick-folder.ts";
import { SlowestFirst } from "./test/support/slowest-first.ts";
import tsconfig from "./tsconfig.json" with { type: "json" };

// The packages' names lead to their sources, exactly as for the type checker.
const alias = Object.entries(tsconfig.compilerOptions.paths).map(([name, [file]]) => ({
  find: new RegExp(`^${name}$`),
  replacement: fileURLToPath(new URL(file as string, import.meta.url)),
}));

const shared = {
  environment: "node",
  pool: "forks",
  // Files leave nothing behind that the next one would find, so what they import is evaluated once per worker.
  isolate: false,
  restoreMocks: true,
  unstubEnvs: true,
} as const;

// Tests make much that lives for a moment: with more room for it, unit tests take a twelfth less processor time. They take another
// fifteenth less because a worker first looks for other garbage at 400 MB; most of it before that is loaded code. It costs each worker
// 50 to 200 MB.
const execArgv = ["--max-semi-space-size=64", "--initial-old-space-size=400"];

// How long properties may search, and that no file leaves anything changed for the next.
const setup = ["./test/support/properties.ts", "./test/support/assert-clean.ts"];

// That every answer is what the contract says.
const ofServer = ["./packages/server/test/answers-in-contract.ts"];

/*
 * Tests of features run again with a Postgres database under each world. Not again are those about one database only, those that make
 * Postgres databases themselves, and those about what happens before or outside the database: validation, pages, faults on purpose,
 * the network. Some of these wait for seconds.
 */
const NOT_AGAIN = [
  /\.(?:sqlite|pg)\.test\.ts$/,
  /\/processes\.test\.ts$/,
  /\/http\/(?:bad-|validation|openapi)/,
  /\/webhooks\/(?:network|origin-limits|tls)\./,
  /\/dashboard\/dashboard\.|\/dev\/(?:faults|guard)\.|\/testing\/exit\./,
  /\/segments\/refusals\.|\/templates\/bad-templates\./,
  /\/marketplace\/(?:agent-gate|landing-pages\/pages|payments\/stripe-answers)\./,
];

// A world is a folder of files that are gone a second later: in memory, making and removing one does not wait for the disk.
const inMemory = { TMPDIR: quickFolder() };

const onPostgres = globSync("packages/server/{src,test}/**/*.test.ts").filter(
  (file) => /createWorld|scenario\.ts/.test(readFileSync(file, "utf8")) && !NOT_AGAIN.some((pattern) => pattern.test(file)),
);

export default defineConfig({
  test: {
    // One more than the cores of a small machine, because tests wait as well: for the database, the network, the end of a process.
    maxWorkers: 3,
    sequence: { sequencer: SlowestFirst },
    provide: { propertyShare: 1 },
    // One Postgres server for all projects, and one publication of the packages.
    globalSetup: ["./packages/server/test/postgres-setup.ts", "./test/support/publication-setup.ts"],
    projects: [
      {
        resolve: { alias },
        test: {
          ...shared,
          execArgv,
          name: "unit",
          setupFiles: [...setup, ...ofServer],
          include: ["packages/*/{src,test}/**/*.test.{ts,tsx}"],
          env: inMemory,
          testTimeout: 90_000,
          // The first hook that wants Postgres starts it.
          hookTimeout: 180_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        resolve: { alias },
        test: {
          ...shared,
          execArgv,
          name: "postgres",
          include: onPostgres,
          // They run in full on SQLite.
          provide: { propertyShare: 1 / 3 },
          setupFiles: [...setup, ...ofServer, "./packages/server/test/worlds-on-postgres.ts"],
          env: inMemory,
          testTimeout: 180_000,
          hookTimeout: 180_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        // Whole programs, packed packages, crashes: slow by nature, so they run after the quick ones and not at the same time.
        resolve: { alias },
        test: {
          ...shared,
          execArgv,
          name: "e2e",
          setupFiles: setup,
          include: ["{test,examples,bench}/**/*.test.ts"],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          sequence: { groupOrder: 1 },
          // They wait for other programs more than the others do.
          maxWorkers: 4,
        },
      },
    ],
  },
});
