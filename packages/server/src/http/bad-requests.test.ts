import { contract, type Endpoint, PERMISSIONS, type Permission } from "@mailsvc/sdk/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ask, expectAnswer, pathAtOnce, type Scenario, scenarios } from "../../test/scenario.ts";
import { keyFor, secondWorkspace } from "../../test/tenant.ts";
import { createWorld, type TestWorld } from "../testing.ts";

const endpoints: Endpoint[] = Object.values(contract).flatMap((group) => Object.values(group) as Endpoint[]);
const withKey = endpoints.filter((e) => e.access === "key" || typeof e.access === "object");
const pathOf = (e: Endpoint): string => pathAtOnce(e).replace(/:\w+/g, "x");

const unauthorized = (name: string, headers: Record<string, string>, contains: string): Scenario => ({
  name,
  method: "GET",
  path: "/api/v1/me",
  key: null,
  headers,
  status: 401,
  code: "unauthorized",
  contains: [contains],
  answers: { "www-authenticate": "Bearer" },
});

scenarios("invalid API keys", [
  unauthorized("no key", {}, "Missing API key"),
  unauthorized("an empty header", { authorization: "" }, "Missing API key"),
  unauthorized("Bearer and nothing", { authorization: "Bearer" }, "Invalid Authorization header"),
  unauthorized("Bearer and two keys", { authorization: "Bearer a b" }, "Invalid Authorization header"),
  unauthorized("Basic", { authorization: "Basic YTpi" }, "Invalid Authorization header"),
  unauthorized("the bare key", { authorization: "ms_live_x" }, "Invalid Authorization header"),
  unauthorized("a text", { authorization: "Bearer hello" }, "Malformed API key"),
  unauthorized("a key that is cut off", { authorization: `Bearer ms_live_${"a".repeat(20)}` }, "Malformed API key"),
  unauthorized("a key with a wrong checksum", { authorization: `Bearer ms_live_${"a".repeat(49)}` }, "Malformed API key"),
  unauthorized("a key of ten thousand characters", { authorization: `Bearer ${"a".repeat(10_000)}` }, "Malformed API key"),
  unauthorized("an agent's key", { authorization: `Bearer ms_agent_${"a".repeat(49)}` }, "Malformed API key"),
  unauthorized("SQL", { authorization: "Bearer '--" }, "Malformed API key"),
  {
    name: "a key in the query",
    method: "GET",
    path: "/api/v1/me?api_key=ms_live_x",
    key: null,
    status: 401,
    code: "unauthorized",
    lacks: ["ms_live_x"],
  },
  { name: "a bad key is said before a bad body", path: "/api/v1/send", key: "hello", body: "{", status: 401, code: "unauthorized" },
  {
    name: "a bad key is said before an unknown id",
    method: "GET",
    path: "/api/v1/emails/em_x",
    key: "hello",
    status: 401,
    code: "unauthorized",
  },
]);

describe("an API key", () => {
  test("is accepted after `Bearer` in any case and any number of spaces", async () => {
    await using world = await createWorld();
    for (const scheme of ["bearer", "BEARER", "Bearer  "]) {
      const response = await ask(world, {
        method: "GET",
        path: "/api/v1/me",
        headers: { authorization: `${scheme} ${world.apiKey}` },
      });
      expect(response.status).toBe(200);
    }
  });

  test("that is well formed but was never created is unknown", async () => {
    await using other = await createWorld({ seed: 99 });
    await using world = await createWorld({ seed: 1 });
    const row: Scenario = {
      name: "",
      method: "GET",
      path: "/api/v1/me",
      key: other.apiKey,
      status: 401,
      code: "unauthorized",
      contains: ["Invalid API key"],
      lacks: [other.apiKey],
    };
    await expectAnswer(await ask(world, row), row, world.apiKey);
  });

  test("is refused by every endpoint after it was revoked", async () => {
    await using world = await createWorld();
    const made = await world.sdk.keys.create({ name: "short-lived", permissions: [...PERMISSIONS] });
    expect((await ask(world, { method: "GET", path: "/api/v1/me", key: made.key })).status).toBe(200);
    await world.sdk.keys.revoke(made.id);
    for (const e of withKey) {
      const row: Scenario = { name: "", method: e.method, path: pathOf(e), key: made.key, status: 401, code: "key_revoked" };
      await expectAnswer(await ask(world, row), row, made.key);
    }
  });
});

