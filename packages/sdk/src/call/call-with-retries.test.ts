import { describe, expect, test, vi } from "vitest";
import { fault, hang, html, json, type Reply, reset, resetMidBody, scriptedServer, stallMidBody } from "../../test/scripted-server.ts";
import { ApiError, ConnectionError, Mailsvc, type MailsvcError, type MailsvcOptions, type RetryNotice, TimeoutError } from "../index.ts";
import { systemRuntime } from "../runtime.ts";

const MAIL = { to: "ada@example.com", from: "hello@acme.example", subject: "Hello", text: "It works." };
const SENT = json(200, { id: "em_1", status: "queued" });

/** A client of a scripted server that notes its waits instead of waiting. */
const setUp = async (options: MailsvcOptions, ...script: Reply[]) => {
  const server = await scriptedServer(...script);
  const slept: number[] = [];
  const sleep = async (ms: number) => void slept.push(ms);
  const client = new Mailsvc({ apiKey: "ms_live_secret", baseUrl: server.url, random: () => 0.5, sleep, ...options });
  return { client, server, slept, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
};

const failureOf = async (work: PromiseLike<unknown>): Promise<MailsvcError> =>
  work.then(
    () => expect.unreachable("it should have failed"),
    (error) => error,
  );

describe("a call", () => {
  test("sends the method, path, key and JSON of the contract and gives back the data", async () => {
    await using world = await setUp({ userAgent: "shop/1.2", headers: { "X-Team": "mail" } }, SENT);
    expect(await world.client.emails.send(MAIL)).toEqual({ id: "em_1", status: "queued" });
    expect(world.server.received).toEqual([
      {
        method: "POST",
        url: "/api/v1/send",
        body: JSON.stringify(MAIL),
        headers: expect.objectContaining({
          authorization: "Bearer ms_live_secret",
          "content-type": "application/json",
          accept: "application/json",
          "idempotency-key": expect.stringMatching(/^[0-9a-f-]{36}$/),
          "user-agent": expect.stringMatching(/^shop\/1\.2 mailsvc-sdk\/\d+\.\d+\.\d+ node\/\d+/),
          "x-team": "mail",
        }),
      },
    ]);
  });

  test("writes a GET's input as a query, behind the path of the base URL, and escapes path parameters", async () => {
    await using server = await scriptedServer(json(200, {}));
    const client = new Mailsvc({ apiKey: "ms_live_x", baseUrl: `${server.url}/mail/` });
    await client.emails.get("a/b?c ü");
    await client.emails.list({ status: "bounced", limit: 5, inDoubt: true, to: undefined });
    expect(server.received.map(({ url }) => url)).toEqual([
      "/mail/api/v1/emails/a%2Fb%3Fc%20%C3%BC",
      "/mail/api/v1/emails?status=bounced&limit=5&inDoubt=true",
    ]);
  });

  test("takes the body as it is when the call is made", async () => {
    await using world = await setUp({ apiKey: async () => "ms_live_later" }, SENT);
    const mail = { ...MAIL };
    const sending = world.client.emails.send(mail);
    mail.subject = "Changed";
    await sending;
    expect(world.server.received[0]?.body).toContain("Hello");
    expect(world.server.received[0]?.headers.authorization).toBe("Bearer ms_live_later");
  });

  test("shows no key to public and dev endpoints, and gives their writes no Idempotency-Key", async () => {
    await using world = await setUp({}, json(200, {}));
    await world.client.health.live();
    await world.client.clock.advance({ by: "15m" });
    for (const { headers } of world.server.received) {
      expect(headers).not.toHaveProperty("authorization");
      expect(headers).not.toHaveProperty("idempotency-key");
    }
  });

  test("sends an empty object when a body's fields are all optional and none is given", async () => {
    await using world = await setUp({}, json(200, {}));
    await world.client.clock.freeze();
    await world.client.clock.thaw();
    expect(world.server.received.map(({ body }) => body)).toEqual(["{}", ""]);
  });

  test("gives answers that are not JSON as text", async () => {
    await using world = await setUp({}, (response) => response.writeHead(200, { "content-type": "text/html" }).end("<p>Grüße</p>"));
    expect(await world.client.inbox.html("mail_1")).toBe("<p>Grüße</p>");
    expect(world.server.received[0]?.headers.accept).toBe("text/html, application/json;q=0.9");
  });

  test("reuses its connections", async () => {
    const sockets = new Set<unknown>();
    const note: Reply = (response, request) => {
      sockets.add(response.socket);
      SENT(response, request);
    };
    await using world = await setUp({}, note);
    for (let i = 0; i < 10; i += 1) await world.client.emails.send(MAIL);
    // A connection is free a moment after its answer was read, so that two take turns.
    expect(sockets.size).toBeLessThanOrEqual(2);
  });
});

describe("retries", () => {
  test.each([408, 425, 429, 500, 502, 503, 504])(
    "repeat a write that was answered with %i, with the same Idempotency-Key",
    async (status) => {
      const notices: RetryNotice[] = [];
      await using world = await setUp({ onRetry: (notice) => notices.push(notice) }, fault(status, "internal_error"), html(status), SENT);
      const answer = await world.client.emails.send(MAIL).withResponse();
      expect(answer).toMatchObject({ attempts: 3, data: { id: "em_1" } });
      const keys = world.server.received.map(({ headers }) => headers["idempotency-key"]);
      expect(keys).toEqual([answer.idempotencyKey, answer.idempotencyKey, answer.idempotencyKey]);
      // Half of 250, then half of 500.
      expect(world.slept).toEqual([125, 250]);
      expect(notices.map((notice) => [notice.request.attempts, notice.delayMs, notice.error.name])).toEqual([
        [1, 125, "ApiError"],
        [2, 250, "ApiError"],
      ]);
    },
  );

  test.each([
    [400, "validation_error"],
    [401, "unauthorized"],
    [403, "forbidden"],
    [404, "not_found"],
    [409, "conflict"],
    [409, "idempotency_key_reused"],
    [413, "payload_too_large"],
    [501, "internal_error"],
  ])("do not repeat %i %s", async (status, code) => {
    await using world = await setUp({}, fault(status, code));
    expect(await failureOf(world.client.emails.list())).toMatchObject({ name: "ApiError", status, code });
    expect(world.server.received).toHaveLength(1);
  });

  test("wait for a first request with the same key that is still running", async () => {
    await using world = await setUp({}, fault(409, "idempotency_in_progress", { "retry-after": "1" }), SENT);
    expect(await world.client.emails.send(MAIL).withResponse()).toMatchObject({ attempts: 2 });
    expect(world.slept).toEqual([1000]);
  });

  test("leave a write without an Idempotency-Key alone", async () => {
    await using world = await setUp({ idempotencyKey: false }, fault(503, "storage_unavailable"));
    expect(await failureOf(world.client.emails.send(MAIL))).toMatchObject({ status: 503, request: { attempts: 1, idempotencyKey: null } });
    expect(await failureOf(world.client.clock.next())).toMatchObject({ status: 503 });
    expect(await failureOf(world.client.emails.cancel("em_1", { idempotencyKey: false }))).toMatchObject({ status: 503 });
    expect(world.server.received).toHaveLength(3);
    expect(world.server.received.every(({ headers }) => !("idempotency-key" in headers))).toBe(true);
  });

  test("take a key of the caller's, from the call, the client's maker or a header", async () => {
    await using world = await setUp({ idempotencyKey: () => "made" }, SENT);
    const { client } = world;
    expect(await client.emails.send(MAIL).withResponse()).toMatchObject({ idempotencyKey: "made" });
    expect(await client.emails.send(MAIL, { idempotencyKey: "order-7" }).withResponse()).toMatchObject({ idempotencyKey: "order-7" });
    expect(await client.emails.send(MAIL, { headers: { "Idempotency-Key": "h" } }).withResponse()).toMatchObject({ idempotencyKey: "h" });
    expect(await client.emails.list({}, { idempotencyKey: "unused" }).withResponse()).toMatchObject({ idempotencyKey: null });
    expect(world.server.received.map(({ headers }) => headers["idempotency-key"])).toEqual(["made", "order-7", "h", undefined]);
  });

  test("end after maxRetries with the last error and the number of attempts", async () => {
    await using world = await setUp({ maxRetries: 3 }, fault(503, "storage_unavailable"), fault(500, "queue_failed"));
    expect(await failureOf(world.client.emails.send(MAIL))).toMatchObject({ code: "queue_failed", request: { attempts: 4 } });
    expect(await failureOf(world.client.emails.send(MAIL, { maxRetries: 0 }))).toMatchObject({ request: { attempts: 1 } });
  });

  test("follow a connection that was reset, before the answer or in the middle of it", async () => {
    await using world = await setUp({}, reset, resetMidBody, SENT);
    expect(await world.client.emails.send(MAIL).withResponse()).toMatchObject({ attempts: 3, data: { id: "em_1" } });
    expect(new Set(world.server.received.map(({ headers }) => headers["idempotency-key"])).size).toBe(1);
  });

  test("follow a body of JSON that was cut off, and say so when it stays so", async () => {
    await using world = await setUp({}, (response) => response.writeHead(200, { "content-type": "application/json" }).end('{"id":"em_'));
    const error = await failureOf(world.client.emails.get("em_1"));
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error.message).toBe("GET /api/v1/emails/em_1 returned 200, but its body of 10 bytes (application/json) is not valid JSON.");
    expect(world.server.received).toHaveLength(3);
  });

  test("say when the server repeated its stored answer", async () => {
    await using world = await setUp({}, json(200, { id: "em_1", status: "queued" }, { "idempotency-replayed": "true" }), SENT);
    expect(await world.client.emails.send(MAIL).withResponse()).toMatchObject({
      idempotencyReplayed: true,
      requestId: "req_1",
      status: 200,
    });
    expect(await world.client.emails.send(MAIL).withResponse()).toMatchObject({ idempotencyReplayed: false });
  });
});

