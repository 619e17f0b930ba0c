import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { Mailsvc } from "../client.ts";
import { contract, type Endpoint, type Example } from "../contract/index.ts";
import { ANSWERS } from "./answers.generated.ts";
import { mockMailsvc, type Operation } from "./msw.ts";

const api = mockMailsvc({ baseUrl: "http://mail.example.com/" });
const server = setupServer(...api.handlers);
const sdk = new Mailsvc({ baseUrl: "http://mail.example.com", apiKey: "ms_live_x", fetch: (url, init) => fetch(url, init), maxRetries: 0 });
const mail = { from: "hello@acme.example", to: "ada@example.com", subject: "Hello", text: "Hello" };

beforeAll(() => server.listen({ onUnhandledFrame: "error" }));
afterEach(() => api.reset());
afterAll(() => server.close());

describe("a mocked service", () => {
  test("answers each operation of the contract with what the contract allows", async () => {
    for (const [noun, verbs] of Object.entries(contract))
      for (const [verb, endpoint] of Object.entries(verbs)) {
        const { method, path, examples = [], body, produces, stream, output }: Endpoint = endpoint;
        const { params = {}, query = {}, body: example }: Example = examples[0] ?? { summary: "" };
        const url = new URL(`http://mail.example.com${path.replace(/:([A-Za-z]+)/g, (_, name: string) => params[name] ?? "x")}`);
        for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value));
        const response = await fetch(url, {
          method,
          headers: { authorization: "Bearer ms_live_x", ...(body && { "content-type": "application/json" }) },
          ...(body && { body: JSON.stringify(example ?? {}) }),
        });
        expect([200, 201], `${noun}.${verb}: ${response.status}`).toContain(response.status);
        // Two answers are not recorded: that of a job that failed for good, and the OpenAPI document.
        if (produces !== undefined || stream || !(`${noun}.${verb}` in ANSWERS)) continue;
        const parsed = output.safeParse(await response.json());
        expect(parsed.success, `${noun}.${verb}: ${String(parsed.error)}`).toBe(true);
        expect(api.calls(`${noun}.${verb}` as Operation)).toHaveLength(1);
      }
  });

  test("keeps the requests, and repeats what they say", async () => {
    const one = await sdk.emails.send(mail);
    const two = await sdk.emails.send({ ...mail, to: "grace@example.com" });
    expect(one.id).not.toBe(two.id);
    expect(api.calls("emails.send").map(({ body }) => (body as { to: string }).to)).toEqual(["ada@example.com", "grace@example.com"]);
    expect(api.calls("emails.send")[0]?.headers.get("idempotency-key")).toMatch(/./);
    expect(await sdk.contacts.create({ email: "ada@example.com", firstName: "Ada" })).toMatchObject({
      email: "ada@example.com",
      firstName: "Ada",
    });
    expect(await sdk.emails.get("em_1")).toMatchObject({ id: "em_1" });
    expect(api.calls()).toHaveLength(4);
  });

  test("answers a send in the shape of its request", async () => {
    const several = await sdk.emails.send({ ...mail, to: ["ada@example.com", "grace@example.com"] });
    expect(several).toEqual({ ids: [expect.stringMatching(/^em_/), expect.stringMatching(/^em_/)], status: "queued", count: 2 });
    expect(new Set(several.ids).size).toBe(2);
    const repeated = await sdk.emails.send({ ...mail, to: ["ada@example.com", "Ada <ADA@example.com>"] });
    expect(repeated).toMatchObject({ count: 1, ids: [expect.any(String)] });
    const copied = await sdk.emails.send({ ...mail, cc: ["grace@example.com"] });
    expect(copied).toMatchObject({
      id: expect.stringMatching(/^em_/),
      recipients: [{ kind: "to" }, { kind: "cc", email: "grace@example.com" }],
    });
    expect(await sdk.emails.send(mail)).toEqual({ id: expect.stringMatching(/^em_/), status: "queued" });
    const batch = await sdk.emails.sendBatch({ emails: [mail, { ...mail, to: ["a@example.com", "b@example.com"] }] });
    expect(batch).toMatchObject({
      queued: 2,
      failed: 0,
      results: [{ id: expect.any(String) }, { ids: [expect.any(String), expect.any(String)] }],
    });
  });

  test("refuses what the service refuses, and keeps nothing of it", async () => {
    await expect(sdk.emails.send({ ...mail, to: ["ada@example.com", "nobody"] })).rejects.toMatchObject({
      status: 400,
      code: "validation_error",
      details: [{ path: "to[1]" }],
    });
    const bare = (init: RequestInit) => fetch("http://mail.example.com/api/v1/send", { method: "POST", ...init });
    expect((await bare({})).status).toBe(401);
    const broken = { authorization: "Bearer x", "content-type": "application/json" };
    expect(await (await bare({ headers: broken, body: "{" })).json()).toMatchObject({ error: { code: "validation_error", status: 400 } });
    expect((await fetch("http://mail.example.com/api/v1/nothing")).status).toBe(404);
    expect(api.calls()).toEqual([]);
  });

  test("fails as often as asked, and answers what a test says", async () => {
    api.fail("emails.send", "recipient_suppressed", 1);
    await expect(sdk.emails.send(mail)).rejects.toMatchObject({ code: "recipient_suppressed", status: 400 });
    api.answer("emails.send", { id: "em_own" });
    expect(await sdk.emails.send(mail)).toMatchObject({ id: "em_own", status: "queued" });
    api.answer("emails.get", ({ params }) => ({ status: "bounced", subject: `of ${params["id"]}` }));
    expect(await sdk.emails.get("em_2")).toMatchObject({ id: "em_2", status: "bounced", subject: "of em_2" });
    api.reset();
    expect(await sdk.emails.get("em_2")).not.toMatchObject({ status: "bounced" });
  });
});
