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

  test("behind dev --, what the shell knows: a command, then files", async () => {
    expect(await offers(["dev", "--"])).toContain("--port");
    expect(await offers(["dev", "--port", "0", "--", "np"])).toEqual([":commands"]);
    expect(await offers(["dev", "--", "npm", ""])).toEqual([":files"]);
    expect(await offers(["dev", "--", "npm", "--", "--w"])).toEqual([":files"]);
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
    const commands = `
      mailsvc() { echo :commands; }
      ${script}
      COMP_LINE="mailsvc dev -- compge"; COMP_POINT=\${#COMP_LINE}
      _mailsvc; printf '<%s>' "\${COMPREPLY[@]}"`;
    expect(spawnSync("bash", ["-c", commands], { encoding: "utf8" })).toMatchObject({ stdout: "<compgen>", stderr: "" });
  });

  // A shell that is not installed on this machine cannot be tried.
  const lacks = (shell: string): boolean => spawnSync(shell, ["--version"]).error !== undefined;

  test.skipIf(lacks("zsh"))("zsh completes a word on its command line, from a file in its fpath and from its start file", async () => {
    const { stdout: script } = await cli(["completion", "zsh"]);
    const start = `PS1="> "; autoload -U compinit; compinit -D -u
      mailsvc() {
        if [[ $1 != __complete ]] { print -r -- "ran<$*>"; return }
        shift 2
        case "$*" in
          *keys:r*) printf 'keys:read\tx: y\n' ;;
          *file*) printf ':files\n' ;;
          *mkfif*) printf ':commands\n' ;;
          *--st*) printf -- '--status\tOnly this one\n' ;;
        esac
      }`;
    for (const way of ["fpath", "source"]) {
      const home = folder();
      writeFileSync(join(home, way === "fpath" ? "_mailsvc" : "script.zsh"), script);
      writeFileSync(join(home, "letter.html"), "");
      writeFileSync(join(home, ".zshrc"), way === "fpath" ? `fpath=(~ $fpath)\n${start}` : `${start}\nsource ~/script.zsh`);
      const type = (line: string) => `zpty -w z $'${line}\t'; zpty -r z said $'*ran<*>\r*'; print -r -- "\${said##*ran}"`;
      const use = `zmodload zsh/zpty; zpty z "zsh -d -i"
        ${type("mailsvc keys create --permission keys:r")}
        ${type("mailsvc emails list --st")}
        ${type("mailsvc send --html-file let")}
        ${type("mailsvc dev -- mkfif")}`;
      const ran = spawnSync("zsh", ["-f", "-c", use], { cwd: home, env: { ...process.env, HOME: home, ZDOTDIR: home }, encoding: "utf8" });
      expect(ran.stdout.replaceAll(/\s+\n/g, "\n")).toContain("<keys create --permission keys:read>");
      expect(ran.stdout).toContain("<emails list --status>");
      expect(ran.stdout).toContain("<send --html-file letter.html>");
      expect(ran.stdout).toContain("<dev -- mkfifo>");
    }
  });

  test.skipIf(lacks("fish"))("fish offers what the program answers, with its descriptions", async () => {
    const { stdout: script } = await cli(["completion", "fish"]);
    const home = folder();
    writeFileSync(join(home, "letter.html"), "");
    const use = `function mailsvc
        string join ' ' -- $argv >&2
        string match -q '*mkfif*' -- "$argv"; and echo ':commands'; and return
        string match -q '*file*' -- "$argv"; and echo ':files'; or printf 'keys:read\\tRead keys\\nkeys:write\\ty\\n'
      end
      ${script.replace("2>/dev/null)", ")")}
      complete -C "mailsvc keys create --permission keys:r"
      complete -C "mailsvc keys "
      complete -C "mailsvc send --html-file let"
      complete -C "mailsvc dev -- mkfif"`;
    const ran = spawnSync("fish", ["--no-config", "-c", use], { cwd: home, env: { ...process.env, HOME: home }, encoding: "utf8" });
    expect(ran.stderr.trim().split("\n")).toEqual([
      ...["__complete -- keys create --permission keys:r", "__complete -- keys ", "__complete -- send --html-file let"],
      "__complete -- dev -- mkfif",
    ]);
    expect(ran.stdout.trim().split("\n")).toEqual([
      ...["keys:read\tRead keys", "keys:read\tRead keys", "keys:write\ty"],
      expect.stringMatching(/^letter\.html/),
      expect.stringMatching(/^mkfifo/),
    ]);
  });
});