describe("Retry-After", () => {
  test("wins over the backoff, in seconds or as a date by the server's own clock", async () => {
    const date = { date: "Fri, 31 Jan 2020 09:30:00 GMT", "retry-after": "Fri, 31 Jan 2020 09:30:04 GMT" };
    await using world = await setUp({}, fault(429, "rate_limited", { "retry-after": "7" }), fault(429, "rate_limited", date), SENT);
    await world.client.emails.send(MAIL);
    expect(world.slept).toEqual([7000, 4000]);
  });

  test("that reaches beyond the time limit ends the call at once with the server's error", async () => {
    await using world = await setUp({}, fault(429, "rate_limited", { "retry-after": "3600" }));
    const error = await failureOf(world.client.emails.list());
    expect(error).toMatchObject({ code: "rate_limited", retryAfterMs: 3_600_000, request: { attempts: 1 } });
    expect(world.slept).toEqual([]);
  });
});

describe("time limits", () => {
  test("end an attempt that hangs, and try again", async () => {
    await using world = await setUp({ attemptTimeoutMs: 600 }, hang, stallMidBody, SENT);
    expect(await world.client.emails.send(MAIL).withResponse()).toMatchObject({ attempts: 3 });
  });

  test("end the whole call, naming the failure before", async () => {
    await using world = await setUp({ timeoutMs: 2000 }, fault(503, "storage_unavailable"), hang);
    const error = await failureOf(world.client.emails.send(MAIL));
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).toMatchObject({ scope: "total", timeoutMs: 2000, request: { attempts: 2 }, cause: { code: "storage_unavailable" } });
    expect(error.message).toBe("POST /api/v1/send took longer than 2000 ms (in all, attempts: 2).");
  });

  test("hold against a fetch that ignores signals", async () => {
    const client = new Mailsvc({ baseUrl: "http://mail.test", fetch: () => new Promise(() => {}), timeoutMs: 40 });
    expect(await failureOf(client.emails.list())).toMatchObject({ name: "TimeoutError", scope: "total" });
  });

  test("are extended by the time the server was asked to wait", async () => {
    const later: Reply = (response, request) => void setTimeout(() => json(200, { id: "mail_1" })(response, request), 120);
    await using world = await setUp({ timeoutMs: 60, attemptTimeoutMs: 60, maxRetries: 0 }, later);
    expect(await world.client.inbox.wait({ to: "ada@example.com", timeout: 1 })).toEqual({ id: "mail_1" });
    expect(await failureOf(world.client.inbox.wait({ timeout: 0 }))).toBeInstanceOf(TimeoutError);
    expect(await failureOf(world.client.inbox.wait({ timeout: 5 }, { timeoutMs: 60 }))).toMatchObject({ timeoutMs: 60 });
  });

  test("are extended by the time the endpoint may need", async () => {
    const later: Reply = (response, request) => void setTimeout(() => json(200, { ok: true })(response, request), 120);
    await using world = await setUp({ timeoutMs: 60, attemptTimeoutMs: 60, maxRetries: 0 }, later, later, later);
    expect(await world.client.me.checkRelays()).toEqual({ ok: true });
    expect(await world.client.clock.advance({ by: "30d" })).toEqual({ ok: true });
    expect(await failureOf(world.client.me.get())).toBeInstanceOf(TimeoutError);
  });
});

