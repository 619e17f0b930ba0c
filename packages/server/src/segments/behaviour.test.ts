import type { SegmentCondition, SegmentRule } from "@mailsvc/sdk/contract";
import { describe, expect, test } from "vitest";
import { createCampaign } from "../../test/campaign.ts";
import { ask } from "../../test/scenario.ts";
import { assumeEmailHeld } from "../db/held.ts";
import { recordEvents } from "../events/events.ts";
import { createWorld, type TestWorld } from "../testing.ts";

const DAY = 86_400_000;

/** The names of the people who match a rule, in alphabetical order. */
const whoMatches = async ({ sdk }: TestWorld, rules: SegmentRule): Promise<string[]> =>
  (await sdk.segments.preview({ rules, limit: 100 })).contacts.map((one) => one.email.split("@")[0] as string).toSorted();

const purchase = (contact: string, value: number, at?: Date, properties?: Record<string, string | number | boolean>) => ({
  contact: `${contact}@example.com`,
  name: "purchase",
  value,
  currency: "EUR",
  ...(at && { at: at.toISOString() }),
  ...(properties && { properties }),
});

const createPeople = async ({ sdk }: TestWorld, ...names: string[]): Promise<void> => {
  for (const name of names) await sdk.contacts.create({ email: `${name}@example.com` });
};

/** Creates and publishes a template. */
const createTemplate = async ({ sdk }: TestWorld, slug: string): Promise<string> => {
  const { id } = await sdk.templates.create({ name: slug, slug, subject: slug, text: "Hello", from: "a@acme.test", replyTo: "auto" });
  await sdk.templates.publish(id);
  return id;
};

describe("a rule about events of one's own", () => {
  test("counts them, at all times or within a duration, by what they say", async () => {
    await using world = await createWorld({ now: "2026-03-28T12:00:00.000Z" });
    const { sdk, clock } = world;
    await createPeople(world, "ada", "bob", "cyd");
    const daysAgo = (n: number): Date => new Date(clock.now() - n * DAY);
    await sdk.events.trackBatch({
      events: [
        purchase("ada", 60, daysAgo(3), { plan: "pro", gift: true }),
        purchase("ada", 80, daysAgo(40)),
        purchase("bob", 10, daysAgo(3), { plan: "Pro", items: 3 }),
        purchase("bob", 20, daysAgo(2)),
        { contact: "bob@example.com", name: "visit" },
      ],
    });
    const did = (part: Omit<SegmentCondition, "field">) => whoMatches(world, { field: "did.purchase", ...part });
    expect(await did({ operator: "exists" })).toEqual(["ada", "bob"]);
    expect(await did({ operator: "exists", value: false })).toEqual(["cyd"]);
    expect(await did({ operator: "gte", value: 2 })).toEqual(["ada", "bob"]);
    expect(await did({ operator: "gte", value: 2, within: "30d" })).toEqual(["bob"]);
    expect(await did({ operator: "equals", value: 1, within: "30d" })).toEqual(["ada"]);
    expect(await did({ operator: "notEquals", value: 1, within: "30d" })).toEqual(["bob", "cyd"]);
    expect(await did({ operator: "lt", value: 2, within: "30d" })).toEqual(["ada", "cyd"]);
    expect(await did({ operator: "gte", value: 1, where: { field: "value", operator: "gt", value: 50 } })).toEqual(["ada"]);
    expect(await did({ operator: "gte", value: 2, where: { field: "value", operator: "gt", value: 50 } })).toEqual(["ada"]);
    expect(await did({ operator: "gte", value: 2, within: "30d", where: { field: "value", operator: "gt", value: 5 } })).toEqual(["bob"]);
    const where = (filter: SegmentCondition["where"]) => did({ operator: "exists", where: filter });
    expect(await where({ field: "properties.plan", operator: "equals", value: "pro" })).toEqual(["ada", "bob"]);
    expect(await where({ field: "properties.gift", operator: "equals", value: true })).toEqual(["ada"]);
    expect(await where({ field: "properties.items", operator: "in", value: [2, 3] })).toEqual(["bob"]);
    expect(await where({ not: { field: "properties.plan", operator: "exists" } })).toEqual(["ada", "bob"]);
    expect(
      await where({
        all: [
          { field: "properties.plan", operator: "notEquals", value: "pro" },
          { field: "currency", operator: "equals", value: "EUR" },
          { any: [{ field: "value", operator: "lt", value: 50 }] },
        ],
      }),
    ).toEqual(["bob"]);
    expect(await whoMatches(world, { field: "did.visit", operator: "exists" })).toEqual(["bob"]);
    expect(await whoMatches(world, { field: "did.Visit", operator: "exists" })).toEqual([]);
  });

  test("moves people when it happens and when its window ends, once each, and past events start nothing", async () => {
    await using world = await createWorld();
    const { sdk, clock } = world;
    await createPeople(world, "ada", "bob");
    const segment = await sdk.segments.create({
      name: "buyers",
      rules: { field: "did.purchase", operator: "gte", value: 1, within: "2d" },
    });
    await world.settle();
    await sdk.events.track(purchase("ada", 1));
    await sdk.events.trackBatch({ events: [purchase("bob", 1, new Date(clock.now() - DAY))] });
    expect((await sdk.segments.get(segment.id)).memberCount).toBe(2);
    await world.settle();
    const { read } = world.app.deps.db;
    const listMoves = async () => (await read.select().from(read.t.events)).filter(({ type }) => type.startsWith("segment."));
    const list = async (): Promise<string[]> => (await listMoves()).map(({ type, data }) => `${type} ${data?.cause}`);
    expect(await list()).toEqual(["segment.entered contact", "segment.entered contact"]);
    // In any order: both events may be read at once.
    expect(new Set((await listMoves()).map(({ startsNothing }) => startsNothing))).toEqual(new Set([null, true]));
    await clock.advance("1d2h");
    await world.settle();
    expect((await sdk.segments.contacts(segment.id)).data.map(({ email }) => email)).toEqual(["ada@example.com"]);
    expect(await list()).toHaveLength(3);
    await clock.advance("1d");
    await world.settle();
    expect((await sdk.segments.contacts(segment.id)).data).toEqual([]);
    expect((await list()).toSorted().slice(2)).toEqual(["segment.left time", "segment.left time"]);
  });
});

