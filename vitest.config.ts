import { globSync, readFileSync } from "node:fs";
import { availableParallelism, totalmem } from "node:os";
import { fileURLToPath } from "node:url";
import { configDefaults, defineConfig } from "vitest/config";
import { quickFolder } from "./packages/server/test/quick-folder.ts";
import { bundleThread, THREAD_PROGRAM } from "./packaging/bundle-plugins.mjs";
import { SlowestFirst } from "./test/support/slowest-first.ts";
import { fileOf, getMutation, mutate } from "./test/worlds/plant.ts";
import tsconfig from "./tsconfig.json" with { type: "json" };

// The packages' names lead to their sources, exactly as for the type checker.
const alias = Object.entries(tsconfig.compilerOptions.paths).map(([name, [file]]) => ({
  find: new RegExp(`^${name}$`),
  replacement: fileURLToPath(new URL(file as string, import.meta.url)),
}));

// Threads run the program that is shipped. From its sources each would begin with two to three times the work, a fifth of a second, and
// every world that shows or receives a mail starts one.
const threadPrograms = {
  name: "thread-programs",
  load: async (id: string) => (THREAD_PROGRAM.test(id) ? (await bundleThread(id)).contents : null),
};

// A fault of test/worlds/mutations.ts that is planted into the server, to try whether a test finds it.
const planted = process.env["WORLDS_MUTATION"] === undefined ? null : getMutation(process.env["WORLDS_MUTATION"]);
const mutation = {
  name: "mutation",
  enforce: "pre" as const,
  transform: (code: string, id: string) => (planted && id === fileURLToPath(fileOf(planted)) ? mutate(code, planted) : null),
};

const shared = {
  environment: "node",
  pool: "forks",
  // Files leave nothing behind that the next one would find, so what they import is evaluated once per worker.
  isolate: false,
  restoreMocks: true,
  unstubEnvs: true,
  // A busy machine may take long to show something.
  expect: { poll: { timeout: 60_000 } },
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
  /\/inbox\/hostile-mail\.|\/submission\/hostile-sessions\.|\/mcp\/(?:safety|tools)\.|\/lint\/lint\./,
  /\/marketplace\/(?:agent-gate|landing-pages\/(?:pages|serve)|payments\/stripe(?:-answers)?)\./,
];

// A world is a folder of files that are gone a second later: in memory, making and removing one does not wait for the disk.
const inMemory = { TMPDIR: quickFolder() };

const onPostgres = globSync("packages/server/{src,test}/**/*.test.ts").filter(
  (file) => /createWorld|scenario\.ts/.test(readFileSync(file, "utf8")) && !NOT_AGAIN.some((pattern) => pattern.test(file)),
);

/*
 * `npm test` is for everyday changes, and all tests take three times as long. It leaves these out, and the tests on Postgres;
 * `npm test -- --all` and CI run them, and `npm test -- FILE` runs one of them. They are the files that take longest, chosen by measured
 * time. Of each kind a file stays, to find what is broken for all of them: a story in a browser, tests on Postgres, a killed server, an
 * upgrade, a package in a bundle, the commands of the documentation.
 */