describe("an AbortSignal", () => {
  const reason = new Error("changed my mind");

  test("that has fired keeps the request from being sent", async () => {
    await using world = await setUp({}, SENT);
    const error = await failureOf(world.client.emails.send(MAIL, { signal: AbortSignal.abort(reason) }));
    expect(error).toMatchObject({ name: "AbortError", cause: reason, request: { attempts: 0 } });
    expect(world.server.received).toHaveLength(0);
  });

  test.each([
    ["while it waits for the answer", hang],
    ["while it reads the body", stallMidBody],
  ])("ends a call %s, without a retry", async (_, reply) => {
    const controller = new AbortController();
    await using world = await setUp({}, reply);
    const failing = failureOf(world.client.emails.send(MAIL, { signal: controller.signal }));
    await world.server.heard(1);
    controller.abort(reason);
    expect(await failing).toMatchObject({ name: "AbortError", cause: reason });
    expect(world.server.received).toHaveLength(1);
  });

  test("ends the wait for a retry", async () => {
    const controller = new AbortController();
    await using world = await setUp(
      { sleep: systemRuntime.sleep, onRetry: () => controller.abort(reason) },
      fault(503, "x", { "retry-after": "20" }),
    );
    expect(await failureOf(world.client.emails.list({}, { signal: controller.signal }))).toMatchObject({
      name: "AbortError",
      cause: reason,
    });
    const later = new AbortController();
    const asleep = { sleep: () => new Promise<void>(() => later.abort(reason)) };
    await using sleeper = await setUp(asleep, fault(503, "x"));
    expect(await failureOf(sleeper.client.emails.list({}, { signal: later.signal }))).toMatchObject({ name: "AbortError", cause: reason });
  });

  test("ends the wait for the key", async () => {
    const controller = new AbortController();
    await using world = await setUp({ apiKey: () => new Promise<string>(() => controller.abort(reason)) }, SENT);
    expect(await failureOf(world.client.emails.list({}, { signal: controller.signal }))).toMatchObject({ name: "AbortError" });
  });

  test("is left without listeners when the call is over", async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const added = vi.spyOn(signal, "addEventListener");
    const removed = vi.spyOn(signal, "removeEventListener");
    await using world = await setUp({}, fault(503, "storage_unavailable"), SENT);
    await world.client.emails.send(MAIL, { signal });
    expect(added).not.toHaveBeenCalledTimes(0);
    expect(removed.mock.calls.map(([, listener]) => listener)).toEqual(added.mock.calls.map(([, listener]) => listener));
  });
});

