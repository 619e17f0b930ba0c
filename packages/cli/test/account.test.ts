import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DEFAULT_URL } from "@mailsvc/sdk";
import { describe, expect, test } from "vitest";
import { FALLBACK_URL } from "../src/runtime/settings.ts";
import { cli, folder, TERMINAL } from "./harness.ts";
import { startCliWithServer } from "./world.ts";

const configOf = (home: string): string => join(home, ".config", "mailsvc", "config.json");
const NO_ENV = { MAILSVC_URL: "", MAILSVC_API_KEY: "" };

describe("login", () => {
  test("keeps a checked key where only its owner can read it, and later commands use it", async () => {
    const { mailsvc, world } = await startCliWithServer();
    const home = folder();
    const done = await mailsvc(["login", "--url", world.url, "--with-key"], { home, env: NO_ENV, stdin: `${world.apiKey}\n` });
    expect(done.json).toMatchObject({ profile: "default", url: world.url, workspace: { id: world.workspaceId } });
    expect(done.stdout + done.stderr).not.toContain(world.apiKey);
    expect(statSync(configOf(home)).mode & 0o777).toBe(0o600);
    expect(statSync(join(home, ".config", "mailsvc")).mode & 0o777).toBe(0o700);
    expect((await mailsvc(["whoami"], { home, env: NO_ENV })).json.workspace.id).toBe(world.workspaceId);
    expect((await mailsvc(["logout"], { home, env: NO_ENV })).json.removed).toEqual(["default"]);
    expect((await mailsvc(["whoami"], { home, env: NO_ENV })).code).toBe(4);
  });

  test("refuses a key the server does not know, and keeps nothing", async () => {
    const { mailsvc, world } = await startCliWithServer();
    const home = folder();
    const failed = await mailsvc(["login", "--url", world.url, "--api-key", "ms_live_wrong0123456789"], { home, env: NO_ENV });
    expect(failed.code).toBe(4);
    expect(existsSync(configOf(home))).toBe(false);
  });

  test("asks for the key at a terminal without showing it", async () => {
    const { mailsvc, world } = await startCliWithServer();
    const done = await mailsvc(["login", "--url", world.url], {
      tty: TERMINAL,
      env: { ...NO_ENV, NO_COLOR: "1" },
      answers: [world.apiKey],
    });
    expect(done.code).toBe(0);
    expect(done.stdout).toContain("Logged in");
    expect(done.stderr).not.toContain(world.apiKey);
  });

  test("without a terminal and without a key says which flags give one", async () => {
    expect((await cli(["login"])).stderr).toContain("--with-key");
  });
});

test("a key whose time is over says so, by the server's clock", async () => {
  const { mailsvc, world } = await startCliWithServer();
  await world.sdk.keys.create({ name: "contractor", permissions: ["keys:read"], expiresAt: "2026-02-01T00:00:00.000Z" });
  const list = async () => (await mailsvc(["keys", "list"], { tty: TERMINAL, env: { NO_COLOR: "1" } })).stdout;
  expect(await list()).toMatch(/contractor.*until 2026-02-01/);
  await world.clock.advance("60d");
  expect(await list()).toMatch(/contractor.*expired on 2026-02-01/);
});

const withProfiles = (): string => {
  const home = folder();
  mkdirSync(join(home, ".config", "mailsvc"), { recursive: true });
  const profiles = {
    default: { url: "http://one.test", "api-key": "ms_live_one0123456789" },
    two: { url: "http://two.test", "api-key": "ms_live_two0123456789", timeout: "5s" },
  };
  writeFileSync(configOf(home), JSON.stringify({ profile: "default", profiles }), { mode: 0o600 });
  return home;
};