export const LEFT_OUT = [
  // Stories in a browser. shell.test.ts stays.
  "packages/dashboard/test/{audience,audience-*,automations,brand,builder,campaigns,hostile,hostile-content}.test.ts",
  "packages/dashboard/test/{every-page,large-campaign,pages,received,tabs,templates}.test.ts",
  // Large tables on Postgres. queue/store.pg.test.ts and other rooms of the server stay.
  "packages/server/{test/list-rows,src/db/postgres/months,src/developer-webhooks/forgetting}.pg.test.ts",
  // Hostile mail that is to cost no more time than other mail.
  "packages/server/src/{inbox/hostile-mail,submission/hostile-messages}.test.ts",
  "test/{hostile-mail,smtp-clients}.test.ts",
  // Receivers and projects that are programs of their own. process.test.ts of the command line stays.
  "packages/agent-kit/src/conformance/{check-agent,gallery}.test.ts",
  "packages/cli/test/{agent-init,agent-start,dev-command,dev-recording,templates-rendered}.test.ts",
  "examples/{receiver-*,test-with-{jest,node,phpunit,playwright,pytest}}/*.test.ts",
  // Servers that are killed, stopped or upgraded again and again, and several on one database. marketplace.test.ts and upgrade.test.ts stay.
  "test/{*-cluster,*-crash,*-kills,cluster,contacts-import,crash,crash-stop,events-poller,marketplace-steps,stop-in-time,upgrade-load}.test.ts",
  "test/proof/proof.test.ts",
  // Worlds that are disturbed: more of them, on both databases, and the test that one of them becomes. worlds.test.ts stays.
  "test/worlds/{found,many,printed}.test.ts",
  "examples/agent-with-approvals/kill.test.ts",
  // The packages, the binary, the release. build.test.ts and sdk-bundles.test.ts stay.
  "test/{agent-templates,binary,binary-packages,newcomer,packages,registry,release}.test.ts",
  // Each write of the contract, raced with an erasure on Postgres. data-subjects/races.pg.test.ts stays.
  "test/erasure-races.test.ts",
  // Whole pages followed to the letter, and the site made of all. docs.test.ts and quickstart.test.ts stay.
  "test/{quickstarts,recording,reference,site}.test.ts",
];

/** `vitest --mode quick`: what `npm test` runs. */
const QUICK = "quick";

const excluded = (mode: string): string[] => [...configDefaults.exclude, ...(mode === QUICK ? LEFT_OUT : [])];

/** The test files that a quick run leaves out; those that would run again on Postgres, once more. */
export const leftOut: readonly string[] = [...globSync(LEFT_OUT), ...onPostgres];

/**
 * How many test files run side by side: so many more than there are cores, because tests wait as well. Each worker takes up to a
 * gigabyte and a half with the programs that it starts, and all of them share one Postgres server.
 */
const workers = (more: number): number =>
  Math.max(1, Math.min(availableParallelism() + more, Math.floor(totalmem() / (1.5 * 1024 ** 3)), 8));

export default defineConfig(({ mode }) => ({
  test: {
    // They wait for the database, the network, the end of a process.
    maxWorkers: workers(1),
    sequence: { sequencer: SlowestFirst },
    provide: { propertyShare: mode === QUICK ? 1 / 3 : 1 / 2 },
    // The same environment on all machines, one Postgres server for all projects, and one publication of the packages.
    globalSetup: ["./test/support/quiet-environment.ts", "./packages/server/test/postgres-setup.ts", "./test/support/publication-setup.ts"],
    projects: [
      {
        plugins: [threadPrograms],
        resolve: { alias },
        test: {
          ...shared,
          execArgv,
          name: "unit",
          setupFiles: [...setup, ...ofServer],
          include: ["packages/*/{src,test}/**/*.test.{ts,tsx}"],
          exclude: excluded(mode),
          env: inMemory,
          testTimeout: 180_000,
          // The first hook that wants Postgres starts it.
          hookTimeout: 180_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        plugins: [threadPrograms],
        resolve: { alias },
        test: {
          ...shared,
          execArgv,
          name: "postgres",
          include: mode === QUICK ? [] : onPostgres,
          // They run in full on SQLite.
          provide: { propertyShare: 1 / 3 },
          setupFiles: [...setup, ...ofServer, "./packages/server/test/worlds-on-postgres.ts"],
          env: inMemory,
          testTimeout: 300_000,
          hookTimeout: 300_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        // Whole programs, packed packages, crashes: slow by nature, so they run after the quick ones and not at the same time.
        plugins: [threadPrograms, mutation],
        resolve: { alias },
        test: {
          ...shared,
          execArgv,
          name: "e2e",
          // A changed file must not be kept for a run without the fault.
          fsModuleCache: planted === null,
          setupFiles: setup,
          // The last ones are written by test/worlds/printed.test.ts.
          include: ["{test,examples,bench}/**/*.test.ts", "build/worlds/*.test.ts"],
          exclude: excluded(mode),
          testTimeout: 300_000,
          hookTimeout: 300_000,
          sequence: { groupOrder: 1 },
          // They wait for other programs more than the others do.
          maxWorkers: workers(2),
        },
      },
    ],
  },
}));
