import { ERROR_CODES, ERRORS } from "@mailsvc/sdk/contract";
import { describe, expect, test } from "vitest";
import { ANSWERS } from "../../sdk/src/testing/answers.generated.ts";
import { listCommandSpecs } from "../src/contract/command-map.ts";
import { SUCCEEDED } from "../src/contract/execute.ts";
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