describe("settings", () => {
  test("a flag wins over the environment, the environment over the profile, the profile over the default", async () => {
    const home = withProfiles();
    const url = async (argv: string[], env: Record<string, string> = {}): Promise<string> =>
      (await cli(["config", "get", "url", ...argv], { home, env })).json.value;
    expect(await url([])).toBe("http://one.test");
    expect(await url(["--profile", "two"])).toBe("http://two.test");
    expect(await url([], { MAILSVC_PROFILE: "two" })).toBe("http://two.test");
    expect(await url([], { MAILSVC_URL: "http://env.test" })).toBe("http://env.test");
    expect(await url(["--url", "http://flag.test"], { MAILSVC_URL: "http://env.test" })).toBe("http://flag.test");
    expect((await cli(["config", "get", "url"])).json.value).toBe("http://127.0.0.1:2526");
  });

  test("explain names every place a value could come from", async () => {
    const explained = await cli(["config", "explain", "url", "--url", "http://flag.test"], {
      home: withProfiles(),
      env: { MAILSVC_URL: "http://env.test" },
    });
    expect(explained.json.origins.map((o: { source: string; used: boolean }) => [o.source, o.used])).toEqual([
      ["flag", true],
      ["env", false],
      ["profile", false],
      ["default", false],
    ]);
  });

  test("a stored key is not sent to another server than its own", async () => {
    const home = withProfiles();
    const asked: string[] = [];
    const fetch = (async (url: string) => {
      asked.push(url);
      return Response.json({});
    }) as typeof globalThis.fetch;
    const failed = await cli(["whoami", "--url", "http://elsewhere.test"], { home, fetch });
    expect(failed.code).toBe(4);
    expect(failed.stderr).toContain('The key of profile "default" is for http://one.test');
    expect(asked).toEqual([]);
    expect((await cli(["api", "GET", "/healthz", "--url", "http://elsewhere.test"], { home, fetch })).code).toBe(0);
    expect(asked).toEqual(["http://elsewhere.test/healthz"]);
  });

  test("set, switch and unset change the file and nothing else", async () => {
    const home = withProfiles();
    expect((await cli(["config", "set", "timeout", "2m"], { home })).json).toMatchObject({ key: "timeout", value: "2m" });
    expect((await cli(["config", "set", "profile", "two"], { home })).code).toBe(0);
    expect((await cli(["config", "unset", "timeout"], { home })).code).toBe(0);
    expect(JSON.parse(readFileSync(configOf(home), "utf8"))).toEqual({
      profile: "two",
      profiles: {
        default: { url: "http://one.test", "api-key": "ms_live_one0123456789", timeout: "2m" },
        two: { url: "http://two.test", "api-key": "ms_live_two0123456789" },
      },
    });
  });

  test.each([
    [["config", "set", "url", "nowhere"], "not a server URL"],
    [["config", "set", "timeout", "soon"], "not a duration"],
    [["config", "set", "profile", "three"], "not one of default, two"],
    [["whoami", "--profile", "three"], 'Profile "three" not found.'],
    [["login", "--profile", "../x", "--api-key", "k"], "not a profile name"],
  ])("%j is refused", async (argv, said) => {
    const failed = await cli(argv, { home: withProfiles() });
    expect(failed.code).toBe(2);
    expect(failed.stderr).toContain(said);
  });

  test("keys are shown by their ends only", async () => {
    const home = withProfiles();
    const shown = [
      await cli(["profiles"], { home }),
      await cli(["config", "list"], { home }),
      await cli(["config", "get", "api-key"], { home }),
    ];
    for (const { stdout } of shown) {
      expect(stdout).toContain("ms_live_on…6789");
      expect(stdout).not.toContain("ms_live_one0123456789");
    }
    expect((await cli(["config", "get", "api-key", "--show-key"], { home })).json.value).toBe("ms_live_one0123456789");
  });

  test("the file is looked for where each system keeps such files", async () => {
    const path = async (env: Record<string, string>, platform: NodeJS.Platform): Promise<string> =>
      (await cli(["config", "path"], { env, platform, home: "/home/ada", cwd: "/" })).json.path;
    expect(await path({}, "linux")).toBe("/home/ada/.config/mailsvc/config.json");
    expect(await path({ XDG_CONFIG_HOME: "/x" }, "linux")).toBe("/x/mailsvc/config.json");
    expect(await path({ XDG_CONFIG_HOME: "relative" }, "darwin")).toBe("/home/ada/.config/mailsvc/config.json");
    expect(await path({ APPDATA: "C:\\Roaming" }, "win32")).toBe("C:\\Roaming\\mailsvc\\config.json");
    expect(await path({ MAILSVC_CONFIG: "/etc/m.json" }, "linux")).toBe("/etc/m.json");
  });

  test("a broken file is named, and commands that need no settings still work", async () => {
    const home = withProfiles();
    writeFileSync(configOf(home), "{");
    const failed = await cli(["emails", "list"], { home });
    expect(failed.code).toBe(2);
    expect(failed.stderr).toContain(configOf(home));
    expect((await cli(["errors"], { home })).code).toBe(0);
  });
});

