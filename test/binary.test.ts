import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Hook, hook } from "../packages/server/test/hook.ts";
import { createDatabase } from "../packages/server/test/postgres.ts";
import { until } from "./support/api.ts";
import { buildBinary } from "./support/binary.ts";
import { checkSbom } from "./support/sbom.ts";

const root = dirname(fileURLToPath(new URL(".", import.meta.url)));
const exec = promisify(execFile);

// The conditions under which the file must work: another user, a program folder that cannot be written, no environment, no HOME.
const NOBODY = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : null;
const SECONDS = 60;

let folder: string;
let program: string;
let agents: Hook;

beforeAll(async () => {
  await buildBinary();
  folder = mkdtempSync(join(tmpdir(), "mailsvc-binary-"));
  chmodSync(folder, 0o755);
  mkdirSync(join(folder, "bin"));
  program = join(folder, "bin/mailsvc");
  copyFileSync(join(root, "build/mailsvc"), program);
  chmodSync(program, 0o555);
  chmodSync(join(folder, "bin"), 0o555);
  agents = await hook();
}, 600_000);

afterAll(async () => {
  await agents?.[Symbol.asyncDispose]();
  if (folder) {
    chmodSync(join(folder, "bin"), 0o755);
    rmSync(folder, { recursive: true, force: true });
  }
});

/** An empty folder that the user of the program owns. */
function emptyFolder(name: string): string {
  const made = join(folder, name);
  mkdirSync(made);
  if (NOBODY) chownSync(made, NOBODY.uid, NOBODY.gid);
  return made;
}

async function run(cwd: string, ...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return exec(program, args, { cwd, env: {}, ...NOBODY }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({ code, stdout, stderr }),
  );
}

/** The JSON that a command prints. Throws when it fails. */
async function ask<T>(cwd: string, ...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await run(cwd, ...args, "--json");
  if (code !== 0) throw new Error(`mailsvc ${args.join(" ")}: exit ${code}\n${stderr}`);
  return JSON.parse(stdout) as T;
}

/** Starts a server and waits until it is ready. */
async function start(cwd: string, command: "dev" | "serve", flags: readonly string[]): Promise<{ child: ChildProcess; url: string }> {
  const ready = join(cwd, "ready.json");
  rmSync(ready, { force: true });
  const child = spawn(program, [command, "--port", "0", "--ready-file", ready, ...flags], {
    cwd,
    env: {},
    stdio: ["ignore", "ignore", "pipe"],
    ...NOBODY,
  });
  let said = "";
  child.stderr?.on("data", (text) => {
    said += text;
  });
  await until(
    SECONDS,
    async () => existsSync(ready) || child.exitCode !== null,
    async () => said,
  );
  if (child.exitCode !== null) throw new Error(`The server ended with ${child.exitCode}: ${said}`);
  const { url } = JSON.parse(readFileSync(ready, "utf8")) as { url: string };
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  return { child, url };
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  const exited = once(child, "exit");
  child.kill(signal);
  const [code] = await exited;
  return code as number | null;
}

test("its size, version and help", async () => {
  const cwd = emptyFolder("help");
  const { version } = JSON.parse(readFileSync(join(root, "packages/cli/package.json"), "utf8")) as { version: string };
  expect(statSync(program).size).toBeLessThan(122e6);
  expect(await run(cwd, "--version")).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
  expect((await run(cwd, "--help")).stdout).toContain("Usage: mailsvc");
  expect(await run(cwd, "sned")).toMatchObject({ code: 2, stderr: expect.stringContaining("send") });
});

test("next to it is a bill of materials: packages, Node with its parts, and SQLite", async () => {
  const components = await checkSbom(join(root, "build/mailsvc.cdx.json"), join(root, "build/THIRD-PARTY-LICENSES.txt"));
  const versions = Object.fromEntries(components.map(({ name, version }) => [name, version]));
  expect(versions).toMatchObject({ node: process.versions.node, sqlite: expect.stringMatching(/^3\./), h3: expect.anything() });
  expect(components.find(({ name }) => name === "node")).toMatchObject({
    components: expect.arrayContaining([expect.objectContaining({ name: "openssl" })]),
  });
});

test("it ignores NODE_OPTIONS", async () => {
  const cwd = emptyFolder("options");
  const { stdout } = await exec(program, ["--version"], { cwd, env: { NODE_OPTIONS: `--require ${join(cwd, "nothing.js")}` }, ...NOBODY });
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});

