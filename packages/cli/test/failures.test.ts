import { ERROR_CODES, ERRORS } from "@mailsvc/sdk/contract";
import { describe, expect, test } from "vitest";
import { ANSWERS } from "../../sdk/src/testing/answers.generated.ts";
import { listCommandSpecs } from "../src/contract/command-map.ts";
import { SUCCEEDED } from "../src/contract/execute.ts";
import { toFailure } from "../src/runtime/errors.ts";
import { EXIT } from "../src/runtime/exit.ts";
import { cli, TERMINAL } from "./harness.ts";
import { startCliWithServer } from "./world.ts";

const answering = (status: number, error: Record<string, unknown>, headers: Record<string, string> = {}) =>
  (async () =>
    Response.json(
      { error: { message: "No.", requestId: "req_1", details: [], hint: "Hint.", status, ...error } },
      { status, headers },
    )) as typeof fetch;

const REMOTE = { MAILSVC_URL: "http://mailsvc.test", MAILSVC_API_KEY: "ms_live_0123456789abcdef" };

const EXITS: Record<number, number> = {
  400: 3,
  401: 4,
  402: 5,
  403: 5,
  404: 6,
  405: 6,
  408: 3,
  409: 7,
  412: 7,
  413: 3,
  415: 3,
  417: 3,
  422: 3,
  429: 8,
  431: 3,
  500: 9,
  501: 9,
  502: 9,
  503: 9,
};

/** An attempt that the receiver refused. */
const REFUSED = {
  ...{ attempt: 2, at: "2030-01-31T08:00:00.000Z", ms: 1 },
  ...{ class: "http", httpStatus: 500, message: "No.", hint: null, answer: null },
};

