import { describe, expect, test } from "vitest";
import { TERMINAL } from "./harness.ts";
import { startCliWithServer } from "./world.ts";

const HELLO = ["--from", "hello@acme.example", "--subject", "Hello", "--text", "It works."];
const send = (...to: string[]): string[] => ["send", ...HELLO, ...to.flatMap((t) => ["--to", t])];

describe("sending", () => {
  test("one email is accepted, delivered and found in the inbox, each answer being JSON in a pipe", async () => {
    const { mailsvc, world } = await startCliWithServer();
    const sent = await mailsvc(send("ada@example.com"));
    expect(sent).toMatchObject({ code: 0, stderr: "" });
    expect(sent.json).toEqual({ id: expect.stringMatching(/^em_/), status: "queued" });
    await world.settle();
    const got = await mailsvc(["emails", "get", sent.json.id]);
    expect(got.json).toMatchObject({ status: "delivered", to: "ada@example.com", text: "It works." });
    const waited = await mailsvc(["inbox", "wait", "--to", "ada@example.com"]);
    expect(waited.json).toMatchObject({ emailId: sent.json.id, subject: "Hello" });
    const text = await mailsvc(["inbox", "text", waited.json.id]);
    expect(text.stdout).toContain("It works.");
  });

  test("a terminal gets sentences and no JSON", async () => {
    const { mailsvc } = await startCliWithServer();
    const sent = await mailsvc(send("ada@example.com"), { tty: TERMINAL, env: { NO_COLOR: "1" } });
    expect(sent.stdout).toMatch(/^queued em_\w+\n$/);
    const asked = await mailsvc([...send("ada@example.com"), "--json"], { tty: TERMINAL });
    expect(asked.json.status).toBe("queued");
  });

  test("a batch in which some fail prints the answer, names them on stderr and exits 11", async () => {
    const { mailsvc } = await startCliWithServer();
    await mailsvc(["suppressions", "create", "--email", "gone@example.com"]);
    const sent = await mailsvc(send("ada@example.com", "gone@example.com"));
    expect(sent.code).toBe(11);
    expect(sent.json).toMatchObject({ count: 1, failed: [{ to: "gone@example.com", code: "recipient_suppressed" }] });
    expect(sent.stderr).toContain("gone@example.com");
  });

  test("commas, names in brackets and repeated flags all name recipients", async () => {
    const { mailsvc } = await startCliWithServer();
    const dry = await mailsvc([...send("a@x.example,b@x.example", "c@x.example"), "--dry-run"]);
    expect(dry.json.request.body.to).toEqual(["a@x.example", "b@x.example", "c@x.example"]);
  });

  test("the content comes from stdin, files are attached, headers and tags go along", async () => {
    const { mailsvc, world } = await startCliWithServer();
    const { writeFileSync } = await import("node:fs");
    const { folder } = await import("./harness.ts");
    const cwd = folder();
    writeFileSync(`${cwd}/a;b.txt`, "file");
    const args = ["send", "--from", "hello@acme.example", "--to", "ada@example.com", "--subject", "S", "--html-file", "-"];
    const more = ["--attach", "a;b.txt;name=report.txt;type=text/plain", "--header", "X-Campaign: spring", "--tag", "kind=a=b"];
    const sent = await mailsvc([...args, ...more], { stdin: "<p>Grüße</p>", cwd });
    expect(sent.code).toBe(0);
    await world.settle();
    const { json } = await mailsvc(["emails", "get", sent.json.id]);
    expect(json).toMatchObject({
      html: "<p>Grüße</p>",
      headers: { "X-Campaign": "spring" },
      tags: { kind: "a=b" },
      attachments: [{ filename: "report.txt", contentType: "text/plain", size: 4 }],
    });
  });

  test("--data gives the whole body, and flags override it", async () => {
    const { mailsvc } = await startCliWithServer();
    const body = JSON.stringify({ from: "hello@acme.example", to: "ada@example.com", subject: "From data", text: "x" });
    const dry = await mailsvc(["send", "--data", "-", "--subject", "From flag", "--dry-run"], { stdin: body });
    expect(dry.json.request.body).toEqual({ from: "hello@acme.example", to: "ada@example.com", subject: "From flag", text: "x" });
  });

  test("two flags cannot both read stdin", async () => {
    const { mailsvc } = await startCliWithServer();
    const sent = await mailsvc([...send("ada@example.com").slice(0, 5), "--to", "a@x.example", "--html-file", "-", "--text-file", "-"], {
      stdin: "x",
    });
    expect(sent.code).toBe(2);
    expect(sent.stderr).toContain("--html-file and --text-file both read stdin");
  });

  test("a relative schedule counts from the server's clock", async () => {
    const { mailsvc, world } = await startCliWithServer({ now: "2030-01-01T00:00:00.000Z" });
    const sent = await mailsvc([...send("ada@example.com"), "--schedule", "in 1h30m"]);
    const got = await mailsvc(["emails", "get", sent.json.id]);
    expect(got.json.scheduledAt).toBe("2030-01-01T01:30:00.000Z");
    const moved = await mailsvc(["emails", "reschedule", sent.json.id, "--scheduled-at", "2030-01-02T00:00:00Z"]);
    expect(moved.json.scheduledAt).toBe("2030-01-02T00:00:00.000Z");
    expect((await mailsvc(["emails", "cancel", sent.json.id])).json.status).toBe("cancelled");
    expect((await mailsvc(["emails", "reschedule", sent.json.id, "--scheduled-at", "in 5m"])).code).toBe(7);
    expect(world.clock.now()).toBe(Date.parse("2030-01-01T00:00:00.000Z"));
  });

  test("--wait tells of an email that is deferred at its end, with exit 10", async () => {
    const { mailsvc } = await startCliWithServer();
    const late = await mailsvc([...send("delayed@simulator.mailsvc.test"), "--wait", "1s"]);
    expect(late).toMatchObject({ code: 10, json: { emails: [{ status: "deferred", lastError: { smtpCode: 451 } }] } });
    expect(late.json.emails[0].nextAttemptAt).toMatch(/^20/);
    const shown = await mailsvc([...send("delayed+2@simulator.mailsvc.test"), "--wait", "1s"], { tty: TERMINAL, env: { NO_COLOR: "1" } });
    expect(shown.code).toBe(10);
    expect(shown.stderr).toMatch(/not delivered after 1 s\.\n.*451 4\.7\.1 .* The next attempt is due at 20.* UTC\./s);
  });

  test("--wait reports how each email ended; a bounce is exit 12", async () => {
    const { mailsvc } = await startCliWithServer();
    const fine = await mailsvc([...send("ada@example.com"), "--wait"]);
    expect(fine.code).toBe(0);
    expect(fine.json.emails).toMatchObject([{ status: "delivered", to: "ada@example.com" }]);
    const lost = await mailsvc([...send("bounced@simulator.mailsvc.test"), "--wait", "20s"]);
    expect(lost.code).toBe(12);
    expect(lost.json.emails).toMatchObject([{ status: "bounced" }]);
  });

  test("the same idempotency key sends once", async () => {
    const { mailsvc } = await startCliWithServer();
    const args = [...send("ada@example.com"), "--idempotency-key", "order-1"];
    const [first, second] = [await mailsvc(args), await mailsvc(args)];
    expect(second.json).toEqual(first.json);
    const other = await mailsvc([...send("bob@example.com"), "--idempotency-key", "order-1"]);
    expect(other.code).toBe(7);
    expect(other.stderr).toContain("--idempotency-key");
  });
});

