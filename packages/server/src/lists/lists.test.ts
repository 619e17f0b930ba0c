import { describe, expect, test } from "vitest";
import { ask, scenarios } from "../../test/scenario.ts";
import { keyFor, secondWorkspace } from "../../test/tenant.ts";
import { listContactEvents } from "../events/events.ts";
import { createWorld, type TestWorld } from "../testing.ts";

const at = "/api/v1/lists";
const NOBODY = "list_00000000000000000000000000";

scenarios("lists refuse", [
  { name: "a request without a key", path: at, key: null, body: { name: "a" }, status: 401, code: "unauthorized" },
  { name: "no name", path: at, body: {}, status: 400, code: "validation_error", details: ["name required"] },
  { name: "an empty name", path: at, body: { name: "  " }, status: 400, details: ["name too_small"] },
  { name: "a name too long", path: at, body: { name: "x".repeat(201) }, status: 400, details: ["name too_big"] },
  { name: "a name of two lines", path: at, body: { name: "a\nb" }, status: 400, details: ["name invalid_characters"] },
  { name: "a field that does not exist", path: at, body: { name: "a", double: true }, status: 400, details: ["double unknown_field"] },
  {
    name: "double opt-in without a sender",
    path: at,
    body: { name: "a", doubleOptIn: true },
    status: 400,
    details: ["confirmationFrom required"],
    contains: ["verified sender"],
  },
  {
    name: "double opt-in from an unverified sender",
    path: at,
    body: { name: "a", doubleOptIn: true, confirmationFrom: "x@not-ours.com" },
    status: 400,
    code: "sender_not_verified",
    details: ["confirmationFrom sender_not_verified"],
  },
  { name: "an unknown list", method: "GET", path: `${at}/${NOBODY}`, status: 404, code: "not_found" },
  { name: "to change it", method: "PATCH", path: `${at}/${NOBODY}`, body: { name: "b" }, status: 404, code: "not_found" },
  { name: "to delete it", method: "DELETE", path: `${at}/${NOBODY}`, status: 404, code: "not_found" },
  { name: "to show its members", method: "GET", path: `${at}/${NOBODY}/contacts`, status: 404, code: "not_found" },
  { name: "to add to it", path: `${at}/${NOBODY}/contacts`, body: { contacts: ["a@example.com"] }, status: 404, code: "not_found" },
  {
    name: "to remove from it",
    path: `${at}/${NOBODY}/contacts/remove`,
    body: { contacts: ["a@example.com"] },
    status: 404,
    code: "not_found",
  },
  { name: "to ask again", path: `${at}/${NOBODY}/contacts/a@example.com/resend`, status: 404, code: "not_found" },
  { name: "to add nobody", path: `${at}/${NOBODY}/contacts`, body: { contacts: [] }, status: 400, details: ["contacts too_small"] },
  {
    name: "to add too many",
    path: `${at}/${NOBODY}/contacts`,
    body: { contacts: Array.from({ length: 1001 }, (_, i) => `a${i}@example.com`) },
    status: 400,
    details: ["contacts too_big"],
  },
  {
    name: "to add a number",
    path: `${at}/${NOBODY}/contacts`,
    body: { contacts: [5] },
    status: 400,
    details: ["contacts[0] invalid_type"],
  },
  { name: "a confirmation that was never sent", method: "GET", path: "/lists/confirm/abc", key: null, status: 404, code: "not_found" },
  { name: "to act on it", path: "/lists/confirm/abc", key: null, status: 404, code: "not_found" },
]);

const withPeople = async (n: number): Promise<{ world: TestWorld; emails: string[] }> => {
  const world = await createWorld();
  const emails = Array.from({ length: n }, (_, i) => `p${i}@example.com`);
  for (const email of emails) await world.sdk.contacts.create({ email, firstName: email.split("@")[0] ?? "" });
  return { world, emails };
};

const eventsOf = async ({ app }: TestWorld, contactId: string): Promise<string[]> =>
  (await listContactEvents(app.deps.db.read, contactId)).map((e) => e.type).filter((type) => type.startsWith("list."));