describe("permissions", () => {
  // One world for all: nothing that is asked for is there, so nothing changes.
  let world: TestWorld;
  const keys = new Map<string, string>();
  const keyWith = async (name: string, permissions: readonly Permission[]): Promise<string> => {
    const key = keys.get(name) ?? (await keyFor(world, ...permissions));
    keys.set(name, key);
    return key;
  };
  beforeAll(async () => {
    world = await createWorld();
  });
  afterAll(() => world.dispose());

  test.each(withKey.map((e) => [`${e.method} ${e.path}`, e] as const))(
    "%s asks for a key, and for its own permission",
    async (_name, e) => {
      const base = { method: e.method, path: pathOf(e), ...(e.method !== "GET" && { body: {} }) };
      const nobody: Scenario = { name: "", ...base, key: null, status: 401, code: "unauthorized" };
      await expectAnswer(await ask(world, nobody), nobody, world.apiKey);
      if (typeof e.access !== "object" || !("permission" in e.access)) return;
      const { permission } = e.access;
      const others = await keyWith(
        `not ${permission}`,
        PERMISSIONS.filter((p) => p !== permission),
      );
      const refused: Scenario = {
        name: "",
        ...base,
        key: others,
        status: 403,
        code: "forbidden",
        details: [" missing_permission"],
        contains: [`lacks the permission ${permission}`],
      };
      await expectAnswer(await ask(world, refused), refused, others);
      const own = await keyWith(permission, [permission]);
      expect([401, 403, 405]).not.toContain((await ask(world, { ...base, key: own })).status);
    },
  );
});

const FOREIGN_CURSOR = "This cursor does not belong to this list. Use nextCursor of the previous page.";
const get = (path: string, details: string[], name = path): Scenario => ({
  name,
  method: "GET",
  path,
  status: 400,
  code: "validation_error",
  details,
});

scenarios("invalid queries", [
  ...["/api/v1/emails", "/api/v1/keys", "/api/v1/senders", "/api/v1/suppressions", "/api/v1/jobs", "/__dev/inbox"].flatMap((list) => [
    get(`${list}?page=0`, ["page too_small"]),
    get(`${list}?page=-1`, ["page too_small"]),
    get(`${list}?page=1.5`, ["page invalid_type"]),
    get(`${list}?page=x`, ["page invalid_type"]),
    get(`${list}?page=1000001`, ["page too_big"]),
    get(`${list}?page=1e400`, ["page invalid_type"]),
    get(`${list}?limit=0`, ["limit too_small"]),
    get(`${list}?limit=101`, ["limit too_big"]),
    get(`${list}?limit=ten`, ["limit invalid_type"]),
    get(`${list}?limit=&page=`, ["page too_small", "limit too_small"]),
    get(`${list}?cursor=${"x".repeat(201)}`, ["cursor too_big"], `${list} with a cursor that is too long`),
    { ...get(`${list}?cursor=zzz`, ["cursor invalid_cursor"]), contains: [FOREIGN_CURSOR] },
    get(`${list}?cursor=`, ["cursor invalid_cursor"]),
    get(`${list}?cursor=${Buffer.from("' OR 1=1 --").toString("base64url")}`, ["cursor invalid_cursor"], `${list} with SQL in the cursor`),
  ]),
  get("/api/v1/emails?status=SENT", ["status invalid_value"]),
  get("/api/v1/emails?to=nobody", ["to invalid_email"]),
  get("/api/v1/emails?inDoubt=perhaps", ["inDoubt invalid_value"]),
  get("/api/v1/keys?revoked=maybe", ["revoked invalid_value"]),
  get("/api/v1/senders?status=verified", ["status invalid_value"]),
  get("/api/v1/suppressions?reason=angry", ["reason invalid_value"]),
  get("/api/v1/suppressions?email=x", ["email invalid_email"]),
  get("/api/v1/jobs?state=asleep", ["state invalid_value"]),
  get("/__dev/inbox/wait?timeout=-1", ["timeout too_small"]),
  get("/__dev/inbox/wait?timeout=121", ["timeout too_big"]),
  get("/__dev/inbox/wait?timeout=soon", ["timeout invalid_type"]),
]);

const post = (path: string, body: unknown, ...details: string[]): Scenario => ({
  name: `${path} ${JSON.stringify(body).slice(0, 70)}`,
  path,
  body,
  status: 400,
  code: "validation_error",
  details,
});

