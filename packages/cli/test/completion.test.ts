import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { SHELLS } from "../src/commands/completion.ts";
import { cli, folder } from "./harness.ts";
import { startCliWithServer } from "./world.ts";

const offers = async (words: readonly string[], home?: string): Promise<string[]> => {
  const { stdout } = await cli(["__complete", "--", ...words], home === undefined ? {} : { home });
  return stdout.split("\n").flatMap((line) => (line === "" ? [] : [line.split("\t")[0] ?? ""]));
};

describe("what is offered", () => {
  test("nouns, then verbs", async () => {
    expect(await offers(["em"])).toEqual(["emails"]);
    expect(await offers(["emails", ""])).toEqual(["batch", "list", "get", "cancel", "reschedule", "requeue"]);
  });

  test("flags of the command and those of all commands, each once unless it may be repeated", async () => {
    expect(await offers(["emails", "list", "--st"])).toEqual(["--status"]);
    expect(await offers(["send", "--subject", "x", "--sub"])).toEqual([]);
    expect(await offers(["send", "--to", "a@x.example", "--to"])).toEqual(["--to", "--together"]);
    expect(await offers(["jobs", "retry", "--idem"])).toEqual(["--idempotency-key"]);
  });

  test("the words an enum takes, also behind =", async () => {
    expect(await offers(["emails", "list", "--status", "de"])).toEqual(["delivered", "deferred"]);
    expect(await offers(["emails", "list", "--status=bou"])).toEqual(["--status=bounced"]);
    expect(await offers(["keys", "create", "--permission", "keys:"])).toEqual(["keys:read", "keys:write"]);
  });

  test("the ids of emails, explained by recipient and subject", async () => {
    const { mailsvc, world } = await startCliWithServer();
    const sent = await world.sdk.emails.send({ from: "a@acme.test", to: "ada@example.com", subject: "Hello", text: "Hi" });
    const { stdout } = await mailsvc(["__complete", "--", "emails", "get", ""]);
    expect(stdout).toContain(`${sent.id}\tada@example.com Hello`);
  });

  test("profiles, settings, shells and files", async () => {
    const home = folder();
    mkdirSync(join(home, ".config", "mailsvc"), { recursive: true });
    writeFileSync(join(home, ".config", "mailsvc", "config.json"), JSON.stringify({ profile: "a", profiles: { a: {}, staging: {} } }));
    expect(await offers(["whoami", "--profile", "s"], home)).toEqual(["staging"]);
    expect(await offers(["config", "get", ""])).toEqual(["profile", "url", "api-key", "timeout"]);
    expect(await offers(["completion", "p"])).toEqual(["pwsh"]);
    expect(await offers(["api", "P"])).toEqual(["POST", "PUT", "PATCH"]);
    expect(await offers(["send", "--html-file", ""])).toEqual([":files"]);
    expect(await offers(["serve", "--por"])).toEqual(["--port"]);
  });
});

describe("scripts", () => {
  test.each(SHELLS)("%s asks the program itself", async (shell) => {
    const { stdout, code } = await cli(["completion", shell]);
    expect(code).toBe(0);
    expect(stdout).toContain("mailsvc __complete --");
  });

  test("bash reads its script and offers what the program answers", async () => {
    const { stdout: script } = await cli(["completion", "bash"]);
    expect(spawnSync("bash", ["-n"], { input: script, encoding: "utf8" })).toMatchObject({ status: 0, stderr: "" });
    const use = `
      mailsvc() { echo "$@" >&2; printf 'keys:read\\tx\\nkeys:write\\ty\\n'; }
      ${script.replace("2>/dev/null)", ")")}
      COMP_LINE="mailsvc keys create --permission keys:"; COMP_POINT=\${#COMP_LINE}
      _mailsvc; printf '<%s>' "\${COMPREPLY[@]}"`;
    const ran = spawnSync("bash", ["-c", use], { encoding: "utf8" });
    expect(ran.stderr.trim()).toBe("__complete -- keys create --permission keys:");
    expect(ran.stdout).toBe("<read><write>");
  });
});
