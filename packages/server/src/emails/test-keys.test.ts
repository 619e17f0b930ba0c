import { eq } from "drizzle-orm";
import { describe, expect, test, vi } from "vitest";
import { ask } from "../../test/scenario.ts";
import { noSuchUser, type Script, scriptedMailer } from "../../test/scripted-mailer.ts";
import { secondWorkspace } from "../../test/tenant.ts";
import { TEST_MAIL_FROM, toTestId } from "../lib/ids.ts";
import { createWorld, type TestWorld } from "../testing.ts";

const hello = { from: "Acme <hello@acme.test>", to: "ada@example.com", subject: "Hello", text: "It works." };
const PERMISSIONS = ["transactional:send", "transactional:read", "events:read", "contacts:write", "templates:write"] as const;

/** A server in production that sends over SMTP, with a client for a test key besides the one for the owner's. */
async function production(script?: Script) {
  const mailer = scriptedMailer(script);
  const world = await createWorld({ dev: false, mailer, flags: { "trust-sender": "acme.test" } });
  const { key, ...made } = await world.sdk.keys.create({ name: "staging", permissions: [...PERMISSIONS], test: true });
  const staging = world.sdk.withOptions({ apiKey: key });
  const send = async (changes: Record<string, unknown> = {}): Promise<string> => {
    const { id } = (await staging.emails.send({ ...hello, ...changes })) as { id: string };
    return id;
  };
  return { world, mailer, key, made, staging, send, [Symbol.asyncDispose]: () => world.dispose() };
}

test("a test key is told apart by its prefix and in lists", async () => {
  await using t = await production();
  expect(t.key).toMatch(/^ms_test_/);
  expect(t.made).toMatchObject({ test: true, preview: expect.stringMatching(/^ms_test_/) });
  const { data } = await t.world.sdk.keys.list();
  expect(data.map(({ name, test: isTest }) => [name, isTest])).toContainEqual(["staging", true]);
  expect((await t.world.sdk.me.get()).key.test).toBe(false);
});