test("a rule about mail counts what people received, opened, clicked and answered, of a campaign, a template or all, and no machine", async () => {
  await using world = await createWorld();
  const { sdk, workspaceId } = world;
  for (const name of ["opened", "clicked", "delivered", "machine"]) await sdk.contacts.create({ email: `${name}@simulator.mailsvc.test` });
  await createPeople(world, "ada");
  const { id } = await createCampaign(world);
  await sdk.campaigns.send(id);
  await world.clock.advance("2h");
  await createTemplate(world, "receipt");
  await sdk.templates.send("receipt", { to: "ada@example.com" });
  await world.settle();
  const everybody = await whoMatches(world, { field: "received", operator: "exists", campaign: id });
  expect(everybody).toEqual(expect.arrayContaining(["ada", "clicked", "delivered", "opened"]));
  expect(await whoMatches(world, { field: "received", operator: "gte", value: 2 })).toEqual(["ada"]);
  expect(await whoMatches(world, { field: "received", operator: "exists", template: "receipt" })).toEqual(["ada"]);
  expect(await whoMatches(world, { field: "opened", operator: "exists", campaign: id })).toContain("opened");
  expect(await whoMatches(world, { field: "opened", operator: "exists", template: "receipt" })).toEqual([]);
  expect(await whoMatches(world, { field: "clicked", operator: "exists" })).toEqual(["clicked"]);
  const clickedOn = (url: string) =>
    whoMatches(world, { field: "clicked", operator: "exists", where: { field: "url", operator: "endsWith", value: url } });
  expect([await clickedOn("/launch"), await clickedOn("/other")]).toEqual([["clicked"], []]);
  // A scanner opens the mail of somebody who never did.
  const { db } = world.app.deps;
  const [mail] = (await db.read.select().from(db.read.t.emails)).filter((one) => one.toKey.startsWith("delivered@"));
  const opened = { workspaceId, type: "email.opened", emailId: assumeEmailHeld(mail?.id ?? ""), at: world.clock.now() } as const;
  await db.tx((tx) => recordEvents(tx, world.app.deps, [{ ...opened, machine: true }]));
  expect(await whoMatches(world, { field: "opened", operator: "exists" })).not.toContain("delivered");
  await db.tx((tx) => recordEvents(tx, world.app.deps, [{ ...opened, machine: false }]));
  expect(await whoMatches(world, { field: "opened", operator: "exists" })).toContain("delivered");
  // An answer, and the note of a program that its owner is away.
  await world.reply("ada@example.com", { text: "Away", automatic: true });
  expect(await whoMatches(world, { field: "replied", operator: "exists" })).toEqual([]);
  await world.reply("ada@example.com", { text: "Thank you" });
  expect(await whoMatches(world, { field: "replied", operator: "equals", value: 1, template: "receipt", within: "1h" })).toEqual(["ada"]);
  // A person with another address is still the same person.
  const [ada] = (await sdk.contacts.list({ search: "ada" })).data;
  await sdk.contacts.update(ada?.id ?? "", { email: "ada.new@example.com" });
  const [early] = (await db.read.select().from(db.read.t.emails)).filter((one) => one.campaignId === id && one.toKey === "ada@example.com");
  const late = { workspaceId, type: "email.opened", emailId: assumeEmailHeld(early?.id ?? ""), campaignId: id } as const;
  await db.tx((tx) => recordEvents(tx, world.app.deps, [{ ...late, at: world.clock.now(), machine: false }]));
  expect(await whoMatches(world, { field: "opened", operator: "exists", campaign: id })).toContain("ada.new");
  await sdk.contacts.update(ada?.id ?? "", { email: "ada@example.com" });
  // Sends of test keys say nothing about people.
  const before = await whoMatches(world, { field: "received", operator: "gte", value: 1 });
  const { key } = await sdk.keys.create({ name: "test", permissions: ["transactional:send"], test: true });
  await sdk.withOptions({ apiKey: key }).emails.send({ from: "a@acme.test", to: "ada@example.com", subject: "Test", text: "Test" });
  await world.settle();
  expect(await whoMatches(world, { field: "received", operator: "gte", value: 1 })).toEqual(before);
  expect(await whoMatches(world, { field: "received", operator: "gte", value: 3 })).toEqual([]);
});

