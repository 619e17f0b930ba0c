import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { type ServerType, serve } from "@hono/node-server";
import { type CheckReport, checkReceiver } from "@mailsvc/agent-kit/conformance";
import type { LambdaEvent, LambdaResult } from "@mailsvc/agent-kit/lambda";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { createDatabase } from "../packages/server/test/postgres.ts";
import { cleanEnvironment, startServer, until } from "./dev-server.ts";
import { ONE_CHECKER } from "./support/compiler.ts";
import { freePort } from "./support/free-port.ts";

const root = fileURLToPath(new URL("../", import.meta.url));
const bin = (name: string): string => join(root, "node_modules/.bin", name);
const exec = promisify(execFile);
const TEMPLATES = ["node", "express", "hono", "next", "lambda", "python"] as const;
const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const KEY = Buffer.alloc(32, 7).toString("base64");

let folder = "";

/** Runs a program in a folder; its output is in the error when it fails. */
async function run(cwd: string, program: string, ...args: string[]): Promise<string> {
  try {
    return (await exec(program, args, { cwd, env: { ...cleanEnvironment(), NO_COLOR: "1" }, timeout: 110_000 })).stdout;
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`${program} ${args.join(" ")}\n${stdout}\n${stderr}`);
  }
}

const mailsvc = (cwd: string, ...args: string[]) => run(cwd, process.execPath, join(root, "packages/cli/bin/mailsvc.mjs"), ...args);

beforeAll(async () => {
  await exec(process.execPath, [join(root, "scripts/build.mjs")], { cwd: root });
  folder = mkdtempSync(join(tmpdir(), "agent-templates-"));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  for (const template of TEMPLATES) await mailsvc(folder, "agent", "init", `my-${template}`, "--template", template);
}, 600_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Fails with the names of the cases that failed, and what the receiver said. */
async function expectToPass(url: string, said: () => string = () => "", only?: string): Promise<void> {
  const { results } = await checkReceiver({ url, secret: SECRET, ...(only !== undefined && { only }) });
  expect(results.filter(({ passed }) => !passed).map(({ id, failure }) => `${id}: ${failure?.problem}\n${said()}`)).toEqual([]);
  expect(results.length).toBeGreaterThan(only === undefined ? 80 : 5);
}

test("package.json has the name of the folder and the versions of these packages", () => {
  const versionOf = (name: string): string | undefined => {
    const path = join(root, "node_modules", name, "package.json");
    return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as { version: string }).version : undefined;
  };
  for (const template of TEMPLATES) {
    const manifest = JSON.parse(readFileSync(join(folder, `my-${template}`, "package.json"), "utf8"));
    expect(manifest.name).toBe(`my-${template}`);
    const named = Object.entries<string>({ ...manifest.dependencies, ...manifest.devDependencies });
    const ours = named.filter(([name]) => /^(@mailsvc\/|mailsvc$|vitest$|hono$|@hono\/|express$|pg$|esbuild$)/.test(name));
    for (const [name, version] of ours) expect([name, version]).toEqual([name, versionOf(name)]);
    expect(readFileSync(join(folder, `my-${template}`, "README.md"), "utf8")).not.toContain("__NAME__");
  }
});

test("types of all templates", async () => {
  const compilerOptions = { paths: {}, noEmit: true };
  const project = { extends: join(root, "tsconfig.json"), compilerOptions, include: ["*/**/*.ts"], exclude: ["node_modules"] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(project));
  await run(folder, bin("tsc"), "-p", ".", "--pretty", "false", ...ONE_CHECKER);
});

// That of node passes in an installation of the packages, in release.test.ts.
test("the test of a template passes: next", async () => {
  expect(await run(join(folder, "my-next"), bin("vitest"), "run", "--root", ".", "--testTimeout", "60000")).toContain("1 passed");
});

test("npm create mailsvc-agent writes the same", async () => {
  await run(folder, process.execPath, join(root, "packages/create-mailsvc-agent/bin/create.mjs"), "created", "--template", "hono");
  expect(readdirSync(join(folder, "created")).sort()).toEqual(expect.arrayContaining(["agent.test.ts", "agent.ts", "server.ts"]));
  expect(readFileSync(join(folder, "created/server.ts"), "utf8")).toBe(readFileSync(join(folder, "my-hono/server.ts"), "utf8"));
});

