import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { bundleProgram } from "./bundle.ts";
import { folder } from "./harness.ts";

// Ten times what a quiet machine needs.
const LIMIT = 60_000;
let program = "";

beforeAll(async () => {
  program = await bundleProgram();
}, LIMIT);

interface Ended {
  readonly code: number | null;
  readonly killedBy: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface Started {
  readonly process: ChildProcess;
  readonly home: string;
  readonly temporary: string;
  readonly ended: Promise<Ended>;
  /** Resolves when stdout matches. */
  says(pattern: RegExp): Promise<RegExpExecArray>;
}

/** Starts `mailsvc dev FLAGS -- COMMAND` without a terminal, as CI does, in a process group of its own as a shell would. */
function start(
  flags: readonly string[],
  command: readonly string[],
  { input, env: more }: { input?: string; env?: Record<string, string> } = {},
): Started {
  const home = folder();
  const temporary = join(home, "tmp");
  mkdirSync(temporary);
  const env = { PATH: process.env["PATH"], HOME: home, TMPDIR: temporary, ...more };
  const child = spawn(process.execPath, [program, "dev", ...flags, "--", ...command], { cwd: home, env, detached: true });
  onTestFinished(() => {
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (part: string) => {
    stdout += part;
  });
  child.stderr.setEncoding("utf8").on("data", (part: string) => {
    stderr += part;
  });
  child.stdin.end(input ?? "");
  const ended = new Promise<Ended>((done) => child.on("close", (code, killedBy) => done({ code, killedBy, stdout, stderr })));
  const says = (pattern: RegExp): Promise<RegExpExecArray> =>
    new Promise((done, failed) => {
      const look = (): void => {
        const found = pattern.exec(stdout);
        if (found) done(found);
      };
      child.stdout.on("data", look);
      look();
      void ended.then(({ stderr: why }) => failed(new Error(`It ended. ${why}`)));
    });
  return { process: child, home, temporary, ended, says };
}

const node = (script: string): string[] => [process.execPath, "-e", script];

/** A command that says its pid and which signals it gets, and ends on the first one with code 3. */
const LISTENER =
  node(`for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(name, () => { console.log("got " + name); process.exit(3); });
  setInterval(() => {}, 1000); console.log("pid " + process.pid);`);

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // A process that has ended stays in the table until its parent has asked for its code.
    return !existsSync("/proc/self/stat") || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

const untilGone = (pid: number): Promise<void> => vi.waitFor(() => expect(isRunning(pid)).toBe(false), { timeout: LIMIT, interval: 20 });

describe("mailsvc dev -- COMMAND", () => {
  test("ends with the command's exit code, and leaves neither data nor a file behind", async () => {
    const { ended, home, temporary } = start([], node("process.exit(7)"));
    expect(await ended).toMatchObject({ code: 7, stdout: "" });
    expect(readdirSync(temporary)).toEqual([]);
    expect(readdirSync(home).filter((name) => name !== "tmp" && name !== ".mailsvc")).toEqual([]);
  });

  test("keeps data where a flag says", async () => {
    const { ended, home } = start(["--data", "kept"], ["true"]);
    expect((await ended).code).toBe(0);
    expect(readdirSync(join(home, "kept"))).not.toEqual([]);
    expect(existsSync(join(home, "kept", "dev.json"))).toBe(false);
  });

  test("gives the command address and keys, and its own standard input", async () => {
    const script = `const text = require("node:fs").readFileSync(0, "utf8");
      fetch(process.env.MAILSVC_URL + "/api/v1/me", { headers: { authorization: "Bearer " + process.env.MAILSVC_API_KEY } })
        .then((r) => r.json()).then((me) => console.log(me.workspace.name, text));`;
    const { ended } = start([], node(script), { input: "from a pipe" });
    expect(await ended).toMatchObject({ code: 0, stdout: "brand from a pipe\n" });
  });

  test.each(["brand", "builder"])(
    "a command of the program acts as %s with --profile, though a key is in its environment",
    async (name) => {
      const { ended } = start([], [process.execPath, program, "whoami", "--profile", name]);
      expect(await ended).toMatchObject({ code: 0, stdout: expect.stringContaining(`"name":"${name}"`) });
    },
  );

  // As the clients for Node, for Go and Ruby, and for Python make the address.
  test.each([
    'process.env.RESEND_BASE_URL + "/emails"',
    'new URL("emails", process.env.RESEND_BASE_URL)',
    'process.env.RESEND_API_URL + "/emails"',
  ])("leads programs of other services to the server: %s", async (address) => {
    const script = `const { RESEND_API_KEY: key, MAILSVC_URL } = process.env;
      fetch(${address}, { method: "POST", headers: { authorization: "Bearer " + key, "content-type": "application/json" },
        body: JSON.stringify({ from: "a@acme.example", to: "ada@example.com", subject: "Hi", text: "Hi" }) })
        .then((sent) => fetch(MAILSVC_URL + "/__dev/inbox/wait?to=ada@example.com&timeout=20").then((r) => r.json()).then((mail) => console.log(sent.status, mail.subject)));`;
    expect(await start([], node(script)).ended).toMatchObject({ code: 0, stdout: "200 Hi\n" });
  });

  test("prints nothing of the server but its address, unless --verbose is given", async () => {
    const quiet = await start([], ["true"]).ended;
    expect(quiet.stderr).toMatch(/^dev server http:\/\/127\.0\.0\.1:\d+\n$/);
    const silent = await start(["--quiet"], ["true"]).ended;
    expect([silent.stdout, silent.stderr]).toEqual(["", ""]);
  });

  test("uses no relay and no database of the environment, and says so; with a flag it says where mail goes", async () => {
    const script = `fetch(process.env.MAILSVC_URL + "/api/v1/me", { headers: { authorization: "Bearer " + process.env.MAILSVC_API_KEY } })
      .then((r) => r.json()).then((me) => console.log(me.server.mailer, me.server.capturesMail));`;
    const env = { MAILSVC_SMTP_URL: "smtp://production.invalid", MAILSVC_DATABASE_URL: "postgres://production.invalid/mailsvc" };
    const captured = await start([], node(script), { env }).ended;
    expect(captured).toMatchObject({ code: 0, stdout: "capture true\n" });
    expect(captured.stderr).toMatch(
      /^Dev mode ignores MAILSVC_DATABASE_URL and MAILSVC_SMTP_URL, because the .*--database-url and --smtp-url\.\ndev server http/,
    );
    const sent = await start(["--smtp-url", "smtp://relay.invalid"], node(script), { env }).ended;
    expect(sent).toMatchObject({ code: 0, stdout: expect.stringMatching(/ false\n$/) });
    expect(sent.stderr).toMatch(
      /^Dev mode ignores MAILSVC_DATABASE_URL, because .*To use it, .*\ndev server http\S+\nMail +leaves through relay\.invalid\n$/,
    );
  });

  test.each([
    ["no-such-program", "was not started: it was not found.", 127],
    ["./plain", "was not started: it may not be executed.", 126],
    ["", "was not started: its name is empty.", 127],
  ])(
    "says why %s cannot be started: %s Its code is %i",
    async (name, why, code) => {
      const { ended, home } = start([], [name]);
      writeFileSync(join(home, "plain"), "not a program");
      expect(await ended).toMatchObject({ code, stderr: expect.stringContaining(why) });
    },
    60_000,
  );

  test("many run at once, each with a server of its own", async () => {
    const all = folder();
    // Each waits until all have started.
    const script = `const fs = require("node:fs"); fs.writeFileSync(${JSON.stringify(all)} + "/" + process.pid, "");
      const look = () => fs.readdirSync(${JSON.stringify(all)}).length < 4 ? setTimeout(look, 20) : console.log(process.env.MAILSVC_URL, process.env.SMTP_URL); look();`;
    const runs = await Promise.all(Array.from({ length: 4 }, () => start([], node(script)).ended));
    expect(runs.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
    expect(new Set(runs.flatMap(({ stdout }) => stdout.trim().split(" "))).size).toBe(8);
  });
});

describe.skipIf(process.platform === "win32")("signals", () => {
  test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
    "%s to the program alone reaches the command, whose code is the result",
    async (signal) => {
      const { process: dev, says, ended } = start([], LISTENER);
      await says(/pid (\d+)/);
      dev.kill(signal);
      expect(await ended).toMatchObject({ code: 3, stdout: expect.stringMatching(new RegExp(`^pid \\d+\\ngot ${signal}\\n$`)) });
    },
    60_000,
  );

  test("a signal that comes as soon as the command runs reaches it, too", async () => {
    const script = `trap 'echo got SIGHUP; exit 3' HUP; kill -s HUP $PPID; while :; do sleep 0.01; done`;
    expect(await start([], ["sh", "-c", script]).ended).toMatchObject({ code: 3, stdout: "got SIGHUP\n" });
  });

  test("SIGINT to the group, as from a terminal, reaches the command once", async () => {
    const script = `let heard = 0; process.on("SIGINT", () => { heard += 1; console.log("got", heard); });
      process.on("SIGTERM", () => process.exit(heard)); setInterval(() => {}, 1000); console.log("pid " + process.pid);`;
    const { process: dev, says, ended } = start([], node(script));
    await says(/pid (\d+)/);
    process.kill(-(dev.pid as number), "SIGINT");
    await says(/got 1/);
    dev.kill("SIGTERM");
    expect(await ended).toMatchObject({ code: 1, stdout: expect.stringMatching(/got 1\n$/) });
  });

  test("a command that a signal ends has code 128 + n", async () => {
    const { says, ended } = start([], node(`setInterval(() => {}, 1000); console.log("pid " + process.pid);`));
    process.kill(Number((await says(/pid (\d+)/))[1]), "SIGKILL");
    expect((await ended).code).toBe(137);
  });

  test("what the command leaves behind in its group is ended with it", async () => {
    const { ended } = start([], ["sh", "-c", "sleep 1000 & echo $!; exit 4"]);
    const { code, stdout } = await ended;
    expect(code).toBe(4);
    await untilGone(Number(stdout));
  });

  test("a daemon goes on, and does not hold the program up", async () => {
    const script = `const child = require("node:child_process").spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { detached: true, stdio: "ignore" });
      child.unref(); console.log(child.pid);`;
    const { code, stdout } = await start([], node(script)).ended;
    const pid = Number(stdout);
    onTestFinished(() => void process.kill(pid, "SIGKILL"));
    expect([code, isRunning(pid)]).toEqual([0, true]);
  });

  test("no process is left after kill -9 of the program", async () => {
    const script = `const child = require("node:child_process").spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]); console.log("pids " + process.pid + " " + child.pid + " end"); setInterval(() => {}, 1000);`;
    const { process: dev, says } = start([], node(script));
    const [, own, below] = await says(/pids (\d+) (\d+) end/);
    dev.kill("SIGKILL");
    await Promise.all([untilGone(Number(own)), untilGone(Number(below))]);
  });
});
