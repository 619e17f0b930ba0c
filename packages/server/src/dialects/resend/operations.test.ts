import { Mailsvc } from "@mailsvc/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { call, type ResendServer, startResend } from "../../../test/resend-server.ts";
import { RESEND_OPERATIONS } from "./resend.ts";

let server: ResendServer;
let original: typeof fetch;
const called = new Set<string>();

beforeAll(async () => {
  server = await startResend();
  original = globalThis.fetch;
  globalThis.fetch = (input, init) => {
    const { pathname } = new URL(String(input));
    const operation = findOperation(init?.method ?? "GET", pathname.replace(/^\/resend/, ""));
    if (operation !== undefined) called.add(operation);
    return original(input, init);
  };
});
afterAll(async () => {
  globalThis.fetch = original;
  await server.close();
});

/** The operation that a request reaches: one without a parameter in a place comes before one with it. */
function findOperation(method: string, path: string): string | undefined {
  const fits = RESEND_OPERATIONS.filter((one) => one.method === method && new RegExp(`^${one.path.replace(/:\w+/g, "[^/]+")}$`).test(path));
  const [best] = fits.toSorted((a, b) => a.path.split(":").length - b.path.split(":").length);
  return best && `${best.method} ${best.path}`;
}

/** The data of an answer of the package. */
function dataOf<T>({ data, error }: { data: T | null; error: unknown }): T {
  expect(error).toBeNull();
  if (data === null) throw new Error("An answer without an error has data.");
  return data;
}

const hello = { from: "Acme <hello@acme.com>", to: "ada@example.com", subject: "Hello", html: "<p>It works.</p>" };

test("emails are sent, listed, moved and cancelled", async () => {
  const { emails, batch } = server.resend;
  const { id } = dataOf(await emails.send({ ...hello, scheduledAt: "in 1 hour", tags: [{ name: "kind", value: "welcome" }] }));
  expect(dataOf(await emails.get(id))).toMatchObject({ id, tags: [{ name: "kind", value: "welcome" }] });
  expect(dataOf(await emails.list()).data).toMatchObject([{ id }]);
  dataOf(await emails.update({ id, scheduledAt: "in 2 hours" }));
  dataOf(await emails.cancel(id));
  expect(dataOf(await batch.send([hello, hello])).data).toHaveLength(2);
});

test("a path with a slash may follow an address that ends with one", async () => {
  expect(await call(server, "POST", "//emails", hello)).toMatchObject({ status: 200, body: { id: expect.any(String) } });
  expect(await call(server, "PUT", "//emails")).toMatchObject({ status: 405, body: { name: "method_not_allowed" } });
});

test("parameters of the path are ignored where the clients for Python and Ruby repeat them", async () => {
  const { contacts, segments } = server.resend;
  const { id } = dataOf(await contacts.create({ email: "python@example.com" }));
  const { id: segment } = dataOf(await segments.create({ name: "Of Python" }));
  const parameters = { contact_id: id, segment_id: segment };
  const path = `/contacts/${id}/segments/${segment}`;
  expect(await call(server, "POST", path, parameters)).toMatchObject({ status: 200, body: { id: segment } });
  const listed = await call(server, "GET", `/contacts/${id}/segments?limit=1&contact_id=${id}`);
  expect(listed).toMatchObject({ status: 200, body: { data: [{ id: segment }] } });
  expect(await call(server, "DELETE", path, parameters)).toMatchObject({ status: 200, body: { deleted: true } });
  dataOf(await segments.remove(segment));
  dataOf(await contacts.remove(id));
});

test("attachments of an email are listed and downloaded", async () => {
  const { emails } = server.resend;
  const content = Buffer.from("Hello").toString("base64");
  const { id } = dataOf(await emails.send({ ...hello, attachments: [{ filename: "a.txt", content }] }));
  const [file] = dataOf(await emails.attachments.list({ emailId: id })).data;
  expect(file).toMatchObject({ filename: "a.txt", content_type: "text/plain", size: 5, content_disposition: "attachment" });
  const one = dataOf(await emails.attachments.get({ emailId: id, id: file?.id ?? "" }));
  const downloaded = await fetch(one.download_url);
  expect([downloaded.status, await downloaded.text()]).toEqual([200, "Hello"]);
  expect(downloaded.headers.get("content-disposition")).toContain("attachment");
  expect((await fetch(one.download_url.replace(/.$/, (last) => (last === "A" ? "B" : "A")))).status).toBe(404);
  expect((await emails.attachments.get({ emailId: id, id: "9" })).error).toMatchObject({ statusCode: 404 });
});