describe("mail of a test key", () => {
  test("is delivered without leaving the server, and is in the inbox of its workspace", async () => {
    await using t = await production();
    const id = await t.send({ attachments: [{ filename: "hi.txt", content: "aGk=" }] });
    await t.world.settle();
    expect(t.mailer.sent).toEqual([]);
    expect(await t.staging.emails.get(id)).toMatchObject({ test: true, status: "delivered", attempts: 1, inDoubt: false });
    const { data } = await t.staging.testInbox.list({ to: "ADA@example.com" });
    expect(data).toMatchObject([{ emailId: id, to: "ada@example.com", subject: "Hello" }]);
    const [mail] = data;
    expect(await t.world.sdk.testInbox.get(mail?.id ?? "")).toMatchObject({
      text: "It works.\n",
      attachments: [{ filename: "hi.txt", size: 2 }],
    });
    expect(await t.staging.testInbox.raw(mail?.id ?? "")).toContain(`Message-ID: <${id}@acme.test>`);
    expect(await t.staging.testInbox.wait({ subject: "Hell", timeout: 0 })).toMatchObject({ id: mail?.id });
    await expect(t.staging.testInbox.wait({ subject: "Goodbye", timeout: 0 })).rejects.toMatchObject({ code: "not_found" });
  });

  test("goes the way of templates, schedules and several recipients, too", async () => {
    await using t = await production();
    await t.world.sdk.templates.create({
      name: "Hi",
      slug: "hi",
      subject: "Hi {{ name }}",
      html: "<p>Hi {{ name }}</p>",
      from: hello.from,
    });
    await t.world.sdk.templates.publish((await t.world.sdk.templates.list()).data[0]?.id ?? "");
    await t.staging.templates.send("hi", { to: "ada@example.com", variables: { name: "Ada" } });
    await t.send({ to: ["a@example.com", "b@example.com"], scheduledAt: "2026-01-02T00:00:00Z" });
    await t.world.settle();
    expect((await t.staging.testInbox.list()).data.map(({ subject }) => subject)).toEqual(["Hi Ada"]);
    await t.world.clock.advance("1d");
    expect((await t.staging.testInbox.list()).data.map(({ to }) => to).sort()).toEqual([
      "a@example.com",
      "ada@example.com",
      "b@example.com",
    ]);
    expect(t.mailer.sent).toEqual([]);
  });

  test("is kept apart in lists, and a test key sees nothing else", async () => {
    await using t = await production();
    const { id: live } = (await t.world.sdk.emails.send(hello)) as { id: string };
    const id = await t.send();
    await t.world.settle();
    const ids = async (sdk = t.world.sdk, query = {}) => (await sdk.emails.list(query)).data.map((email) => email.id);
    expect(await ids()).toEqual([live]);
    expect(await ids(t.world.sdk, { test: "true" })).toEqual([id]);
    expect(await ids(t.world.sdk, { to: "ada@example.com" })).toEqual([live]);
    expect(await ids(t.world.sdk, { status: "delivered" })).toEqual([]);
    expect(await ids(t.world.sdk, { status: "delivered", test: "true" })).toEqual([id]);
    expect(await ids(t.staging)).toEqual([id]);
    expect((await t.world.sdk.emails.list()).pagination.total).toBe(1);
    expect(await t.world.sdk.emails.get(id)).toMatchObject({ test: true });
    expect(await t.world.sdk.emails.get(live)).toMatchObject({ test: false, status: "sent" });
    for (const call of [
      () => t.staging.emails.get(live),
      () => t.staging.emails.cancel(live),
      () => t.staging.emails.reschedule(live, { scheduledAt: "2026-02-01T00:00:00Z" }),
    ])
      await expect(call()).rejects.toMatchObject({ code: "not_found" });
  });

  test("has events, which say so", async () => {
    await using t = await production();
    await t.world.sdk.emails.send(hello);
    const id = await t.send();
    await t.world.settle();
    const events = async (sdk = t.world.sdk, query = {}) =>
      (await sdk.events.list(query)).data.map(({ type, test: isTest }) => [type, isTest]);
    const own = [
      ["email.delivered", true],
      ["email.sent", true],
      ["email.queued", true],
    ];
    const live = [
      ["email.sent", false],
      ["email.queued", false],
    ];
    const emails = { type: "email.*" };
    expect(await events(t.world.sdk, emails)).toEqual(live);
    expect(await events(t.world.sdk, { ...emails, test: "true" })).toEqual(own);
    expect(await events(t.staging, emails)).toEqual(own);
    expect(await events(t.staging, { ...emails, test: "false" })).toEqual(own);
    expect(await events(t.staging, { ...emails, to: "ada@example.com" })).toEqual(own);
    const followed = await events(t.world.sdk, { ...emails, after: 0 });
    expect([...followed].sort()).toEqual([...own, ...live].sort());
    expect((await events(t.staging, { ...emails, after: 0 })).toReversed()).toEqual(own);
    const [first] = (await t.world.sdk.events.list({ ...emails, after: 0 })).data.filter(({ emailId }) => emailId !== id);
    await expect(t.staging.events.get(first?.id ?? "")).rejects.toMatchObject({ code: "not_found" });
    expect(await t.world.sdk.events.get(first?.id ?? "")).toMatchObject({ test: false });
  });

  test("meets simulated recipients, and suppresses nobody", async () => {
    await using t = await production(() => noSuchUser);
    const bounced = await t.send({ to: "bounced@simulator.mailsvc.test" });
    const complained = await t.send({ to: "complained@simulator.mailsvc.test" });
    const delayed = await t.send({ to: "delayed@simulator.mailsvc.test" });
    const opened = await t.send({ to: "opened@simulator.mailsvc.test" });
    const suppressed = await t.send({ to: "suppressed+1@simulator.mailsvc.test" });
    await t.world.settle();
    expect(await t.staging.emails.get(delayed)).toMatchObject({ status: "deferred" });
    await t.world.clock.advance("1h");
    const statusOf = async (id: string) => (await t.staging.emails.get(id)).status;
    expect(await Promise.all([bounced, complained, delayed, opened, suppressed].map(statusOf))).toEqual([
      "bounced",
      "complained",
      "delivered",
      "delivered",
      "suppressed",
    ]);
    expect((await t.staging.emails.get(opened)).events.at(-1)).toMatchObject({ type: "email.opened" });
    expect((await t.world.sdk.explanations.get(suppressed)).summary).toContain("This simulated recipient always is.");
    expect((await t.world.sdk.suppressions.list()).data).toEqual([]);
    expect(await t.send({ to: "bounced@simulator.mailsvc.test" })).toMatch(/^em_/);
    expect(t.mailer.sent).toEqual([]);
  });

  test("is refused for a suppressed address, as live mail is", async () => {
    await using t = await production();
    await t.world.sdk.suppressions.create({ email: "ada@example.com", reason: "manual" });
    await expect(t.send()).rejects.toMatchObject({ code: "recipient_suppressed" });
    await expect(t.send({ to: "grace@example.com", from: "x@other.test" })).rejects.toMatchObject({ code: "sender_not_verified" });
  });

  test("says nothing about its recipients: opening it and unsubscribing by it are events and nothing else", async () => {
    await using t = await production();
    const { sdk } = t.world;
    await sdk.contacts.create({ email: "ada@example.com" });
    const html = '<a href="{{ unsubscribeUrl }}">Unsubscribe</a>';
    const { id: template } = await sdk.templates.create({ name: "News", slug: "news", subject: "News", html, from: hello.from });
    await sdk.templates.publish(template);
    const { id } = (await t.staging.templates.send("news", { to: "ada@example.com", tracking: { opens: true } })) as { id: string };
    await t.world.settle();
    const [captured] = (await t.staging.testInbox.list()).data;
    const mail = await t.staging.testInbox.get(captured?.id ?? "");
    const pixel = /src="([^"]*\/t\/o\/[^"]*)"/.exec(mail.html ?? "")?.[1] ?? "";
    const link = /href="([^"]*\/unsubscribe\/[^"]*)"/.exec(mail.html ?? "")?.[1] ?? "";
    await t.world.clock.advance("1h");
    const agent = { "user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0" };
    expect((await t.world.fetch(pixel, { headers: agent })).status).toBe(200);
    await t.world.clock.advance("1m");
    expect((await t.world.fetch(link, { method: "POST", headers: agent })).status).toBe(200);
    await t.world.settle();
    const events = (await t.staging.emails.get(id)).events.map(({ type }) => type);
    expect(events.slice(-2)).toEqual(["email.opened", "email.unsubscribed"]);
    expect((await sdk.suppressions.list()).data).toEqual([]);
    expect((await sdk.contacts.list()).data).toMatchObject([{ status: "SUBSCRIBED" }]);
    const { read } = t.world.app.deps.db;
    expect(await read.select().from(read.t.engagement)).toEqual([]);
  });

  test("is not held back with its domain, and goes past a mail server that is down", async () => {
    await using t = await production(() => ({ outcome: "deferred", error: { message: "down", smtpCode: null, enhancedCode: null } }));
    await t.world.sdk.withOptions({ apiKey: t.world.operatorKey }).queue.hold({ domain: "example.com" });
    const id = await t.send();
    await t.world.settle();
    expect(await t.staging.emails.get(id)).toMatchObject({ status: "delivered" });
  });

  test("can be cancelled and moved by its key", async () => {
    await using t = await production();
    const id = await t.send({ scheduledAt: "2026-01-05T00:00:00Z" });
    expect(await t.staging.emails.reschedule(id, { scheduledAt: "2026-01-06T00:00:00Z" })).toMatchObject({ test: true });
    expect(await t.staging.emails.cancel(id)).toMatchObject({ status: "cancelled" });
  });
});

