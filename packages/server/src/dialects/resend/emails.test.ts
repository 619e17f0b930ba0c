import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Mailsvc } from "@mailsvc/sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { call, type ResendServer, startResend } from "../../../test/resend-server.ts";

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

let server: ResendServer;
beforeAll(async () => {
  server = await startResend();
});
afterAll(() => server.close());

const hello = { from: "Acme <onboarding@resend.dev>", to: ["delivered@resend.dev"], subject: "Hello", html: "<p>It works.</p>" };

describe("a program of Resend's runs unchanged", () => {
  test("the example of the package's README sends a mail", async () => {
    const { resend } = server;
    const sent = await resend.emails.send({
      from: "you@example.com",
      to: "user@gmail.com",
      replyTo: "you@example.com",
      subject: "hello world",
      text: "it works!",
      html: "<strong>it works!</strong>",
    });
    expect(sent.error).toBeNull();
    const got = await resend.emails.get(sent.data?.id ?? "");
    expect(got.data).toMatchObject({
      object: "email",
      id: sent.data?.id,
      to: ["user@gmail.com"],
      from: "you@example.com",
      subject: "hello world",
      html: "<strong>it works!</strong>",
      text: "it works!",
      cc: null,
      bcc: null,
      reply_to: ["you@example.com"],
    });
  });

  test("recipients of one call get one mail, with cc and bcc", async () => {
    const sent = await server.resend.emails.send({
      ...hello,
      to: ["a@example.com", "b@example.com"],
      cc: "c@example.com",
      bcc: ["d@example.com"],
      replyTo: ["help@acme.com", "Sales <sales@acme.com>"],
    });
    const got = await server.resend.emails.get(sent.data?.id ?? "");
    expect(got.data).toMatchObject({ to: ["a@example.com", "b@example.com"], cc: ["c@example.com"], bcc: ["d@example.com"] });
    expect(got.data?.reply_to).toEqual(["help@acme.com", "Sales <sales@acme.com>"]);
  });

  test("mail to the test mailboxes at resend.dev is delivered, bounces, or is suppressed", async () => {
    const states = await Promise.all(
      ["delivered+1", "bounced+1", "suppressed", "suppressed+1"].map(async (name) => {
        const sent = await server.resend.emails.send({ ...hello, to: `${name}@resend.dev` });
        await server.settle();
        return (await server.resend.emails.get(sent.data?.id ?? "")).data?.last_event;
      }),
    );
    expect(states).toEqual(["delivered", "bounced", "suppressed", "suppressed"]);
  });

  test("words say when a mail is sent, and it can be moved and cancelled", async () => {
    const { resend } = server;
    const sent = await resend.emails.send({ ...hello, scheduledAt: "in 1 hour" });
    const id = sent.data?.id ?? "";
    const scheduled = await resend.emails.get(id);
    expect(scheduled.data?.last_event).toBe("scheduled");
    expect(Date.parse(scheduled.data?.scheduled_at ?? "") - server.now()).toBeGreaterThan(59 * 60_000);
    expect((await resend.emails.update({ id, scheduledAt: "tomorrow at 9am" })).data).toEqual({ object: "email", id });
    expect((await resend.emails.get(id)).data?.scheduled_at).toMatch(/T09:00:00\.000Z$/);
    expect((await resend.emails.cancel(id)).data).toEqual({ object: "email", id });
    expect((await resend.emails.get(id)).data?.last_event).toBe("canceled");
    const unclear = await resend.emails.send({ ...hello, scheduledAt: "one of these days" });
    expect(unclear.error).toMatchObject({ statusCode: 422, name: "validation_error", message: expect.stringContaining("scheduled_at") });
  });

  test("an Idempotency-Key sends once, and refuses another mail", async () => {
    const { resend } = server;
    const first = await resend.emails.send(hello, { idempotencyKey: "welcome/1" });
    const again = await resend.emails.send(hello, { idempotencyKey: "welcome/1" });
    expect(again.data).toEqual(first.data);
    const other = await resend.emails.send({ ...hello, subject: "Other" }, { idempotencyKey: "welcome/1" });
    expect(other.error).toMatchObject({ statusCode: 409, name: "invalid_idempotent_request" });
  });

  test("the list goes on after an id, and back before one", async () => {
    const { resend } = server;
    for (const subject of ["one", "two", "three"]) await resend.emails.send({ ...hello, subject });
    const newest = await resend.emails.list({ limit: 2 });
    expect(newest.data).toMatchObject({ object: "list", has_more: true, data: [{ subject: "three" }, { subject: "two" }] });
    const after = await resend.emails.list({ limit: 1, after: newest.data?.data[1]?.id ?? "" });
    expect(after.data?.data).toMatchObject([{ subject: "one" }]);
    const before = await resend.emails.list({ before: after.data?.data[0]?.id ?? "" });
    expect(before.data).toMatchObject({ has_more: false, data: [{ subject: "three" }, { subject: "two" }] });
    expect((await resend.emails.list({ after: "no-id" })).error).toMatchObject({ statusCode: 422 });
  });
});