test("contacts join by id or address and leave, each counted and recorded once", async () => {
  const { world, emails } = await withPeople(3);
  await using _ = world;
  const { sdk } = world;
  const list = await sdk.lists.create({ name: "Newsletter", description: "weekly" });
  expect(list).toMatchObject({ name: "Newsletter", doubleOptIn: false, memberCount: 0, pendingCount: 0 });
  const ada = (await sdk.contacts.list({ search: "p0" })).data[0] as { id: string };
  const added = await sdk.lists.add(list.id, { contacts: [ada.id, "P1@EXAMPLE.com", "p1@example.com", "nobody@example.com", "con_nope"] });
  expect(added).toMatchObject({
    added: 2,
    pending: 0,
    unchanged: 1,
    failed: [
      { index: 3, contact: "nobody@example.com", code: "not_found" },
      { index: 4, contact: "con_nope", code: "not_found" },
    ],
  });
  expect(await sdk.lists.add(list.id, { contacts: [ada.id] })).toMatchObject({ added: 0, unchanged: 1 });
  expect(await sdk.lists.get(list.id)).toMatchObject({ memberCount: 2, pendingCount: 0 });
  expect((await sdk.lists.contacts(list.id)).data.map((m) => [m.contact.email, m.status])).toEqual([
    ["p1@example.com", "MEMBER"],
    ["p0@example.com", "MEMBER"],
  ]);
  expect((await sdk.lists.contacts(list.id, { search: "P0@" })).data).toHaveLength(1);
  expect((await sdk.lists.contacts(list.id, { status: "PENDING" })).pagination.total).toBe(0);
  expect(await sdk.contacts.get(ada.id)).toMatchObject({ lists: [{ id: list.id, name: "Newsletter" }], segments: [] });
  expect(await sdk.lists.removeOne(list.id, ada.id)).toMatchObject({ contact: { email: "p0@example.com" }, status: "MEMBER" });
  await expect(sdk.lists.removeOne(list.id, ada.id)).rejects.toMatchObject({ code: "not_found" });
  expect(await sdk.lists.remove(list.id, { contacts: emails })).toMatchObject({ removed: 1, failed: [{ index: 0 }, { index: 2 }] });
  expect(await sdk.lists.get(list.id)).toMatchObject({ memberCount: 0 });
  expect(await eventsOf(world, ada.id)).toEqual(["list.joined", "list.left"]);
});

test("pages of members are stable", async () => {
  const { world, emails } = await withPeople(25);
  await using _ = world;
  const list = await world.sdk.lists.create({ name: "all" });
  await world.sdk.lists.add(list.id, { contacts: emails });
  const first = await world.sdk.lists.contacts(list.id, { limit: 10 });
  expect(first.pagination).toMatchObject({ total: 25, totalPages: 3, hasMore: true });
  await world.sdk.lists.remove(list.id, { contacts: ["p24@example.com"] });
  const next = await world.sdk.lists.contacts(list.id, { limit: 10, cursor: first.pagination.nextCursor as string });
  expect(next.data[0]?.contact.email).toBe("p14@example.com");
  expect((await world.sdk.lists.contacts(list.id, { limit: 10, page: 3 })).data).toHaveLength(4);
  expect((await world.sdk.lists.contacts(list.id, { page: 9 })).data).toEqual([]);
  const bad = await ask(world, { method: "GET", path: `${at}/${list.id}/contacts?cursor=abc` });
  expect(await bad.json()).toMatchObject({ error: { details: [{ path: "cursor", code: "invalid_cursor" }] } });
});