describe("a server that cannot be reached", () => {
  test("is a ConnectionError that names the request, the place and the system's word", async () => {
    const gone = await scriptedServer(SENT);
    await gone[Symbol.asyncDispose]();
    const client = new Mailsvc({ apiKey: "ms_live_x", baseUrl: gone.url, sleep: async () => {} });
    const error = await failureOf(client.emails.get("em_1"));
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ code: "ECONNREFUSED", transient: true, request: { attempts: 3 } });
    expect(error.message).toBe(`GET /api/v1/emails/em_1: ${gone.url} refused the connection (ECONNREFUSED).`);
    expect(error.hint).toContain("mailsvc serve");
  });
});

describe("an answer that is not ours", () => {
  test("is an ApiError that says so", async () => {
    await using world = await setUp(
      { maxRetries: 0 },
      html(502, { "retry-after": "3" }),
      html(302, { location: "https://other.example/" }),
    );
    const gateway = await failureOf(world.client.emails.list());
    expect(gateway).toBeInstanceOf(ApiError);
    expect(gateway).toMatchObject({ code: "unexpected_answer", status: 502, requestId: null, details: [], retryAfterMs: 3000 });
    expect(gateway.message).toBe("GET /api/v1/emails returned 502 (text/html), which is not a mailsvc response.");
    expect(gateway.hint).toContain("baseUrl");
    expect(await failureOf(world.client.emails.list())).toMatchObject({
      code: "unexpected_answer",
      status: 302,
      headers: { location: "https://other.example/" },
    });
  });

  test("is a ConnectionError when it claims success, and is not asked for again", async () => {
    await using world = await setUp({}, html(200));
    expect(await failureOf(world.client.emails.list())).toMatchObject({ name: "ConnectionError", transient: false });
    expect(world.server.received).toHaveLength(1);
  });

  test.each([null, 7, "error", { error: "down" }, { error: { code: 5 } }, { error: { code: "x", details: [null, 3, {}] } }])(
    "may hold anything without breaking the client: %j",
    async (body) => {
      await using world = await setUp({}, json(418, body));
      const error = await failureOf(world.client.emails.list());
      expect(error).toMatchObject({ name: "ApiError", status: 418, message: expect.stringContaining("418") });
    },
  );
});