describe("attachments", () => {
  test("come as base64, as a Buffer in JSON and as an array of bytes, as the packages for Python and Go write them", async () => {
    const bytes = Buffer.from("Hello \u{1F600}");
    for (const content of [bytes.toString("base64"), bytes.toJSON(), [...bytes]]) {
      const sent = await call(server, "POST", "/emails", { ...hello, attachments: [{ filename: "a.txt", content }] });
      expect(sent.status).toBe(200);
      const { id } = sent.body as { id: string };
      const listed = await server.resend.emails.attachments.list({ emailId: id });
      const file = await fetch(listed.data?.data[0]?.download_url ?? "");
      expect(Buffer.from(await file.arrayBuffer())).toEqual(bytes);
    }
    for (const content of [[1, 256], ["a"], 7, { type: "Buffer", data: [-1] }]) {
      const refused = await call(server, "POST", "/emails", { ...hello, attachments: [{ filename: "a.txt", content }] });
      expect([content, refused.status, refused.body]).toEqual([content, 422, expect.objectContaining({ name: "invalid_attachment" })]);
    }
  });

  test("may be an invitation: a media type keeps its parameters", async () => {
    const content = "BEGIN:VCALENDAR\nMETHOD:REQUEST\nBEGIN:VEVENT\nUID:1\nEND:VEVENT\nEND:VCALENDAR\n";
    const contentType = "text/calendar; charset=utf-8; method=REQUEST";
    const attachments = [{ filename: "invite.ics", content: Buffer.from(content), contentType }];
    const sent = await server.resend.emails.send({ ...hello, to: "invited@example.com", attachments });
    expect(sent.error).toBeNull();
    const listed = await server.resend.emails.attachments.list({ emailId: sent.data?.id ?? "" });
    expect(listed.data?.data).toMatchObject([{ filename: "invite.ics", content_type: contentType }]);
  });

  test("come as base64, as a Buffer and by URL", async () => {
    const files = createServer((_req, res) => res.setHeader("content-type", "text/csv").end("a,b")).listen(0, "127.0.0.1");
    await once(files, "listening");
    const { port } = files.address() as AddressInfo;
    try {
      const sent = await server.resend.emails.send({
        ...hello,
        to: "files@example.com",
        attachments: [
          { filename: "a.txt", content: Buffer.from("Hello") },
          { filename: "b.txt", content: Buffer.from("Hello again").toString("base64"), contentId: "b" },
          { path: `http://127.0.0.1:${port}/data/report.csv` },
        ],
      });
      expect(sent.error).toBeNull();
      const listed = await server.resend.emails.attachments.list({ emailId: sent.data?.id ?? "" });
      expect(listed.data?.data).toMatchObject([
        { filename: "a.txt", content_type: "text/plain", size: 5, content_disposition: "attachment" },
        { filename: "b.txt", size: 11, content_id: "b", content_disposition: "inline" },
        { filename: "report.csv", content_type: "text/csv", size: 3 },
      ]);
    } finally {
      files.close();
    }
  });

  test.each([
    ["an address of the network", "http://192.168.0.1/secret"],
    ["the address of a cloud's metadata", "http://169.254.169.254/latest"],
    ["a file", "file:///etc/passwd"],
    ["no URL", "report.pdf"],
  ])("by %s are refused", async (_name, path) => {
    const sent = await server.resend.emails.send({ ...hello, attachments: [{ filename: "x", path }] });
    expect(sent.error).toMatchObject({ statusCode: 422, name: "invalid_attachment" });
  });
});

