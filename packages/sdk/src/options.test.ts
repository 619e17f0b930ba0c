import { MockAgent } from "undici";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { DEFAULT_URL, Mailsvc, type MailsvcOptions, UsageError } from "./index.ts";

/** A client that notes the one request it makes. */
const setUp = (options: MailsvcOptions = {}) => {
  const seen: { url: string; headers: Record<string, string> }[] = [];
  const fetch: MailsvcOptions["fetch"] = async (url, { headers }) => {
    seen.push({ url, headers });
    return Response.json({});
  };
  return { client: new Mailsvc({ fetch, ...options }), seen };
};

beforeEach(() => {
  vi.stubEnv("MAILSVC_URL", "");
  vi.stubEnv("MAILSVC_API_KEY", "");
});

describe("the address and the key", () => {
  test("are a server on this machine and none, when nothing is said", async () => {
    const { client, seen } = setUp();
    await client.me.get();
    expect(client.baseUrl).toBe(DEFAULT_URL);
    expect(seen[0]).toMatchObject({ url: "http://127.0.0.1:2526/api/v1/me" });
    expect(seen[0]?.headers).not.toHaveProperty("authorization");
  });

  test("come from the environment, and options win over it", async () => {
    vi.stubEnv("MAILSVC_URL", "https://env.example/");
    vi.stubEnv("MAILSVC_API_KEY", "ms_live_env");
    const { client, seen } = setUp();
    await client.me.get();
    expect(seen[0]).toMatchObject({ url: "https://env.example/api/v1/me", headers: { authorization: "Bearer ms_live_env" } });
    const own = setUp({ baseUrl: "https://own.example", apiKey: "ms_live_own" });
    await own.client.me.get();
    expect(own.seen[0]).toMatchObject({ url: "https://own.example/api/v1/me", headers: { authorization: "Bearer ms_live_own" } });
  });

  test("may be set or taken away by headers", async () => {
    const { client, seen } = setUp({ apiKey: "ms_live_x", headers: { "X-One": "1", "X-Two": "2" } });
    await client.me.get({ headers: { Authorization: "Basic abc", "x-one": undefined, "X-TWO": "3" } });
    expect(seen[0]?.headers).toMatchObject({ authorization: "Basic abc", "x-two": "3" });
    expect(seen[0]?.headers).not.toHaveProperty("x-one");
  });

  test("work where there is no process at all", async () => {
    vi.stubGlobal("process", undefined);
    vi.stubGlobal("fetch", async () => Response.json({ status: "ok", version: "1" }));
    const call = new Mailsvc().health.live();
    expect(await call).toEqual({ status: "ok", version: "1" });
    vi.unstubAllGlobals();
  });
});

describe("wrong options", () => {
  const dispatcher = new MockAgent();
  test.each<[MailsvcOptions, string]>([
    [{ baseUrl: "localhost" }, "baseUrl is not a URL."],
    [{ baseUrl: "ftp://mail.example" }, "baseUrl must begin with http:// or https://."],
    [{ baseUrl: "http://u:p@mail.example" }, "baseUrl must not hold a user name or password."],
    [{ baseUrl: "http://mail.example?x=1" }, "baseUrl must not hold a query or fragment."],
    [{ timeoutMs: 0 }, "timeoutMs must be more than 0 milliseconds."],
    [{ attemptTimeoutMs: Number.NaN }, "attemptTimeoutMs must be more than 0 milliseconds."],
    [{ maxRetries: -1 }, "maxRetries must be a whole number, 0 or more."],
    [{ fetch: async () => new Response(), dispatcher }, "Give either fetch or dispatcher, not both."],
    [{ headers: { "bad name": "x" } }, "A header name may hold letters, digits and dashes only."],
    [{ userAgent: "a\nb" }, "The header user-agent must be a text of plain ASCII without line breaks."],
  ])("are refused by name: %#", (options, message) => {
    expect(() => new Mailsvc(options)).toThrow(message);
    expect(() => new Mailsvc(options)).toThrow(UsageError);
  });
});
