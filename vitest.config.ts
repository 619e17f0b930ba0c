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
  restoreMocks: true,
  unstubEnvs: true,
  globalSetup: "./packages/server/test/postgres-setup.ts",
} as const;

export default defineConfig({
  test: {
    maxWorkers: 2,
    projects: [
      {
        resolve: { alias },
        test: {
          ...shared,
          name: "unit",
          include: ["packages/*/{src,test}/**/*.test.{ts,tsx}"],
          testTimeout: 10_000,
          hookTimeout: 10_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        // The tests of features and journeys again, with a Postgres database under each world.
        resolve: { alias },
        test: {
          ...shared,
          name: "postgres",
          include: globSync("packages/server/{src,test}/**/*.test.ts").filter((file) =>
            /createWorld|scenario\.ts/.test(readFileSync(file, "utf8")),
          ),
          setupFiles: ["./packages/server/test/worlds-on-postgres.ts"],
          testTimeout: 30_000,
          hookTimeout: 30_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        // Whole programs, packed packages, crashes: slow by nature, so they run after the quick ones and not beside them.
        resolve: { alias },
        test: {
          ...shared,
          name: "e2e",
          include: ["{test,examples,bench}/**/*.test.ts"],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
