import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { bundleProgram } from "./bundle.ts";
import { folder } from "./harness.ts";

const LIMIT = 60_000;
let program = "";

beforeAll(async () => {
  program = await bundleProgram();
}, LIMIT);

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `mailsvc dev` in a folder, with only these variables besides the usual ones. */
function dev(home: string, argv: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  const child = spawn(process.execPath, [program, "dev", ...argv], { cwd: home, env: { PATH: process.env["PATH"], HOME: home, ...env } });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (part) => {
    stdout += part;
  });
  child.stderr.on("data", (part) => {
    stderr += part;
  });
  return new Promise((done) => child.on("close", (code) => done({ code, stdout, stderr })));
}

/** The program of a CI job that fails, after mail that arrived and bounced, a fault, a dead webhook, a reset, and every kind of secret. */
const CI_RUN = `
const { MAILSVC_URL: url, MAILSVC_API_KEY: key, MAILSVC_BUILDER_API_KEY: builder, MAILSVC_OPERATOR_KEY: operator } = process.env;
const secrets = [key, builder, operator].filter(Boolean);
const call = async (method, path, body, by = key) => {
  const response = await fetch(url + path, { method, headers: { authorization: "Bearer " + by, "content-type": "application/json" }, ...(body && { body: JSON.stringify(body) }) });
  const text = await response.text();
  return JSON.parse(text);
};
const send = (to, text) => call("POST", "/api/v1/send", { from: "hello@acme.example", to, subject: "Welcome " + to, html: "<p>" + text + "</p>", text });
await send("before-reset@example.com", "gone");
await call("GET", "/__dev/inbox/wait?to=before-reset@example.com&timeout=20");
await call("POST", "/__dev/reset", {});
const made = await call("POST", "/api/v1/keys", { name: "ci", permissions: ["transactional:send"] });
const hook = await call("POST", "/api/v1/webhooks", { url: "http://127.0.0.1:1/hook", events: ["email.*"] });
secrets.push(made.key, hook.secret);
await send("ada@example.com", "Your key is " + made.key + " é".repeat(40) + " reset: https://acme.example/reset?token=the-users-own-token");
await send("bounced@simulator.mailsvc.test", "Hi");
const list = await call("POST", "/api/v1/lists", { name: "News", doubleOptIn: true, from: "hello@acme.example" });
await call("POST", "/api/v1/contacts", { email: "eve@example.com" });
await call("POST", "/__dev/faults", { path: "/api/v1/send", code: "queue_failed", count: 1 });
await send("never@example.com", "Hi");
await call("POST", "/__dev/clock/advance", { by: "1h" });
await call("POST", "/api/v1/send", { from: "nobody" });
await call("GET", "/__dev/inbox/wait?to=ada@example.com&timeout=20");
require("node:fs").writeFileSync("secrets.json", JSON.stringify(secrets));
console.log(made.key && hook.secret ? "made" : JSON.stringify([made, hook]));
process.exit(3);
`;

const wrapped = `(async () => {${CI_RUN}})().catch((error) => { console.error(error); process.exit(99); })`;

/** All bytes of a mail in the file that could hold a secret: as they are, and decoded. */
const decodeAll = (text: string): string =>
  text
    .replace(/(?:[A-Za-z0-9+/]{4}){6,}={0,2}/g, (found) => `${found} ${Buffer.from(found, "base64").toString("latin1")}`)
    .replace(/=\r?\n|=\\r\\n/g, "");