test("what was never there is deleted, as Resend says, and missed by its name in all other calls", async () => {
  const { contacts, segments, apiKeys } = server.resend;
  const id = "00000000-0000-0000-0000-000000000000";
  expect(dataOf(await contacts.remove({ id }))).toMatchObject({ object: "contact", contact: id, deleted: true });
  expect(dataOf(await contacts.remove({ email: "nobody@example.com" }))).toMatchObject({ contact: "nobody@example.com", deleted: true });
  expect(dataOf(await segments.remove(id))).toMatchObject({ object: "segment", id, deleted: true });
  expect((await segments.get(id)).error?.message).toContain(`There is no segment "${id}"`);
  expect((await apiKeys.remove(id)).error).toMatchObject({ name: "not_found" });
});

test("a key needs no name", async () => {
  const { apiKeys } = server.resend;
  const { id } = dataOf(await apiKeys.create({ name: "" }));
  expect(dataOf(await apiKeys.list()).data).toContainEqual(expect.objectContaining({ id, name: "Unnamed key" }));
  dataOf(await apiKeys.remove(id));
});

test("a key for one domain sends from no other", async () => {
  const { apiKeys, domains } = server.resend;
  const { id: domainId } = dataOf(await domains.create({ name: "only.acme.com" }));
  const { id, token } = dataOf(await apiKeys.create({ name: "one domain", permission: "sending_access", domain_id: domainId }));
  const send = (from: string) => call(server, "POST", "/emails", { ...hello, from }, { authorization: `Bearer ${token}` });
  expect(await send("a@only.acme.com")).toMatchObject({ status: 200 });
  expect(await send("a@acme.com")).toMatchObject({ status: 401, body: { name: "restricted_api_key" } });
  expect((await apiKeys.create({ name: "none", domain_id: id })).error).toMatchObject({ statusCode: 404 });
  dataOf(await apiKeys.remove(id));
});

test("received mail is listed and read", async () => {
  const { receiving } = server.resend.emails;
  expect(dataOf(await receiving.list()).data).toEqual([]);
  expect((await receiving.attachments.list({ emailId: "rcv_none" })).error).toMatchObject({ statusCode: 404 });
  expect((await receiving.attachments.get({ emailId: "rcv_none", id: "1" })).error).toMatchObject({ statusCode: 404 });
  expect((await receiving.get("rcv_none")).error).toMatchObject({ statusCode: 404, name: "not_found" });
});

test("domains are listed also behind many senders that are addresses", async () => {
  const { domains } = server.resend;
  const { id } = dataOf(await domains.create({ name: "behind.acme.com" }));
  for (let i = 0; i < 21; i += 1)
    await new Mailsvc({ baseUrl: server.url, apiKey: server.apiKey }).senders.create({ email: `sender${i}@elsewhere.example` });
  const page = dataOf(await domains.list());
  expect(page.data).toContainEqual(expect.objectContaining({ id }));
  expect(page.has_more).toBe(false);
});

test("domains are added, verified and removed", async () => {
  const { domains } = server.resend;
  const created = dataOf(await domains.create({ name: "news.acme.com" }));
  expect(created).toMatchObject({ name: "news.acme.com", status: "verified" });
  const { id } = created;
  expect(created.records).toMatchObject([
    { record: "SPF", type: "TXT", value: expect.stringContaining("mailsvc-verify="), status: "verified" },
  ]);
  expect(dataOf(await domains.get(id)).records).toEqual(created.records);
  expect(dataOf(await domains.list()).data).toContainEqual(expect.objectContaining({ id, name: "news.acme.com" }));
  expect(dataOf(await domains.get(id))).toMatchObject({ object: "domain", id });
  expect(dataOf(await domains.verify(id))).toMatchObject({ id });
  expect(dataOf(await domains.update({ id, openTracking: false }))).toMatchObject({ id });
  expect((await domains.update({ id, openTracking: true })).error).toMatchObject({ name: "method_not_allowed" });
  expect(dataOf(await domains.remove(id))).toMatchObject({ id, deleted: true });
  expect((await domains.get(id)).error).toMatchObject({ statusCode: 404 });
});