test("a second init replaces nothing", async () => {
  const before = readdirSync(join(folder, "my-node"));
  await expect(mailsvc(folder, "agent", "init", "my-node", "--template", "hono")).rejects.toThrow("These files exist already: .gitignore");
  expect(readdirSync(join(folder, "my-node"))).toEqual(before);
});

/** The commands of a template, with another port than the one that a builder's agent on this machine may have. */
function scriptsOf(template: string, port: number): Record<"start" | "dev" | "check", string> {
  const text = readFileSync(join(folder, `my-${template}`, "package.json"), "utf8").replaceAll(":4000/", `:${port}/`);
  return (JSON.parse(text) as { scripts: ReturnType<typeof scriptsOf> }).scripts;
}

/** Runs a command of a template as npm would. */
function spawnScript(line: string, cwd: string): { child: ChildProcess; said: () => string } {
  const env = { ...cleanEnvironment(), NO_COLOR: "1", PATH: `${join(root, "node_modules/.bin")}:${process.env["PATH"]}` };
  const child = spawn("sh", ["-c", `exec ${line}`], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (said += data));
  return { child, said: () => said };
}

test.each(["node", "python"])(
  "npm run dev is one command from an empty folder to an agent that passes agent check, and whose proposal a person approves: %s",
  async (template) => {
    const port = await freePort();
    const { dev } = scriptsOf(template, port);
    const cwd = join(folder, `from-nothing-${template}`);
    await run(folder, process.execPath, join(root, "packages/create-mailsvc-agent/bin/create.mjs"), basename(cwd), "--template", template);
    writeFileSync(join(cwd, ".env"), `PORT=${port}\n`);
    const { child, said } = spawnScript(dev, cwd);
    onTestFinished(() => void child.kill("SIGKILL"));
    await until("the proposal", () => /"kind":"approval_request"/.test(said()) || child.exitCode !== null);
    expect(child.exitCode, said()).toBeNull();
    expect(said()).toMatch(/"type":"agent.activated"[^\n]*"state":"delivered"/);

    const [, approval = ""] = /"kind":"approval_request","id":"(msg_\w+)"/.exec(said()) ?? [];
    const { proposal } = JSON.parse(await mailsvc(cwd, "approvals", "get", approval)) as { proposal: { hash: string } };
    await mailsvc(cwd, "approvals", "approve", approval, "--hash", proposal.hash, "--from-email", "hello@brand.example");
    expect(JSON.parse(await mailsvc(cwd, "campaigns", "list")).data).toMatchObject([{ name: "Greeting", status: "DRAFT" }]);
    await vi.waitFor(
      async () => {
        const [{ id }] = JSON.parse(await mailsvc(cwd, "activations", "list")).data as [{ id: string }];
        const { data } = JSON.parse(await mailsvc(cwd, "runs", "list", id));
        expect(data).toMatchObject([{ status: "COMPLETED", summary: "Said hello; the greeting was approved." }]);
      },
      { timeout: 60_000, interval: 500 },
    );
    expect(await mailsvc(cwd, "agent", "check", `http://127.0.0.1:${port}/webhook`, "--output", "pretty")).toMatch(/^\d\d passed$/m);

    child.kill("SIGTERM");
    expect(await once(child, "exit"), said()).toEqual([0, null]);
    await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow();
  },
);

test.each(["node", "python"])("npm run check kills, pauses and resumes the agent, and grades what it does: %s", async (template) => {
  const port = await freePort();
  const cwd = join(folder, `my-${template}`);
  writeFileSync(join(cwd, ".env"), `PORT=${port}\n`);
  // Strict for one of them: what was not graded fails then.
  const isStrict = template === "node";
  const { child, said } = spawnScript(`${scriptsOf(template, port).check}${isStrict ? " --strict" : ""}`, cwd);
  onTestFinished(() => void child.kill("SIGKILL"));
  const [code] = await once(child, "exit");
  const report = JSON.parse(said()) as CheckReport;
  expect(report.results.filter(({ failure }) => failure)).toEqual([]);
  // Its runs end within milliseconds.
  expect(report.results.filter(({ skipped }) => skipped).map(({ id }) => id)).toEqual([
    "state-paused",
    "state-deactivated",
    "state-heartbeat",
    "state-paused-restart",
    "state-deactivated-restart",
    "state-run-failed",
    "state-run-failed-restart",
  ]);
  expect([code, report.passed > 90]).toEqual([isStrict ? 11 : 0, true]);
});