describe("the inbox of test keys", () => {
  test("is that of one workspace", async () => {
    await using t = await production();
    await t.send();
    await t.world.settle();
    const [mail] = (await t.staging.testInbox.list()).data;
    const other = await secondWorkspace(t.world);
    expect((await other.sdk.testInbox.list()).data).toEqual([]);
    await expect(other.sdk.testInbox.get(mail?.id ?? "")).rejects.toMatchObject({ code: "not_found" });
    expect(await other.sdk.testInbox.clear()).toEqual({ deleted: 0 });
    expect(await t.staging.testInbox.clear()).toEqual({ deleted: 1 });
    expect((await t.staging.testInbox.list()).data).toEqual([]);
  });

  test("is not that of a workspace whose name is the id of another one", async () => {
    await using t = await production();
    const other = await secondWorkspace(t.world);
    const { db } = t.world.app.deps;
    await db.tx((tx) => tx.update(tx.t.workspaces).set({ name: other.workspaceId }).where(eq(tx.t.workspaces.id, t.world.workspaceId)));
    await t.send();
    await t.world.settle();
    expect((await t.staging.testInbox.list()).data).toHaveLength(1);
    expect((await other.sdk.testInbox.list()).data).toEqual([]);
    await expect(other.sdk.testInbox.wait({ timeout: 0 })).rejects.toMatchObject({ code: "not_found" });
  });

  test("forgets mail after 30 days", async () => {
    await using t = await production();
    await t.send({ attachments: [{ filename: "large.bin", content: Buffer.alloc(2_000_000).toString("base64") }] });
    await t.world.settle();
    await t.world.clock.advance("29d");
    await t.send({ to: "grace@example.com" });
    await t.world.clock.advance("2d");
    expect((await t.staging.testInbox.list()).data.map(({ to }) => to)).toEqual(["grace@example.com"]);
    const { read } = t.world.app.deps.db;
    expect(await read.select().from(read.t.inboxParts)).toEqual([]);
  });

  test("holds, in dev mode, mail of test keys only", async () => {
    await using world = await createWorld();
    const { key } = await world.sdk.keys.create({ name: "staging", permissions: ["transactional:send"], test: true });
    await world.sdk.emails.send(hello);
    const { id } = (await world.sdk.withOptions({ apiKey: key }).emails.send(hello)) as { id: string };
    await world.settle();
    expect((await world.sdk.testInbox.list()).data).toMatchObject([{ emailId: id }]);
    expect(await world.inbox.all()).toHaveLength(2);
  });
});