test("API keys are created, used and revoked", async () => {
  const { apiKeys } = server.resend;
  const { id, token } = dataOf(await apiKeys.create({ name: "shop", permission: "sending_access" }));
  const headers = { authorization: `Bearer ${token}` };
  expect((await call(server, "POST", "/emails", hello, headers)).status).toBe(200);
  expect(await call(server, "GET", "/domains", undefined, headers)).toMatchObject({ status: 401, body: { name: "restricted_api_key" } });
  expect(dataOf(await apiKeys.update(id, { name: "web shop" }))).toEqual({ object: "api_key", id });
  expect(dataOf(await apiKeys.list()).data).toContainEqual(expect.objectContaining({ id, name: "web shop" }));
  dataOf(await apiKeys.remove(id));
  expect((await call(server, "POST", "/emails", hello, headers)).status).toBe(401);
});

test("segments and audiences are lists, whose members are contacts", async () => {
  const { segments, contacts } = server.resend;
  const { id } = dataOf(await segments.create({ name: "Newsletter" }));
  expect(dataOf(await segments.list()).data).toContainEqual(expect.objectContaining({ id, name: "Newsletter" }));
  expect(dataOf(await segments.get(id))).toMatchObject({ object: "segment", id, name: "Newsletter" });
  expect(dataOf(await segments.update(id, { name: "Weekly" }))).toMatchObject({ object: "segment", id });
  expect(dataOf(await segments.get(id)).name).toBe("Weekly");
  await segments.update(id, { name: "Newsletter" });
  const ada = dataOf(
    await contacts.create({ email: "ada@example.com", firstName: "Ada", segments: [{ id }], properties: { plan: "pro" } }),
  );
  expect(dataOf(await contacts.list({ segmentId: id })).data).toMatchObject([{ id: ada.id, email: "ada@example.com" }]);
  expect(dataOf(await contacts.segments.list({ contactId: ada.id })).data).toMatchObject([{ id, name: "Newsletter" }]);
  dataOf(await contacts.segments.remove({ email: "ada@example.com", segmentId: id }));
  expect(dataOf(await contacts.list({ segmentId: id })).data).toEqual([]);
  dataOf(await contacts.segments.add({ contactId: ada.id, segmentId: id }));
  expect(dataOf(await segments.remove(id))).toMatchObject({ id, deleted: true });
});

test("contacts are found by id and by address, changed and deleted", async () => {
  const { contacts } = server.resend;
  const { id } = dataOf(await contacts.create({ email: "Grace@example.com", firstName: "Grace", unsubscribed: false }));
  expect(dataOf(await contacts.get(id))).toMatchObject({ object: "contact", id, first_name: "Grace", unsubscribed: false });
  expect(dataOf(await contacts.get({ email: "grace@example.com" }))).toMatchObject({ id });
  dataOf(await contacts.update({ email: "grace@example.com", lastName: "Hopper", unsubscribed: true }));
  expect(dataOf(await contacts.get(id))).toMatchObject({ last_name: "Hopper", unsubscribed: true });
  expect(dataOf(await contacts.list()).data.map((one) => one.email)).toContain("Grace@example.com");
  dataOf(await contacts.remove({ email: "grace@example.com" }));
  expect((await contacts.get(id)).error).toMatchObject({ statusCode: 404, name: "not_found" });
});

test("the names of a contact are cleared by null, and properties are shown with their types", async () => {
  const { contacts } = server.resend;
  const { id } = dataOf(
    await contacts.create({ email: "clear@example.com", firstName: "Ada", lastName: "Byron", properties: { plan: "pro", age: 36 } }),
  );
  expect(dataOf(await contacts.get(id)).properties).toEqual({
    plan: { type: "string", value: "pro" },
    age: { type: "number", value: 36 },
  });
  dataOf(await contacts.update({ id, firstName: null, properties: { plan: null } }));
  expect(dataOf(await contacts.get(id))).toMatchObject({ first_name: null, last_name: "Byron", properties: { age: { value: 36 } } });
  dataOf(await contacts.update({ id, lastName: null }));
  expect(dataOf(await contacts.get(id)).last_name).toBeNull();
});