// `npm run check` makes the requests of all cases to those of node and python.
test.each(["node", "express", "hono", "python"])(
  "%s: npm start serves an agent that passes agent check, and ends with the signal",
  async (template) => {
    const cwd = join(folder, `my-${template}`);
    const { scripts } = JSON.parse(readFileSync(join(cwd, "package.json"), "utf8")) as { scripts: { start: string } };
    writeFileSync(join(cwd, ".env"), `AGENT_WEBHOOK_SECRET=${SECRET}\nAGENT_MASTER_KEY=${KEY}\nMAILSVC_URL=http://127.0.0.1:9\nPORT=0\n`);
    const [program = "", ...args] = scripts.start.split(" ");
    const agent = spawn(program === "node" ? process.execPath : program, args, {
      cwd,
      env: cleanEnvironment(),
      stdio: ["ignore", "pipe", "pipe"],
    });
    onTestFinished(() => void agent.kill("SIGKILL"));
    let said = "";
    const url = await new Promise<string>((found, failed) => {
      const read = (data: Buffer): void => {
        said += data;
        const [address] = /http:\S+\/webhook/.exec(said) ?? [];
        if (address) found(address);
      };
      agent.stdout.on("data", read);
      agent.stderr.on("data", read);
      agent.once("exit", () => failed(new Error(said)));
    });
    await expectToPass(url, () => said.slice(-2000), ["node", "python"].includes(template) ? "signature-" : undefined);

    // A connection stays open, as those of the service do.
    const connection = connect(Number(new URL(url).port), "127.0.0.1");
    await once(connection, "connect");
    // An agent that ends may close it in any way.
    connection.on("error", () => {});
    const from = performance.now();
    agent.kill("SIGTERM");
    expect(await once(agent, "exit")).toEqual([0, null]);
    // An agent that waits for its ten seconds is never below.
    expect(performance.now() - from).toBeLessThan(9000);
    connection.destroy();
  },
);

test("next: its route passes every case of agent check", async () => {
  await using server = await startServer();
  await useDatabase(server.url);
  const { POST } = (await import(pathToFileURL(join(folder, "my-next/app/webhook/route.ts")).href)) as {
    POST: (request: Request) => Promise<Response>;
  };
  await expectToPass(await listen((request) => (request.method === "POST" ? POST(request) : new Response(null, { status: 405 }))));
});

test("lambda: npm run build makes a function that passes every case of agent check", async () => {
  await using server = await startServer();
  await useDatabase(server.url);
  const cwd = join(folder, "my-lambda");
  const { scripts } = JSON.parse(readFileSync(join(cwd, "package.json"), "utf8")) as { scripts: { build: string } };
  const [program = "", ...args] = scripts.build.split(" ");
  await run(cwd, bin(program), ...args);
  const { handler } = createRequire(import.meta.url)(join(cwd, "dist/handler.cjs")) as {
    handler: (event: LambdaEvent) => Promise<LambdaResult>;
  };
  const url = await listen(async (request) => {
    const body = Buffer.from(await request.arrayBuffer()).toString("base64");
    const requestContext = { http: { method: request.method } };
    const result = await handler({ body, isBase64Encoded: true, headers: Object.fromEntries(request.headers), requestContext });
    return new Response(result.body, { status: result.statusCode, headers: result.headers });
  });
  await expectToPass(url);
});

/** Sets the variables of an agent whose store is a new database. */
async function useDatabase(service: string): Promise<void> {
  const database = await createDatabase("empty");
  onTestFinished(() => database.drop());
  const variables = { AGENT_WEBHOOK_SECRET: SECRET, AGENT_MASTER_KEY: KEY, MAILSVC_URL: service, DATABASE_URL: database.url };
  // The agents report the calls that fail.
  vi.spyOn(console, "error").mockImplementation(() => {});
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
}

/** Serves a function of the web's Request on a port, and returns its address. */
async function listen(fetch: (request: Request) => Response | Promise<Response>): Promise<string> {
  const server = await new Promise<ServerType>((listening) => {
    const opened: ServerType = serve({ fetch, hostname: "127.0.0.1", port: 0, overrideGlobalObjects: false }, () => listening(opened));
  });
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhook`;
}