describe("a test key cannot", () => {
  const calls: readonly (readonly [string, string, string, unknown?])[] = [
    ["create contacts, whom automations write to", "POST", "/api/v1/contacts", { email: "ada@example.com" }],
    ["send campaigns", "POST", "/api/v1/campaigns/cmp_01jc3v2m9k8q4w6x0y5z7a1b2c/send", {}],
    ["activate automations", "POST", "/api/v1/automations/aut_01jc3v2m9k8q4w6x0y5z7a1b2c/activate", {}],
    ["report events", "POST", "/api/v1/track", { name: "purchase", contact: "ada@example.com" }],
    ["suppress addresses", "POST", "/api/v1/suppressions", { email: "ada@example.com" }],
    ["change templates", "POST", "/api/v1/templates", { name: "x" }],
    ["make keys", "POST", "/api/v1/keys", { name: "x", permissions: ["transactional:send"] }],
  ];
  for (const [name, method, path, body] of calls)
    test(name, async () => {
      await using t = await production();
      const refused = await ask(t.world, { method, path, body, key: t.key });
      expect(refused.status).toBe(403);
      expect(await refused.json()).toMatchObject({ error: { code: "forbidden", details: [{ code: "live_key_required" }] } });
    });
});

test("ids of test mail sort after all others", () => {
  expect(toTestId("em_01jc3v2m9k8q4w6x0y5z7a1b2c")).toBe("em_t1jc3v2m9k8q4w6x0y5z7a1b2c");
  expect("em_7zzzzzzzzzzzzzzzzzzzzzzzzz" < TEST_MAIL_FROM).toBe(true);
});

describe("a wait for mail of test keys", () => {
  /** Starts a wait, and returns when it looks for mail. */
  async function startWait(world: TestWorld, key: string): Promise<{ answer: Promise<Response> }> {
    const watched = vi.spyOn(world.app.deps.keyWatch, "watch");
    const answer = world.fetch(`${world.url}/api/v1/test-inbox/wait?timeout=120`, { headers: { authorization: `Bearer ${key}` } });
    await vi.waitFor(() => expect(watched).toHaveBeenCalled(), { timeout: 30_000 });
    watched.mockRestore();
    return { answer };
  }

  /** Captures a mail and revokes a key with it, as another process would: this one gets no signal. */
  async function captureElsewhere({ app: { deps }, workspaceId }: TestWorld, revoked: string): Promise<void> {
    const { db, ids, clock } = deps;
    const mail = {
      id: ids("mail"),
      emailId: null,
      workspaceId,
      to: "ada@example.com",
      from: "x@example.com",
      subject: "Hi",
      size: 1,
      test: true,
    };
    await db.tx(async (tx) => {
      await tx.update(tx.t.keys).set({ revokedAt: clock.now() }).where(eq(tx.t.keys.id, revoked));
      await tx.insertAll(tx.t.inbox, [{ ...mail, raw: Buffer.from("x"), receivedAt: clock.now() }]);
    });
  }

  test("ends when its key is revoked", async () => {
    await using t = await production();
    const { answer } = await startWait(t.world, t.key);
    await t.world.sdk.keys.revoke(t.made.id);
    expect((await answer).status).toBe(401);
    expect(await (await answer).json()).toMatchObject({ error: { code: "key_revoked" } });
  });

  test("gets no mail that comes in the moment in which its key is revoked", async () => {
    await using t = await production();
    const { answer } = await startWait(t.world, t.key);
    await captureElsewhere(t.world, t.made.id);
    t.world.app.deps.keyCache.clear();
    expect(await (await answer).json()).toMatchObject({ error: { code: "key_revoked" } });
  });
});