scenarios("bodies of the other endpoints", [
  post("/api/v1/keys", {}, "name required", "permissions required"),
  post("/api/v1/keys", { name: "", permissions: ["keys:read"] }, "name too_small"),
  post("/api/v1/keys", { name: "  ", permissions: ["keys:read"] }, "name too_small"),
  post("/api/v1/keys", { name: "x".repeat(101), permissions: ["keys:read"] }, "name too_big"),
  post("/api/v1/keys", { name: "x", permissions: [] }, "permissions too_small"),
  post("/api/v1/keys", { name: "x", permissions: "keys:read" }, "permissions invalid_type"),
  post("/api/v1/keys", { name: "x", permissions: ["everything"] }, "permissions[0] invalid_value"),
  post("/api/v1/keys", { name: "x", permissions: ["keys:read"], owner: true }, "owner unknown_field"),
  post("/api/v1/keys", { name: 7, permissions: ["keys:read"] }, "name invalid_type"),
  post("/api/v1/senders", {}, "email custom"),
  post("/api/v1/senders", { email: "a@b.example", domain: "b.example" }, "email custom"),
  post("/api/v1/senders", { email: "Ada <a@b.example>" }, "email invalid_email"),
  ...[
    "localhost",
    "127.0.0.1",
    "exa mple.com",
    "http://example.com",
    "example.com/x",
    "-a.example",
    "a..example",
    "example.com:80",
    "[::1]",
    "xn--\u0000.example",
    "",
  ].map((domain) => post("/api/v1/senders", { domain }, "domain invalid_domain")),
  post("/api/v1/senders", { domain: "a".repeat(256) }, "domain too_big", "domain invalid_domain"),
  post("/api/v1/senders", { domain: 5 }, "domain invalid_type"),
  post("/api/v1/senders", { email: "a@b.example", status: "VERIFIED" }, "status unknown_field"),
  post("/api/v1/suppressions", {}, "email required"),
  post("/api/v1/suppressions", { email: "x" }, "email invalid_email"),
  post("/api/v1/suppressions", { email: "a@b.example", scope: "none" }, "scope invalid_value"),
  post("/api/v1/suppressions", { email: "a@b.example", reason: "sunshine" }, "reason invalid_value"),
  { ...post("/api/v1/emails/em_x", {}, "scheduledAt required"), method: "PATCH" },
  { ...post("/api/v1/emails/em_x", { scheduledAt: "soon" }, "scheduledAt invalid_format"), method: "PATCH" },
  {
    ...post("/api/v1/emails/em_x", { scheduledAt: "2030-02-30T00:00:00Z" }, "scheduledAt invalid_format"),
    method: "PATCH",
    contains: ["There is no 2030-02-30: that month has 28 days."],
  },
  { ...get("/api/v1/people/ada@example.com?cursor=abc", ["cursor invalid_cursor"]), contains: [FOREIGN_CURSOR] },
  { ...get("/api/v1/events?since=2030-13-01T00:00:00Z", ["since invalid_format"]), contains: ["There is no month 13."] },
  { ...get("/api/v1/metrics?from=2030-02-30", ["from invalid_format"]), contains: ["that month has 28 days."] },
  { ...post("/__dev/clock/freeze", { at: "2030-02-28T25:00:00Z" }, "at invalid_format"), contains: ["There is no hour 25"] },
  { ...post("/api/v1/emails/em_x", { scheduledAt: "2030-01-01T00:00:00Z", subject: "x" }, "subject unknown_field"), method: "PATCH" },
  { ...post("/api/v1/emails/em_x/cancel", { reason: "x" }), contains: ["takes no body"] },
  { ...post("/api/v1/jobs/1/retry", { force: true }), contains: ["takes no body"] },
  { ...post("/api/v1/keys/key_x", { force: true }), method: "DELETE", contains: ["takes no body"] },
  post("/__dev/clock/advance", {}, "by custom"),
  post("/__dev/clock/advance", { by: "1h", to: "2026-02-01T00:00:00Z" }, "by custom"),
  post("/__dev/clock/advance", { by: "an hour" }, "by invalid_format"),
  post("/__dev/clock/advance", { by: "-1h" }, "by invalid_format"),
  post("/__dev/clock/advance", { by: "999999999d" }, "by too_far"),
  post("/__dev/clock/advance", { to: "2025-01-01T00:00:00Z" }, "to in_the_past"),
  post("/__dev/clock/freeze", { at: "2025-01-01T00:00:00Z" }, "at in_the_past"),
  post("/__dev/snapshot", { name: "../../etc/passwd" }, "name invalid_format"),
  post("/__dev/snapshot", { name: "" }, "name invalid_format"),
  post("/__dev/snapshot", {}, "name required"),
  post("/__dev/restore", { name: "a/b" }, "name invalid_format"),
  post("/__dev/faults", {}, "code custom"),
  post("/__dev/faults", { code: "no_such_code" }, "code invalid_value"),
  post("/__dev/faults", { code: "not_found", rate: 0 }, "rate too_small"),
  post("/__dev/faults", { code: "not_found", rate: 1.1 }, "rate too_big"),
  post("/__dev/faults", { code: "not_found", count: 0 }, "count too_small"),
  post("/__dev/faults", { code: "not_found", skip: -1 }, "skip too_small"),
  post("/__dev/faults", { code: "not_found", path: "api" }, "path invalid_format"),
  post("/__dev/faults", { delayMs: 120_001 }, "delayMs too_big"),
  post("/__dev/faults", { delayMs: "1" }, "delayMs invalid_type"),
  post("/__dev/faults", { code: "not_found", id: "flt_x" }, "id unknown_field"),
  { ...post("/__dev/restore", { name: "never-taken" }), status: 404, code: "not_found" },
  {
    name: "a dev endpoint with a broken body",
    path: "/__dev/faults",
    body: "{",
    status: 400,
    code: "validation_error",
    details: [" invalid_json"],
  },
]);

