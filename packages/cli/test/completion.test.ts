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

  // A shell that is not installed on this machine cannot be tried.
  const lacks = (shell: string): boolean => spawnSync(shell, ["--version"]).error !== undefined;
  const use = (shell: string, argv: readonly string[], home: string) =>
    spawnSync(shell, argv, { cwd: home, env: { ...process.env, HOME: home, ZDOTDIR: home }, encoding: "utf8", timeout: 60_000 });

  test.skipIf(lacks("zsh")).each(["fpath", "source"])("zsh completes words on its command line, with the script by %s", async (way) => {
    const { stdout: script } = await cli(["completion", "zsh"]);
    const home = folder();
    writeFileSync(join(home, way === "fpath" ? "_mailsvc" : "script.zsh"), script);
    writeFileSync(join(home, "letter.html"), "");
    const start = `
      ${way === "fpath" ? "fpath=(~ $fpath)" : ""}
      autoload -U compinit; compinit -D -u
      ${way === "fpath" ? "" : "source ~/script.zsh"}
      mailsvc() {
        if [[ $1 != __complete ]] { print -r -- "ran<$*>"; return }
        case "$*" in
          "__complete -- ke") printf 'keys\tKeys\n' ;;
          *" keys:r") printf 'keys:read\tx: y\n' ;;
          *" --st") printf -- '--status\tOnly this one\n' ;;
          *file*) printf ':files\n' ;;
        esac
      }`;
    writeFileSync(join(home, ".zshrc"), start);
    const lines = {
      ke: "keys",
      "keys create --permission keys:r": "keys create --permission keys:read",
      'keys create --permission "keys:r': "keys create --permission keys:read",
      "emails list --st": "emails list --status",
      "send --html-file let": "send --html-file letter.html",
      "send --html-file=let": "send --html-file=letter.html",
    };
    // Each line is typed with a tab and return, and what then ran is read.
    const typed = Object.keys(lines).map(
      (line) => `zpty -w z $'mailsvc ${line}\t'; zpty -r z said $'*ran<*>\r*'; said=\${said##*ran<}; print -r -- "\${said%>*}"`,
    );
    const ran = use("zsh", ["-f", "-c", ["zmodload zsh/zpty; zpty z 'zsh -d -i'", ...typed].join("\n")], home);
    expect(ran.stdout.trimEnd().split("\n")).toEqual(Object.values(lines));
  });

  test.skipIf(lacks("fish"))("fish offers what the program answers, with its descriptions", async () => {
    const { stdout: script } = await cli(["completion", "fish"]);
    const home = folder();
    writeFileSync(join(home, "letter.html"), "");
    const lines = ["keys create --permission keys:r", "keys ", "send --html-file let", "send --html-file=let"];
    const start = `
      function mailsvc
        string join ' ' -- $argv >&2
        string match -q '*file*' -- "$argv"; and echo ':files'; or printf '%s\\t%s\\n' keys:read 'Read keys' keys:write y
      end
      ${script.replace("2>/dev/null)", ")")}`;
    const ran = use("fish", ["--no-config", "-c", [start, ...lines.map((line) => `complete -C 'mailsvc ${line}'`)].join("\n")], home);
    expect(ran.stderr.trimEnd().split("\n")).toEqual(lines.map((line) => `__complete -- ${line}`));
    expect(ran.stdout.trimEnd().split("\n")).toEqual([
      ...["keys:read\tRead keys", "keys:read\tRead keys", "keys:write\ty"],
      ...[expect.stringMatching(/^letter\.html/), expect.stringMatching(/^--html-file=letter\.html/)],
    ]);
  });
});