describe("files by URL", () => {
  /** A host of files of this size that counts what is asked of it. */
  async function serveFiles(bytes: number) {
    const host = { asked: 0, url: "", [Symbol.dispose]: () => void files.close() };
    const files = createServer((_req, res) => {
      host.asked += 1;
      res.end(Buffer.alloc(bytes));
    }).listen(0, "127.0.0.1");
    await once(files, "listening");
    host.url = `http://127.0.0.1:${(files.address() as AddressInfo).port}/file`;
    return host;
  }
  const MB = 1024 * 1024;

  /** A host whose `/n` redirects to `/n-1`, `/0` is the file, and any other path redirects to the URL in its query. */
  async function serveRedirects() {
    const host = { url: "", [Symbol.dispose]: () => void files.close() };
    const files = createServer((req, res) => {
      const { pathname, searchParams } = new URL(req.url ?? "", "http://x");
      const left = /^\/\d+$/.test(pathname) ? Number(pathname.slice(1)) : null;
      if (left === 0) return void res.setHeader("content-type", "text/csv").end("a,b");
      res.writeHead(302, { location: left === null ? (searchParams.get("to") ?? "") : `/${left - 1}` }).end();
    }).listen(0, "127.0.0.1");
    await once(files, "listening");
    host.url = `http://127.0.0.1:${(files.address() as AddressInfo).port}`;
    return host;
  }

  test("are fetched through up to three redirects", async () => {
    using host = await serveRedirects();
    const send = (path: string) => server.resend.emails.send({ ...hello, attachments: [{ path: `${host.url}${path}` }] });
    const sent = await send("/3");
    const listed = await server.resend.emails.attachments.list({ emailId: sent.data?.id ?? "" });
    expect(listed.data?.data).toMatchObject([{ content_type: "text/csv", size: 3 }]);
    expect((await send("/4")).error).toMatchObject({ statusCode: 422, message: expect.stringContaining("after 3 redirects") });
  });

  test.each(["http://192.168.0.1/secret", "http://169.254.169.254/latest", "file:///etc/passwd", "https://a:b@example.com/"])(
    "are not fetched from %s by a redirect",
    async (to) => {
      using host = await serveRedirects();
      const path = `${host.url}/away?to=${encodeURIComponent(to)}`;
      const { error } = await server.resend.emails.send({ ...hello, attachments: [{ path }] });
      expect(error).toMatchObject({ statusCode: 422, message: expect.stringContaining("redirects to a URL that is not fetched") });
    },
  );

  test("are fetched for all emails of a request within one limit", async () => {
    using host = await serveFiles(15 * MB);
    const mail = { ...hello, attachments: [{ path: host.url }] };
    const sent = await call(
      server,
      "POST",
      "/emails/batch",
      Array.from({ length: 20 }, () => mail),
    );
    expect([sent.status, sent.body]).toEqual([422, expect.objectContaining({ message: expect.stringMatching(/40 MB together/) })]);
    expect(host.asked).toBe(3);
  });

  test("are not fetched for more files than an email may have, nor for a key that may not send", async () => {
    using host = await serveFiles(1);
    const attachments = Array.from({ length: 21 }, () => ({ path: host.url }));
    expect((await server.resend.emails.send({ ...hello, attachments })).error).toMatchObject({ statusCode: 422 });
    const { key } = await new Mailsvc({ baseUrl: server.url, apiKey: server.apiKey }).keys.create({
      name: "Reads",
      permissions: ["transactional:read"],
    });
    const { status } = await fetch(`${server.url}/resend/emails`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ ...hello, attachments: attachments.slice(0, 1) }),
    });
    expect([status, host.asked]).toEqual([401, 0]);
  });
});