describe("exit codes", () => {
  test.each(ERROR_CODES)("%s leads to the exit code of its status, and its request id is shown", async (code) => {
    const { status } = ERRORS[code];
    // One try only: a limit shorter than the first wait.
    const failed = await cli(["jobs", "retry", "42", "--timeout", "300ms"], { env: REMOTE, fetch: answering(status, { code }) });
    expect(failed.code).toBe(EXITS[status]);
    expect(failed.stdout).toBe("");
    expect(failed.stderr).toMatch(/^error No\./m);
    expect(failed.stderr).toContain(`code ${code}, request req_1`);
  });

  const failing: Readonly<Record<string, [argv: string, failed: Record<string, unknown>]>> = {
    "senders.verify": ["senders verify snd_01jc3v2m9k8q4w6x0y5z7a1b2c", { status: "PENDING", verifiedAt: null }],
    "deliveries.test": ["deliveries test launch-writer", { ok: false }],
    "webhooks.test": ["webhooks test whk_01jc3v2m9k8q4w6x0y5z7a1b2c", { ok: false }],
    "relays.test": ["relays test ses", { ok: false }],
    "me.checkRelays": ["relays check", { ok: false }],
    "domains.check": ["domains check acme.example", { ok: false }],
    "webhooks.redeliver": [
      "webhooks redeliver whk_01jc3v2m9k8q4w6x0y5z7a1b2c whd_01jc3v2m9k8q4w6x0y5z7a1b2c",
      {
        lastAttempt: REFUSED,
      },
    ],
    "deliveries.redeliver": [
      "deliveries redeliver launch-writer evt_01jc3v2m9k8q4w6x0y5z7a1b2c",
      {
        lastAttempt: REFUSED,
      },
    ],
  };

  test.each(Object.entries(failing))("%s that is answered but has failed is 11", async (id, [argv, failed]) => {
    const run = async (answer: object) => {
      const asked: string[] = [];
      const fetch = (async (input: Request | URL | string) => {
        asked.push(input instanceof Request ? input.url : String(input));
        return Response.json(answer);
      }) as typeof globalThis.fetch;
      const { code } = await cli(argv.split(" "), { env: { ...REMOTE, MAILSVC_OPERATOR_KEY: "ms_op_0123456789abcdef" }, fetch });
      expect(asked).toHaveLength(1);
      return code;
    };
    const succeeded = ANSWERS[id] as object;
    expect([await run(succeeded), await run({ ...succeeded, ...failed })]).toEqual([EXIT.ok, EXIT.partial]);
  });

  test("these are all operations that may be answered although they have failed", () => {
    expect(Object.keys(SUCCEEDED).sort()).toEqual(Object.keys(failing).sort());
    const ids = listCommandSpecs().map(({ id }) => id);
    expect(Object.keys(SUCCEEDED).filter((id) => !ids.includes(id))).toEqual([]);
  });

  test("nobody there is 10, with what to do", async () => {
    const refused = (async () => {
      throw new TypeError("fetch failed", { cause: Object.assign(new Error(), { code: "ECONNREFUSED" }) });
    }) as typeof fetch;
    const failed = await cli(["whoami", "--timeout", "300ms"], { env: REMOTE, fetch: refused });
    expect(failed.code).toBe(10);
    expect(failed.stderr).toContain("Start one with: mailsvc dev");
  });

  test("a server that does not speak HTTPS is 10, and its URL must begin with http://", async () => {
    const plain = (async () => {
      throw new TypeError("fetch failed", { cause: Object.assign(new Error(), { code: "ERR_SSL_WRONG_VERSION_NUMBER" }) });
    }) as typeof fetch;
    const failed = await cli(["whoami"], { env: { ...REMOTE, MAILSVC_URL: "https://mailsvc.test" }, fetch: plain });
    expect(failed.code).toBe(10);
    expect(failed.stderr).toContain("does not speak HTTPS. Begin its URL with http://");
  });

  test.each([
    ["http://mailsvc.test/api/v1", "Leave out /api/v1 in the server's URL"],
    ["http://mailsvc.test", "mailsvc openapi lists all"],
  ])("a path that the server %s does not have is 6, with what to change", async (url, hint) => {
    const fetch = answering(404, { code: "not_found", message: "There is nothing at this address." });
    for (const argv of [
      ["emails", "list"],
      ["emails", "get", "em_1"],
      ["api", "GET", "/api/v1/nope"],
    ]) {
      const failed = await cli(argv, { env: { ...REMOTE, MAILSVC_URL: url }, fetch });
      expect([failed.code, failed.stderr]).toEqual([6, expect.stringContaining(hint)]);
      expect(failed.stderr).not.toContain("Check the id");
    }
  });

  test.each([
    [["inbox", "list"], "mailsvc emails list"],
    [["inbox", "get", "mail_1"], "mailsvc emails list"],
    [["inbox", "wait", "--to", "ada@example.com"], "mailsvc emails list"],
    [["inbox", "clear", "--yes"], "mailsvc emails list"],
    [["inbox", "expect-none", "--within", "1d"], "mailsvc dev"],
    [["clock", "advance", "1d"], "mailsvc dev"],
    [["faults", "list"], "mailsvc dev"],
    [["world", "snapshots"], "mailsvc backup --help"],
  ])("%j on a server in production is 6, with what serves instead", async (argv, next) => {
    const { mailsvc } = await startCliWithServer({ dev: false });
    const failed = await mailsvc(argv, { env: { NO_COLOR: "1" } });
    expect([failed.code, failed.stderr]).toEqual([6, expect.stringContaining("in dev mode only")]);
    expect(failed.stderr).toContain(`try ${next}`);
  });

  test("an address in place of the id of captured mail leads to the list of its mail", async () => {
    const fetch = answering(404, { code: "not_found", message: "There is no captured mail." });
    const { code, stderr } = await cli(["inbox", "get", "ada@example.com"], { env: REMOTE, fetch });
    expect([code, stderr]).toEqual([6, expect.stringContaining("try mailsvc inbox list --to ada@example.com")]);
    expect(stderr).not.toContain("another workspace");
  });

  test("a flag of another name, a number that is too large and one that is none say what is right", async () => {
    const stderr = async (...argv: string[]): Promise<string> => (await cli(argv, { env: REMOTE })).stderr;
    expect(await stderr("send", "--scheduled-at", "x")).toContain("Did you mean --schedule?");
    expect(await stderr("campaigns", "schedule", "c", "--at", "x")).toContain("Did you mean --scheduled-at?");
    expect(await stderr("emails", "list", "--limit", "1000")).toContain("--limit  The most is 100.");
    expect(await stderr("emails", "list", "--limit", "many")).toContain('--limit: "many" is not a number.');
    expect(await stderr("inbox", "wait", "--timeout", "soon")).toContain(
      '--timeout: "soon" is not a duration. Write 500ms, 30s, 15m or 2h.',
    );
  });

  test("an answer that never comes is 10 and names --timeout", async () => {
    const silent: typeof fetch = (_url, init) =>
      new Promise((_, failed) => init?.signal?.addEventListener("abort", () => failed(init.signal?.reason)));
    const failed = await cli(["whoami", "--timeout", "100ms"], { env: REMOTE, fetch: silent });
    expect(failed.code).toBe(10);
    expect(failed.stderr).toContain("--timeout");
  });

  test("Ctrl-C while waiting is 130", async () => {
    const silent: typeof fetch = (_url, init) =>
      new Promise((_, failed) => init?.signal?.addEventListener("abort", () => failed(init.signal?.reason)));
    const stopped = await cli(["whoami"], { env: REMOTE, fetch: silent, onStart: (signal) => setTimeout(() => signal("SIGINT"), 50) });
    expect(stopped).toMatchObject({ code: 130, stdout: "" });
  });

  test("without a key it is 4, before anything is sent", async () => {
    const failed = await cli(["emails", "list"], { env: { MAILSVC_URL: "http://mailsvc.test" } });
    expect(failed.code).toBe(4);
    expect(failed.stderr).toContain("mailsvc login");
  });
});