const missing = (method: string, path: string, code: Scenario["code"] = "not_found"): Scenario => ({
  name: `${method} ${path.slice(0, 80)}`,
  method,
  path,
  status: 404,
  ...(code && { code }),
});
const notAllowed = (method: string, path: string, allow: string): Scenario => ({
  name: `${method} ${path}`,
  method,
  path,
  status: 405,
  code: "method_not_allowed",
  answers: { allow },
});

scenarios("unknown paths and methods", [
  missing("GET", "/api"),
  missing("GET", "/api/v1"),
  missing("GET", "/api/v2/emails"),
  missing("GET", "/api/v1/email"),
  missing("GET", "/API/V1/EMAILS"),
  missing("GET", "/api/v1/Emails"),
  missing("GET", "/api/v1//emails"),
  missing("GET", "//api/v1/emails"),
  missing("GET", "/api/v1/v1/emails"),
  missing("POST", "/api/v1/emails/x/cancel/now"),
  missing("GET", "/api/v1/emails%2Fx"),
  missing("GET", `/${"a".repeat(8000)}`),
  missing("GET", `/api/v1/emails/${"a/".repeat(2000)}`),
  missing("GET", "/.env"),
  missing("GET", "/..%2f..%2fetc/passwd"),
  missing("GET", "/__dev"),
  missing("GET", "/__dev/secrets"),
  missing("BREW", "/api/v1/coffee"),
  notAllowed("PUT", "/api/v1/emails", "GET"),
  notAllowed("DELETE", "/api/v1/emails/em_x", "GET, PATCH"),
  notAllowed("GET", "/api/v1/send", "POST"),
  notAllowed("GET", "/api/v1/v1/emails/send", "POST"),
  notAllowed("PATCH", "/api/v1/keys", "GET, POST"),
  notAllowed("OPTIONS", "/api/v1/senders", "GET, POST"),
  notAllowed("POST", "/healthz", "GET"),
  notAllowed("GET", "/__dev/reset", "POST"),
  missing("GET", "/api/v1/emails/em_x"),
  missing("GET", "/api/v1/emails/em_01jc3v2m9k8q4w6x0y5z7a1b2c"),
  missing("GET", `/api/v1/emails/${"x".repeat(4000)}`),
  get("/api/v1/emails/%00", ["id invalid_characters"]),
  get("/api/v1/emails/%0d%0aSet-Cookie:%20a=b", ["id invalid_characters"]),
  missing("GET", "/api/v1/emails/'%20OR%201=1--"),
  missing("GET", "/api/v1/emails/%F0%9F%98%80"),
  missing("GET", "/api/v1/emails/__proto__"),
  missing("POST", "/api/v1/emails/x/cancel"),
  missing("GET", "/api/v1/senders/x"),
  missing("POST", "/api/v1/senders/x/verify"),
  missing("DELETE", "/api/v1/senders/x"),
  missing("DELETE", "/api/v1/suppressions/x"),
  missing("DELETE", "/api/v1/suppressions/ada%40example.com"),
  missing("DELETE", "/api/v1/keys/x"),
  missing("POST", "/api/v1/jobs/1/retry"),
  missing("POST", "/api/v1/jobs/abc/retry"),
  missing("GET", "/senders/confirm/x"),
  missing("POST", "/senders/confirm/x"),
  missing("GET", "/__dev/inbox/x"),
  missing("GET", "/__dev/inbox/x/html"),
  missing("GET", "/__dev/inbox/x/raw"),
  missing("GET", "/__dev/inbox/wait?timeout=0"),
  ...["%", "%ZZ", "%E0%A4%A", "a%2", "%ff"].map(
    (id): Scenario => ({
      name: `the id ${id}`,
      method: "GET",
      path: `/api/v1/emails/${id}`,
      status: 400,
      code: "validation_error",
      details: [" invalid_path"],
    }),
  ),
]);

