import client from "@sendgrid/client";
import mail from "@sendgrid/mail";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ResendServer, startResend } from "../../../test/resend-server.ts";

let server: ResendServer;

beforeAll(async () => {
  server = await startResend();
  mail.setClient(client);
  mail.setApiKey("SG.123456");
  // After the key, which sets the address of its region.
  client.setDefaultRequest("baseUrl", `${server.url}/sendgrid`);
});
afterAll(() => server.close());

const hello = {
  to: "test@example.com",
  from: "test@acme.com",
  subject: "Sending with SendGrid is Fun",
  text: "and easy",
  html: "<b>and easy</b>",
};
const show = async (id: string): Promise<Record<string, unknown>> => {
  const answer = await fetch(`${server.url}/api/v1/emails/${id}`, { headers: { authorization: `Bearer ${server.apiKey}` } });
  return (await answer.json()) as Record<string, unknown>;
};
const post = (body: unknown, headers: Record<string, string> = { authorization: "Bearer SG.1" }): Promise<Response> =>
  fetch(`${server.url}/sendgrid/v3/mail/send`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify(body),
  });

test("the example of the package's README sends a mail", async () => {
  const [answer] = await mail.send(hello);
  expect([answer.statusCode, answer.body]).toEqual([202, ""]);
  const id = String(answer.headers["x-message-id"]);
  expect(await show(id)).toMatchObject({ to: "test@example.com", from: "test@acme.com", subject: hello.subject, text: "and easy" });
});

test("each personalization is one mail, with its own values", async () => {
  const [answer] = await mail.send({
    from: { email: "test@acme.com", name: "Acme, Inc." },
    replyTo: "answers@acme.com",
    subject: "Hello {{name}}",
    text: "Dear {{name}}",
    categories: ["welcome", "new"],
    customArgs: { order: "7" },
    attachments: [{ content: Buffer.from("Hello").toString("base64"), filename: "a.txt", type: "text/plain" }],
    personalizations: [
      { to: ["ada@example.com", "eve@example.com"], cc: "grace@example.com", substitutions: { name: "Ada" } },
      { to: "kay@example.com", substitutions: { name: "Kay" } },
    ],
  });
  const first = await show(String(answer.headers["x-message-id"]));
  expect(first).toMatchObject({
    subject: "Hello Ada",
    text: "Dear Ada",
    replyTo: "answers@acme.com",
    tags: { category: "welcome", category2: "new", order: "7" },
    attachments: [{ filename: "a.txt", size: 5 }],
    recipients: [{ email: "ada@example.com" }, { email: "eve@example.com" }, { email: "grace@example.com", kind: "cc" }],
  });
  const list = await fetch(`${server.url}/api/v1/emails?to=kay@example.com`, { headers: { authorization: `Bearer ${server.apiKey}` } });
  expect(await list.json()).toMatchObject({ data: [{ subject: "Hello Kay" }] });
});

test("an attachment may be an invitation: its media type keeps its parameters", async () => {
  const content = "BEGIN:VCALENDAR\nMETHOD:REQUEST\nBEGIN:VEVENT\nUID:1\nEND:VEVENT\nEND:VCALENDAR\n";
  const file = {
    content: Buffer.from(content).toString("base64"),
    filename: "invite.ics",
    type: 'text/calendar; charset="utf-8"; method=REQUEST',
  };
  const [answer] = await mail.send({ ...hello, to: "invited@example.com", attachments: [{ ...file, disposition: "attachment" }] });
  expect(await show(String(answer.headers["x-message-id"]))).toMatchObject({
    attachments: [{ filename: "invite.ics", contentType: file.type }],
  });
});

test("a content may be an invitation, and name its charset", async () => {
  const calendar =
    "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Acme//EN\r\nMETHOD:REQUEST\r\nBEGIN:VEVENT\r\nUID:1\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";
  const body = {
    personalizations: [{ to: [{ email: "ada@example.com" }] }],
    from: { email: "test@acme.com" },
    subject: "Review",
    content: [
      { type: "text/plain; charset=UTF-8", value: "On Friday" },
      { type: "text/calendar; method=REQUEST", value: calendar },
    ],
  };
  const answer = await post(body);
  expect(answer.status).toBe(202);
  expect(await show(String(answer.headers.get("x-message-id")))).toMatchObject({ text: "On Friday" });
  await server.settle();
  const inbox = await fetch(`${server.url}/__dev/inbox?to=ada@example.com&limit=1`, {
    headers: { authorization: `Bearer ${server.apiKey}` },
  });
  const { data } = (await inbox.json()) as { data: { id: string }[] };
  const captured = await fetch(`${server.url}/__dev/inbox/${data[0]?.id}`, { headers: { authorization: `Bearer ${server.apiKey}` } });
  expect(await captured.json()).toMatchObject({ subject: "Review", icalEvent: { method: "REQUEST" } });
  const none = await post({ ...body, content: [{ type: "text/calendar", value: "no calendar" }] });
  expect([none.status, await none.json()]).toMatchObject([
    400,
    { errors: [{ field: expect.stringContaining("content") }, { field: "personalizations.0.content" }] },
  ]);
});