test("options of Node are given with --node-options", async () => {
  const { stdout } = await run(emptyFolder("node-options"), "--node-options=--max-semi-space-size=16", "--version");
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});

test("without a folder for the driver it says where it looked and what to set", async () => {
  // A limit on the size of files: nothing as large as the driver can be written anywhere.
  const cwd = emptyFolder("full");
  const { code, stderr } = await exec("sh", ["-c", 'ulimit -f 100; trap "" XFSZ; exec "$0" dev --port 0 --plain', program], {
    cwd,
    env: { PATH: process.env["PATH"] ?? "" },
    ...NOBODY,
  }).then(
    () => ({ code: 0, stderr: "" }),
    (error: { code: number; stderr: string }) => ({ code: error.code, stderr: error.stderr }),
  );
  expect(code).toBe(9);
  expect(stderr).toContain("Set MAILSVC_TMPDIR");
  expect(stderr).toContain(cwd);
});

describe.each(["SQLite", "Postgres"])("a journey on %s", (database) => {
  test("send, activation, kill, restart, backup, restore", async () => {
    const cwd = emptyFolder(database);
    const onPostgres = database === "Postgres";
    const databases = onPostgres ? await Promise.all([createDatabase("empty"), createDatabase("empty")]) : [];
    const where = (n: 0 | 1): string[] => (onPostgres ? ["--database-url", databases[n]?.url ?? ""] : []);
    const data = (name: string): string[] => ["--data", join(cwd, name)];
    const first = [...data("first"), ...where(0)];
    let server = await start(cwd, "dev", [...first, "--plain"]);
    try {
      const env = JSON.parse(readFileSync(join(cwd, "ready.json"), "utf8")) as { apiKey: string };
      const at = (): string[] => ["--url", server.url, "--api-key", env.apiKey];
      const mail = ["--from", "hello@acme.example", "--to", "ada@example.com", "--subject", "Hello", "--text", "It works."];
      const sent = await ask<{ id: string; emails: { status: string }[] }>(cwd, "send", ...mail, "--wait", ...at());
      expect(sent.emails.map(({ status }) => status)).toEqual(["delivered"]);
      await ask(cwd, "contacts", "create", "--email", "ada@example.com", ...at());

      const market = async <T>(path: string, body?: unknown): Promise<T> => {
        const response = await fetch(`${server.url}/api/v1/marketplace${path}`, {
          method: "POST",
          headers: { authorization: `Bearer ${env.apiKey}`, "content-type": "application/json" },
          body: JSON.stringify(body ?? {}),
        });
        expect([path, response.status < 300]).toEqual([path, true]);
        return (await response.json()) as T;
      };
      await market("/listings", { slug: "writer", name: "Writer", webhookUrl: agents.url, permissions: [] });
      const { id: payment } = await market<{ id: string }>("/listings/writer/checkout");
      await market(`/payments/${payment}/confirm`);
      const { id: activation } = await market<{ id: string }>("/activations", { agentSlug: "writer", acceptedPermissions: [] });
      const delivered = async () =>
        (await ask<{ keyDeliveredAt: string | null }>(cwd, "activations", "get", activation, ...at())).keyDeliveredAt;
      await until(SECONDS, async () => (await delivered()) !== null, delivered as () => Promise<string>);

      await end(server.child, "SIGKILL");
      server = await start(cwd, "dev", [...first, "--plain"]);
      expect(await ask(cwd, "emails", "get", sent.id, ...at())).toMatchObject({ id: sent.id, status: "delivered" });
      expect(await ask(cwd, "inbox", "list", ...at())).toMatchObject({ pagination: { total: 1 } });

      await ask(cwd, "backup", join(cwd, "copy.backup"), ...first);
      expect(await end(server.child, "SIGTERM")).toBe(0);
      const second = [...data("second"), ...where(1)];
      await ask(cwd, "restore", join(cwd, "copy.backup"), ...second);
      server = await start(cwd, "serve", second);
      expect(await ask(cwd, "emails", "get", sent.id, ...at())).toMatchObject({ id: sent.id, status: "delivered" });
      expect(await ask(cwd, "activations", "get", activation, ...at())).toMatchObject({ id: activation, status: "active" });
      expect(await ask(cwd, "contacts", "list", ...at())).toMatchObject({ pagination: { total: 1 } });
      expect(await end(server.child, "SIGTERM")).toBe(0);
    } finally {
      server.child.kill("SIGKILL");
      await Promise.all(databases.map((one) => one.drop()));
    }
  });
});
