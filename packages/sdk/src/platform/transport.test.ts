import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { HttpResponse, http } from "msw";
import { setupServer } from "msw/node";
import { MockAgent } from "undici";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { type CapturedMail, Mailsvc } from "../index.ts";

const outside = setupServer();
beforeAll(() => outside.listen({ onUnhandledFrame: "error" }));
afterEach(() => outside.resetHandlers());
afterAll(() => outside.close());

const viaFetch = (): Mailsvc =>
  new Mailsvc({ apiKey: "ms_live_x", baseUrl: "http://mail.test", fetch: (url, init) => fetch(url, init), sleep: async () => {} });

test("Bun's global fetch carries requests there, and the user agent names it", async () => {
  vi.stubGlobal("Bun", { version: "1.4.5" });
  const agents: (string | null)[] = [];
  const fetching = vi.spyOn(globalThis, "fetch").mockImplementation(async (_url, init) => {
    agents.push(new Headers(init?.headers).get("user-agent"));
    return Response.json({ id: "em_1", status: "queued" });
  });
  try {
    const client = new Mailsvc({ apiKey: "ms_live_x", baseUrl: "http://mail.test" });
    await client.emails.send({ to: "ada@example.com", from: "hello@acme.example", subject: "Hi", text: "It works." });
    expect(agents).toEqual([expect.stringMatching(/^mailsvc-sdk\/\S+ bun\/1\.4\.5$/)]);
  } finally {
    fetching.mockRestore();
    vi.unstubAllGlobals();
  }
});

describe("the platform's fetch", () => {
  test("carries a send and its retry", async () => {
    const bodies: unknown[] = [];
    const keys = new Set<string | null>();
    outside.use(
      http.post("http://mail.test/api/v1/send", async ({ request }) => {
        bodies.push(await request.json());
        keys.add(request.headers.get("idempotency-key"));
        return bodies.length === 1 ? HttpResponse.error() : HttpResponse.json({ id: "em_1", status: "queued" });
      }),
    );
    const mail = { to: "ada@example.com", from: "hello@acme.example", subject: "Grüße ✉", text: "It works." };
    expect(await viaFetch().emails.send(mail).withResponse()).toMatchObject({ attempts: 2, data: { id: "em_1" } });
    expect(bodies).toEqual([mail, mail]);
    expect(keys.size).toBe(1);
  });

  test("does not follow redirects, so that the key stays where it was sent", async () => {
    const elsewhere: string[] = [];
    outside.use(
      http.get("http://mail.test/api/v1/me", () => HttpResponse.redirect("http://other.test/me", 302)),
      http.get("http://other.test/me", ({ request }) => {
        elsewhere.push(request.url);
        return HttpResponse.json({});
      }),
    );
    expect(await viaFetch().me.get().safe()).toMatchObject({
      ok: false,
      error: { code: "unexpected_answer", hint: expect.stringContaining("Redirects") },
    });
    expect(elsewhere).toEqual([]);
  });
});

describe("an answer from a newer server", () => {
  test("keeps fields and enum values this package does not know", async () => {
    const mail = { id: "mail_1", colour: "blue", nested: { deep: [1] } };
    outside.use(http.get("http://mail.test/__dev/inbox/mail_1", () => HttpResponse.json(mail)));
    outside.use(http.get("http://mail.test/api/v1/emails/em_1", () => HttpResponse.json({ id: "em_1", status: "teleported" })));
    expect(await viaFetch().inbox.get("mail_1")).toEqual(mail);
    expect(await viaFetch().emails.get("em_1")).toEqual({ id: "em_1", status: "teleported" });
  });
});

