import { getTableColumns, type Table } from "drizzle-orm";
import { expect, test } from "vitest";
import { createTestAgent } from "../../test/agent.ts";
import { createCampaign } from "../../test/campaign.ts";
import type { ExportedSubject, PersonData } from "../data-subjects/declarations.ts";
import { createWorld, type TestWorld } from "../testing.ts";
import { PERSON_DATA } from "./table-data.ts";

const ADA = "ada@example.com";
const BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0";
const DECLARED = Object.entries<PersonData>(PERSON_DATA);

const tablesOf = ({ app }: TestWorld) => app.deps.db.read.t as unknown as Readonly<Record<string, Table>>;

test("a table with a column that sounds like a person's says what it holds, or why it holds nothing", async () => {
  await using world = await createWorld();
  const tables = tablesOf(world);
  expect(Object.keys(PERSON_DATA).filter((name) => !(name in tables))).toEqual([]);
  const silent = DECLARED.flatMap(([name, data]) =>
    data === "nothing"
      ? Object.keys(getTableColumns(tables[name] as Table))
          .filter((column) => /contact|email|address|person|subscriber|visitor|^to(?:Key)?$/i.test(column))
          .map((column) => `${name}.${column}`)
      : [],
  );
  expect(silent).toEqual(["landingPageDays.visitors"]);
});

test("a table that leaves its rows to another one names one that handles rows itself", () => {
  const left = DECLARED.flatMap(([name, data]) => {
    if (typeof data === "string" || "nothing" in data) return [];
    const ways = { export: data.export, ...("forget" in data ? { forget: data.forget } : { erase: data.erase }) };
    return Object.entries(ways).flatMap(([walk, way]) => (typeof way === "object" && "with" in way ? [{ name, walk, to: way.with }] : []));
  });
  expect(left).toContainEqual({ name: "contactTags", walk: "forget", to: "contacts" });
  const handles = (table: string, walk: string): boolean => {
    const data: object | string = PERSON_DATA[table as keyof typeof PERSON_DATA];
    return typeof data === "object" && typeof Object.entries(data).find(([key]) => key === walk)?.[1] === "function";
  };
  expect(left.filter(({ walk, to }) => !handles(to, walk))).toEqual([]);
});

/** The rows of each table that name a person: its contact, its address, or something that is about an email to it. */
async function findRows(world: TestWorld, person: ReadonlySet<unknown>): Promise<Map<string, number>> {
  const { read } = world.app.deps.db;
  const found = new Map<string, number>();
  for (const [name, data] of DECLARED) {
    if (typeof data === "string" || "nothing" in data) continue;
    const column = "contact" in data ? data.contact : "address" in data ? data.address : data.email;
    const rows = (await read.select().from(tablesOf(world)[name] as typeof read.t.contacts)) as Record<string, unknown>[];
    const theirs = rows.filter((row) => person.has(row[column]) || ("address" in data && String(row[column]).includes(ADA)));
    if (theirs.length > 0) found.set(name, theirs.length);
  }
  return found;
}

/** The ids by which rows can name a person: of its contact, its emails with their contents, its events, deliveries and captured mail. */
async function collectIds(world: TestWorld): Promise<Set<unknown>> {
  const { read } = world.app.deps.db;
  const { contacts, emails, events, trackedIds, webhookDeliveries, inbox, inboxParts, received } = read.t;
  const own = (await read.select().from(contacts)).filter(({ emailKey }) => emailKey === ADA);
  const mails = (await read.select().from(emails)).filter(({ toKey }) => toKey === ADA);
  const ids = new Set<unknown>([
    ADA,
    ...own.flatMap(({ id, seq }) => [id, seq]),
    ...mails.flatMap(({ id, contentsId }) => [id, contentsId]),
  ]);
  const logged = (await read.select().from(events)).filter(({ contactId, emailId }) => ids.has(contactId) || ids.has(emailId));
  const keys = new Set<unknown>(logged.map(({ sequence }) => sequence));
  const deliveries = (await read.select().from(webhookDeliveries)).filter(({ eventKey }) => keys.has(eventKey));
  const tracked = (await read.select().from(trackedIds)).filter(({ eventKey }) => keys.has(eventKey));
  for (const { eventKey } of tracked) ids.add(eventKey);
  const captured = (await read.select().from(inbox)).filter(({ to }) => to === ADA);
  const written = (await read.select().from(received)).filter(({ fromKey }) => fromKey === ADA);
  for (const { id } of written) ids.add(id);
  const ofCaptured = new Set(captured.map(({ id }) => id));
  const parts = (await read.select().from(inboxParts)).filter(({ mailId }) => ofCaptured.has(mailId));
  for (const { hash } of parts) ids.add(hash);
  return new Set([...ids, ...deliveries.flatMap(({ id, eventKey }) => [id, eventKey]), ...captured.map(({ id }) => id)]);
}

