import { describe, expect, test } from "vitest";
import { toFailure } from "../src/runtime/errors.ts";
import { EXIT } from "../src/runtime/exit.ts";
import { cli, TERMINAL } from "./harness.ts";
import { startCliWithServer } from "./world.ts";

describe("what the program itself does", () => {
  test("a verb without its noun is shown with it, and version is --version", async () => {
    const reset = await cli(["reset"]);
    expect([reset.code, reset.stderr]).toEqual([2, expect.stringContaining("Did you mean mailsvc world reset?")]);
    expect(reset.stderr).not.toContain("assets");
    expect(await cli(["version"])).toMatchObject({ code: 0, stdout: "0.1.0\n" });
  });

  test("an answer that is nested too deeply is the server's fault, not a crash", async () => {
    const deep = `${'{"a":'.repeat(300_000)}1${"}".repeat(300_000)}`;
    for (const status of [200, 400]) {
      const fetch: typeof globalThis.fetch = async () => new Response(deep, { status, headers: { "content-type": "application/json" } });
      const failed = await cli(["emails", "list"], { env: { MAILSVC_API_KEY: "ms_live_x" }, fetch });
      expect(failed.stderr).not.toContain("bug in mailsvc");
      expect(failed.code).toBe(status === 200 ? 9 : 3);
    }
  });

  test.each<[string, boolean]>([
    ["http://mail.example.com", true],
    ["http://203.0.113.7:2526", true],
    ["https://mail.example.com", false],
    ["http://127.0.0.1:2526", false],
    ["http://10.1.2.3:2526", false],
    ["http://mailsvc:2526", false],
    ["http://[::1]:2526", false],
  ])("a key that is sent to %s is warned of: %s", async (url, warned) => {
    const fetch: typeof globalThis.fetch = async () => Response.json({});
    const { stderr } = await cli(["whoami", "--quiet"], { env: { MAILSVC_URL: url, MAILSVC_API_KEY: "ms_live_x" }, fetch });
    expect(stderr.includes("unencrypted")).toBe(warned);
  });

  test("help send is send --help", async () => {
    expect((await cli(["help", "send"])).stdout).toBe((await cli(["send", "--help"])).stdout);
    expect((await cli(["help"])).stdout).toBe((await cli(["--help"])).stdout);
  });

  test("-v alone is the version, and help for what is no command says so", async () => {
    expect((await cli(["-v"])).stdout).toBe("0.1.0\n");
    for (const argv of [
      ["help", "nope"],
      ["nope", "--help"],
    ]) {
      const refused = await cli(argv);
      expect([refused.code, refused.stdout, refused.stderr]).toEqual([2, "", expect.stringContaining("There is no command mailsvc nope.")]);
    }
    expect((await cli(["help", "emails", "lst"])).stderr).toContain("Did you mean mailsvc emails list?");
    expect((await cli(["emails", "list", "--help"])).code).toBe(0);
  });

  test("errors explains one code", async () => {
    const { code, json } = await cli(["errors", "sender_not_verified"]);
    expect([code, json]).toEqual([
      0,
      { code: "sender_not_verified", status: 400, exit: 3, cause: expect.any(String), hint: expect.any(String) },
    ]);
    const wrong = await cli(["errors", "sender_not_verifed"]);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("Did you mean sender_not_verified?")]);
  });

  test("a terminal whose size nobody has set shows all columns", async () => {
    const { mailsvc } = await startCliWithServer();
    await mailsvc(["contacts", "create", "--email", "ada@example.com"]);
    const shown = await mailsvc(["contacts", "list"], { tty: TERMINAL, columns: 0, env: { NO_COLOR: "1" } });
    expect(shown.stdout).toContain("ada@example.com");
  });

  test("what is missing is looked for in its own list", async () => {
    const { mailsvc } = await startCliWithServer();
    const missing = await mailsvc(["lists", "add", "Nobody", "--contact-id", "con_01jc3v2m9k8q4w6x0y5z7a1b2c"]);
    expect(missing.code).not.toBe(0);
    const gone = await mailsvc(["contacts", "get", "con_01jc3v2m9k8q4w6x0y5z7a1b2c"]);
    expect([gone.code, gone.stderr]).toEqual([6, expect.stringContaining("try mailsvc contacts list")]);
  });

  test("erasing a development server asks first", async () => {
    const { mailsvc } = await startCliWithServer();
    await mailsvc(["world", "snapshot", "before"]);
    for (const argv of [
      ["world", "reset"],
      ["world", "restore", "before"],
    ]) {
      expect(await mailsvc(argv)).toMatchObject({ code: 2, stderr: expect.stringContaining("--yes") });
      expect((await mailsvc([...argv, "--yes"])).code).toBe(0);
    }
  });

  test("a crash is told from a failure of the server by its exit code", () => {
    expect(toFailure(new TypeError("x is not a function"))).toMatchObject({ code: "internal_error", exit: 70 });
  });

  test("a fault that a retry hides is said, unless --quiet", async () => {
    const { mailsvc } = await startCliWithServer();
    const fault = ["faults", "add", "--path", "/api/v1/me", "--code", "queue_failed", "--count", "1"];
    expect((await mailsvc(fault)).code).toBe(0);
    const { code, stderr } = await mailsvc(["whoami"]);
    expect([code, stderr]).toEqual([0, expect.stringContaining("retrying in")]);
    await mailsvc(fault);
    expect((await mailsvc(["whoami", "--quiet"])).stderr).toBe("");
  });

  test("an email that bounces is exit 12, one of several exit 11", async () => {
    const { mailsvc } = await startCliWithServer();
    const send = (...to: string[]) =>
      mailsvc(["send", "--from", "a@acme.test", "--subject", "s", "--text", "t", "--wait", ...to.flatMap((address) => ["--to", address])]);
    expect((await send("bounced@simulator.mailsvc.test")).code).toBe(EXIT.undelivered);
    expect((await send("bounced+2@simulator.mailsvc.test", "ada@example.com")).code).toBe(EXIT.partial);
  });

  test("an email that waits says for what, with the command that goes on", async () => {
    const { mailsvc, world } = await startCliWithServer();
    const operator = { env: { MAILSVC_OPERATOR_KEY: world.operatorKey } };
    const send = (setup = {}) =>
      mailsvc(["send", "--from", "a@acme.test", "--to", "ada@example.com", "--subject", "s", "--text", "t", "--wait", "100ms"], setup);
    await mailsvc(["queue", "pause"], operator);
    const paused = await send();
    expect(paused).toMatchObject({ code: 10, stderr: expect.stringContaining("All sending is paused since") });
    expect(paused.stderr).toContain("mailsvc queue resume");
    const { stderr } = await mailsvc(["emails", "get", paused.json.id]);
    expect(stderr).toContain("Go on with: mailsvc queue resume");
    await mailsvc(["queue", "resume"], operator);
    await mailsvc(["queue", "hold", "--domain", "example.com"], operator);
    const held = await send(operator);
    expect(held).toMatchObject({ code: 10, stderr: expect.stringContaining("Mail to example.com is held.") });
    expect(held.stderr).toContain("mailsvc queue release --domain example.com");
    await mailsvc(["queue", "release", "--domain", "example.com"], operator);
    const late = await mailsvc([
      "send",
      "--from",
      "a@acme.test",
      "--to",
      "b@example.com",
      "--subject",
      "s",
      "--text",
      "t",
      "--schedule",
      "in 1h",
    ]);
    expect((await mailsvc(["emails", "get", late.json.id])).stderr).toContain("Go on with: mailsvc clock thaw");
  });

  test("commands shows a part of the tree, indented, with the global options once", async () => {
    const { json, stdout } = await cli(["commands", "emails", "--json"]);
    expect(json.commands.map((c: { name: string }) => c.name)).toEqual(["batch", "list", "get", "cancel", "reschedule", "requeue"]);
    expect(stdout).toContain('\n  "command": "mailsvc emails"');
    expect(json.globalOptions.map((o: { flag: string }) => o.flag)).toContain("--json");
    expect(stdout.match(/"--api-key"/g)).toHaveLength(1);
    expect((await cli(["commands", "nope"])).code).toBe(2);
  });
});