test("a list is updated, found by its name, and deleted without its contacts", async () => {
  const { world, emails } = await withPeople(2);
  await using _ = world;
  const { sdk } = world;
  const list = await sdk.lists.create({ name: "News 100%" });
  await sdk.lists.create({ name: "Other" });
  await sdk.lists.add(list.id, { contacts: emails });
  expect(await sdk.lists.update(list.id, { description: "d" })).toMatchObject({ name: "News 100%", description: "d", memberCount: 2 });
  expect(await sdk.lists.update(list.id, { description: null })).toMatchObject({ description: null });
  expect((await sdk.lists.list({ search: "%" })).data.map((l) => l.id)).toEqual([list.id]);
  expect((await sdk.lists.list()).data.map((l) => l.memberCount)).toEqual([0, 2]);
  expect(await sdk.lists.delete(list.id)).toMatchObject({ id: list.id, memberCount: 2 });
  await expect(sdk.lists.get(list.id)).rejects.toMatchObject({ code: "not_found" });
  const [someone] = (await sdk.contacts.list()).data;
  expect(await sdk.contacts.get(someone?.id as string)).toMatchObject({ lists: [] });
  await world.settle();
  const { read } = world.app.deps.db;
  expect([await read.$count(read.t.listMembers), await read.$count(read.t.counters)]).toEqual([0, 0]);
  expect((await sdk.contacts.list()).pagination.total).toBe(2);
});

test("a deleted contact leaves its lists", async () => {
  const { world, emails } = await withPeople(2);
  await using _ = world;
  const list = await world.sdk.lists.create({ name: "all" });
  await world.sdk.lists.add(list.id, { contacts: emails });
  const [first] = (await world.sdk.contacts.list()).data;
  await world.sdk.contacts.delete(first?.id as string);
  expect(await world.sdk.lists.get(list.id)).toMatchObject({ memberCount: 1 });
  expect((await world.sdk.lists.contacts(list.id)).data).toHaveLength(1);
});

test("fifty concurrent additions of one contact add it once", async () => {
  const { world } = await withPeople(1);
  await using _ = world;
  const list = await world.sdk.lists.create({ name: "all" });
  const answers = await Promise.all(Array.from({ length: 50 }, () => world.sdk.lists.add(list.id, { contacts: ["p0@example.com"] })));
  expect(answers.reduce((sum, a) => sum + a.added, 0)).toBe(1);
  expect(await world.sdk.lists.get(list.id)).toMatchObject({ memberCount: 1 });
  const [someone] = (await world.sdk.contacts.list()).data;
  expect(await eventsOf(world, someone?.id as string)).toEqual(["list.joined"]);
});

test("fifty concurrent additions of different contacts are all counted", async () => {
  const { world, emails } = await withPeople(50);
  await using _ = world;
  const list = await world.sdk.lists.create({ name: "all" });
  await Promise.all(emails.map((email) => world.sdk.lists.add(list.id, { contacts: [email] })));
  expect(await world.sdk.lists.get(list.id)).toMatchObject({ memberCount: 50 });
});

test("lists and members of other workspaces cannot be seen, and each endpoint needs its permission", async () => {
  const { world } = await withPeople(1);
  await using _ = world;
  const list = await world.sdk.lists.create({ name: "Ours" });
  const other = await secondWorkspace(world);
  for (const [method, path, body] of [
    ["GET", `${at}/${list.id}`],
    ["PATCH", `${at}/${list.id}`, { name: "x" }],
    ["DELETE", `${at}/${list.id}`],
    ["GET", `${at}/${list.id}/contacts`],
    ["POST", `${at}/${list.id}/contacts`, { contacts: ["p0@example.com"] }],
  ] as const)
    expect((await ask(world, { method, path, key: other.apiKey, ...(body && { body }) })).status).toBe(404);
  const theirs = await ask(world, { path: at, key: other.apiKey, body: { name: "Theirs" } });
  const { id } = (await theirs.json()) as { id: string };
  const added = await ask(world, { path: `${at}/${id}/contacts`, key: other.apiKey, body: { contacts: ["p0@example.com"] } });
  expect(await added.json()).toMatchObject({ added: 0, failed: [{ code: "not_found" }] });
  const reader = await keyFor(world, "lists:read");
  expect((await ask(world, { method: "GET", path: at, key: reader })).status).toBe(200);
  expect((await ask(world, { method: "GET", path: `${at}/${list.id}/contacts`, key: reader })).status).toBe(403);
  expect((await ask(world, { path: at, key: reader, body: { name: "x" } })).status).toBe(403);
});