describe("what --dry-run prints", () => {
  test("the request with the key masked, and curl; nothing is sent", async () => {
    const { mailsvc, world } = await startCliWithServer();
    const dry = await mailsvc([...send("it's@example.com"), "--dry-run", "--idempotency-key", "k1"], {
      fetch: () => {
        throw new Error("something was sent");
      },
    });
    expect(dry.code).toBe(0);
    expect(dry.json).toMatchObject({
      dryRun: true,
      request: { method: "POST", url: `${world.url}/api/v1/send`, headers: { "Idempotency-Key": "k1" } },
    });
    expect(dry.stdout).not.toContain(world.apiKey);
    expect(dry.json.curl).toContain('-H "Authorization: Bearer $MAILSVC_API_KEY"');
    expect(dry.json.curl).toContain("it'\\''s@example.com");
  });

  test("dev endpoints are shown without a key", async () => {
    const { mailsvc } = await startCliWithServer();
    const dry = await mailsvc(["clock", "advance", "15m", "--dry-run"]);
    expect(dry.json.request).toEqual({
      method: "POST",
      url: "http://mailsvc.test/__dev/clock/advance",
      headers: { "Content-Type": "application/json" },
      body: { by: "15m" },
    });
  });
});

describe("lists", () => {
  test("--all streams one document a line; a page comes with its pagination", async () => {
    const { mailsvc } = await startCliWithServer();
    await mailsvc(send("a@x.example", "b@x.example", "c@x.example"));
    const all = await mailsvc(["emails", "list", "--all", "--limit", "2"]);
    expect(all.lines.map((e) => e.to).sort()).toEqual(["a@x.example", "b@x.example", "c@x.example"]);
    const page = await mailsvc(["emails", "list", "--limit", "2"]);
    expect(page.json).toMatchObject({ data: [{}, {}], pagination: { total: 3, hasMore: true } });
    const raw = await mailsvc(["api", "get", "/api/v1/emails", "--query", "limit=1", "--paginate"]);
    expect(raw.lines).toHaveLength(3);
  });

  test("a terminal sees a table that fits it, and how to go on", async () => {
    const { mailsvc } = await startCliWithServer();
    await mailsvc([...send("a@x.example", "b@x.example"), "--subject", "long ".repeat(40).trim()]);
    const shown = await mailsvc(["emails", "list", "--limit", "1"], { tty: TERMINAL, columns: 90, env: { NO_COLOR: "1" } });
    const rows = shown.stdout.trimEnd().split("\n");
    expect(rows).toHaveLength(2);
    expect(rows.every((row) => row.length <= 90)).toBe(true);
    expect(rows[1]).toContain("…");
    expect(shown.stderr).toContain("Page 1 of 2, 2 in total. Next: mailsvc emails list --page 2");
  });

  test("an empty list says so to people only", async () => {
    const { mailsvc } = await startCliWithServer();
    expect(await mailsvc(["jobs", "list", "--state", "dead"], { tty: TERMINAL, env: { NO_COLOR: "1" } })).toMatchObject({
      stdout: "",
      stderr: "No matches.\n",
    });
    expect((await mailsvc(["jobs", "list", "--state", "dead"])).json.data).toEqual([]);
  });
});