describe("doctor", () => {
  test("all is well", async () => {
    const { mailsvc } = await startCliWithServer();
    const { code, json } = await mailsvc(["doctor"]);
    expect(code).toBe(0);
    expect(json.ok).toBe(true);
    expect(json.checks.map((c: { name: string; status: string }) => `${c.name} ${c.status}`)).toEqual([
      "node ok",
      "config ok",
      "server ok",
      "key ok",
      "version ok",
      "mailer ok",
      "smtp skipped",
    ]);
  });

  test.each([
    ["0.0.9", "All of this program works."],
    ["0.2.0", "Update the server."],
  ])("a program of version %s beside a server of another one is told: %s", async (version, hint) => {
    const { mailsvc } = await startCliWithServer();
    const { code, json } = await mailsvc(["doctor"], { version });
    expect(code).toBe(0);
    expect(json.checks).toContainEqual({
      name: "version",
      status: "warn",
      detail: `the server is 0.1.0, this program is ${version}`,
      hint: expect.stringContaining(hint),
    });
  });

  test("names the ports that take mail over SMTP, and warns of one that is full", async () => {
    const { mailsvc, world } = await startCliWithServer();
    const { submissionPorts } = world.app.deps;
    const smtp = async () => (await mailsvc(["doctor"])).json.checks.find((c: { name: string }) => c.name === "smtp");
    let full = false;
    submissionPorts.add({ port: 587, isFull: () => full }, "starttls");
    submissionPorts.add({ port: 465, isFull: () => false }, "implicit");
    expect(await smtp()).toEqual({ name: "smtp", status: "ok", detail: "takes mail at port 587 with STARTTLS and port 465 with TLS" });
    full = true;
    expect(await smtp()).toEqual({
      name: "smtp",
      status: "warn",
      detail: "port 587 has all the connections it may have",
      hint: "End those that hang, or add a server.",
    });
  });

  test("says why the server is not ready", async () => {
    const { mailsvc, world } = await startCliWithServer();
    world.app.deps.storage.lowDisk = "The disk is nearly full.";
    const { code, json } = await mailsvc(["doctor", "--timeout", "1s"]);
    expect(code).toBe(9);
    expect(json.checks).toContainEqual(expect.objectContaining({ name: "ready", status: "fail", detail: "The disk is nearly full." }));
    world.app.deps.storage.lowDisk = null;
  });

  test("the exit code is that of the first failure, and what depends on it is skipped", async () => {
    const { mailsvc, world } = await startCliWithServer();
    const wrongKey = await mailsvc(["doctor"], { env: { MAILSVC_API_KEY: "ms_live_wrong0123456789" } });
    expect(wrongKey.code).toBe(4);
    expect(wrongKey.json.checks.find((c: { name: string }) => c.name === "key").status).toBe("fail");
    const noServer = await cli(["doctor", "--timeout", "300ms"], {
      env: { MAILSVC_URL: world.url },
      fetch: (async () => {
        throw new TypeError("fetch failed");
      }) as typeof fetch,
    });
    expect(noServer.code).toBe(10);
    expect(noServer.json.checks.map((c: { status: string }) => c.status)).toEqual(["ok", "ok", "fail", "skipped", "skipped"]);
  });

  test("a check that cannot be made hides no other finding", async () => {
    const { mailsvc, world } = await startCliWithServer();
    const fetch = (async (input: string, init?: RequestInit) => {
      if (String(input).endsWith("/me/relays")) throw new TypeError("fetch failed");
      return world.fetch(input, init);
    }) as typeof globalThis.fetch;
    const { code, json } = await mailsvc(["doctor", "--timeout", "1s"], { fetch });
    expect(code).toBe(10);
    const states = json.checks.map((c: { name: string; status: string }) => `${c.name} ${c.status}`);
    expect(states).toEqual(expect.arrayContaining(["key ok", "mailer ok", "smtp skipped", "relay fail"]));
  });

  test("jobs of a kind that the server does not know are a warning, and listed by their state", async () => {
    const { mailsvc, world } = await startCliWithServer();
    const { db, queue } = world.app.deps;
    await db.tx((tx) => queue.enqueue(tx, { kind: "wakeup.renamed", payload: { workspaceId: world.workspaceId } }));
    await world.settle();
    const { code, json } = await mailsvc(["doctor"]);
    expect([code, json.ok]).toEqual([0, true]);
    expect(json.checks.find((c: { name: string }) => c.name === "jobs")).toEqual({
      name: "jobs",
      status: "warn",
      detail: "1 job waits: the server does not know the kind",
      hint: "See them: mailsvc jobs list --state unhandled. A version that knows the kind runs them.",
    });
    const listed = await mailsvc(["jobs", "list", "--state", "unhandled"]);
    expect(listed.json.data).toMatchObject([{ kind: "wakeup.renamed", state: "unhandled" }]);
  });

  test("a workspace without a name of its own is a warning, and so is a campaign that leaves from it", async () => {
    const { mailsvc, world } = await startCliWithServer();
    expect((await mailsvc(["doctor"])).json.checks).not.toContainEqual(expect.objectContaining({ name: "name" }));
    await world.sdk.brand.update({ name: "default" });
    const { code, json } = await mailsvc(["doctor"]);
    expect(code).toBe(0);
    expect(json.checks).toContainEqual({
      name: "name",
      status: "warn",
      detail: "mail and pages name no sender",
      hint: 'Name it: mailsvc brand update --name "Acme"',
    });
    expect((await mailsvc(["campaigns", "send", "cmp_none"])).stderr).toContain('mailsvc brand update --name "Acme"');
  });

  test("a config file others may read is a warning, with the command that closes it", async () => {
    const home = withProfiles();
    chmodSync(configOf(home), 0o644);
    const { json } = await cli(["doctor", "--timeout", "200ms", "--url", "http://127.0.0.1:1"], { home });
    expect(json.checks[1]).toMatchObject({ name: "config", status: "warn", hint: `chmod 600 ${configOf(home)}` });
  });
});