describe("double opt-in", () => {
  const start = async () => {
    const { world, emails } = await withPeople(2);
    const list = await world.sdk.lists.create({ name: "News & more", doubleOptIn: true, confirmationFrom: "Acme <hello@acme.test>" });
    const linkIn = (text: string | null): string => new URL(/http\S+/.exec(text ?? "")?.[0] as string).pathname;
    const open = (path: string, method: "GET" | "POST") => world.fetch(world.url + path, { method });
    return { world, emails, list, linkIn, open, sdk: world.sdk };
  };

  test("who asks again gets another email after a while, and nobody is flooded by it", async () => {
    const { world, list, sdk } = await start();
    await using _ = world;
    const ask = async () => (await sdk.lists.add(list.id, { contacts: ["p0@example.com"] })).pending;
    const sent = async () => (await sdk.emails.list({ to: "p0@example.com" })).pagination.total;
    expect(await ask()).toBe(1);
    for (let i = 0; i < 20; i += 1) expect(await ask()).toBe(0);
    expect(await sent()).toBe(1);
    await world.clock.advance("15m");
    expect((await sdk.lists.add(list.id, { contacts: ["p0@example.com", "p1@example.com"] })).unchanged).toBe(1);
    expect(await ask()).toBe(1);
    expect(await ask()).toBe(0);
    await world.settle();
    expect(await sent()).toBe(2);
    for (let i = 0; i < 4 * 24; i += 1) {
      await world.clock.advance("15m");
      await ask();
    }
    expect(await sent()).toBeLessThan(10);
    expect(await sdk.lists.get(list.id)).toMatchObject({ memberCount: 0, pendingCount: 2 });
  });

  test("a contact gets the email, opens the page, presses the button and is a member", async () => {
    const { world, list, linkIn, open, sdk } = await start();
    await using _ = world;
    expect(await sdk.lists.add(list.id, { contacts: ["p0@example.com"] })).toMatchObject({ added: 0, pending: 1 });
    expect(await sdk.lists.get(list.id)).toMatchObject({ memberCount: 0, pendingCount: 1 });
    const [mail] = await world.inbox.all();
    expect(mail).toMatchObject({
      to: "p0@example.com",
      subject: "Confirm your subscription to News & more",
      from: "Acme <hello@acme.test>",
    });
    const link = linkIn((await sdk.inbox.get(mail?.id as string)).text);
    expect((await sdk.contacts.list({ search: "p0" })).data[0]).toBeDefined();

    // A scanner opens every link there is, and nothing happens.
    for (let i = 0; i < 3; i += 1) {
      const page = await open(link, "GET");
      expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
      const html = await page.text();
      expect(html).toContain("News &amp; more");
      expect(html).toContain('<form method="post">');
    }
    expect(await sdk.lists.get(list.id)).toMatchObject({ memberCount: 0, pendingCount: 1 });

    for (let i = 0; i < 3; i += 1) expect(await (await open(link, "POST")).text()).toContain("is on the list");
    expect(await sdk.lists.get(list.id)).toMatchObject({ memberCount: 1, pendingCount: 0 });
    const [ada] = (await sdk.lists.contacts(list.id)).data;
    expect(ada).toMatchObject({ status: "MEMBER", expiresAt: null });
    expect(await eventsOf(world, ada?.contact.id as string)).toEqual(["list.joined"]);
    expect(await (await open(link, "GET")).text()).not.toContain("<form");
    expect(await sdk.lists.add(list.id, { contacts: ["p0@example.com"] })).toMatchObject({ unchanged: 1, pending: 0 });
    expect(await world.inbox.all()).toHaveLength(1);
  });

  test("after a resend the new link works, the old one does not", async () => {
    const { world, list, linkIn, open, sdk } = await start();
    await using _ = world;
    await sdk.lists.add(list.id, { contacts: ["p0@example.com"] });
    await world.inbox.all();
    expect(await sdk.lists.resend(list.id, "p0@example.com")).toMatchObject({ status: "PENDING" });
    const mails = await world.inbox.all();
    expect(mails).toHaveLength(2);
    const [old, fresh] = await Promise.all(mails.map(async (m) => linkIn((await sdk.inbox.get(m.id)).text)));
    expect((await open(old as string, "POST")).status).toBe(404);
    expect((await open(fresh as string, "POST")).status).toBe(200);
    const refused = await ask(world, { path: `${at}/${list.id}/contacts/p0@example.com/resend` });
    expect(await refused.json()).toMatchObject({ error: { code: "invalid_state" } });
  });

  test("a link expires after seven days, and adding the contact again sends another", async () => {
    const { world, list, linkIn, open, sdk } = await start();
    await using _ = world;
    await sdk.lists.add(list.id, { contacts: ["p0@example.com"] });
    const [mail] = await world.inbox.all();
    expect(await sdk.lists.add(list.id, { contacts: ["p0@example.com"] })).toMatchObject({ unchanged: 1 });
    await world.clock.advance("7d");
    const link = linkIn((await sdk.inbox.get(mail?.id as string)).text);
    expect([(await open(link, "GET")).status, (await open(link, "POST")).status]).toEqual([404, 404]);
    expect(await sdk.lists.add(list.id, { contacts: ["p0@example.com"] })).toMatchObject({ pending: 1 });
    expect(await world.inbox.all()).toHaveLength(2);
    expect(await sdk.lists.get(list.id)).toMatchObject({ memberCount: 0, pendingCount: 1 });
  });

  test("suppressed contacts get no email and are reported", async () => {
    const { world, list, sdk } = await start();
    await using _ = world;
    await sdk.suppressions.create({ email: "p0@example.com" });
    await sdk.contacts.upsert({ email: "left@example.com", status: "UNSUBSCRIBED" });
    const contacts = ["p1@example.com", "p0@example.com", "left@example.com", "p1@example.com"];
    expect(await sdk.lists.add(list.id, { contacts })).toMatchObject({
      added: 0,
      pending: 1,
      unchanged: 1,
      failed: [
        { index: 1, contact: "p0@example.com", code: "recipient_suppressed" },
        { index: 2, contact: "left@example.com", code: "recipient_suppressed" },
      ],
    });
    expect(await sdk.lists.get(list.id)).toMatchObject({ memberCount: 0, pendingCount: 1 });
    expect((await world.inbox.all()).map((m) => m.to)).toEqual(["p1@example.com"]);
  });

  test("a link of a deleted list or contact does not work", async () => {
    const { world, list, linkIn, open, sdk } = await start();
    await using _ = world;
    await sdk.lists.add(list.id, { contacts: ["p0@example.com", "p1@example.com"] });
    const [one, two] = await Promise.all(
      (await world.inbox.all()).map(async (m) => ({ to: m.to, link: linkIn((await sdk.inbox.get(m.id)).text) })),
    );
    const [contact] = (await sdk.contacts.list({ search: one?.to as string })).data;
    await sdk.contacts.delete(contact?.id as string);
    expect((await open(one?.link as string, "POST")).status).toBe(404);
    await sdk.lists.delete(list.id);
    expect((await open(two?.link as string, "POST")).status).toBe(404);
  });

  test("fifty concurrent confirmations join once", async () => {
    const { world, list, linkIn, open, sdk } = await start();
    await using _ = world;
    await sdk.lists.add(list.id, { contacts: ["p0@example.com"] });
    const [mail] = await world.inbox.all();
    const link = linkIn((await sdk.inbox.get(mail?.id as string)).text);
    await Promise.all(Array.from({ length: 50 }, () => open(link, "POST")));
    expect(await sdk.lists.get(list.id)).toMatchObject({ memberCount: 1, pendingCount: 0 });
    const [member] = (await sdk.lists.contacts(list.id)).data;
    expect(await eventsOf(world, member?.contact.id as string)).toEqual(["list.joined"]);
  });

  test("a thousand contacts get an email, each with its own link", async () => {
    await using world = await createWorld();
    const { sdk } = world;
    const rows = Array.from({ length: 1000 }, (_, i) => ({ email: `m${i}@example.com` }));
    await sdk.contacts.import({ rows });
    const list = await sdk.lists.create({ name: "many", doubleOptIn: true, confirmationFrom: "hello@acme.test" });
    expect(await sdk.lists.add(list.id, { contacts: rows.map((r) => r.email) })).toMatchObject({ pending: 1000 });
    await world.settle();
    expect((await sdk.emails.list({ limit: 1 })).pagination.total).toBe(1000);
  });
});