test.each([
  ["T09:00:00.123456", "T09:00:00.123Z"],
  ["T09:00", "T09:00:00.000Z"],
  [" 09:00:00+02:00", "T07:00:00.000Z"],
  ["T09:00:00+0200", "T07:00:00.000Z"],
  ["T09:00:00Z", "T09:00:00.000Z"],
])("a mail that is scheduled for a day%s waits until %s", async (text, instant) => {
  const day = new Date(Date.now() + 7 * 86_400_000).toISOString().slice(0, 10);
  const { data, error } = await server.resend.emails.send({ ...hello, scheduledAt: `${day}${text}` });
  expect(error).toBeNull();
  expect((await server.resend.emails.get(data?.id ?? "")).data).toMatchObject({ scheduled_at: `${day}${instant}` });
});

test("an error leaves what the caller wrote as it is", async () => {
  const sent = await server.resend.emails.send({ ...hello, scheduledAt: "inOneHour" });
  expect(sent.error?.message).toMatch(/^scheduled_at: "inOneHour" is no time/);
  const never = await server.resend.emails.send({ ...hello, scheduledAt: "2030-02-30T09:00:00Z" });
  expect(never.error?.message).toBe("scheduled_at: There is no 2030-02-30: that month has 28 days.");
});

test("a key that may only send sends a template by its alias and by its id", async () => {
  const { apiKeys, templates } = server.resend;
  const made = await templates.create({ name: "Welcome", alias: "welcome", from: hello.from, subject: "Hi", html: "<p>Hi</p>" });
  const id = made.data?.id ?? "";
  await templates.publish(id);
  const { data } = await apiKeys.create({ name: "shop", permission: "sending_access" });
  const headers = { authorization: `Bearer ${data?.token}` };
  for (const template of [{ id: "welcome" }, { id }]) {
    const mail = { to: "ada@example.com", template };
    expect([template, (await call(server, "POST", "/emails", mail, headers)).status]).toEqual([template, 200]);
    expect([template, (await call(server, "POST", "/emails/batch", [mail], headers)).status]).toEqual([template, 200]);
  }
  const ofGo = { from: "", to: ["ada@example.com"], subject: "", template: { id } };
  expect(await call(server, "POST", "/emails", ofGo, headers)).toMatchObject({ status: 200 });
  const withText = await call(server, "POST", "/emails", { to: "ada@example.com", text: "Hi", template: { id } }, headers);
  expect(withText).toMatchObject({ status: 422, body: { message: expect.stringMatching(/^text: an email from a template/) } });
  const unknown = await call(server, "POST", "/emails", { to: "ada@example.com", template: { id: "tpl_none" } }, headers);
  expect(unknown).toMatchObject({ status: 404, body: { name: "not_found" } });
});

test("mail to a suppressed address is accepted and ends as suppressed, alone and in a batch", async () => {
  const { suppressions, emails, batch } = server.resend;
  await suppressions.add({ email: "gone@example.com" });
  const gone = { ...hello, to: "gone@example.com" };
  const alone = await emails.send(gone);
  const both = await emails.send({ ...hello, to: ["gone@example.com", "GONE@example.com"] });
  const three = await batch.send([hello, gone, { ...hello, to: ["ada@example.com", "gone@example.com"] }]);
  const [first, second] = three.data?.data ?? [];
  expect(three.data?.data).toHaveLength(3);
  await server.settle();
  for (const id of [alone.data?.id, both.data?.id, second?.id])
    expect((await emails.get(id ?? "")).data).toMatchObject({ id, last_event: "suppressed" });
  expect((await emails.get(first?.id ?? "")).data?.last_event).toBe("delivered");
  await suppressions.remove("gone@example.com");
});

