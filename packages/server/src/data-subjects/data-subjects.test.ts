import { describe, expect, test } from "vitest";
import { createTestAgent } from "../../test/agent.ts";
import { expectCountsToBeTrue } from "../../test/recount.ts";
import { ask, scenarios } from "../../test/scenario.ts";
import { keyFor, secondWorkspace } from "../../test/tenant.ts";
import { PERSON_DATA } from "../table-data/table-data.ts";
import { createWorld, type TestWorld } from "../testing.ts";
import { eraseDataSubject, findAnswers } from "./data-subjects.ts";

const hello = { from: "a@acme.test", subject: "Your secret", html: "<p>for your eyes</p>" };

scenarios("people that are none", [
  { name: "no address", method: "GET", path: "/api/v1/people/ada@", status: 400, details: ["person invalid_email"] },
  { name: "erasing no address", method: "DELETE", path: "/api/v1/people/ada@", status: 400, details: ["person invalid_email"] },
  { name: "an externalId of nobody", method: "GET", path: "/api/v1/people/ada", status: 404, code: "not_found" },
  { name: "erasing an externalId of nobody", method: "DELETE", path: "/api/v1/people/ada", status: 404, code: "not_found" },
  {
    name: "a cursor of nowhere",
    method: "GET",
    path: "/api/v1/people/ada@example.com?cursor=abc",
    status: 400,
    details: ["cursor invalid_cursor"],
  },
  { name: "no key", method: "GET", path: "/api/v1/people/ada@example.com", key: null, status: 401 },
  { name: "somebody unknown", method: "GET", path: "/api/v1/people/ada@example.com", status: 404, code: "not_found" },
  { name: "erasing somebody unknown", method: "DELETE", path: "/api/v1/people/ada@example.com", status: 404, code: "not_found" },
]);

test("everything about a person is in one response", async () => {
  await using world = await createWorld();
  const contact = await world.sdk.contacts.create({ email: "Ada@example.com", firstName: "Ada" });
  await world.sdk.emails.send({ ...hello, to: "ADA@example.com" });
  await world.sdk.emails.send({ ...hello, to: ["ada@example.com", "other@example.com"] });
  await world.inbox.all();
  await world.sdk.suppressions.create({ email: "ada@example.com", scope: "marketing" });
  const person = await world.sdk.people.get("ada@EXAMPLE.com");
  expect(person).toMatchObject({
    email: "Ada@example.com",
    contact: { id: contact.id, firstName: "Ada", lists: [], segments: [] },
    suppression: { scope: "marketing" },
    emails: [
      { subject: "Your secret" },
      { subject: "Your secret", html: "<p>for your eyes</p>", events: [{ type: "email.queued" }, {}, {}] },
    ],
    nextCursor: null,
  });
  expect(person.events.map((e) => e.type)).toEqual(["contact.created", "contact.unsubscribed"]);
  expect(JSON.stringify(person)).not.toContain("other@example.com");
});