const long = "k".repeat(256);
scenarios("invalid Idempotency-Keys", [
  ...[
    ["an empty one", ""],
    ["one of 256 characters", long],
    ["one with a blank inside", "a b"],
    ["one in Latin-1", "schl\u00fcssel"],
    ["two of them", "a, b"],
  ].map(
    ([name, key]): Scenario => ({
      name: name as string,
      path: "/api/v1/suppressions",
      headers: { "idempotency-key": key as string },
      body: { email: "ada@example.com" },
      status: 400,
      code: "validation_error",
      details: ["Idempotency-Key invalid_header"],
    }),
  ),
]);

test("resources of another workspace cannot be read, changed or deleted, and are answered as if they did not exist", async () => {
  await using world = await createWorld();
  const other = await secondWorkspace(world);
  const email = (await world.sdk.emails.send({
    from: "a@acme.test",
    to: "ada@example.com",
    subject: "secret subject",
    text: "x",
    scheduledAt: "2026-02-01T00:00:00Z",
  })) as { id: string };
  const sender = await world.sdk.senders.create({ domain: "secret.example" });
  const suppression = await world.sdk.suppressions.create({ email: "secret@example.com" });
  const key = await world.sdk.keys.create({ name: "secret key", permissions: ["keys:read"] });
  const rows: Scenario[] = [
    { name: "email", method: "GET", path: `/api/v1/emails/${email.id}`, status: 404 },
    { name: "cancel", method: "POST", path: `/api/v1/emails/${email.id}/cancel`, status: 404 },
    { name: "reschedule", method: "PATCH", path: `/api/v1/emails/${email.id}`, body: { scheduledAt: "2026-03-01T00:00:00Z" }, status: 404 },
    { name: "sender", method: "GET", path: `/api/v1/senders/${sender.id}`, status: 404 },
    { name: "verify", method: "POST", path: `/api/v1/senders/${sender.id}/verify`, status: 404 },
    { name: "remove", method: "DELETE", path: `/api/v1/senders/${sender.id}`, status: 404 },
    { name: "suppression", method: "DELETE", path: `/api/v1/suppressions/${suppression.id}`, status: 404 },
    { name: "suppression by address", method: "DELETE", path: "/api/v1/suppressions/secret%40example.com", status: 404 },
    { name: "key", method: "DELETE", path: `/api/v1/keys/${key.id}`, status: 404 },
    ...["emails", "senders", "suppressions"].map(
      (list): Scenario => ({
        name: list,
        method: "GET",
        path: `/api/v1/${list}`,
        status: 200,
        contains: ['"total":0', '"data":[]'],
        lacks: ["secret"],
      }),
    ),
    {
      name: "a cursor of theirs",
      method: "GET",
      path: `/api/v1/emails?cursor=${Buffer.from(`${email.id.slice(0, -1)}z`).toString("base64url")}`,
      status: 200,
      contains: ['"data":[]'],
    },
    { name: "keys", method: "GET", path: "/api/v1/keys", status: 200, contains: ['"total":1'], lacks: ["secret"] },
    {
      name: "their verified sender",
      path: "/api/v1/send",
      body: { from: "x@secret.example", to: "ada@example.com", subject: "x", text: "x" },
      status: 200,
    },
    {
      name: "their suppressed recipient",
      path: "/api/v1/send",
      body: { from: "x@acme.test", to: "secret@example.com", subject: "x", text: "x" },
      status: 200,
    },
  ];
  for (const row of rows) {
    const asked = { ...row, key: other.apiKey };
    const response = await ask(world, asked);
    await expectAnswer(response, row.status === 404 ? { ...asked, code: "not_found" } : asked, other.apiKey);
  }
  expect((await world.sdk.emails.get(email.id)).status).toBe("queued");
  expect((await world.sdk.keys.list({ revoked: false })).pagination.total).toBe(2);
});
