import { describe, expect, test } from "vitest";
import { cli } from "./harness.ts";

const REMOTE = { MAILSVC_URL: "http://mailsvc.test", MAILSVC_API_KEY: "ms_live_0123456789abcdef" };

describe("wrong usage is exit 2", () => {
  const wrong: [string, string[], string][] = [
    ["an unknown command", ["emials"], "Did you mean emails?"],
    ["an unknown verb", ["emails", "lst"], "Did you mean list?"],
    ["an unknown flag", ["emails", "list", "--staus", "x"], "Did you mean --status?"],
    ["a word that is no choice", ["emails", "list", "--status", "bounce"], "Did you mean bounced?"],
    ["a number that is none", ["emails", "list", "--limit", "many"], '--limit: "many" is not a number.'],
    ["a duration that is none", ["whoami", "--timeout", "soon"], "Write 500ms, 30s, 15m or 2h."],
    ["an instant without a zone", ["emails", "reschedule", "em_1", "--scheduled-at", "2030-01-01T00:00:00"], "--scheduled-at"],
    ["an address of a server that is none", ["whoami", "--url", "localhost:1"], '--url: "localhost:1" is not a server URL.'],
    ["a key in the address", ["whoami", "--url", "http://me:secret@x.example"], "--api-key"],
    ["a path that would climb", ["emails", "get", ".."], "<id> must not be"],
    ["a missing argument", ["emails", "get"], "Missing required argument 'id'."],
    ["an argument too many", ["emails", "list", "x"], "Too many arguments"],
    ["a value for a flag without one", ["lists", "create", "x", "--public", "false"], "--public takes no value: write --no-public."],
    ["the value that a flag has anyway", ["lists", "create", "--public", "true", "x"], "--public takes no value: write --public alone."],
    [
      "a value beside a flag that gives the argument",
      ["lists", "create", "--public", "false", "--name", "x"],
      "--public takes no value: write --no-public.",
    ],
    ["a value that would be the argument", ["lists", "create", "--public", "false"], "--public takes no value: write --no-public."],
    ["a value for a flag without an opposite", ["emails", "list", "--json", "false"], "--json takes no value: leave it out."],
    ["a file that is not there", ["send", "--html-file", "nope.html"], "--html-file: nope.html: no such file."],
    ["a body that is no JSON", ["faults", "add", "--data", "{"], "--data: this is not JSON"],
    ["a body that is no object", ["faults", "add", "--data", "[]"], "--data must be a JSON object"],
    ["a pair without a value", ["send", "--tag", "kind"], "--tag kind=welcome"],
    ["an idempotency key with spaces", ["jobs", "retry", "1", "--idempotency-key", "a b"], "1 to 255"],
    ["a shell nobody knows", ["completion", "tcsh"], "bash, zsh, fish, pwsh"],
    ["a setting nobody knows", ["config", "get", "colour"], "profile, url, api-key, timeout"],
    [
      "--wait with --schedule",
      [
        "send",
        "--from",
        "a@x.example",
        "--to",
        "b@x.example",
        "--subject",
        "s",
        "--text",
        "t",
        "--wait",
        "--schedule",
        "2030-01-01T00:00:00Z",
      ],
      "--wait cannot",
    ],
  ];
  test.each(wrong)("%s", async (_name, argv, said) => {
    const failed = await cli(argv, { env: REMOTE });
    expect(failed.stderr).toContain(said);
    expect(failed.code).toBe(2);
    expect(failed.stdout).toBe("");
  });

  test("a noun alone shows its verbs, on stderr", async () => {
    const shown = await cli(["emails"]);
    expect(shown).toMatchObject({ code: 2, stdout: "" });
    expect(shown.stderr).toContain("reschedule <id>");
  });

  test("usage errors are JSON too when asked for", async () => {
    const failed = await cli(["emails", "lst", "--json"]);
    expect(JSON.parse(failed.stderr).error).toMatchObject({
      code: "usage",
      exit: 2,
      hint: "Did you mean list?",
      next: "mailsvc emails --help",
    });
  });
});