test("mail is sent later, and in sandbox mode it is test mail", async () => {
  const inAnHour = Math.floor(server.now() / 1000) + 3600;
  const [later] = await mail.send({ ...hello, sendAt: inAnHour });
  expect(await show(String(later.headers["x-message-id"]))).toMatchObject({
    status: "queued",
    scheduledAt: new Date(inAnHour * 1000).toISOString(),
  });
  const [tried] = await mail.send({ ...hello, mailSettings: { sandboxMode: { enable: true } } });
  expect(tried.statusCode).toBe(200);
  expect(await show(String(tried.headers["x-message-id"]))).toMatchObject({ test: true });
});

test("an error names its field, as SendGrid does", async () => {
  await expect(mail.send({ ...hello, to: "nobody" })).rejects.toMatchObject({
    code: 400,
    response: { body: { errors: [{ field: "personalizations.0.to", message: expect.any(String), help: null }] } },
  });
  const without = await post(hello, {});
  expect([without.status, await without.json()]).toEqual([401, { errors: [expect.objectContaining({ field: null })] }]);
  const absent = await fetch(`${server.url}/sendgrid/v3/templates`);
  expect([absent.status, await absent.json()]).toEqual([
    501,
    { errors: [expect.objectContaining({ help: "Templates: mailsvc templates list. GET /sendgrid lists what is here." })] },
  ]);
});

