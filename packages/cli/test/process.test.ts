import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Metafile } from "esbuild";
import { beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { bundleProgram, DIST, readInputs } from "./bundle.ts";
import { folder } from "./harness.ts";

let inputs: Metafile["inputs"] = {};

beforeAll(async () => {
  await bundleProgram();
  inputs = readInputs();
});

interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

const start = (argv: readonly string[], env: Record<string, string> = {}, home = folder()) => {
  const child = spawn(process.execPath, [join(DIST, "main.js"), ...argv], {
    cwd: home,
    env: { PATH: process.env["PATH"], HOME: home, ...env },
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (part) => {
    stdout += part;
  });
  child.stderr.on("data", (part) => {
    stderr += part;
  });
  const ended = new Promise<Ended>((done) => child.on("close", (code) => done({ code, stdout, stderr })));
  const says = (): Promise<string> =>
    new Promise((done, failed) => {
      child.stdout.on("data", () => stdout.includes("\n") && done(stdout));
      void ended.then(({ stderr: why }) => failed(new Error(why)));
    });
  return { child, ended, says, stderr: () => stderr };
};

describe("the program itself", () => {
  test("says its version, and its help with exit 0", async () => {
    expect(await start(["--version"]).ended).toMatchObject({ code: 0, stdout: "0.1.0\n", stderr: "" });
    const help = await start(["--help"]).ended;
    expect(help).toMatchObject({ code: 0, stderr: "" });
    expect(help.stdout).toContain("mailsvc dev");
  });

  test("ends by a signal while an expression of --jq runs for ever", async () => {
    const server = createServer((_request, response) => response.setHeader("content-type", "application/json").end('{"data":[]}'));
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const asked = new Promise((done) => server.once("request", done));
    const env = { MAILSVC_URL: `http://127.0.0.1:${port}`, MAILSVC_API_KEY: "ms_dev_x" };
    const { child, ended } = start(["api", "GET", "/x", "--jq", "last(range(1e15))"], env);
    await asked;
    const again = setInterval(() => child.kill("SIGTERM"), 100);
    onTestFinished(() => {
      clearInterval(again);
      child.kill("SIGKILL");
    });
    await ended;
    expect(["SIGTERM", 143]).toContain(child.signalCode ?? child.exitCode);
  });

  test("loads neither server, schemas, client nor screen before they are required", () => {
    const needed = new Set<string>();
    const visit = (path: string): void => {
      if (needed.has(path)) return;
      needed.add(path);
      for (const { path: next, kind } of inputs[path]?.imports ?? []) if (kind !== "dynamic-import") visit(next);
    };
    visit("packages/cli/src/main.ts");
    visit("packages/cli/src/run.ts");
    expect([...needed].some((path) => path.endsWith("cli/src/program.ts"))).toBe(true);
    expect([...needed].filter((path) => /packages\/server\/|sdk\/src\/client|node_modules\/(?:ink|react|undici|zod)\//.test(path))).toEqual(
      [],
    );
  });

  test("ends quietly when the reader of its output goes away", async () => {
    const { child, ended } = start(["commands", "--json"]);
    child.stdout.destroy();
    expect(await ended).toMatchObject({ code: 0, stderr: "" });
  });

  test("reads a body from a pipe", async () => {
    const { child, ended } = start(["send", "--data", "-", "--dry-run"], { MAILSVC_API_KEY: "ms_live_0123456789abcdef" });
    child.stdin.end('{"from":"a@x.example","to":"b@x.example","subject":"s","text":"t"}');
    const { code, stdout } = await ended;
    expect(code).toBe(0);
    expect(JSON.parse(stdout).request.body.subject).toBe("s");
  });
});

describe("a server", () => {
  test("says where it is and which file has its key, serves, and ends with 0 on SIGTERM", async () => {
    const data = folder();
    const ready = join(data, "ready.json");
    const first = start(["serve", "--port", "0", "--data", data, "--ready-file", ready]);
    const facts = JSON.parse(await first.says());
    expect(facts).toMatchObject({
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      apiKey: null,
      keysFile: join(data, "first-keys.json"),
      dev: false,
    });
    await vi.waitFor(() => expect(first.stderr()).toContain(facts.keysFile));
    const { apiKey } = JSON.parse(readFileSync(facts.keysFile, "utf8"));
    expect(apiKey).toMatch(/^ms_live_/);
    expect(first.stderr()).not.toContain(apiKey);
    for (const file of [ready, facts.keysFile]) expect(statSync(file).mode & 0o777).toBe(0o600);
    const me = await start(["whoami"], { MAILSVC_URL: facts.url, MAILSVC_API_KEY: apiKey }).ended;
    expect(JSON.parse(me.stdout).workspace.id).toBe(facts.workspaceId);
    const second = await start(["serve", "--port", "0", "--data", data]).ended;
    expect(second).toMatchObject({ code: 7, stdout: "" });
    first.child.kill("SIGTERM");
    expect((await first.ended).code).toBe(0);
    expect(existsSync(ready)).toBe(false);
    const again = start(["serve", "--port", "0", "--data", data]);
    expect(JSON.parse(await again.says()).apiKey).toBeNull();
    again.child.kill("SIGINT");
    expect((await again.ended).code).toBe(0);
  });

  test("for development needs no key to read its inbox", async () => {
    const data = folder();
    const dev = start(["dev", "--port", "0", "--data", data]);
    const { url, apiKey, dev: isDev } = JSON.parse(await dev.says());
    expect(isDev).toBe(true);
    const env = { MAILSVC_URL: url, MAILSVC_API_KEY: apiKey };
    const sent = await start(["send", "--from", "a@acme.example", "--to", "b@x.example", "--subject", "s", "--text", "t", "--wait"], env)
      .ended;
    expect(sent.code).toBe(0);
    const inbox = await start(["inbox", "list"], { MAILSVC_URL: url }).ended;
    expect(JSON.parse(inbox.stdout).data).toHaveLength(1);
    dev.child.kill("SIGTERM");
    expect((await dev.ended).code).toBe(0);
  });

  test("for development runs a command with the keys of brand and builder, and only after --", async () => {
    const program = `fetch(process.env.MAILSVC_URL + "/api/v1/me", { headers: { authorization: "Bearer " + process.env.MAILSVC_API_KEY } })
      .then((r) => r.json()).then((me) => { console.log(me.workspace.name, process.env.MAILSVC_BUILDER_API_KEY.slice(0, 7)); process.exit(7); })`;
    const { code, stdout } = await start(["dev", "--", process.execPath, "-e", program]).ended;
    expect([code, stdout]).toEqual([7, "brand ms_dev_\n"]);
    const undashed = await start(["dev", "npm", "test"]).ended;
    expect([undashed.code, undashed.stderr]).toEqual([2, expect.stringContaining("mailsvc dev -- COMMAND")]);
  });

  test.each([
    ["directly", (argv: readonly string[]) => argv],
    // Does something after the program, so that the shell does not replace itself by it.
    ["through a shell", (argv: readonly string[]) => ["/bin/sh", "-c", `${argv.map((arg) => `'${arg}'`).join(" ")}; true`]],
  ])(
    "for development ends with the npm that started it %s, and leaves no file behind",
    async (_how, wrap) => {
      const data = folder();
      const ready = join(data, "ready.json");
      const [command, ...args] = wrap([
        process.execPath,
        join(DIST, "main.js"),
        "dev",
        "--port",
        "0",
        "--data",
        data,
        "--ready-file",
        ready,
      ]);
      // npm ends without a word to its child when it is killed.
      const npm = `console.log(require("node:child_process").spawn(${JSON.stringify(command)}, ${JSON.stringify(args)}, { stdio: "ignore" }).pid);`;
      const parent = spawn(process.execPath, ["-e", npm], {
        env: { PATH: process.env["PATH"], HOME: data, npm_execpath: "npm" },
        stdio: ["ignore", "pipe", "ignore"],
      });
      onTestFinished(() => void parent.kill("SIGKILL"));
      const child = Number(String(await new Promise((said) => parent.stdout.once("data", said))));
      await vi.waitFor(() => expect(existsSync(ready)).toBe(true), 30_000);
      const { url, pid } = JSON.parse(readFileSync(ready, "utf8"));
      expect((await fetch(`${url}/healthz`)).status).toBe(200);
      parent.kill("SIGKILL");
      for (const one of [pid, child]) await vi.waitFor(() => expect(() => process.kill(one, 0)).toThrow(), 30_000);
      expect([existsSync(ready), existsSync(join(data, "dev.json"))]).toEqual([false, false]);
    },
    90_000,
  );

  test("for development is found by commands in its folder and below", async () => {
    const project = folder();
    const dev = start(["dev", "--port", "0", "--data", join(project, ".mailsvc")]);
    const facts = JSON.parse(await dev.says());
    const below = join(project, "a/b");
    mkdirSync(below, { recursive: true });
    const run = (argv: readonly string[], env: Record<string, string> = {}) => start(argv, env, below).ended;
    expect(JSON.parse((await run(["whoami"])).stdout).workspace.name).toBe("brand");
    expect(JSON.parse((await run(["whoami", "--profile", "builder"])).stdout).workspace.name).toBe("builder");
    expect(JSON.parse((await run(["workspaces", "list"])).stdout).data).toHaveLength(2);
    expect((await run(["env"])).stdout).toBe(
      `export MAILSVC_URL=${facts.url}\nexport MAILSVC_API_KEY=${facts.apiKey}\nexport MAILSVC_OPERATOR_KEY=${facts.operatorKey}\n`,
    );
    // Its key is for its own address only.
    expect((await run(["whoami"], { MAILSVC_URL: "http://127.0.0.1:1" })).code).toBe(4);
    dev.child.kill("SIGTERM");
    await dev.ended;
    expect((await run(["whoami"])).code).toBe(4);
  });

  test("for development with its data elsewhere is found in the folder where it was started, and another one does not take its place", async () => {
    const project = folder();
    const dev = start(["dev", "--port", "0", "--data", folder()], {}, project);
    const facts = JSON.parse(await dev.says());
    const pointer = join(project, ".mailsvc/dev.json");
    expect(statSync(pointer).mode & 0o777).toBe(0o600);
    const second = start(["dev", "--port", "0", "--data", folder()], {}, project);
    await second.says();
    expect((await start(["env"], {}, project).ended).stdout).toContain(`export MAILSVC_URL=${facts.url}\n`);
    second.child.kill("SIGTERM");
    await second.ended;
    expect(JSON.parse((await start(["whoami"], {}, project).ended).stdout).workspace.name).toBe("brand");
    dev.child.kill("SIGTERM");
    await dev.ended;
    expect(existsSync(pointer)).toBe(false);
  });

  test("in a folder that was deleted says so", async () => {
    const gone = folder();
    const script = `cd "${gone}" && rmdir "${gone}" && "${process.execPath}" "${join(DIST, "main.js")}" whoami; echo "exit $?"`;
    const child = spawn("/bin/sh", ["-c", script], { env: { PATH: process.env["PATH"], HOME: folder() } });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (part) => {
        output += part;
      });
    await new Promise((done) => child.on("close", done));
    expect(output).toContain("The working folder does not exist any more.");
    expect(output).toContain("exit 2");
  });

  test("explains flags it cannot use, exit 2, before anything is written", async () => {
    const data = join(folder(), "data");
    const failed = await start(["serve", "--port", "many", "--data", data]).ended;
    expect(failed.code).toBe(2);
    expect(failed.stderr).toContain("--port");
    expect(existsSync(data)).toBe(false);
  });
});
