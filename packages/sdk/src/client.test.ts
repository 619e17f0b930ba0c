import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, expectTypeOf, test, vi } from "vitest";
import { AgentClient, attachmentFromFile, Mailsvc, type MailsvcOptions, UsageError } from "./index.ts";

const MAIL = { from: "hello@acme.example", to: "ada@example.com", subject: "Hello", text: "Hi" };

/** A client that records requests and answers them with `responses` in turn, the last one for ever. */
const setUp = (options: MailsvcOptions = {}, ...responses: (() => Response)[]) => {
  const requests: { url: string; method: string; headers: Record<string, string>; body: unknown }[] = [];
  const fetch: MailsvcOptions["fetch"] = async (url, { method, headers, body }) => {
    requests.push({ url, method, headers, body: typeof body === "string" ? JSON.parse(body) : body });
    return (responses[Math.min(requests.length, responses.length) - 1] ?? (() => Response.json({ id: "em_1", status: "queued" })))();
  };
  return { client: new Mailsvc({ apiKey: "ms_live_secret", fetch, sleep: async () => {}, ...options }), requests };
};

beforeEach(() => {
  vi.stubEnv("MAILSVC_API_KEY", "");
  vi.stubEnv("MAILSVC_URL", "");
});

describe("a client without a key", () => {
  test("refuses a call before anything is sent, and names the remedy", async () => {
    const error = await new Mailsvc().emails.list().safe();
    expect(error).toMatchObject({ ok: false, error: { name: "UsageError", hint: expect.stringContaining("MAILSVC_API_KEY") } });
  });

  test("may bring the key in its own fetch", async () => {
    const { client, requests } = setUp({ apiKey: undefined });
    await client.emails.send(MAIL);
    expect(requests).toHaveLength(1);
  });
});

describe("what is wrong before anything is sent", () => {
  test("is a key that is empty, as of a variable that is not set", () => {
    expect(() => new Mailsvc({ apiKey: "" })).toThrow(UsageError);
  });

  test("is an invalid date, wherever it stands", async () => {
    const { client, requests } = setUp();
    await expect(client.emails.send({ ...MAIL, scheduledAt: new Date("x") as unknown as string })).rejects.toThrow(
      /scheduledAt is an invalid date/,
    );
    await expect(client.request("POST", "/api/v1/x", { body: { a: [{ at: new Date("x") }] } })).rejects.toThrow(UsageError);
    expect(requests).toEqual([]);
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])("is %s, which JSON would make null of", async (score) => {
    const { client, requests } = setUp();
    const update = client.contacts.update("ada@example.com", { customFields: { score } });
    await expect(update).rejects.toThrow(`score is ${score}, which JSON has no number for`);
    expect(requests).toEqual([]);
  });

  test("is a value that holds itself", async () => {
    const { client, requests } = setUp();
    const customFields: Record<string, never[]> = { all: [] };
    customFields["all"]?.push(customFields as never);
    await expect(client.contacts.update("ada@example.com", { customFields })).rejects.toThrow(/cannot be written as JSON/);
    expect(requests).toEqual([]);
  });
});

describe("withOptions", () => {
  test("changes the named options and keeps the others", async () => {
    const { client, requests } = setUp({ baseUrl: "https://mail.example", userAgent: "shop/1" });
    await client.withOptions({ apiKey: "ms_live_other" }).emails.send(MAIL);
    await client.emails.send(MAIL);
    expect(requests.map(({ headers }) => headers.authorization)).toEqual(["Bearer ms_live_other", "Bearer ms_live_secret"]);
    expect(requests[0]).toMatchObject({ url: "https://mail.example/api/v1/send" });
    expect(requests[0]?.headers["user-agent"]).toMatch(/^shop\/1 /);
  });

  test("works for an agent's client as well", () => {
    const agent = new AgentClient({ activationId: "act_1", apiKey: "ms_agent_x", baseUrl: "https://one.example" });
    expect(agent.withOptions({ baseUrl: "https://two.example" })).toMatchObject({ activationId: "act_1", baseUrl: "https://two.example" });
  });
});

describe("asResponse", () => {
  test("is the response as it came, from the same single request", async () => {
    const { client, requests } = setUp(
      {},
      () => new Response('{"id":"em_1", "status":"queued"}', { status: 201, headers: { "x-one": "1" } }),
    );
    const call = client.emails.send(MAIL);
    const response = await call.asResponse();
    expect([response.status, response.headers.get("x-one"), await response.text()]).toEqual([201, "1", '{"id":"em_1", "status":"queued"}']);
    expect(await call).toEqual({ id: "em_1", status: "queued" });
    expect(requests).toHaveLength(1);
  });
});

