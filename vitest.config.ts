import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
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

// How long properties may search, and that no file leaves anything changed for the next.
const setup = ["./test/support/properties.ts", "./test/support/leftovers.ts"];

export default defineConfig({
  test: {
    maxWorkers: 2,
    // One Postgres server for all projects.
    globalSetup: "./packages/server/test/postgres-setup.ts",
    projects: [
      {
        resolve: { alias },
        test: {
          ...shared,
          name: "unit",
          setupFiles: setup,
          include: ["packages/*/{src,test}/**/*.test.{ts,tsx}"],
          testTimeout: 30_000,
          hookTimeout: 30_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        // The tests of features and journeys again, with a Postgres database under each world; `*.sqlite.test.ts` is about SQLite only,
        // and `network.test.ts` about receivers on the network, for some of which it waits eight real seconds.
        resolve: { alias },
        test: {
          ...shared,
          name: "postgres",
          include: globSync("packages/server/{src,test}/**/*.test.ts").filter(
            (file) => /createWorld|scenario\.ts/.test(readFileSync(file, "utf8")) && !/\.sqlite\.test\.ts$|\/network\.test\.ts$/.test(file),
          ),
          setupFiles: [...setup, "./packages/server/test/worlds-on-postgres.ts"],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        // Whole programs, packed packages, crashes: slow by nature, so they run after the quick ones and not beside them.
        resolve: { alias },
        test: {
          ...shared,
          name: "e2e",
          setupFiles: setup,
          include: ["{test,examples,bench}/**/*.test.ts"],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
