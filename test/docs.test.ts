import { type ChildProcess, execFile, spawn } from "node:child_process";
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { EXIT_MEANING } from "../packages/cli/src/runtime/exit.ts";
import { SERVE_FLAGS } from "../packages/server/src/config.ts";
import { RESEND_OPERATIONS } from "../packages/server/src/dialects/resend/resend.ts";
import { SIMULATOR } from "../packages/server/src/mail/simulator.ts";
import type { RunningServer } from "../packages/server/src/serve.ts";
import { HELPERS } from "../packages/server/src/templates/engine/builtins.ts";
import { createDatabase, type TestDatabase } from "../packages/server/test/postgres.ts";
import { PROOFS } from "./config-files.ts";
import { cleanEnvironment, until } from "./dev-server.ts";
import { anchorsOf, type Block, blocksOf, linksOf, tableUnder, usageOf } from "./markdown.ts";
import { type CliServer, startCliServer } from "./support/cli-server.ts";
import { ONE_CHECKER } from "./support/compiler.ts";
import { freePort } from "./support/free-port.ts";
import { listVariables, npxScript, startPageServer } from "./support/page-server.ts";
import { QUICKSTARTS } from "./support/quickstart-pages.ts";

const root = fileURLToPath(new URL("../", import.meta.url));
const bin = join(root, "node_modules/.bin");
const run = promisify(execFile);

/** Pages of which every block is read: those that are run here, and the followed ones. */
const PAGES = [
  "README.md",
  ...globSync("docs/**/*.md", {
    cwd: root,
    exclude: ["docs/{reference,glossary,questions,dashboard-pictures}.md", "docs/{reference,decisions}/*"],
  }).sort(),
  ...["agent-kit", "cli", "server"].map((name) => `packages/${name}/README.md`),
  ...["agent-kit", "cli", "sdk", "server"].map((name) => `packages/${name}/AGENTS.md`),
];
/**
 * Pages that are followed to the letter by `newcomer.test.ts` and `quickstarts.test.ts`, which make all that they name. Here only the types
 * of their scripts are checked, and the tests they show are run.
 */
const FOLLOWED = ["README.md", ...QUICKSTARTS.map(([page]) => page)];
/** Pages whose every block is run, in order, against a server of the page's own. */
const RUN = PAGES.filter((page) => !FOLLOWED.includes(page));
/** Pages whose links are checked. */
const READ = [
  ...PAGES,
  "ARCHITECTURE.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
  ...globSync(
    [
      "docs/{decisions,reference}/*.md",
      "docs/{reference,glossary,questions,dashboard-pictures}.md",
      "AGENTS.md",
      "SECURITY.md",
      "packages/sdk/README.md",
      "examples/*/README.md",
    ],
    {
      cwd: root,
    },
  ),
];

/** A block that is nothing but a server: it is started, waited for, and stopped. */
const STARTS_SERVER = /^(?:[A-Z_]+=\S+ )*(?:npx )?mailsvc (?:serve|dev)\b(?!.* -- ).*\n$/;

/** Port at which the documentation starts agents, which may be in use here. */
const AGENT_PORT = "4000";

let folder = "";
let cliServer: CliServer;
const started: ChildProcess[] = [];

/** Leaves out the commands that install packages: they are installed here, and `quickstarts.test.ts` runs those commands. */
// biome-ignore lint/suspicious/noTemplateCurlyInString: it is the shell's.
const NPM = '#!/bin/sh\n[ "$1" = install ] || PATH=${PATH#*:} exec npm "$@"\n';

/** Errors of the compiler, line by line, each beginning with its place. */
let objections: string[] = [];
/** Failures of the tests that pages show, by page and file; null for a file whose tests all passed. */
let verdicts = new Map<string, string | null>();