describe("a batch", () => {
  test("is sent whole", async () => {
    const sent = await server.resend.batch.send([hello, { ...hello, subject: "Second", cc: "c@example.com" }]);
    expect(sent.data?.data).toEqual([{ id: expect.stringMatching(UUID) }, { id: expect.stringMatching(UUID) }]);
  });

  test("with a fault is refused whole, or for that email only", async () => {
    const { from: _from, ...faulty } = hello;
    const strict = await call(server, "POST", "/emails/batch", [hello, faulty]);
    expect([strict.status, strict.body]).toEqual([422, expect.objectContaining({ name: "missing_required_field" })]);
    const permissive = await server.resend.batch.send([{ ...hello, to: "nobody" }, hello, { ...hello, subject: "x".repeat(2000) }], {
      batchValidation: "permissive",
    });
    expect(permissive.data).toMatchObject({
      data: [{ id: expect.stringMatching(UUID) }],
      errors: [{ index: 0 }, { index: 2 }],
    });
  });
});

describe("errors have Resend's form", () => {
  test.each([
    ["no field at all", {}, 422, "missing_required_field"],
    ["a recipient that is no address", { ...hello, to: "nobody" }, 422, "validation_error"],
    ["a number as subject", { ...hello, subject: 5 }, 422, "validation_error"],
    ["fifty-one recipients", { ...hello, to: Array.from({ length: 51 }, (_, i) => `p${i}@example.com`) }, 422, "validation_error"],
    ["a line break in a header", { ...hello, headers: { "X-A": "a\r\nBcc: x@example.com" } }, 422, "validation_error"],
    ["a template that does not exist", { to: hello.to, template: { id: "none" } }, 404, "not_found"],
    ["an unknown topic", { ...hello, topic_id: "t" }, 404, "not_found"],
  ])("%s", async (_name, body, status, name) => {
    const answer = await call(server, "POST", "/emails", body);
    expect([answer.status, answer.body]).toEqual([status, { statusCode: status, name, message: expect.any(String) }]);
  });

  test("a missing and an unknown key, an unknown path, another method and an operation that is not here", async () => {
    const without = await call(server, "GET", "/emails", undefined, {});
    expect([without.status, without.body]).toEqual([401, expect.objectContaining({ name: "missing_api_key" })]);
    const unknown = await call(server, "GET", "/emails", undefined, { authorization: "Bearer sk_1" });
    expect([unknown.status, unknown.body]).toEqual([401, expect.objectContaining({ name: "invalid_api_key" })]);
    expect(unknown.body).toMatchObject({ message: expect.stringContaining("Authorization: Bearer re_…") });
    expect(await call(server, "GET", "/inboxes/in_1/emails")).toMatchObject({
      body: { message: expect.stringMatching(/^GET \/inboxes\/in_1\/emails is not here\./) },
    });
    expect(await call(server, "GET", "/nothing")).toMatchObject({ status: 404, body: { name: "not_found" } });
    expect(await call(server, "DELETE", "/emails")).toMatchObject({ status: 405, body: { name: "method_not_allowed" } });
    expect(await call(server, "GET", "/usage")).toMatchObject({
      status: 501,
      body: { name: "method_not_allowed", message: expect.stringContaining("GET /resend lists what is") },
    });
    const index = await call(server, "GET", "", undefined, {});
    expect(index.body).toMatchObject({ operations: expect.arrayContaining([{ method: "GET", path: "/emails/:id", grade: "full" }]) });
  });
});

describe("outside of dev mode", () => {
  let live: ResendServer;
  beforeAll(async () => {
    live = await startResend({ dev: false });
  });
  afterAll(() => live.close());

  test("only keys of this server work, and senders have to be verified", async () => {
    expect(await call(live, "GET", "/emails", undefined, { authorization: "Bearer re_123" })).toMatchObject({
      status: 401,
      body: { message: expect.stringContaining("ms_live_…") },
    });
    expect((await live.resend.emails.list()).error).toBeNull();
    expect((await live.resend.emails.send(hello)).error).toMatchObject({ statusCode: 403, name: "validation_error" });
  });
});