test("a rule says what is wrong with it, at the place", async () => {
  await using world = await createWorld();
  const explain = async (rules: unknown): Promise<string[]> => {
    const response = await ask(world, { path: "/api/v1/segments/preview", body: { rules } });
    expect(response.status).toBe(400);
    const { error } = (await response.json()) as { error: { details: { path: string; code: string }[] } };
    return error.details.map(({ path, code }) => `${path} ${code}`);
  };
  const opened = { field: "opened", operator: "gte", value: 1 };
  expect(await explain({ ...opened, value: 1.5 })).toEqual(["rules.value invalid_value"]);
  expect(await explain({ ...opened, value: -1 })).toEqual(["rules.value invalid_value"]);
  expect(await explain({ field: "opened", operator: "gte" })).toEqual(["rules.value required"]);
  expect(await explain({ ...opened, operator: "contains" })).toEqual(["rules.operator unknown_operator"]);
  expect(await explain({ ...opened, within: "soon" })).toEqual(["rules.within invalid_value"]);
  expect(await explain({ ...opened, where: { field: "url", operator: "exists" } })).toEqual(["rules.where unknown_field"]);
  expect(await explain({ ...opened, campaign: "" })).toEqual(["rules.campaign invalid_value"]);
  expect(await explain({ ...opened, campaign: "camp_none" })).toEqual(["rules.campaign unknown_campaign"]);
  expect(await explain({ ...opened, template: "none" })).toEqual(["rules.template unknown_template"]);
  expect(await explain({ field: "did.", operator: "exists" })).toEqual(["rules.field invalid_field_name"]);
  expect(await explain({ field: "did.a", operator: "exists", campaign: "x" })).toEqual(["rules.campaign unknown_field"]);
  expect(await explain({ field: "did.a", operator: "exists", where: { field: "url", operator: "exists" } })).toEqual([
    "rules.where.field unknown_rule_field",
  ]);
  expect(await explain({ field: "did.a", operator: "exists", where: { field: "value", operator: "withinLast", value: "1d" } })).toEqual([
    "rules.where.operator unknown_operator",
  ]);
  expect(await explain({ field: "did.a", operator: "exists", where: null })).toEqual(["rules.where invalid_type"]);
  expect(await explain({ field: "tags", operator: "contains", value: "vip", within: "1d" })).toEqual(["rules.within unknown_field"]);
  const many = {
    all: Array.from({ length: 51 }, () => ({ field: "did.a", operator: "exists", where: { field: "value", operator: "exists" } })),
  };
  expect(await explain(many)).toEqual(["rules too_many_conditions"]);
});