test("text from others cannot steer the terminal, in tables or in JSON", async () => {
  const { mailsvc, world } = await startCliWithServer();
  const evil = "\u001b]0;owned\u0007\u001b[31mPay\u001b[0m\u202egnp.exe\u009b2J\u200b";
  const answer = {
    data: [{ id: "x", subject: evil }],
    pagination: { page: 1, limit: 20, total: 1, totalPages: 1, hasMore: false, nextCursor: null },
  };
  const fetch = (async () => Response.json(answer)) as typeof globalThis.fetch;
  const shown = await mailsvc(["emails", "list"], { tty: TERMINAL, env: { NO_COLOR: "1" }, fetch });
  expect(shown.stdout).toContain("Paygnp.exe");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be there
  expect(shown.stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e\u200b]/);
  const json = await mailsvc(["emails", "list", "--json"], { tty: TERMINAL, fetch });
  // biome-ignore lint/suspicious/noControlCharactersInRegex: as above
  expect(json.stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e\u200b]/);
  expect(json.json.data[0].subject).toBe(evil);
  expect(world.url).toBe("http://mailsvc.test");
});

test.each([
  [
    ["contacts", "create", "--email", "a@b.example", "--custom-field", "id:=12345678901234567890"],
    "--custom-field id: the number 12345678901234567890 would be changed.",
  ],
  [["contacts", "create", "--data", '{"email":"a@b.example","customFields":{"n":1e400}}'], "--data: the number 1e400 would be changed."],
  [
    ["api", "POST", "/api/v1/contacts", "-f", "email=a@b.example", "-F", "externalId=-9007199254740993"],
    "--json-field externalId: the number",
  ],
  [["trigger", "contact.created", "--set", "customFields.n:=1e999"], "--set customFields.n: the number 1e999 would be changed."],
])("%j is refused, because the number would reach the server as another one", async (args, words) => {
  const { mailsvc, world } = await startCliWithServer();
  const { code, stderr } = await mailsvc(args);
  expect([code, stderr]).toEqual([2, expect.stringContaining(words)]);
  expect((await world.sdk.contacts.list()).pagination.total).toBe(0);
});