describe("the debug log", () => {
  test("has a line for each attempt, its outcome and each retry, and never the key", async () => {
    const lines: string[] = [];
    const busy = () => Response.json({ error: { code: "rate_limited", message: "Slow down." } }, { status: 503 });
    const sent = () => Response.json({ id: "em_1", status: "queued" }, { headers: { "x-request-id": "req_1" } });
    const { client } = setUp({ debug: (line) => lines.push(line), random: () => 0 }, busy, sent);
    await client.emails.send(MAIL);
    expect(lines.map((line) => line.replace(/\(\d+ ms\)/, "(…)"))).toEqual([
      "mailsvc > POST /api/v1/send attempt 1",
      "mailsvc < 503  (…)",
      "mailsvc ~ retry in 0 ms",
      "mailsvc > POST /api/v1/send attempt 2",
      "mailsvc < 200 req_1 (…)",
    ]);
    expect(lines.join()).not.toContain("secret");
  });
});

describe("a page", () => {
  const page = (name: string, nextCursor: string | null) => () => Response.json({ data: [{ name }], pagination: { nextCursor } });

  test("fetches the next one, and null after the last", async () => {
    const { client, requests } = setUp({}, page("a", "c1"), page("b", null));
    const first = await client.emails.list({ status: "bounced" });
    expect(first.hasNextPage()).toBe(true);
    const second = await first.getNextPage();
    expect(second?.data).toEqual([{ name: "b" }]);
    expect(second?.hasNextPage()).toBe(false);
    expect(await second?.getNextPage()).toBeNull();
    expect(requests.map(({ url }) => new URL(url).search)).toEqual(["?status=bounced", "?status=bounced&cursor=c1"]);
    expect(JSON.parse(JSON.stringify(first))).toEqual({ data: [{ name: "a" }], pagination: { nextCursor: "c1" } });
  });
});

describe("attachments", () => {
  test.each([
    ["a Buffer", Buffer.from("hi")],
    ["bytes within a larger buffer", new Uint8Array(Buffer.from("-hi-")).subarray(1, 3)],
    ["an ArrayBuffer", new TextEncoder().encode("hi").buffer as ArrayBuffer],
    ["a Blob", new Blob(["hi"])],
    ["base64", "aGk="],
  ])("may be %s", async (_name, content) => {
    const { client, requests } = setUp();
    await client.emails.send({ ...MAIL, attachments: [{ filename: "a.txt", content }] });
    expect(requests[0]?.body).toMatchObject({ attachments: [{ filename: "a.txt", content: "aGk=" }] });
  });

  test("come from a file by their own function, with its name", async () => {
    const folder = await mkdtemp(join(tmpdir(), "mailsvc-sdk-"));
    await writeFile(join(folder, "invoice.txt"), "hi");
    const { client, requests } = setUp();
    await client.emails.send({
      ...MAIL,
      attachments: [await attachmentFromFile(join(folder, "invoice.txt"), { contentType: "text/plain" })],
    });
    expect(requests[0]?.body).toMatchObject({ attachments: [{ filename: "invoice.txt", content: "aGk=", contentType: "text/plain" }] });
    await expect(attachmentFromFile(join(folder, "gone.pdf"))).rejects.toThrow(UsageError);
    await rm(folder, { recursive: true });
  });

  test("are never read from a path in the request itself", async () => {
    const { client, requests } = setUp();
    const unchecked = { filename: "x", path: "/etc/hostname" } as unknown as { filename: string; content: string };
    await client.emails.send({ ...MAIL, attachments: [unchecked] });
    expect(requests[0]?.body).toMatchObject({ attachments: [{ filename: "x", path: "/etc/hostname" }] });
  });
});

describe("types", () => {
  const { client } = setUp();
  const never = (_: () => void): void => {};

  test("a send needs html or text, and takes a Date", async () => {
    never(() => {
      // @ts-expect-error neither html nor text
      client.emails.send({ from: "a@acme.example", to: "ada@example.com", subject: "s" });
      client.emails.send({ from: "a@acme.example", to: "ada@example.com", subject: "s", html: "<p>Hi</p>" });
    });
    const { client: sender, requests } = setUp();
    await sender.emails.send({ ...MAIL, scheduledAt: new Date("2030-01-31T09:30:00Z") });
    expect(requests[0]?.body).toMatchObject({ scheduledAt: "2030-01-31T09:30:00.000Z" });
    expectTypeOf(client.emails.reschedule).parameter(1).toHaveProperty("scheduledAt").toEqualTypeOf<string | Date>();
  });

  test("the package's root has the client and its errors, not the schemas of the contract", async () => {
    expect(Object.keys(await import("./index.ts")).length).toBeLessThan(25);
  });
});