describe("a command that fails", () => {
  test("leaves a recording that shows which mail did not arrive and why, without a secret of the run", async () => {
    const home = folder();
    const ended = await dev(home, ["--", process.execPath, "-e", wrapped]);
    expect(ended).toMatchObject({ code: 3, stdout: "made\n" });
    const [, file = ""] = /recorded (\S+)/.exec(ended.stderr) ?? [];
    expect(readFileSync(join(home, ".mailsvc/.gitignore"), "utf8")).toBe("*\n");
    expect(file).toMatch(/^\.mailsvc\/recordings\/\d{8}-\d{6}-[0-9a-f]{6}\.ndjson\.gz$/);
    expect(ended.stderr).toContain("bounced Email to bounced@simulator.mailsvc.test");
    const text = gunzipSync(readFileSync(join(home, file))).toString();
    const lines: { kind: string; [name: string]: unknown }[] = text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    const kinds = new Set(lines.map(({ kind }) => kind));
    for (const kind of [
      "recording",
      "request",
      "clock",
      "fault",
      "log",
      "mail",
      "email",
      "event",
      "delivery",
      "explanation",
      "reset",
      "coverage",
      "end",
    ])
      expect(kinds, kind).toContain(kind);
    const secrets: string[] = JSON.parse(readFileSync(join(home, "secrets.json"), "utf8"));
    expect(secrets.length).toBeGreaterThanOrEqual(4);
    const everything = decodeAll(text);
    for (const secret of secrets) expect(everything).not.toContain(secret);
    expect(everything).toContain("the-users-own-token");
    expect(everything).toContain("before-reset@example.com");

    const viewer = spawn(process.execPath, [program, "dev", "--open", file], { cwd: home, env: { PATH: process.env["PATH"], HOME: home } });
    onTestFinished(() => void viewer.kill("SIGKILL"));
    const { url } = JSON.parse(String(await new Promise((said) => viewer.stdout.once("data", said))));
    const page = await (await fetch(url)).text();
    expect(page).toContain("Email to bounced@simulator.mailsvc.test");
    expect(page).toContain("The mailbox does not exist");
    expect(page).toContain("Exit code 3");
    expect((await fetch(`${url}mail/0`)).status).toBe(200);
    expect((await fetch(`${url}mail/0/source`)).headers.get("content-security-policy")).toContain("sandbox");
    expect((await fetch(`${url}mail/999`)).status).toBe(404);
    expect((await fetch(url, { method: "POST" })).status).not.toBe(200);
    expect((await fetch(url, { headers: { origin: "https://evil.example" } })).status).toBe(403);
    const closed = new Promise((done) => viewer.on("close", done));
    viewer.kill("SIGINT");
    expect(await closed).toBe(0);
  });

  test(
    "keeps the last ten recordings",
    async () => {
      const home = folder();
      const recordings = join(home, ".mailsvc", "recordings");
      mkdirSync(recordings, { recursive: true });
      for (let i = 10; i < 22; i += 1) writeFileSync(join(recordings, `200001${i}-000000-aaaaaa.ndjson.gz`), "");
      await dev(home, ["--", "false"]);
      const left = readdirSync(recordings).sort();
      expect([left.length, left[0]]).toEqual([10, "20000113-000000-aaaaaa.ndjson.gz"]);
    },
    LIMIT,
  );

  test(
    "has its own exit code also if nothing can be written",
    async () => {
      const home = folder();
      writeFileSync(join(home, "file"), "");
      const { code, stderr } = await dev(home, ["--record", "file/run.gz", "--report", "json=file/run.json", "--", "sh", "-c", "exit 9"]);
      expect(code).toBe(9);
      expect(stderr.match(/✗/g)).toHaveLength(2);
    },
    LIMIT,
  );
});