test("the clock is frozen, advanced, read and thawed", async () => {
  const { mailsvc } = await startCliWithServer({ now: "2030-01-01T00:00:00.000Z" });
  expect((await mailsvc(["clock", "advance", "15m"])).json.now).toBe("2030-01-01T00:15:00.000Z");
  expect((await mailsvc(["clock", "show"], { tty: TERMINAL, env: { NO_COLOR: "1" } })).stdout).toContain("2030-01-01 00:15:00 UTC  frozen");
  expect((await mailsvc(["clock", "thaw"])).json.mode).toBe("running");
  expect((await mailsvc(["clock", "freeze"])).json.mode).toBe("frozen");
  expect((await mailsvc(["clock", "advance"])).code).toBe(3);
});

test.each([
  [["clock", "advance", "soon"], "<by>"],
  [["clock", "advance", "--by", "soon"], "--by"],
  [["clock", "advance", "0"], "<by>"],
  [["clock", "freeze", "never"], '<at>: "never" is not a valid time.'],
  [["clock", "freeze", "2026-02-30"], "<at>: There is no 2026-02-30: that month has 28 days."],
  [["clock", "freeze", "2026-13-01"], "<at>: There is no month 13."],
  [["clock", "freeze", "2028-02-29T25:00Z"], "<at>: There is no hour 25; the last one is 23."],
  [["clock", "freeze", "--at", "2029-01-01T00:00:00Z"], "--at"],
  [["clock", "freeze", "2029-01-01T00:00:00Z"], "<at>"],
  [["events", "list", "--since", "2026-02-30"], "--since: There is no 2026-02-30: that month has 28 days."],
  [["world", "snapshot", "a/b"], "<name>"],
  [["suppressions", "create", "nobody"], "<email>"],
  [["members", "invite", "nobody", "--role", "viewer"], "<email>"],
  [["lists", "create", ""], "<name>"],
])("%j is refused with %s", async (args, words) => {
  const { mailsvc } = await startCliWithServer({ now: "2030-01-01T00:00:00.000Z" });
  const { code, stderr } = await mailsvc(args);
  expect([2, 3]).toContain(code);
  expect(stderr).toContain(words);
  if (words.startsWith("<")) expect(stderr).not.toContain(words.replace(/^<(\w+)>.*/, "--$1 "));
});