beforeAll(async () => {
  await run(process.execPath, [join(root, "scripts/build.mjs")], { cwd: root });
  folder = mkdtempSync(join(tmpdir(), "mailsvc-docs-"));
  mkdirSync(join(folder, "bin"));
  cliServer = await startCliServer(join(folder, "cli"));
  writeFileSync(join(folder, "bin/npx"), npxScript(cliServer), { mode: 0o755 });
  writeFileSync(join(folder, "bin/npm"), NPM, { mode: 0o755 });
  objections = await checkScripts();
  verdicts = await runTests();
}, 900_000);
afterAll(async () => {
  await cliServer?.[Symbol.asyncDispose]();
  for (const child of started) if (child.exitCode === null) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

const placeOf = (page: string): string => page.replace(/\W/g, "-");

/** A folder in which the packages are installed, as a reader's would be. */
const place = (page: string): string => {
  const dir = join(folder, placeOf(page));
  mkdirSync(dir, { recursive: true });
  symlinkSync(join(root, "node_modules"), join(dir, "node_modules"));
  writeFileSync(join(dir, "package.json"), '{ "private": true, "type": "module" }\n');
  return dir;
};

const isTested = ({ text }: Block): boolean => /from "vitest"/.test(text);
const scriptOf = (block: Block): string => usageOf(block).file ?? `line-${block.line}${isTested(block) ? ".test" : ""}.ts`;

/** Writes the scripts of all pages and checks their types, by one run of the compiler: it reads the packages once. */
const checkScripts = async (): Promise<string[]> => {
  for (const page of PAGES) {
    const dir = place(page);
    for (const block of blocksOf(join(root, page))) if (block.language === "ts") writeFileSync(join(dir, scriptOf(block)), block.text);
  }
  writeCalls();
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const compilerOptions = { paths: {}, noUnusedLocals: true, noEmit: true, moduleDetection: "force" };
  const project = { extends: join(root, "tsconfig.json"), compilerOptions, include: ["*/*.ts", "*/*.mts"] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(project));
  try {
    await run(join(bin, "tsc"), ["-p", ".", "--pretty", "false", ...ONE_CHECKER], { cwd: folder, env: environment({}) });
    return [];
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    const lines = stdout.split("\n");
    // Without a block to blame, no test would tell.
    if (!lines.some((line) => /^[\w-]+\/[\w.-]+\.m?ts/.test(line))) throw new Error(`${stdout}\n${stderr}`);
    return lines;
  }
};

interface Verdict {
  readonly name: string;
  readonly status: string;
  readonly message: string;
  readonly assertionResults: readonly { readonly status: string; readonly failureMessages: readonly string[] }[];
}

/** Runs the tests that pages show, all by one run of vitest: it loads the packages once. They need nothing of their page. */
const runTests = async (): Promise<Map<string, string | null>> => {
  const report = join(folder, "tests.json");
  const args = [
    "run",
    "--root",
    ".",
    "--no-isolate",
    "--maxWorkers=1",
    "--testTimeout",
    "60000",
    "--reporter=json",
    `--outputFile=${report}`,
  ];
  const failed = await run(join(bin, "vitest"), args, { cwd: folder, env: environment({}) }).catch((error: Error) => error);
  if (!existsSync(report)) throw failed;
  const { testResults } = JSON.parse(readFileSync(report, "utf8")) as { testResults: readonly Verdict[] };
  return new Map(
    testResults.map(({ name, status, message, assertionResults }) => {
      const passed = status === "passed" && assertionResults.length > 0 && assertionResults.every((one) => one.status === "passed");
      const said = [message, ...assertionResults.flatMap(({ failureMessages }) => failureMessages)].join("\n");
      return [name.split("/").slice(-2).join("/"), passed ? null : said || status];
    }),
  );
};

/** Writes the calls of the reference into one script, each in its own function, named after its page and line. */
const writeCalls = (): void => {
  const calls = globSync("docs/reference/*.md", { cwd: root }).flatMap((page) =>
    blocksOf(join(root, page))
      .filter(({ language }) => language === "ts")
      .map(({ line, text }) => `export async function ${placeOf(page).replaceAll("-", "_")}_${line}() { ${text.trim()} }`),
  );
  const clients =
    'import type { AgentClient, Mailsvc } from "@mailsvc/sdk";\ndeclare const client: Mailsvc;\ndeclare const agent: AgentClient;';
  mkdirSync(join(folder, "reference"));
  writeFileSync(join(folder, "reference/calls.mts"), [clients, ...calls].join("\n"));
};

const environment = (more: Record<string, string>): NodeJS.ProcessEnv => {
  const inherited = cleanEnvironment();
  // Hundreds of blocks load the same packages: Node keeps their compiled code.
  const kept = { NODE_COMPILE_CACHE: join(folder, "compiled") };
  return { ...inherited, ...kept, PATH: [join(folder, "bin"), bin, inherited["PATH"]].join(delimiter), NO_COLOR: "1", ...more };
};

/** Runs a server until it is ready and stops it as Ctrl-C would. */
const startAndStop = async (written: string, cwd: string, more: Record<string, string>): Promise<void> => {
  // npx stands between: interrupted itself, it ends by the signal, whatever the program answered.
  const command = `exec ${written.replace(/^((?:[A-Z_]+=\S+ )*)(?:npx )?/, "env $1")}`;
  const ready = join(folder, "ready.json");
  rmSync(ready, { force: true });
  // A ready file named by the page is kept; otherwise servers of this machine stay out of its way.
  const named = written.includes("--ready-file") ? join(cwd, "mailsvc.json") : ready;
  const env = environment({ ...more, MAILSVC_PORT: "0", MAILSVC_READY_FILE: ready });
  const child = spawn("bash", ["-euo", "pipefail", "-c", command], { cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  started.push(child);
  let output = "";
  child.stdout.on("data", (data) => (output += data));
  child.stderr.on("data", (data) => (output += data));
  const ended = new Promise<number | null>((done) => child.on("exit", done));
  await until(command, () => child.exitCode !== null || existsSync(named));
  if (child.exitCode === null) process.kill(-(child.pid as number), "SIGINT");
  expect(await ended, output).toBe(0);
};

const bash = async (text: string, cwd: string, env: Record<string, string>): Promise<void> => {
  try {
    // Its stdin is empty, not one that never ends.
    // By a signal, not by execFile's own limit: a program that it stops may exit with 0.
    const signal = AbortSignal.timeout(100_000);
    await run("bash", ["-euo", "pipefail", "-c", `exec </dev/null\n${text}`], { cwd, env: environment(env), signal });
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`${(error as Error).message}\n${stdout}\n${stderr}`);
  }
};

/** Checks that the types of a script are right, and, of one that has tests, what came of them. */
const judge = (page: string, block: Block): void => {
  const place = `${placeOf(page)}/${scriptOf(block)}`;
  expect(objections.filter((line) => line.startsWith(place))).toEqual([]);
  if (isTested(block)) expect(verdicts.get(place), "all its tests pass").toBeNull();
};

describe.each(RUN)("%s", (page) => {
  const blocks = blocksOf(join(root, page));
  const env: Record<string, string> = {};
  let cwd = "";
  let server: RunningServer | undefined;
  let database: TestDatabase | undefined;

  beforeAll(async () => {
    cwd = join(folder, placeOf(page));
    if (blocks.some(({ text }) => text.includes("DATABASE_URL"))) {
      database = await createDatabase("empty");
      env.DATABASE_URL = database.url;
    }
    server = await startPageServer(join(folder, `${placeOf(page)}.data`));
    Object.assign(env, { PORT: `${await freePort()}`, ...listVariables(server), MAILSVC_CONFIG: join(cwd, "config.json") });
  });
  afterAll(async () => {
    await server?.close();
    await database?.drop();
  });

  test("has blocks to run", () => expect(blocks.length).toBeGreaterThan(0));

  test.each(blocks.map((block) => [block.line, block] as const))("line %i", async (_line, block) => {
    if (block.language === "ts") {
      judge(page, block);
      return isTested(block) ? undefined : bash(`node ${scriptOf(block)}`, cwd, env);
    }
    const prove = PROOFS[block.language];
    if (prove) return prove(block, { page, folder: cwd, server: env["MAILSVC_URL"] as string, bash: (command) => bash(command, cwd, env) });
    expect(block.language, "what is not run is no code block").toBe("sh");
    if (STARTS_SERVER.test(block.text)) return startAndStop(block.text.trim(), cwd, env);
    await bash(block.text.replaceAll(AGENT_PORT, env["PORT"] as string), cwd, env);
  });
});

describe.each(FOLLOWED)("%s, which is followed elsewhere", (page) => {
  const blocks = blocksOf(join(root, page));

  test("is a page with blocks", () => {
    expect(PAGES).toContain(page);
    expect(blocks.length).toBeGreaterThan(0);
  });

  test.each(blocks.filter(({ language }) => language === "ts").map((block) => [block.line, block] as const))("line %i", (_line, block) =>
    judge(page, block),
  );
});

describe("tables say what the code says", () => {
  test("flags of the server", () => {
    const rows = SERVE_FLAGS.map(({ name, value, env, summary }) => [
      `\`--${name}${value === null ? "" : ` ${value}`}\``,
      `\`${env}\``,
      summary,
    ]);
    expect(tableUnder(join(root, "docs/self-hosting.md"), "Flags")).toEqual(rows);
  });

  test("simulated recipients", () => {
    expect(tableUnder(join(root, "docs/emails.md"), "Simulated recipients")).toEqual(
      SIMULATOR.map(({ name, description }) => [`\`${name}@\``, description]),
    );
  });

  test("operations of Resend's API", () => {
    expect(tableUnder(join(root, "docs/moving/from-resend.md"), "Operations")).toEqual(
      RESEND_OPERATIONS.map(({ method, path, note }) => [`\`${method} ${path}\``, note ?? ""]),
    );
  });

  test("helpers of templates", () => {
    expect(tableUnder(join(root, "docs/templates.md"), "Writing").map(([name]) => name)).toEqual(
      expect.arrayContaining([...HELPERS.keys()].map((name) => `\`${name}\``)),
    );
  });

  test("exit codes", () => {
    expect(tableUnder(join(root, "docs/cli.md"), "Exit codes")).toEqual(Object.entries(EXIT_MEANING));
  });
});

test("the calls of the reference have the types of the SDK", () => {
  expect(objections.filter((line) => line.startsWith("reference/calls.mts"))).toEqual([]);
});

describe("links lead somewhere", () => {
  test.each(READ)("%s", (page) => {
    const broken = linksOf(join(root, page)).filter((link) => {
      const [path = "", anchor] = link.split("#");
      const target = path === "" ? join(root, page) : join(root, dirname(page), path);
      return !existsSync(target) || (anchor !== undefined && !anchorsOf(target).includes(anchor));
    });
    expect(broken).toEqual([]);
  });
});

test("the README is short", () => {
  expect(readFileSync(join(root, "README.md"), "utf8").split("\n").length).toBeLessThan(120);
});