test(
  "mail that is refused over SMTP is in the recording, and coverage counts errors in the words of other APIs",
  async () => {
    const home = folder();
    const script = `(async () => {
      const { RESEND_BASE_URL: url, RESEND_API_KEY: key, SMTP_HOST: host, SMTP_PORT: port } = process.env;
      const call = (address, by, body) => fetch(address, { method: "POST", headers: { authorization: "Bearer " + by, "content-type": "application/json" }, body: JSON.stringify(body) }).then((answer) => answer.json());
      await call(url + "/emails", key, { from: "nobody" });
      const reader = await call(process.env.MAILSVC_URL + "/api/v1/keys", process.env.MAILSVC_API_KEY, { name: "reader", permissions: ["transactional:read"] });
      require("node:fs").writeFileSync("key", reader.key);
      const login = Buffer.from("\\0user\\0" + reader.key).toString("base64");
      const submit = (from) => ["MAIL FROM:<a@acme.example>", "RCPT TO:<ada@example.com>", "DATA", "From: " + from + "\\r\\n\\r\\nHi\\r\\n."];
      const lines = ["EHLO app", "AUTH PLAIN " + login, ...submit("a, b"), ...submit("a@acme.example"), "MAIL FROM:<a@acme.example>", "RCPT TO:<" + "a".repeat(70) + "@example.com>", "QUIT"];
      const socket = require("node:net").connect(Number(port), host);
      socket.on("data", (chunk) => { if (/^\\d{3} /m.test(String(chunk)) && lines.length) socket.write(lines.shift() + "\\r\\n"); });
      await new Promise((ended) => socket.on("close", ended));
    })();`;
    const { code, stderr } = await dev(home, [
      "--record",
      "run.gz",
      "--report",
      "json=run.json",
      "--coverage",
      "--",
      process.execPath,
      "-e",
      script,
    ]);
    expect([code, stderr]).toEqual([0, expect.any(String)]);
    const text = gunzipSync(readFileSync(join(home, "run.gz"))).toString();
    expect(text).not.toContain(readFileSync(join(home, "key"), "utf8"));
    const lines = text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
      .filter(({ kind }) => kind === "smtp");
    expect(lines).toMatchObject([
      { from: "", to: [], size: null, reply: expect.stringMatching(/^550 5\.7\.1 This API key lacks/) },
      {
        from: "a@acme.example",
        to: ["ada@example.com"],
        size: expect.any(Number),
        reply: expect.stringMatching(/^550 5\.6\.0 The From header/),
      },
      {
        from: "a@acme.example",
        to: ["ada@example.com"],
        size: expect.any(Number),
        reply: expect.stringMatching(/^250 2\.0\.0 queued as em_/),
      },
      { from: "a@acme.example", to: [expect.stringMatching(/^a{70}@/)], size: null, reply: expect.stringMatching(/^55/) },
    ]);
    const { summary } = JSON.parse(readFileSync(join(home, "run.json"), "utf8"));
    expect(summary.smtp).toEqual({ 250: 1, 550: 3 });
    expect(summary.coverage.errorCodes.reached).toEqual(expect.arrayContaining(["validation_error", "forbidden"]));
  },
  LIMIT,
);