describe("what an error says", () => {
  test("with --json it is one JSON line on stderr, with retry advice", async () => {
    const failed = await cli(["jobs", "retry", "42", "--json", "--timeout", "300ms"], {
      env: REMOTE,
      fetch: answering(429, { code: "rate_limited" }, { "Retry-After": "7" }),
    });
    expect(JSON.parse(failed.stderr)).toEqual({
      error: {
        code: "rate_limited",
        message: "No.",
        exit: 8,
        status: 429,
        requestId: "req_1",
        details: [],
        hint: "Hint.",
        retryable: true,
        retryAfterMs: 7000,
      },
    });
  });

  test("faults that the server finds are named by their flags", async () => {
    const details = [
      { path: "to[2]", code: "invalid_email", message: "No domain." },
      { path: "headers.X-Id", code: "too_big", message: "Too long." },
    ];
    const send = ["send", "--from", "a@x.example", "--to", "b@x.example", "--subject", "s", "--text", "t"];
    const failed = await cli(send, { env: REMOTE, fetch: answering(400, { code: "validation_error", details }) });
    expect(failed.stderr).toContain("--to #3  No domain.");
    expect(failed.stderr).toContain("--header X-Id  Too long.");
  });

  test("a sender that is not verified comes with the command that adds it", async () => {
    const { mailsvc } = await startCliWithServer();
    const failed = await mailsvc(["send", "--from", "Me <me@elsewhere.com>", "--to", "b@x.example", "--subject", "s", "--text", "t"]);
    expect(failed.code).toBe(3);
    expect(failed.stderr).toContain("mailsvc senders create --email me@elsewhere.com");
  });

  test("input is checked before it is sent, all faults at once", async () => {
    const failed = await cli(
      ["send", "--from", "no", "--to", "a@x.example,nobody", "--subject", "", "--text", "t", "--header", "Subject: x"],
      { env: REMOTE },
    );
    expect(failed.code).toBe(3);
    expect(failed.stderr).toContain("The input has 4 errors.");
    for (const flag of ["--from", "--to #2", "--subject", "--header Subject"]) expect(failed.stderr).toContain(flag);
  });

  test.each([
    [["webhooks", "create", "--url", "https://acme.example/hook", "--event", "email.bouncd"], "--event  "],
    [["webhooks", "create", "--url", "https://acme.example/hook", "--event", "email.sent", "--event", "email.bouncd"], "--event #2  "],
    [["events", "list", "--type", "email.sent,email.bouncd"], "--type  "],
  ])("an unknown type of event is named, with the one that it may stand for: %j", async (args, flag) => {
    const failed = await cli(args, { env: REMOTE });
    expect(failed.code).toBe(3);
    expect(failed.stderr).toContain(`${flag}There is no event type "email.bouncd". Did you mean email.bounced?`);
  });

  test("remote messages cannot steer the terminal", async () => {
    const failed = await cli(["jobs", "retry", "1"], {
      env: { ...REMOTE, NO_COLOR: "1" },
      tty: TERMINAL,
      fetch: answering(404, { code: "not_found", message: "\u001b[2Jgone\u0007" }),
    });
    expect(failed.stderr).toMatch(/^error gone\n/);
  });
});

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