describe("validation of answers", () => {
  const live = (body: object) => outside.use(http.get("http://mail.test/healthz", () => HttpResponse.json(body)));

  test("is off unless asked for", async () => {
    live({ status: "broken" });
    expect(await viaFetch().health.live()).toEqual({ status: "broken" });
  });

  test("as strict rejects and names the fields", async () => {
    live({ status: 7 });
    const result = await viaFetch().health.live({ validate: "strict" }).safe();
    expect(result).toMatchObject({
      ok: false,
      error: { name: "ResponseValidationError", details: [{ path: "status", code: "invalid_value" }], request: { path: "/healthz" } },
    });
  });

  test("as strict lets a good answer through as it is, unknown fields included", async () => {
    live({ status: "ok", version: "1", extra: true });
    expect(await viaFetch().health.live({ validate: "strict" })).toEqual({ status: "ok", version: "1", extra: true });
  });

  test("as warn reports and gives the data all the same", async () => {
    live({ status: "odd", version: "1" });
    const warnings: string[] = [];
    const client = new Mailsvc({
      baseUrl: "http://mail.test",
      fetch: (url, init) => fetch(url, init),
      validate: "warn",
      onWarning: (message) => warnings.push(message),
    });
    expect(await client.health.live()).toEqual({ status: "odd", version: "1" });
    expect(warnings).toEqual([expect.stringMatching(/^The response to GET \/healthz does not match the contract: status: /)]);
  });
});

describe("undici", () => {
  test("sends through a dispatcher that was passed in", async () => {
    const agent = new MockAgent();
    agent.disableNetConnect();
    const mails: Pick<CapturedMail, "id">[] = [{ id: "mail_1" }];
    const body = { data: mails, pagination: { nextCursor: null } };
    const pool = agent.get("http://mail.test");
    pool.intercept({ path: "/__dev/inbox?to=ada%40example.com", method: "GET" }).reply(200, body);
    const client = new Mailsvc({ baseUrl: "http://mail.test", dispatcher: agent });
    expect(await client.inbox.list({ to: "ada@example.com" }).toArray()).toEqual(mails);
    await agent.close();
  });

  test("is not loaded by importing the package, nor by a client with its own fetch", async () => {
    const program = `
      import { createRequire } from "node:module";
      import { Mailsvc } from ${JSON.stringify(new URL("../index.ts", import.meta.url).href)};
      const loaded = () => Object.keys(createRequire(import.meta.url).cache).some((file) => file.includes("/undici/"));
      await new Mailsvc({ baseUrl: "http://127.0.0.1:1", fetch: async () => Response.json({}) }).health.live();
      const before = loaded();
      await new Mailsvc({ baseUrl: "http://127.0.0.1:1", maxRetries: 0 }).health.live().safe();
      process.stdout.write(JSON.stringify([before, loaded()]));
    `;
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program]);
    expect(JSON.parse(stdout)).toEqual([false, true]);
  });
});

describe("where undici cannot be loaded", () => {
  beforeAll(() => {
    vi.resetModules();
    vi.doMock("undici", () => {
      throw new Error("A dynamic import callback was invoked without --experimental-vm-modules");
    });
  });
  afterAll(() => {
    vi.doUnmock("undici");
    vi.resetModules();
  });
  const request = { method: "GET", url: "http://mail.test/api/v1/me", headers: {}, body: undefined, signal: new AbortController().signal };

  test("requests and streams go over the global fetch", async () => {
    const { undiciStream, undiciTransport } = await import("./undici.ts");
    outside.use(http.get(request.url, () => HttpResponse.json({ ok: true })));
    const { status, bytes } = await undiciTransport(undefined)(request);
    expect([status, Buffer.from(bytes).toString()]).toEqual([200, '{"ok":true}']);
    const { chunks } = await undiciStream(undefined)(request);
    let text = "";
    for await (const chunk of chunks) text += Buffer.from(chunk).toString();
    expect(text).toBe('{"ok":true}');
  });

  test("a dispatcher is not left out", async () => {
    const { undiciTransport } = await import("./undici.ts");
    await expect(undiciTransport({ dispatch: () => true })(request)).rejects.toThrow();
  });
});

test("the client can be imported where there is no TextDecoder, as in Jest's jsdom", async () => {
  vi.stubGlobal("TextDecoder", undefined);
  vi.resetModules();
  try {
    const { Mailsvc: Imported } = await import("../index.ts");
    expect(new Imported({ apiKey: "ms_live_x", baseUrl: "http://mail.test" }).emails).toBeDefined();
  } finally {
    vi.unstubAllGlobals();
    vi.resetModules();
  }
});