describe("reports of a run", () => {
  test("are written in each form that is asked for, and CI gets a summary and annotations", async () => {
    const home = folder();
    const env = { GITHUB_ACTIONS: "true", GITHUB_STEP_SUMMARY: join(home, "summary.md") };
    writeFileSync(env.GITHUB_STEP_SUMMARY, "before\n");
    const flags = [
      "--record",
      "run.gz",
      "--report",
      "junit=out/mail.xml",
      "--report",
      "json=out/mail.json",
      "--report",
      "markdown=mail.md",
    ];
    const { code, stderr } = await dev(home, [...flags, "--coverage", "--", process.execPath, "-e", wrapped], env);
    expect(code).toBe(3);
    const junit = readFileSync(join(home, "out", "mail.xml"), "utf8");
    expect(junit).toContain('<testsuite name="mailsvc dev" tests="1" failures="1" skipped="0">');
    expect(junit).toContain("bounced: Email to bounced@simulator.mailsvc.test");
    const json = JSON.parse(readFileSync(join(home, "out", "mail.json"), "utf8"));
    expect(json).toMatchObject({
      exitCode: 3,
      recording: "run.gz",
      summary: { emails: { bounced: 1, delivered: expect.any(Number) }, faults: 1 },
    });
    const { errorCodes, emailStates, emailTransitions, eventTypes } = json.summary.coverage;
    expect(errorCodes.reached).toEqual(expect.arrayContaining(["validation_error", "queue_failed"]));
    expect(errorCodes.never).toContain("slug_taken");
    expect(emailStates.reached).toEqual(["queued", "delivered", "bounced"]);
    expect(emailTransitions.reached).toEqual(["queued → delivered", "queued → bounced"]);
    expect(eventTypes.reached).toContain("email.bounced");
    const summary = readFileSync(env.GITHUB_STEP_SUMMARY, "utf8");
    expect(summary).toMatch(/^before\n### ❌ /);
    expect(summary).toContain("| emails | ");
    expect(summary).toContain("#### Did not arrive");
    expect(readFileSync(join(home, "mail.md"), "utf8")).toBe(summary.slice("before\n".length));
    expect(stderr).toMatch(/^::error title=mailsvc dev::.* ended with exit code 3\. The run is recorded in run\.gz\.$/m);
    expect(stderr).toMatch(/^::notice title=bounced%3A Email to bounced@simulator/m);
    expect(stderr).toMatch(/^error codes {8}\d+ of \d+$/m);
  });

  test(
    "are written of a command that is not started, too",
    async () => {
      const home = folder();
      const env = { GITHUB_STEP_SUMMARY: join(home, "summary.md") };
      const absent = await dev(home, ["--report", "junit=absent.xml", "--", "nosuch-program"], env);
      expect([absent.code, absent.stderr]).toEqual([127, expect.stringContaining("it was not found")]);
      expect(readFileSync(join(home, "absent.xml"), "utf8")).toContain("&quot;nosuch-program&quot; was not started: it was not found.");
      expect(readFileSync(env.GITHUB_STEP_SUMMARY, "utf8")).toContain("| exit code | 127 ");
      writeFileSync(join(home, "plain.txt"), "text", { mode: 0o644 });
      const refused = await dev(home, ["--report", "json=refused.json", "--", "./plain.txt"], env);
      expect([refused.code, refused.stderr]).toEqual([126, expect.stringContaining("it may not be executed")]);
      expect(JSON.parse(readFileSync(join(home, "refused.json"), "utf8"))).toMatchObject({ exitCode: 126, fault: expect.any(String) });
    },
    LIMIT,
  );

  test(
    "tell of a command that succeeds, of which nothing else remains",
    async () => {
      const home = folder();
      const { code, stderr } = await dev(home, ["--report", "junit=mail.xml", "--", "true"]);
      expect([code, stderr.trim().split("\n").length]).toEqual([0, 1]);
      expect(readFileSync(join(home, "mail.xml"), "utf8")).toContain('failures="0"');
      expect(existsSync(join(home, ".mailsvc"))).toBe(false);
    },
    LIMIT,
  );

  test(
    "of a server without a command are written when it stops",
    async () => {
      const home = folder();
      const child = spawn(process.execPath, [program, "dev", "--port", "0", "--plain", "--record", "run.gz", "--coverage"], {
        cwd: home,
        env: { PATH: process.env["PATH"], HOME: home },
      });
      let stderr = "";
      child.stderr.on("data", (part) => {
        stderr += part;
      });
      const closed = new Promise((done) => child.on("close", done));
      await new Promise((said) => child.stdout.once("data", said));
      child.kill("SIGTERM");
      expect(await closed).toBe(0);
      expect(existsSync(join(home, "run.gz"))).toBe(true);
      expect(stderr).toContain("Coverage of the contract");
    },
    LIMIT,
  );

  test.each([
    [["--report", "tap=x", "--", "true"], "--report takes junit=FILE or json=FILE or markdown=FILE"],
    [["--port", "0", "--"], "There is no command after --"],
    [["--open", "x.gz", "--", "true"], "--open shows a recording and runs no command"],
    [["--open", "x.gz"], "There is no file x.gz"],
  ])(
    "refuse %j before anything is started",
    async (argv, why) => {
      expect(await dev(folder(), argv)).toMatchObject({ code: 2, stderr: expect.stringContaining(why) });
    },
    LIMIT,
  );
});