test("snapshots bring back what was deleted", async () => {
  const { mailsvc, world } = await startCliWithServer();
  await mailsvc(send("ada@example.com"));
  await world.settle();
  expect((await mailsvc(["world", "snapshot", "before"])).json.name).toBe("before");
  expect((await mailsvc(["inbox", "clear"])).json.deleted).toBe(1);
  expect((await mailsvc(["world", "restore", "before", "--yes"])).code).toBe(0);
  expect((await mailsvc(["inbox", "list"])).json.pagination.total).toBe(1);
  expect((await mailsvc(["world", "restore", "never", "--yes"])).code).toBe(6);
});

test("api sends anything, and shows status and headers when asked", async () => {
  const { mailsvc } = await startCliWithServer();
  const made = await mailsvc(["api", "POST", "/api/v1/senders", "-d", '{"domain":"shop.example"}', "-i"]);
  expect(made.stdout).toMatch(/^HTTP 201 Created\n/);
  expect(made.stdout).toContain('"value":"shop.example"');
  const contact = ["api", "POST", "/api/v1/contacts", "-f", "email=ada@example.com", "-F", 'customFields={"plan":"pro","seats":5}'];
  expect((await mailsvc([...contact, "--dry-run"])).stdout).toContain('"seats":5');
  expect((await mailsvc(contact)).code).toBe(0);
  const found = await mailsvc(["api", "GET", "/api/v1/contacts", "-f", "search=ada@example.com", "-F", "limit=1"]);
  expect(found.json.data).toMatchObject([{ email: "ada@example.com" }]);
  for (const wrong of [
    ["-F", "limit=many"],
    ["-f", "limit"],
    ["-f", "a=1", "-F", "a=2"],
  ])
    expect((await mailsvc(["api", "GET", "/api/v1/contacts", ...wrong])).code).toBe(2);
  expect((await mailsvc([...contact, "-d", "{}"])).stderr).toContain("Give the body by --data, or by --field");
  expect((await mailsvc(["api", "GET", "/api/v1/nothing"])).code).toBe(6);
  expect((await mailsvc(["api", "/api/v1/emails"])).stderr).toMatch(/missing required argument|mailsvc api GET/i);
  expect((await mailsvc(["api", "GET", "api/v1/emails"])).code).toBe(2);
  expect((await mailsvc(["api", "POST", "/api/v1/senders", "-d", "{broken"])).stderr).toContain("--data: this is not JSON");
});

test("--verbose shows requests and answers, never the key", async () => {
  const { mailsvc, world } = await startCliWithServer();
  const shown = await mailsvc(["whoami", "-v"]);
  expect(shown.stderr).toMatch(/^> GET http:\/\/mailsvc\.test\/api\/v1\/me\n< 200 req_\w+ \d+ ms\n$/);
  expect(shown.stderr).not.toContain(world.apiKey);
});

test("openapi prints the document", async () => {
  const { mailsvc } = await startCliWithServer();
  expect((await mailsvc(["openapi"])).json.openapi).toMatch(/^3\.1/);
});

describe("times in words", () => {
  test("lists filter by times of the past, and the clock moves by days", async () => {
    const { mailsvc } = await startCliWithServer({ now: "2030-01-01T10:00:00.000Z" });
    await mailsvc(send("ada@example.com"));
    for (const by of ["3 days", "1 day", "3days", "15m"]) expect((await mailsvc(["clock", "advance", by])).code).toBe(0);
    expect((await mailsvc(["clock", "show"])).json.now).toBe("2030-01-08T10:15:00.000Z");
    await mailsvc(send("bob@example.com"));
    const listed = async (...flags: string[]): Promise<number> => (await mailsvc(["emails", "list", ...flags])).json.data.length;
    expect([await listed("--since", "1h"), await listed("--since", "2 weeks ago"), await listed("--until", "yesterday")]).toEqual([
      1, 2, 1,
    ]);
    expect((await mailsvc(["events", "list", "--since", "today"])).code).toBe(0);
    expect((await mailsvc(["received", "list", "--since", "2030-01-01"])).code).toBe(0);
    const refused = await mailsvc(["suppressions", "list", "--since", "soon"]);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("2 days ago")]);
  });
});
