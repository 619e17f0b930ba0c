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
 * Three kinds of run. `npm test` is for everyday changes; `npm test -- --ci` is what CI runs, in at most twenty minutes on two cores; `npm
 * test -- --all` takes three times as long, and runs before a release. `npm test -- FILE` runs any file. The files that the shorter kinds
 * leave out are those that take longest, chosen by measured time. Of each kind of test a file stays, to find what is broken for all of them:
 * a story in a browser, tests on Postgres, a killed server, an upgrade, a package in a bundle, the commands of the documentation.
 */

/** Files that `npm test` leaves out, and CI runs. */
const CI_ONLY = [
  // A server that is killed while it delivers.
  "test/delivery-kills.test.ts",
  // Worlds that became a test.
  "test/worlds/found.test.ts",
  // The recorded answers of the reference, a third of them.
  "test/{reference,recording}.test.ts",
  // The rules for every page of the dashboard, on a seventh of the pages.
  "packages/dashboard/test/every-page.test.ts",
  // Pages that recipients meet, in two languages by turn.
  "packages/dashboard/test/recipient-barriers.test.ts",
  "packages/server/src/developer-webhooks/forgetting.pg.test.ts",
];

/** Files that only `npm test -- --all` runs. */
const LONG = [
  // Stories in a browser. shell.test.ts stays.
  "packages/dashboard/test/{audience,audience-*,automations,block-mail,blocks,brand,builder,campaigns,content-pages,hostile,hostile-content}.test.ts",
  "packages/dashboard/test/{firefox-stories,first-view,large-campaign,long-names,marketer-stories,pages,phone-stories}.test.ts",
  "packages/dashboard/test/{received,self-hoster-stories,sign-in,tabs,templates,two-people}.test.ts",
  // Contacts in files of each format, exported and imported again. import.test.ts and export.test.ts of the command line stay.
  "packages/cli/test/round-trip.test.ts",
  // Large tables on Postgres. queue/store.pg.test.ts and other rooms of the server stay.
  "packages/server/test/list-rows.pg.test.ts",
  // Floods of sign-ups. forms.test.ts stays.
  "packages/server/src/marketplace/landing-pages/flood.test.ts",
  // Hostile mail that is to cost no more time than other mail.
  "packages/server/src/{inbox/hostile-mail,submission/hostile-messages}.test.ts",
  "test/{hostile-mail,smtp-clients}.test.ts",
  // Receivers and projects that are programs of their own. process.test.ts of the command line stays.
  "packages/agent-kit/src/conformance/{check-agent,gallery}.test.ts",
  "packages/cli/test/{agent-init,agent-start,dev-command,dev-recording,templates-rendered}.test.ts",
  "examples/{receiver-*,test-with-jest,test-with-node,test-with-phpunit,test-with-playwright,test-with-pytest}/*.test.ts",
  // Servers that are killed or stopped again and again, and several on one database. marketplace.test.ts and upgrade.test.ts stay.
  "test/{*-cluster,automation-kills,counting-kills,campaign-crash,developer-webhooks-crash,inbound-crash,marketplace-crash,uploads-crash}.test.ts",
  "test/{agent-kills,audience-kills,relay-kills,retention-kills,smtp-kills,workspace-deletion-kills,cluster,contacts-import,crash,events-poller,marketplace-steps}.test.ts",
  "test/{crash-stop,month,stop-in-time,upgrade-load}.test.ts",
  "test/proof/proof.test.ts",
  // Worlds that are disturbed: more of them, on both databases, and the test that one of them becomes. worlds.test.ts stays.
  "test/worlds/{many,printed}.test.ts",
  "examples/agent-with-approvals/kill.test.ts",
  // Clients that others generate from the OpenAPI document.
  "test/generated-clients.test.ts",
  // The packages, the binary, the release. build.test.ts and sdk-bundles.test.ts stay.
  "test/{agent-templates,binary,binary-packages,newcomer,packages,registry,release}.test.ts",
  // Each write of the contract, raced with an erasure on Postgres. data-subjects/races.pg.test.ts stays.
  "test/erasure-races.test.ts",
  // The stacks of the comparison, where they are installed.
  "bench/stacks/stacks.test.ts",
  // Whole pages followed to the letter, and the site made of all. docs.test.ts and quickstart.test.ts stay.
  "test/{quickstarts,site}.test.ts",
];

/** Rooms and files of the server whose features CI tries on Postgres too: those that claim, count or collide in the database. */
const POSTGRES_IN_CI =
  /server\/src\/(?:automations\/automations|campaigns\/(?:control|release|sending)|data-subjects|delivery|events|jobs|queue|segments|suppressions)\b/;

/** A kind of run, by the mode of vitest (`vitest --mode quick`): the files it leaves out, and those it runs on Postgres. */
const RUNS: Readonly<Record<string, { readonly leftOut: readonly string[]; readonly onPostgres: readonly string[] }>> = {
  quick: { leftOut: [...CI_ONLY, ...LONG], onPostgres: [] },
  ci: { leftOut: LONG, onPostgres: onPostgres.filter((file) => POSTGRES_IN_CI.test(file)) },
};

const ALL = { leftOut: [], onPostgres } as const;

/** The globs of test files that are not in every run. */
export const LEFT_OUT: readonly string[] = [...CI_ONLY, ...LONG];

/** Counts the test files that a kind of run leaves out; those that would run again on Postgres, once more. */
export function countLeftOut(mode: string): number {
  const { leftOut, onPostgres: again } = RUNS[mode] ?? ALL;
  return globSync([...leftOut]).length + onPostgres.length - again.length;
}

/**
 * How many test files run side by side: so many more than there are cores, because tests wait as well. Each worker takes up to a
 * gigabyte and a half with the programs that it starts, and all of them share one Postgres server.
 */
const workers = (more: number): number =>
  Math.max(1, Math.min(availableParallelism() + more, Math.floor(totalmem() / (1.5 * 1024 ** 3)), 8));

export default defineConfig(({ mode }) => {
  const run = RUNS[mode] ?? ALL;
  const exclude = [...configDefaults.exclude, ...run.leftOut];
  return {
    test: {
      // They wait for the database, the network, the end of a process.
      maxWorkers: workers(1),
      sequence: { sequencer: SlowestFirst },
      provide: {
        propertyShare: run === ALL ? 1 / 2 : 1 / 3,
        languagesInTurn: run === ALL ? null : 2,
        everyPage: run === ALL ? 1 : 7,
        oneCaseIn: run === ALL ? 1 : 3,
      },
      // The same environment on all machines, one Postgres server for all projects, and one publication of the packages.
      globalSetup: [
        "./test/support/quiet-environment.ts",
        "./packages/server/test/postgres-setup.ts",
        "./test/support/publication-setup.ts",
      ],
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
            exclude,
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
            include: [...run.onPostgres],
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
            exclude,
            testTimeout: 300_000,
            hookTimeout: 300_000,
            sequence: { groupOrder: 1 },
            // They wait for other programs more than the others do.
            maxWorkers: workers(2),
          },
        },
      ],
    },
  };
});