describe("a dev.json", () => {
  const server = { url: "http://127.0.0.1:4711", apiKey: "ms_dev_x", pid: process.pid };
  const explain = async (content: object, mode = 0o600) => {
    const cwd = folder();
    mkdirSync(join(cwd, ".mailsvc"));
    const path = join(cwd, ".mailsvc/dev.json");
    writeFileSync(path, JSON.stringify(content));
    chmodSync(path, mode);
    const { stdout, stderr } = await cli(["env"], { cwd });
    return { isUsed: stdout.includes(server.url), stderr };
  };

  test("of a running server is used without a word", async () => {
    expect(await explain(server)).toEqual({ isUsed: true, stderr: "" });
  });

  test("of a server that is gone is passed over without a word", async () => {
    expect(await explain({ ...server, pid: 2 ** 22 + 1 })).toEqual({ isUsed: false, stderr: "" });
  });

  test("that cannot be looked up is passed over without a word", async () => {
    const cwd = folder();
    // As for a folder of another user, the system refuses; a link to itself is refused for root too.
    symlinkSync(".mailsvc", join(cwd, ".mailsvc"));
    const { code, stdout, stderr } = await cli(["env"], { cwd });
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toContain(FALLBACK_URL);
  });

  test.each<[string, object, number?]>([
    ["of pid 0", { ...server, pid: 0 }],
    ["of pid -1", { ...server, pid: -1 }],
    ["of pid 1", { ...server, pid: 1 }],
    ["of half a pid", { ...server, pid: process.pid + 0.5 }],
    ["without a key", { ...server, apiKey: undefined }],
    ["of another machine", { ...server, url: "http://mail.example.com" }],
    ["that others may read", server, 0o644],
    ["that others may write", server, 0o620],
  ])("%s is ignored with a warning", async (_what, content, mode) => {
    expect(await explain(content, mode)).toEqual({ isUsed: false, stderr: expect.stringMatching(/^ignored .*dev\.json: /) });
  });
});

test("the address taken when nothing is said is the SDK's own", () => {
  expect(FALLBACK_URL).toBe(DEFAULT_URL);
});

test("the operator key manages workspaces; a new one's owner key is shown once", async () => {
  const { world, mailsvc } = await startCliWithServer();
  const env = { MAILSVC_OPERATOR_KEY: world.operatorKey, NO_COLOR: "1" };
  const created = await mailsvc(["workspaces", "create", "--name", "Acme"], { env, tty: TERMINAL });
  expect(created.stdout).toMatch(/^id +ws_\w+\nname +Acme\n\nms_dev_\w+\nThe owner key\. Store it now/);
  expect((await mailsvc(["workspaces", "list"], { env, tty: TERMINAL })).stdout).toMatch(/^ID +NAME +CREATED \(UTC\)\n(?:.*\n)*.*Acme/);
  const { code, stderr } = await mailsvc(["workspaces", "list"]);
  expect([code, stderr]).toEqual([4, expect.stringContaining("MAILSVC_OPERATOR_KEY")]);
});