/** A contact about which every module has stored something. */
async function leaveTraces(world: TestWorld): Promise<string> {
  const { sdk } = world;
  const { id: listId } = await sdk.lists.create({ name: "Readers" });
  await sdk.segments.create({ name: "Best", rules: { field: "tags", operator: "contains", value: "vip" } });
  await sdk.webhooks.create({ url: "http://127.0.0.1:9/hook", events: ["*"] });
  const { id: automationId } = await sdk.automations.create({
    name: "Carts",
    trigger: { type: "event", name: "cart" },
    steps: [{ id: "wait", type: "delay", for: "3d" }],
    connections: [{ from: "trigger", to: "wait" }],
  });
  await sdk.automations.activate(automationId);
  const agent = await createTestAgent(world);
  const page = await agent.call("POST", "/landing-pages", { title: "Join", html: "<form></form>", status: "PUBLISHED" });
  await world.fetch(page.body.url, { method: "POST", body: new URLSearchParams({ email: ADA }) });
  const [contact] = (await sdk.contacts.list()).data;
  const id = contact?.id ?? "";
  await sdk.contacts.update(id, { tags: ["vip"], firstName: "Ada" });
  const { id: importId } = await sdk.contacts.startImport({});
  await sdk.contacts.import({ rows: [{ email: ADA, lastName: "Lovelace" }], import: importId });
  await sdk.lists.add(listId, { contacts: [id] });
  await sdk.events.track({ id: "cart-1", contact: id, name: "cart", properties: { item: "gears" } });
  const attachments = [{ filename: "long.txt", content: Buffer.from("x".repeat(2_000_000)) }];
  await sdk.emails.send({
    tags: { kind: "hello", for: ADA },
    from: "a@acme.test",
    to: ADA,
    subject: "Hi",
    html: `<a href="https://acme.test/?who=${ADA}">x</a>`,
    attachments,
    tracking: { clicks: true },
  });
  const html = '<p><a href="https://acme.example/launch?who={{email}}">Look</a></p>';
  const { id: campaignId } = await createCampaign(world, { html, trackOpens: true, trackClicks: true });
  await sdk.campaigns.send(campaignId);
  await world.settle();
  // Opens and clicks in the first seconds are taken for a machine's.
  await world.clock.advance("1h");
  let clicked = "";
  for (const mail of await world.inbox.all({ to: ADA })) {
    const { html } = await world.inbox.get(mail.id);
    for (const pattern of [/http[^"]+\/t\/o\/[^"]+/, /http[^"]+\/t\/c\/[^"]+/]) {
      const [link] = pattern.exec(html ?? "") ?? [];
      if (!link) continue;
      const target = link.replaceAll("&amp;", "&");
      await world.fetch(target, { redirect: "manual", headers: { "user-agent": BROWSER } });
      if (target.includes("/t/c/")) clicked = target;
      await world.clock.advance("1m");
    }
  }
  await sdk.emails.send({ from: "a@acme.test", to: ADA, subject: "Hi", text: "How are you?", replyTo: "auto" });
  const answer = await world.reply(ADA, { text: "Fine", attachments: [{ filename: "a.txt", content: Buffer.from("me") }] });
  await sdk.received.passOn(answer.id, { agent: "writer" });
  await sdk.suppressions.create({ email: ADA, scope: "marketing" });
  // Attempts to deliver the events fail, and clicks that may have been a machine's are decided, except one that has just come.
  await world.clock.advance("1h");
  await world.fetch(clicked, { redirect: "manual", headers: { "user-agent": BROWSER } });
  return id;
}

const mayStay = new Set(DECLARED.flatMap(([name, data]) => (typeof data === "object" && "stays" in data ? [name] : [])));

test("every table that has an export of its own contributes to what is exported of a person, and nothing is missing there", async () => {
  await using world = await createWorld();
  const id = await leaveTraces(world);
  const { deps } = world.app;
  const { read } = deps.db;
  const contact = (await read.select().from(read.t.contacts)).find((row) => row.id === id) ?? null;
  const subject: ExportedSubject = { workspaceId: world.workspaceId, address: ADA, contact, position: null };
  const exported: Record<string, unknown> = { email: ADA, nextCursor: null };
  const silent: string[] = [];
  for (const [name, data] of DECLARED) {
    if (typeof data === "string" || "nothing" in data || typeof data.export !== "function") continue;
    const parts = Object.entries(await data.export(read, subject, deps));
    if (!parts.some(([, part]) => part !== null && (!Array.isArray(part) || part.length > 0))) silent.push(name);
    Object.assign(exported, Object.fromEntries(parts));
  }
  expect(silent, "Let leaveTraces leave a row there, in this file.").toEqual([]);
  expect(await world.sdk.people.get(ADA)).toEqual(exported);
});

test("an erased person is gone from every table that names people, but for what is said to stay", async () => {
  await using world = await createWorld();
  await leaveTraces(world);
  const person = await collectIds(world);
  const before = await findRows(world, person);
  const unseen = DECLARED.flatMap(([name, data]) => (typeof data === "object" && !("nothing" in data) && !before.has(name) ? [name] : []));
  expect(unseen, "Let leaveTraces leave a row there, in this file.").toEqual([]);
  await world.sdk.people.erase(ADA);
  const after = await findRows(world, person);
  expect([...after.keys()].filter((name) => !mayStay.has(name))).toEqual([]);
  expect(after.get("emails")).toBeUndefined();
  const { events } = world.app.deps.db.read.t;
  const left = (await world.app.deps.db.read.select().from(events)).filter(({ contactId }) => person.has(contactId));
  expect(left.map(({ type }) => type).sort()).toEqual(["automation.exited", "contact.deleted"]);
});

test("a deleted contact is gone from every table that names contacts, but for what is said to stay", async () => {
  await using world = await createWorld();
  const id = await leaveTraces(world);
  await world.sdk.contacts.delete(id);
  const person = new Set<unknown>([id, 1]);
  const names = new Set(DECLARED.flatMap(([name, data]) => (typeof data === "object" && "contact" in data ? [name] : [])));
  const after = [...(await findRows(world, person)).keys()].filter((name) => names.has(name));
  expect(after.filter((name) => !mayStay.has(name))).toEqual([]);
});