test("memberships, sign-ups with the texts consented to, and ways through automations are in the response", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const agent = await createTestAgent(world);
  const list = await sdk.lists.create({ name: "Readers", doubleOptIn: true, confirmationFrom: "a@acme.test" });
  const page = await agent.call("POST", "/landing-pages", { title: "Join", html: "<form></form>", status: "PUBLISHED" });
  await world.fetch(page.body.url, { method: "POST", body: new URLSearchParams({ email: "ada@example.com" }) });
  await sdk.lists.add(list.id, { contacts: ["ada@example.com"] });
  const automation = await sdk.automations.create({
    name: "Carts",
    trigger: { type: "event", name: "cart" },
    steps: [{ id: "wait", type: "delay", for: "3d" }],
    connections: [{ from: "trigger", to: "wait" }],
  });
  await sdk.automations.activate(automation.id);
  await sdk.events.track({ contact: "ada@example.com", name: "cart", value: 12.5, currency: "USD", properties: { item: "gears" } });
  await world.settle();
  const [submission] = (await sdk.landingPages.submissions(page.body.id)).data;
  expect(submission?.consentText).toMatch(/\w/);
  const person = await sdk.people.get("ada@example.com");
  expect(person.contact?.lists).toEqual([]);
  expect(person.lists).toMatchObject([{ id: list.id, name: "Readers", status: "PENDING", joinedAt: null }]);
  expect(person.signUps).toEqual([
    {
      id: submission?.id,
      landingPageId: page.body.id,
      consentText: submission?.consentText,
      listId: null,
      createdAt: submission?.createdAt,
    },
  ]);
  expect(person.automationEntries).toMatchObject([
    {
      automationId: automation.id,
      automationName: "Carts",
      status: "ACTIVE",
      event: { name: "cart", value: 12.5, properties: { item: "gears" } },
      path: [{ stepId: "wait" }],
    },
  ]);
  // Deleting the contact deletes these data of the person; the entry ends before the contact is gone.
  await sdk.contacts.delete(person.contact?.id ?? "");
  expect((await sdk.landingPages.submissions(page.body.id)).data).toMatchObject([{ id: submission?.id, contactId: null }]);
  expect((await sdk.automations.entries(automation.id)).data).toMatchObject([{ status: "EXITED", reason: "contact_deleted" }]);
  const types = (await sdk.events.list()).data.map(({ type }) => type);
  expect(types.slice(0, 2)).toEqual(["contact.deleted", "automation.exited"]);
});

test("mail of a campaign that came and went while the answers were looked through is erased", async () => {
  await using world = await createWorld();
  const { sdk, workspaceId } = world;
  const { deps } = world.app;
  await sdk.contacts.create({ email: "ada@example.com" });
  const answers = await findAnswers(deps.db.read, deps, workspaceId, "ada@example.com");
  await world.campaign({ name: "Launch", subjectLine: "Hello", fromEmail: "news@acme.example", text: "Hello" });
  const erased = await deps.db.tx((tx) => eraseDataSubject(tx, deps, PERSON_DATA, workspaceId, "ada@example.com", answers));
  expect(erased).toMatchObject({ contacts: 1, emails: 1 });
  expect((await sdk.emails.list()).data).toEqual([]);
});

test("emails to a person come in pages", async () => {
  await using world = await createWorld();
  for (let i = 0; i < 53; i += 1) await world.sdk.emails.send({ ...hello, to: "ada@example.com", subject: `${i}` });
  const first = await world.sdk.people.get("ada@example.com");
  const second = await world.sdk.people.get("ada@example.com", { cursor: first.nextCursor as string });
  expect([...first.emails, ...second.emails].map((e) => e.subject)).toEqual(Array.from({ length: 53 }, (_, i) => `${52 - i}`));
  expect(second.nextCursor).toBeNull();
});

/** Everything in the database, as one text. */
const everything = async ({ app }: TestWorld): Promise<string> => {
  const { read } = app.deps.db;
  const tables = Object.values(read.t);
  const rows = await Promise.all(tables.map((table) => read.select().from(table as typeof read.t.contacts)));
  return rows
    .flat()
    .map((row) =>
      Object.values(row as Record<string, unknown>)
        .map((v) => (v instanceof Uint8Array ? Buffer.from(v).toString() : typeof v === "object" ? JSON.stringify(v) : String(v)))
        .join("\n"),
    )
    .join("\n");
};

const countParts = async ({ app }: TestWorld): Promise<number[]> => {
  const { read } = app.deps.db;
  return [await read.$count(read.t.attachmentParts), await read.$count(read.t.inboxParts), await read.$count(read.t.inboxBytes)];
};