test("messages name fields as SendGrid does, an operation that is not here by the path of the request, and a key in SendGrid's form", async () => {
  const content = [{ type: "text/plain", value: "Hello" }];
  const people = [{ to: [{ email: "ada@example.com" }] }];
  const refuse = async (changes: object) => {
    const answer = await post({ ...{ from: { email: "a@acme.com" }, subject: "Hi", content, personalizations: people }, ...changes });
    return [answer.status, ((await answer.json()) as { errors: unknown[] }).errors[0]];
  };
  expect(await refuse({ send_at: 1_000_000_000 })).toEqual([
    400,
    {
      field: "personalizations.0.send_at",
      message: expect.stringMatching(/^(?:personalizations\.0\.)?send_at must be in the future/),
      help: null,
    },
  ]);
  expect(await refuse({ content: [{ type: "text/plain", value: "" }] })).toEqual([
    400,
    { field: "personalizations.0.content", message: expect.not.stringMatching(/emails\[|replyTo/), help: null },
  ]);
  expect(await refuse({ reply_to: { email: "nobody" } })).toMatchObject([400, { field: "personalizations.0.reply_to" }]);
  for (const [method, path] of [
    ["GET", "/v3/marketing/contacts"],
    ["PUT", "/v3/marketing/contacts"],
    ["GET", "/v3/scopes"],
  ] as const) {
    const absent = await fetch(`${server.url}/sendgrid${path}`, { method });
    expect([absent.status, await absent.json()]).toEqual([
      501,
      { errors: [{ field: null, message: `${method} ${path} is not here.`, help: expect.stringContaining("mailsvc ") }] },
    ]);
  }
  const strange = await post({ personalizations: people }, { authorization: "Bearer sk_1" });
  expect(await strange.json()).toMatchObject({ errors: [{ help: expect.stringContaining("Bearer SG.…") }] });
});

test("hostile input is refused in SendGrid's form, and never an error of the server", async () => {
  const wrong: readonly unknown[] = [null, true, 7, "", "\u0000", [], [null], {}, [{}], [{ to: [{ email: "a" }] }]];
  const fields = [
    "personalizations",
    "from",
    "subject",
    "content",
    "attachments",
    "template_id",
    "headers",
    "categories",
    "send_at",
    "asm",
  ];
  const valid = {
    personalizations: [{ to: [{ email: "a@example.com" }] }],
    from: { email: "b@acme.com" },
    subject: "x",
    content: [{ type: "text/plain", value: "x" }],
  };
  for (const body of [...wrong, ...fields.flatMap((field) => wrong.map((value) => ({ ...valid, [field]: value })))]) {
    const answer = await post(body);
    if (answer.status === 202) continue;
    expect([body, answer.status]).toEqual([body, expect.toSatisfy((n) => n < 500 || n === 501)]);
    expect(await answer.json()).toEqual({ errors: expect.arrayContaining([expect.objectContaining({ message: expect.any(String) })]) });
  }
});

const personal = (substitutions: Record<string, string>, to = "a@example.com") => ({ to: [{ email: to }], substitutions });
const written = { from: { email: "b@acme.com" }, subject: "x" };

test("substitutions are put in once, the longest key first, and never into values", async () => {
  const content = [{ type: "text/plain", value: "-a- -ab- $& (b)" }];
  const values = { "-a-": "-ab-", "-ab-": "-a-", "-": "+", "(b)": "$&", "": "nothing" };
  const answer = await post({ ...written, content, personalizations: [personal(values)] });
  expect(await show(answer.headers.get("x-message-id") ?? "")).toMatchObject({ text: "-ab- -a- $& $&" });
});

test("substitutions that would multiply a text are refused before they take memory", async () => {
  const letters = "abcdefghijklmnopqrstuvwxyzABC";
  const doubling = Object.fromEntries([...letters].slice(0, -1).map((letter, i) => [letter, (letters[i + 1] ?? "").repeat(2)]));
  const once = await post({
    ...written,
    content: [{ type: "text/plain", value: "a" }],
    personalizations: Array(100).fill(personal(doubling)),
  });
  expect(once.status).toBe(202);
  expect(await show(once.headers.get("x-message-id") ?? "")).toMatchObject({ text: "bb" });
  const content = [{ type: "text/plain", value: "a".repeat(100_000) }];
  const refuse = async (personalizations: unknown[]): Promise<unknown> => {
    const answer = await post({ ...written, content, personalizations });
    return [answer.status, ((await answer.json()) as { errors: unknown[] }).errors[0]];
  };
  expect(await refuse([personal({ a: "x".repeat(9000) })])).toEqual([
    400,
    { field: "content.0.value", message: "With its substitutions content.0.value takes more than 5 MB.", help: null },
  ]);
  expect(await refuse(Array(100).fill(personal({ a: "xxxx" })))).toMatchObject([400, { field: "personalizations" }]);
  expect(await refuse([personal({ a: "x".repeat(10_000) })])).toMatchObject([400, { field: "personalizations.0.substitutions" }]);
});

test("a key that may not send is refused before anything else", async () => {
  const made = await fetch(`${server.url}/api/v1/keys`, {
    method: "POST",
    headers: { authorization: `Bearer ${server.apiKey}`, "content-type": "application/json" },
    body: JSON.stringify({ name: "reader", permissions: ["transactional:read"] }),
  });
  const { key } = (await made.json()) as { key: string };
  const answer = await post({ ...written, asm: { group_id: 1 }, personalizations: [personal({})] }, { authorization: `Bearer ${key}` });
  expect(answer.status).toBe(403);
});

test("all personalizations share their files, which are stored once", async () => {
  const file = Buffer.alloc(300_000, "x");
  const attachments = [{ content: file.toString("base64"), filename: "a.txt" }];
  const content = [{ type: "text/plain", value: "Hello" }];
  const personalizations = Array.from({ length: 100 }, (_, i) => personal({}, `share${i}@example.com`));
  const answer = await post({ ...written, content, attachments, personalizations });
  expect(answer.status).toBe(202);
  const list = await fetch(`${server.url}/api/v1/emails?to=share99@example.com`, { headers: { authorization: `Bearer ${server.apiKey}` } });
  const { data } = (await list.json()) as { data: { id: string }[] };
  expect(await show(data[0]?.id ?? "")).toMatchObject({ attachments: [{ filename: "a.txt", size: file.length }] });
  expect(await server.countFiles("a.txt", file.length)).toBe(1);
});

test("a key that may only send sends a template by its slug and by its id", async () => {
  const own = (path: string, body: object): Promise<Response> =>
    fetch(`${server.url}/api/v1/${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${server.apiKey}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const template = { name: "Order", slug: "order", subject: "Order", html: "<p>Order</p>", publish: true };
  const { id } = (await (await own("templates", template)).json()) as { id: string };
  const { key } = (await (await own("keys", { name: "sender", permissions: ["transactional:send"] })).json()) as { key: string };
  for (const template_id of ["order", id]) {
    const mailOf = { from: written.from, personalizations: [personal({})], template_id };
    expect([template_id, (await post(mailOf, { authorization: `Bearer ${key}` })).status]).toEqual([template_id, 202]);
  }
});

test("a suppressed address gets nothing, and the others their mail", async () => {
  await fetch(`${server.url}/api/v1/suppressions`, {
    method: "POST",
    headers: { authorization: `Bearer ${server.apiKey}`, "content-type": "application/json" },
    body: JSON.stringify({ email: "gone@example.com" }),
  });
  const content = [{ type: "text/plain", value: "Hello" }];
  const to = ["gone@example.com", "first@example.com", "second@example.com"];
  const answer = await post({ ...written, content, personalizations: to.map((email) => personal({}, email)) });
  expect(answer.status).toBe(202);
  await server.settle();
  expect(await show(answer.headers.get("x-message-id") ?? "")).toMatchObject({ to: "gone@example.com", status: "suppressed" });
  const list = await fetch(`${server.url}/api/v1/emails?to=second@example.com`, { headers: { authorization: `Bearer ${server.apiKey}` } });
  expect(await list.json()).toMatchObject({ data: [{ status: "delivered" }] });
});