test("fields of a template are cleared by null, reply addresses also by an empty list", async () => {
  const { templates } = server.resend;
  const written = { from: "hello@acme.com", subject: "Hi", text: "Hi", replyTo: ["help@acme.com"] };
  const { id } = dataOf(await templates.create({ ...written, name: "Cleared", html: "<p>Hi</p>" }));
  dataOf(await templates.update(id, { from: null, text: null }));
  expect(dataOf(await templates.get(id))).toMatchObject({ from: null, text: null, subject: "Hi", reply_to: ["help@acme.com"] });
  dataOf(await templates.update(id, { replyTo: [] }));
  expect(dataOf(await templates.get(id))).toMatchObject({ subject: "Hi", reply_to: null });
});

test("programs with an older package reach contacts through their audience", async () => {
  const created = await call(server, "POST", "/audiences", { name: "Old" });
  const { id } = created.body as { id: string };
  expect(created).toMatchObject({ status: 201, body: { object: "audience", name: "Old" } });
  const members = `/audiences/${id}/contacts`;
  expect(await call(server, "POST", members, { email: "kay@example.com" })).toMatchObject({ status: 201, body: { object: "contact" } });
  expect(await call(server, "GET", members)).toMatchObject({ body: { data: [{ email: "kay@example.com" }] } });
  expect(await call(server, "PATCH", `${members}/kay@example.com`, { first_name: "Kay" })).toMatchObject({ status: 200 });
  expect(await call(server, "GET", `${members}/kay@example.com`)).toMatchObject({ body: { first_name: "Kay" } });
  expect(await call(server, "DELETE", `${members}/kay@example.com`)).toMatchObject({ body: { deleted: true } });
  expect(await call(server, "GET", `${members}/kay@example.com`)).toMatchObject({ status: 404 });
  expect(await call(server, "GET", "/audiences")).toMatchObject({ body: { data: [{ id, name: "Old" }] } });
  expect(await call(server, "GET", `/audiences/${id}`)).toMatchObject({ body: { object: "audience", name: "Old" } });
  expect(await call(server, "PATCH", `/audiences/${id}`, { name: "Older" })).toMatchObject({ body: { name: "Older" } });
  expect(await call(server, "DELETE", `/audiences/${id}`)).toMatchObject({ body: { deleted: true } });
});

test("suppressions are added and removed, one by one and together", async () => {
  const { suppressions } = server.resend;
  const { id } = dataOf(await suppressions.add({ email: "no@example.com" }));
  expect(dataOf(await suppressions.get("no@example.com"))).toMatchObject({ id, origin: "manual" });
  expect(dataOf(await suppressions.list()).data).toContainEqual(expect.objectContaining({ id, email: "no@example.com" }));
  dataOf(await suppressions.remove(id));
  expect(dataOf(await suppressions.batch.add({ emails: ["a@example.com", "b@example.com"] })).data).toHaveLength(2);
  expect(dataOf(await suppressions.batch.remove({ emails: ["a@example.com", "b@example.com", "c@example.com"] })).data).toHaveLength(2);
});

test("webhooks are registered, changed and deleted", async () => {
  const { webhooks } = server.resend;
  const { id } = dataOf(await webhooks.create({ endpoint: "https://shop.example.com/hook", events: ["email.sent"] }));
  expect(dataOf(await webhooks.list()).data).toMatchObject([{ id }]);
  expect(dataOf(await webhooks.get(id))).toMatchObject({ object: "webhook", events: ["email.sent"] });
  const own = new Mailsvc({ baseUrl: server.url, apiKey: server.apiKey }).webhooks;
  const [{ id: ownId, format } = { id: "", format: null }] = (await own.list()).data;
  expect(format).toBe("resend");
  expect((await own.update(ownId, { format: "mailsvc" })).format).toBe("mailsvc");
  const made = await own.create({ url: "https://shop.example.com/other", format: "resend" });
  expect((await own.get(made.id)).format).toBe("resend");
  expect((await own.create({ url: "https://shop.example.com/third" })).format).toBe("mailsvc");
  dataOf(await webhooks.update(id, { events: ["email.bounced"] }));
  const { signing_secret: first } = dataOf(await webhooks.get(id));
  expect(dataOf(await webhooks.rotateSigningSecret(id)).signing_secret).not.toBe(first);
  dataOf(await webhooks.remove(id));
});

