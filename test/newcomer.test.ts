import { execFile, spawn } from "node:child_process";
import { globSync, mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cleanEnvironment, until } from "./dev-server.ts";
import { PageRunner } from "./support/page-runner.ts";

const root = fileURLToPath(new URL("../", import.meta.url));
const run = promisify(execFile);

// Building on a busy machine.
const PATIENCE_MS = 300_000;

/** The environment of somebody who has just cloned: nothing of this checkout's, not even its Node. */
const environment = (): Record<string, string | undefined> => {
  const inherited = Object.entries(cleanEnvironment()).filter(
    ([name]) => !/^npm_(?:lifecycle|package|command|execpath|node_execpath)/.test(name),
  );
  const path = (process.env["PATH"] ?? "").split(":").filter((dir) => !dir.startsWith(root));
  return { ...Object.fromEntries(inherited), PATH: path.join(":"), MAILSVC_PORT: "0" };
};

/**
 * Gives a clone the packages that are installed here, which takes no time. That `npm ci` installs them, and that it runs by itself where
 * something is missing, is what every clean checkout begins its tests with, by the same bootstrap.mjs; see also `build.test.ts`.
 */
const linkPackages = (clone: string): void => {
  for (const folder of ["node_modules", ...globSync("{packages/*,test/clients}/node_modules", { cwd: root })])
    linkEntries(join(root, folder), join(clone, folder));
};

/** Links each package of a node_modules folder. Packages of the workspace, and programs, lead to the clone's own, as they do here. */
const linkEntries = (from: string, to: string): void => {
  mkdirSync(to);
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), target);
    else if (entry.name.startsWith("@") || entry.name === ".bin") linkEntries(source, target);
    else if (entry.name !== ".cache") symlinkSync(source, target);
  }
};

/** `npm start` in a terminal's place: its own group of processes, which a Ctrl-C reaches as a whole. */
const npmStart = async (clone: string) => {
  const child = spawn("npm", ["start"], { cwd: clone, env: environment(), detached: true, stdio: ["ignore", "pipe", "pipe"] });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (data) => (stdout += data));
  child.stderr.on("data", (data) => (stderr += data));
  const ended = new Promise<{ code: number | null; signal: string | null }>((done) =>
    child.on("exit", (code, signal) => done({ code, signal })),
  );
  const running = (): boolean => child.exitCode === null && child.signalCode === null;
  for (let left = PATIENCE_MS / 60_000; left > 0; left -= 1) {
    const ready = until("npm start", () => /Ctrl-C stops it/.test(stdout) || !running()).then(() => true);
    if (await ready.catch(() => false)) break;
  }
  if (!/Ctrl-C stops it/.test(stdout)) throw new Error(`npm start did not become ready.\n${stdout}\n${stderr}`);
  return {
    stdout: () => stdout,
    stderr: () => stderr,
    interrupt: () => {
      process.kill(-(child.pid as number), "SIGINT");
      return ended;
    },
    kill: () => running() && process.kill(-(child.pid as number), "SIGKILL"),
  };
};