test("conditions of automations ask what people did, at the time they are reached, and a dry run foresees it", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const { id } = await sdk.automations.create({
    name: "Thanks",
    trigger: { type: "contact.created" },
    steps: [
      { id: "wait", type: "delay", for: "2d" },
      { id: "bought", type: "condition", rule: { field: "did.purchase", operator: "gte", value: 1, within: "1d" } },
      { id: "buyer", type: "add_tag", tag: "buyer" },
      { id: "looker", type: "add_tag", tag: "looker" },
    ],
    connections: [
      { from: "trigger", to: "wait" },
      { from: "wait", to: "bought" },
      { from: "bought", to: "buyer", branch: "yes" },
      { from: "bought", to: "looker", branch: "no" },
    ],
  });
  await sdk.automations.activate(id);
  await createPeople(world, "ada", "bob");
  await world.settle();
  await sdk.events.track(purchase("bob", 5));
  await world.clock.advance("30h");
  await sdk.events.track(purchase("ada", 5));
  // The purchase of now lies within the window of a journey that began before, and not within that of one that begins now.
  const foresee = async (contact: string, at?: string) =>
    (await sdk.automations.test(id, { contact, ...(at && { at }) })).path.find(({ stepId }) => stepId === "bought")?.branch;
  expect(await foresee("ada@example.com")).toBe("no");
  expect(await foresee("ada@example.com", new Date(world.clock.now() - 2 * DAY).toISOString())).toBe("yes");
  await world.clock.advance("1d");
  const tags = async (name: string) => (await sdk.contacts.get(`${name}@example.com`)).tags;
  expect([await tags("ada"), await tags("bob")]).toEqual([["buyer"], ["looker"]]);
});

test("what an erased or deleted person did is gone, also what the reader had not read yet; a new address keeps what they did", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const { db } = world.app.deps;
  const count = async (): Promise<number> => (await db.read.select().from(db.read.t.contactActions)).length;
  await createPeople(world, "ada", "bob", "cyd");
  await sdk.events.trackBatch({ events: [purchase("ada", 1), purchase("bob", 1), purchase("cyd", 1)] });
  await world.settle();
  expect(await count()).toBe(3);
  await Promise.all([sdk.events.track(purchase("ada", 2)), sdk.events.track(purchase("bob", 2))]);
  await Promise.all([sdk.people.erase("ada@example.com"), sdk.contacts.delete("bob@example.com")]);
  await world.settle();
  expect(await count()).toBe(1);
  await sdk.contacts.update("cyd@example.com", { email: "cyd.new@example.com" });
  expect(await whoMatches(world, { field: "did.purchase", operator: "exists" })).toEqual(["cyd.new"]);
  // Somebody with the old address is somebody else.
  await createPeople(world, "ada");
  expect(await whoMatches(world, { field: "did.purchase", operator: "exists", value: false })).toEqual(["ada"]);
});

test("what people did is known as long as its events are kept", async () => {
  await using world = await createWorld({ flags: { keep: "events=40" } });
  await createPeople(world, "ada");
  await world.sdk.events.track(purchase("ada", 1));
  await world.clock.advance("39d");
  const bought: SegmentRule = { field: "did.purchase", operator: "exists" };
  const segment = await world.sdk.segments.create({ name: "buyers", rules: bought });
  expect(await whoMatches(world, bought)).toEqual(["ada"]);
  expect(segment.memberCount).toBe(1);
  await world.clock.advance("33d");
  await world.settle();
  expect(await whoMatches(world, bought)).toEqual([]);
  // Its members are those that its rules find, also where nothing else happens.
  expect((await world.sdk.segments.get(segment.id)).memberCount).toBe(0);
  expect((await world.sdk.segments.contacts(segment.id)).data).toEqual([]);
});