test("a broadcast is written, sent to a segment later, taken back, sent and read", async () => {
  const { broadcasts, segments, contacts } = server.resend;
  const { id: segmentId } = dataOf(await segments.create({ name: "Readers" }));
  await contacts.create({ email: "reader@example.com", firstName: "Rosa <3", segments: [{ id: segmentId }], properties: { plan: "pro" } });
  await contacts.create({ email: "nameless@example.com", segments: [{ id: segmentId }] });
  const { id } = dataOf(
    await broadcasts.create({
      ...{ segmentId, from: "Acme <news@acme.com>", subject: "News for {{{FIRST_NAME|you}}}", replyTo: ["help@acme.com"] },
      html: '<p>Hi {{{contact.first_name|friend}}}, {{{contact.plan}}}</p><a href="{{{RESEND_UNSUBSCRIBE_URL}}}">Leave</a>',
    }),
  );
  expect(dataOf(await broadcasts.get(id))).toMatchObject({
    ...{ object: "broadcast", id, status: "draft", segment_id: segmentId, audience_id: segmentId },
    ...{ from: "Acme <news@acme.com>", reply_to: ["help@acme.com"], scheduled_at: null, sent_at: null },
  });
  dataOf(await broadcasts.update(id, { name: "Spring", previewText: "It is here" }));
  expect(dataOf(await broadcasts.list()).data).toMatchObject([{ id, name: "Spring", status: "draft" }]);
  dataOf(await broadcasts.send(id, { scheduledAt: "in 1 hour" }));
  expect(dataOf(await broadcasts.get(id))).toMatchObject({ status: "queued", scheduled_at: expect.any(String) });
  dataOf(await broadcasts.cancel(id));
  expect(dataOf(await broadcasts.get(id))).toMatchObject({ status: "draft", scheduled_at: null });
  const copy = dataOf(await broadcasts.duplicate(id));
  expect(dataOf(await broadcasts.remove(copy.id))).toMatchObject({ id: copy.id, deleted: true });
  expect((await broadcasts.get(copy.id)).error).toMatchObject({ statusCode: 404 });
  dataOf(await broadcasts.send(id));
  await server.settle();
  expect(dataOf(await broadcasts.get(id))).toMatchObject({ status: "sent", preview_text: "It is here" });
  const { inbox } = new Mailsvc({ baseUrl: server.url, apiKey: server.apiKey });
  const find = async (to: string) => inbox.get((await inbox.list({ to })).data[0]?.id ?? "");
  expect(await find("nameless@example.com")).toMatchObject({ subject: "News for you", from: expect.stringContaining("<news@acme.com>") });
  const mail = await find("reader@example.com");
  expect(mail.subject).toBe("News for Rosa <3");
  expect(mail.html).toMatch(/<p>Hi Rosa &lt;3, pro<\/p><a href="https?:/);
});

test("a broadcast without its list, with eleven reply addresses or with an unknown topic is refused", async () => {
  const broadcast = { from: "news@acme.com", subject: "News", text: "Hi" };
  expect(await call(server, "POST", "/broadcasts", broadcast)).toMatchObject({ status: 422, body: { name: "missing_required_field" } });
  const { id } = dataOf(await server.resend.segments.create({ name: "Nobody" }));
  const refuse = (more: object) => call(server, "POST", "/broadcasts", { ...broadcast, segment_id: id, ...more });
  expect(await refuse({ topic_id: "topic" })).toMatchObject({ status: 404 });
  expect(await refuse({ reply_to: Array.from({ length: 11 }, (_, i) => `a${i}@acme.com`) })).toMatchObject({ status: 422 });
  expect(await refuse({ from: "nobody" })).toMatchObject({ status: 422 });
  expect(await refuse({ scheduled_at: "in 1 hour" })).toMatchObject({ status: 422 });
  expect(dataOf(await server.resend.broadcasts.list()).data.filter(({ name }) => name === "News")).toEqual([]);
});

test("a broadcast with an empty text has none, and an update empties fields", async () => {
  const { broadcasts, segments } = server.resend;
  const { id: segmentId } = dataOf(await segments.create({ name: "Empty" }));
  const written = { segmentId, from: "Acme <news@acme.com>", subject: "Now", html: "<p>Hi</p>" };
  const { id: empty } = dataOf(await broadcasts.create({ ...written, text: "" }));
  expect(dataOf(await broadcasts.get(empty)).text).toBeNull();
  const { id } = dataOf(await broadcasts.create({ ...written, text: "Hi", previewText: "Soon", replyTo: ["help@acme.com"] }));
  dataOf(await broadcasts.update(id, { text: "", previewText: "", replyTo: [] }));
  expect(dataOf(await broadcasts.get(id))).toMatchObject({ html: "<p>Hi</p>", text: null, preview_text: null, reply_to: null });
  dataOf(await broadcasts.update(id, { subject: "Later" }));
  expect(dataOf(await broadcasts.get(id)).from).toBe("Acme <news@acme.com>");
  dataOf(await broadcasts.update(id, { from: "news@acme.com" }));
  expect(dataOf(await broadcasts.get(id))).toMatchObject({ from: "news@acme.com", subject: "Later" });
});

test("a broadcast that is created with send is due in a second", async () => {
  const { broadcasts, segments } = server.resend;
  const { id: segmentId } = dataOf(await segments.create({ name: "At once" }));
  const before = Date.now();
  const { id } = dataOf(await broadcasts.create({ segmentId, from: "news@acme.com", subject: "Now", text: "Hi", send: true }));
  const { scheduled_at } = dataOf(await broadcasts.get(id));
  // The clock of the server is finer than milliseconds, so that it may seem behind.
  expect(Date.parse(scheduled_at ?? "") - before).toBeGreaterThan(900);
});

// package.test.ts calls the operations of the current package.
test("every operation for older packages was called by these tests", () => {
  const all = RESEND_OPERATIONS.filter(({ path }) => path.startsWith("/audiences")).map(({ method, path }) => `${method} ${path}`);
  expect(all.filter((one) => !called.has(one))).toEqual([]);
});

// Wrong types in every place, as programs without types send them.
const WRONG: readonly unknown[] = [null, true, 7, "", "\u0000", [], [null], {}, { a: { b: [] } }];
const FIELDS = [
  ...["from", "to", "cc", "subject", "html", "headers", "tags", "attachments", "scheduled_at", "template", "name", "email", "emails"],
  ...["segments", "properties", "endpoint", "events", "permission", "status", "ids", "unsubscribed"],
];

test("hostile input is refused in Resend's form, and never an error of the server", async () => {
  for (const { method, path } of RESEND_OPERATIONS.filter((one) => one.method === "POST" || one.method === "PATCH")) {
    const url = path.replace(/:\w+/g, "x");
    const bodies = [...WRONG, ...WRONG.map((value) => Object.fromEntries(FIELDS.map((field) => [field, value]))), [WRONG], [{ to: WRONG }]];
    for (const body of bodies) {
      const answer = await call(server, method, url, body);
      if (answer.status < 300) continue;
      expect([method, url, body, answer.status], JSON.stringify(answer.body)).toEqual([
        method,
        url,
        body,
        expect.toSatisfy((n) => n < 500 || n === 501),
      ]);
      expect(answer.body).toEqual({ statusCode: answer.status, name: expect.any(String), message: expect.any(String) });
    }
  }
  // Metrics have no pages, and ignore their parameters as they do others that are unknown.
  for (const { path } of RESEND_OPERATIONS.filter((one) => one.method === "GET" && one.path !== "/emails/metrics"))
    for (const query of ["?limit=0", "?limit=x", "?after=%00", "?before=em_1", "?after=em_1&before=em_1"]) {
      const answer = await call(server, "GET", `${path.replace(/:\w+/g, "%F0%9F%92%A9")}${query}`);
      expect([path, query, answer.status]).toEqual([path, query, expect.toSatisfy((n) => n >= 400 && n < 500)]);
    }
});