describe("erasing a person", () => {
  test("leaves the files of a send to those of its other recipients who still wait for them", async () => {
    await using world = await createWorld();
    const { sdk } = world;
    const template = { name: "Terms", slug: "terms", subject: "Terms for {{name}}", text: "Dear {{name}}", from: hello.from };
    await sdk.templates.create({ ...template, publish: true });
    const { read } = world.app.deps.db;
    await sdk.templates.send("terms", {
      to: ["ada@example.com", "bea@example.com", "cy@example.com"],
      recipientVariables: { "ada@example.com": { name: "Ada" }, "bea@example.com": { name: "Bea" }, "cy@example.com": { name: "Cy" } },
      attachments: [{ filename: "terms.txt", content: "aGk=" }],
      scheduledAt: "2026-01-02T00:00:00Z",
    });
    for (const [name, left] of [
      ["ada", 2],
      ["cy", 1],
    ] as const) {
      await sdk.people.erase(`${name}@example.com`);
      expect([await read.$count(read.t.contents), await read.$count(read.t.attachments)]).toEqual([left, 1]);
    }
    await world.clock.advance("2d");
    const [mail, ...others] = await world.inbox.all();
    expect(others).toEqual([]);
    expect(mail).toMatchObject({ to: "bea@example.com", subject: "Terms for Bea" });
    expect((await sdk.inbox.get(mail?.id ?? "")).attachments).toMatchObject([{ filename: "terms.txt", size: 2 }]);
    await sdk.people.erase("bea@example.com");
    expect([await read.$count(read.t.contents), await read.$count(read.t.attachments)]).toEqual([0, 0]);
  });

  test("of the only person gives the id of no event again", async () => {
    await using world = await createWorld();
    const { sdk } = world;
    await sdk.contacts.create({ email: "ada@example.com" });
    const before = (await sdk.events.list()).data.map(({ id }) => id);
    await sdk.people.erase("ada@example.com");
    await sdk.contacts.create({ email: "bea@example.com" });
    const after = (await sdk.events.list()).data;
    expect(after.map(({ type }) => type)).toEqual(["contact.created", "contact.deleted"]);
    expect(after.filter(({ id }) => before.includes(id))).toEqual([]);
  });

  test("removes every trace of the person, and nothing of others", async () => {
    await using world = await createWorld();
    const ada = await world.sdk.contacts.create({
      email: "Ada.Lovelace@example.com",
      firstName: "Augusta",
      tags: ["x"],
      customFields: { born: "1815" },
    });
    const other = await world.sdk.contacts.create({ email: "grace@example.com", tags: ["x"] });
    await world.sdk.emails.send({
      ...hello,
      to: "ada.lovelace@example.com",
      html: "Dear Augusta",
      attachments: [
        { filename: "augusta.txt", content: "QXVndXN0YQ==" },
        // Stored in several parts, as is the mail.
        { filename: "long.txt", content: Buffer.from("Augusta".repeat(200_000)) },
      ],
    });
    await world.sdk.emails.send({ ...hello, to: ["ADA.lovelace@example.com", "grace@example.com"], subject: "To both" });
    await world.sdk.emails.send({ ...hello, to: "ada.lovelace@example.com", scheduledAt: "2026-02-01T00:00:00Z" });
    await world.inbox.all();
    await world.sdk.suppressions.create({ email: "ada.lovelace@example.com", reason: "complaint", note: "Augusta wrote" });
    expect(await everything(world)).toMatch(/lovelace/i);
    expect(await countParts(world)).toEqual([1, 3, 3]);

    const erased = await world.sdk.people.erase("ada.lovelace@example.com");
    expect(erased).toMatchObject({ contacts: 1, emails: 3, captured: 2, staysSuppressed: true });
    expect(erased.events).toBeGreaterThan(5);
    expect(erased.answers).toBeGreaterThan(0);
    expect(await everything(world)).not.toMatch(/lovelace|Augusta|1815/i);
    expect(await countParts(world)).toEqual([0, 0, 0]);

    await expect(world.sdk.contacts.get(ada.id)).rejects.toMatchObject({ code: "not_found" });
    expect(await world.sdk.contacts.get(other.id)).toMatchObject({ email: "grace@example.com" });
    expect((await world.sdk.contacts.list({ search: "lovelace" })).pagination.total).toBe(0);
    expect((await world.sdk.contacts.list({ tag: "x" })).pagination.total).toBe(1);
    expect((await world.sdk.emails.list()).data).toMatchObject([{ to: "grace@example.com", subject: "To both" }]);
    expect((await world.inbox.all()).map((m) => m.to)).toEqual(["grace@example.com"]);
    await expectCountsToBeTrue(world);
    // The mail that waited does not go.
    await world.clock.advance("60d");
    expect(await world.inbox.all()).toHaveLength(1);
    await expect(world.sdk.people.erase("ada.lovelace@example.com")).rejects.toMatchObject({ code: "not_found" });
    expect(await world.sdk.people.get("ada.lovelace@example.com")).toMatchObject({
      contact: null,
      events: [],
      suppression: { reason: "complaint" },
      emails: [],
    });
  });

  test("takes the address out of mail to several recipients, which goes on to the others", async () => {
    await using world = await createWorld();
    const { sdk } = world;
    const party = {
      ...hello,
      to: ["Ada <ada@example.com>", "bob@example.com"],
      cc: ['"Ada, again" <ADA@example.com>', "Carol <carol@example.com>"],
      bcc: "dan@example.com",
    };
    const sent = await sdk.emails.send(party);
    expect(await world.inbox.all()).toHaveLength(4);
    const waiting = await sdk.emails.send({ ...party, scheduledAt: "2026-01-02T00:00:00Z" });
    const alone = await sdk.emails.send({ ...hello, to: "bob@example.com", bcc: "ada@example.com" });
    expect(await world.inbox.all()).toHaveLength(6);
    expect(await sdk.people.erase("ada@example.com")).toMatchObject({ emails: 3, captured: 5 });

    // Nothing in any table names the person, nor a copy of a mail to another recipient.
    const { read } = world.app.deps.db;
    for (const [name, table] of Object.entries(read.t))
      expect(JSON.stringify(await read.select().from(table as typeof read.t.contacts)).toLowerCase(), name).not.toContain("ada");
    expect((await world.inbox.all()).map(({ to }) => to)).toEqual(["bob@example.com"]);

    for (const { id } of [sent, waiting])
      expect((await sdk.emails.get(id)).recipients.map(({ email }) => email)).toEqual([
        "bob@example.com",
        "carol@example.com",
        "dan@example.com",
      ]);
    expect((await sdk.emails.get(alone.id)).recipients).toMatchObject([{ email: "bob@example.com", kind: "to" }]);
    expect((await sdk.emails.list()).data.map(({ id }) => id)).toEqual([alone.id, waiting.id, sent.id]);
    await world.clock.advance("2d");
    const [late] = await world.inbox.all({ to: "dan@example.com" });
    const raw = await sdk.inbox.raw(late?.id ?? "");
    expect(raw).toContain("\r\nTo: bob@example.com\r\nCc: Carol <carol@example.com>\r\n");
    await sdk.people.erase("bob@example.com");
    await sdk.people.erase("carol@example.com");
    await sdk.people.erase("dan@example.com");
    expect(await read.select().from(read.t.contents)).toEqual([]);
  });

  test("what is exported of one recipient does not name the others", async () => {
    await using world = await createWorld();
    const { sdk } = world;
    const { id } = await sdk.emails.send({ ...hello, to: "Ada <ada@example.com>", cc: "carol@example.com", bcc: "dan@example.com" });
    await world.settle();
    for (const [address, kind] of [
      ["ada@example.com", "to"],
      ["carol@example.com", "cc"],
      ["dan@example.com", "bcc"],
    ] as const) {
      const person = await sdk.people.get(address);
      expect(person.emails).toMatchObject([{ id, to: address, recipients: [{ email: address, kind }] }]);
      expect(new Set(JSON.stringify(person).match(/\w+@example\.com/g))).toEqual(new Set([address]));
    }
  });

  test("a suppressed address stays suppressed everywhere, and can be removed by its address", async () => {
    await using world = await createWorld();
    const { sdk } = world;
    await sdk.suppressions.create({ email: "ada@example.com", reason: "bounce" });
    await sdk.suppressions.create({ email: "plain@example.com" });
    expect(await sdk.people.erase("ada@example.com")).toMatchObject({ staysSuppressed: true });

    const send = (to: unknown) => ask(world, { path: "/api/v1/send", body: { ...hello, to } });
    expect((await send("ADA@example.com")).status).toBe(400);
    expect(await (await send(["ada@example.com", "plain@example.com", "c@example.com"])).json()).toMatchObject({
      count: 1,
      failed: [{ to: "ada@example.com" }, { to: "plain@example.com" }],
    });
    await expect(sdk.contacts.create({ email: "ada@example.com" })).rejects.toMatchObject({ code: "email_suppressed" });
    expect(await sdk.contacts.upsert({ email: "ada@example.com" })).toMatchObject({ status: "BOUNCED" });
    const { id } = await sdk.suppressions.get("ada@example.com");
    expect(await sdk.suppressions.create({ email: "Ada@example.com" })).toMatchObject({ id });
    const list = (await sdk.suppressions.list()).data;
    expect(list).toHaveLength(2);
    expect(JSON.stringify(list)).not.toContain("ada@");
    expect(list.map((s) => s.email).sort()).toEqual([expect.stringMatching(/^hmac:[0-9a-f]{64}$/), "plain@example.com"]);
    expect((await sdk.suppressions.list({ email: "ADA@example.com" })).data).toMatchObject([{ id }]);

    expect(await sdk.suppressions.remove({ entries: ["ADA@example.com", "nobody@example.com"] })).toMatchObject({
      removed: 1,
      failed: [{ index: 1 }],
    });
    expect((await send("ada@example.com")).status).toBe(200);
    expect((await sdk.suppressions.list()).pagination.total).toBe(1);
  });

  test("a marketing suppression that was erased is widened by a bounce, and stays a hash", async () => {
    await using world = await createWorld();
    await world.sdk.suppressions.create({ email: "ada@example.com", scope: "marketing", reason: "unsubscribe" });
    await world.sdk.people.erase("ada@example.com");
    await world.sdk.emails.send({ ...hello, to: "ada@example.com", bypassUnsubscribe: true });
    expect(await world.sdk.suppressions.create({ email: "ada@example.com" })).toMatchObject({
      scope: "all",
      email: expect.stringMatching(/^hmac:/),
    });
    expect((await ask(world, { path: "/api/v1/send", body: { ...hello, to: "ada@example.com" } })).status).toBe(400);
    expect((await world.sdk.suppressions.list()).pagination.total).toBe(1);
  });

  test("twice reports both times that the address stays suppressed, then that nothing is stored", async () => {
    await using world = await createWorld();
    const { sdk } = world;
    await sdk.contacts.upsert({ email: "ada@example.com", status: "UNSUBSCRIBED" });
    expect(await sdk.people.erase("ada@example.com")).toMatchObject({ contacts: 1, staysSuppressed: true });
    await sdk.contacts.upsert({ email: "ada@example.com" });
    expect(await sdk.people.erase('"ada"@example.com')).toMatchObject({ contacts: 1, staysSuppressed: true });
    await expect(sdk.people.erase("ada@example.com")).rejects.toMatchObject({ code: "not_found" });
    await expect(sdk.contacts.create({ email: "ada@example.com" })).rejects.toMatchObject({ code: "email_suppressed" });
    expect((await sdk.suppressions.list()).data).toMatchObject([{ scope: "marketing", reason: "unsubscribe" }]);
  });

  test("affects one workspace only, and needs its own permission", async () => {
    await using world = await createWorld();
    const other = await secondWorkspace(world);
    await world.sdk.contacts.create({ email: "ada@example.com" });
    await world.sdk.suppressions.create({ email: "ada@example.com" });
    await world.sdk.emails.send({ ...hello, to: "grace@example.com" });
    const theirs = await ask(world, { method: "DELETE", path: "/api/v1/people/ada@example.com", key: other.apiKey });
    expect(theirs.status).toBe(404);
    expect((await world.sdk.people.get("ada@example.com")).contact).not.toBeNull();
    const reads = await keyFor(world, "people:read", "contacts:write");
    expect((await ask(world, { method: "DELETE", path: "/api/v1/people/ada@example.com", key: reads })).status).toBe(403);
    expect(
      (await ask(world, { method: "GET", path: "/api/v1/people/ada@example.com", key: await keyFor(world, "contacts:read") })).status,
    ).toBe(403);
  });
});