describe("a newcomer with a fresh clone", () => {
  let folder = "";
  let started: Awaited<ReturnType<typeof npmStart>>;
  const found = (pattern: RegExp): string => pattern.exec(started.stdout())?.[1] ?? "";

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "mailsvc-newcomer-"));
    for (const name of ["home", "notes"]) mkdirSync(join(folder, name));
    await run("git", ["clone", "--quiet", "--no-local", root, join(folder, "mailsvc")]);
    linkPackages(join(folder, "mailsvc"));
    started = await npmStart(join(folder, "mailsvc"));
  }, PATIENCE_MS);
  afterAll(() => {
    started?.kill();
    rmSync(folder, { recursive: true, force: true });
  });

  test("builds first, and installs only what is missing", () => {
    expect(started.stderr()).toContain("Built in");
    expect(started.stderr()).not.toContain("npm ci");
  });

  test("is shown an email on its way, and where to look", () => {
    const text = started.stdout();
    expect(text).toMatch(/ started {4}http:\/\/127\.0\.0\.1:\d+, data in \.mailsvc {2}\d/);
    expect(text).toMatch(/ accepted {3}em_\w{26}, from Acme <hello@acme\.example> to ada@example\.com, on disk {2}\d/);
    expect(text).toMatch(/ delivered {2}mail_\w{26}, "Hello, Ada", in the inbox {2}\d/);
    expect(text).toMatch(/ Inbox {6}http:\/\/127\.0\.0\.1:\d+\/dashboard\/inbox\/mail_\w{26}\n/);
    expect(text).toMatch(/ Key {8}ms_dev_\w+\n/);
    expect(text).not.toContain("\u001b");
  });

  test("can run the curl it prints", async () => {
    const env = { PATH: process.env["PATH"], MAILSVC_URL: found(/MAILSVC_URL=(\S+)/), MAILSVC_API_KEY: found(/MAILSVC_API_KEY=(\S+)/) };
    const curl = found(/^( {2}curl (?:.*\\\n)*.*)$/m);
    const { stdout } = await run("sh", ["-c", curl.replace("curl ", "curl -sS ")], { env });
    expect(JSON.parse(stdout)).toEqual({ id: expect.stringMatching(/^em_/), status: "queued" });
    const mail = await fetch(`${env.MAILSVC_URL}/__dev/inbox/wait?to=grace@example.com`);
    expect(await mail.json()).toMatchObject({ to: "grace@example.com", subject: "Hi", text: expect.stringContaining("From curl") });
  });

  test("can use the command line it names", async () => {
    const env = { ...environment(), MAILSVC_URL: found(/MAILSVC_URL=(\S+)/), MAILSVC_API_KEY: found(/MAILSVC_API_KEY=(\S+)/) };
    const { stdout } = await run("npx", ["mailsvc", "inbox", "list"], { env, cwd: join(folder, "mailsvc") });
    expect(JSON.parse(stdout)).toMatchObject({ pagination: { total: 2 } });
  });

  test("sees the inbox page", async () => {
    const page = await fetch(found(/Inbox {6}(\S+)/));
    expect(page.status).toBe(200);
    expect(await page.text()).toContain("<title>mailsvc</title>");
  });

  test("leaves nothing behind that git would see", async () => {
    const { stdout } = await run("git", ["status", "--porcelain"], { cwd: join(folder, "mailsvc") });
    expect(stdout).toBe("");
  });

  test("can follow the README from there to the letter", async () => {
    const variables = { MAILSVC_URL: found(/MAILSVC_URL=(\S+)/), MAILSVC_API_KEY: found(/MAILSVC_API_KEY=(\S+)/) };
    const env = { ...environment(), ...variables, HOME: join(folder, "home") };
    const runner = new PageRunner({ project: join(folder, "mailsvc"), notes: join(folder, "notes"), env });
    // The server runs; a test belongs in the reader's own project, where `quickstarts.test.ts` has one.
    const printed = await runner.follow(join(root, "README.md"), ({ text }) => text !== "npm start\n" && !text.includes('from "vitest"'));
    expect(printed).toMatch(/^em_\w{26} \w+$/m);
    expect(printed).toMatch(/"status":"failed","to":"softbounced@simulator\.mailsvc\.test"/);
  });

  test("ends it with Ctrl-C, and can start it again where it was", async () => {
    const url = found(/MAILSVC_URL=(\S+)/);
    const key = found(/MAILSVC_API_KEY=(\S+)/);
    const { code, signal } = await started.interrupt();
    // The program answers 0; npm itself ends by the signal that reached it too, as it does after any program.
    expect([0, "SIGINT"]).toContain(signal ?? code);
    expect(started.stdout()).toMatch(/\nStopped\.\n$/);
    await expect(fetch(`${url}/healthz`)).rejects.toThrow("fetch failed");
    started = await npmStart(join(folder, "mailsvc"));
    expect(started.stderr()).not.toContain("npm ci");
    expect(found(/MAILSVC_API_KEY=(\S+)/)).toBe(key);
    await started.interrupt();
  });
});
