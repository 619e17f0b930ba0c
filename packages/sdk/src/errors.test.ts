import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { html, reset, scriptedServer } from "../test/scripted-server.ts";
import { isApiError, isMailsvcError, Mailsvc, type MailsvcOptions } from "./index.ts";

const KEY = "ms_live_7h15i5a53cr3t";

/** Every way in which an error or a client commonly ends up in a log. */
const shown = (value: unknown): string =>
  [
    inspect(value, { depth: 10, showHidden: true, getters: true }),
    JSON.stringify(value),
    String(value),
    String((value as Error).stack),
  ].join("\n");

const failWith = async (options: MailsvcOptions) => {
  const client = new Mailsvc({
    apiKey: KEY,
    baseUrl: "http://mail.test",
    maxRetries: 0,
    headers: { "X-Api-Key": "0th3r-s3cr3t" },
    ...options,
  });
  const result = await client.emails.get("em_1").safe();
  if (result.ok) throw new Error("it should have failed");
  return result.error;
};

describe("secrets", () => {
  test("are not in a client, however it is printed", () => {
    const client = new Mailsvc({ apiKey: KEY, baseUrl: "https://mail.example/", headers: { Cookie: "s3ss10n" } });
    expect(shown(client)).not.toMatch(/7h15i5|s3ss10n/);
    expect(inspect(client)).toBe('Mailsvc { baseUrl: "https://mail.example" }');
    expect(JSON.stringify(client)).toBe('{"baseUrl":"https://mail.example"}');
  });

  test("are not in errors, even when a transport or a server quotes them", async () => {
    const quoting = Object.assign(new TypeError(`fetch failed for Bearer ${KEY}`, { cause: new Error(`0th3r-s3cr3t ${KEY}`) }), {
      code: "EX",
    });
    const gathered = new AggregateError([new Error(KEY)], "all failed");
    const detail = { path: `to ${KEY}`, code: "x", message: KEY };
    const echoed = { error: { code: "unauthorized", message: `The key ${KEY} is unknown`, hint: `not ${KEY}`, details: [detail] } };
    const failures = [
      await failWith({ fetch: () => Promise.reject(quoting) }),
      await failWith({ fetch: () => Promise.reject(gathered) }),
      await failWith({ fetch: () => Promise.reject(`text with ${KEY}`) }),
      await failWith({ fetch: async () => Response.json(echoed, { status: 401 }) }),
      await failWith({ fetch: async () => new Response(`<p>${KEY}</p>`, { status: 502 }) }),
      await failWith({ fetch: async () => new Response(`<p>${KEY}</p>`) }),
      await failWith({ apiKey: () => `${KEY}\n` }),
    ];
    for (const error of failures) expect(shown(error)).not.toMatch(/7h15i5|0th3r/);
    expect(failures[0]?.message).toContain("fetch failed for [redacted]");
    expect(failures[0]).toMatchObject({ code: "EX", cause: { message: "fetch failed for [redacted]" } });
    expect(failures[3]?.message).toBe("The key [redacted] is unknown");
  });

  test("are not in what real connections throw", async () => {
    await using server = await scriptedServer(reset, html(502));
    expect(shown(await failWith({ baseUrl: server.url }))).not.toContain("7h15i5");
    expect(shown(await failWith({ baseUrl: server.url }))).not.toContain("7h15i5");
  });

  test("are not in the complaint about a key or header that cannot be sent", () => {
    const attempts: MailsvcOptions[] = [{ apiKey: `${KEY}\n` }, { apiKey: `${KEY}ü` }, { headers: { "X-Api-Key": `${KEY}\r\nX: y` } }];
    for (const options of attempts) {
      expect(() => new Mailsvc(options)).toThrow(/^(?:apiKey|The header X-Api-Key) must be a text of plain ASCII without line breaks\.$/);
    }
  });
});

describe("an error", () => {
  test("carries everything the service said and turns into plain data", async () => {
    const details = [{ path: "to[3]", code: "invalid_email", message: "No @." }];
    const body = {
      error: { code: "validation_error", message: "1 field is wrong.", status: 400, requestId: "req_7", details, hint: "Fix it." },
    };
    const error = await failWith({ fetch: async () => Response.json(body, { status: 400, headers: { "Retry-After": "2" } }) });
    expect(JSON.parse(JSON.stringify(error))).toEqual({
      name: "ApiError",
      code: "validation_error",
      status: 400,
      message: "1 field is wrong.",
      requestId: "req_7",
      details,
      hint: "Fix it.",
      retryAfterMs: 2000,
      request: { method: "GET", path: "/api/v1/emails/em_1", attempts: 1, idempotencyKey: null },
    });
    expect(error).toHaveProperty(["headers", "retry-after"], "2");
    expect(inspect(error)).not.toContain("retry-after'");
  });

  test("has the contract's hint when the server gave none, and takes codes newer than this package", async () => {
    const answer = (code: string) => async () => Response.json({ error: { code, message: "m" } }, { status: 409 });
    expect((await failWith({ fetch: answer("duplicate_contact") })).hint).toBe("Update the existing contact instead.");
    const newer = await failWith({ fetch: answer("quota_of_2031") });
    expect(newer).toMatchObject({ code: "quota_of_2031", hint: "" });
    expect((await failWith({ fetch: answer("toString") })).hint).toBe("");
  });

  test("is told apart by isApiError, also when it comes from another copy of this package", async () => {
    const error = await failWith({ fetch: async () => Response.json({ error: { code: "not_found", message: "m" } }, { status: 404 }) });
    expect([isApiError(error), isApiError(error, "not_found"), isApiError(error, "conflict", "not_found")]).toEqual([true, true, true]);
    expect([isApiError(error, "conflict"), isApiError(new Error("x")), isApiError(null)]).toEqual([false, false, false]);
    const copy = Object.assign(new Error("m"), { name: "ApiError", code: "conflict", [Symbol.for("mailsvc.error")]: true });
    expect([isMailsvcError(copy), isApiError(copy, "conflict")]).toEqual([true, true]);
    const lost = await failWith({ fetch: () => Promise.reject(new Error("x")) });
    expect([isMailsvcError(lost), isApiError(lost)]).toEqual([true, false]);
  });

  test("of a name that does not exist or a certificate that is wrong is not worth another try", async () => {
    const of = async (code: string) => failWith({ fetch: () => Promise.reject(new TypeError("fetch failed", { cause: { code } })) });
    const lasting = await Promise.all(
      ["ENOTFOUND", "CERT_HAS_EXPIRED", "SELF_SIGNED_CERT_IN_CHAIN", "ERR_TLS_CERT_ALTNAME_INVALID"].map(of),
    );
    expect(lasting.map((error) => (error as unknown as { transient: boolean }).transient)).toEqual([false, false, false, false]);
    const passing = await Promise.all(["ECONNRESET", "EAI_AGAIN", "UND_ERR_CONNECT_TIMEOUT", "EPIPE"].map(of));
    expect(passing.map((error) => (error as unknown as { transient: boolean }).transient)).toEqual([true, true, true, true]);
  });
});
