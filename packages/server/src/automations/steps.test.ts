import type { AutomationEntry, AutomationStep, NewAutomation } from "@mailsvc/sdk/contract";
import { expect, test } from "vitest";
import { receiver } from "../../test/receiver.ts";
import { createWorld, type TestWorld } from "../testing.ts";
import { findMoment } from "./steps/waits.ts";

type Step<Type> = Extract<AutomationStep, { type: Type }>;

const from = "news@acme.example";

/** Creates an automation that begins with the event `go`, and activates it. */
async function start({ sdk }: TestWorld, fields: Partial<NewAutomation> & Pick<NewAutomation, "steps" | "connections">): Promise<string> {
  const { id } = await sdk.automations.create({ name: "Steps", trigger: { type: "event", name: "go" }, ...fields });
  await sdk.automations.activate(id);
  return id;
}

/** Connects steps in their order. */
function chain(steps: NewAutomation["steps"]): Pick<NewAutomation, "steps" | "connections"> {
  return { steps, connections: steps.map(({ id }, i) => ({ from: steps[i - 1]?.id ?? "trigger", to: id })) };
}

/** Waits for a purchase of 100 or more, thanks those who made one, and tags the others. */
function waitForPurchase(templateId: string): Pick<NewAutomation, "steps" | "connections"> {
  return {
    steps: [
      {
        id: "wait",
        type: "wait_for_event",
        event: { type: "event", name: "purchase", filter: { field: "value", operator: "gte", value: 100 } },
        timeout: "3d",
      },
      { id: "thanks", type: "send_email", templateId, from },
      { id: "late", type: "add_tag", tag: "late" },
    ],
    connections: [
      { from: "trigger", to: "wait" },
      { from: "wait", to: "thanks", branch: "event" },
      { from: "wait", to: "late", branch: "timeout" },
    ],
  };
}

async function readEntry({ sdk }: TestWorld, id: string, contact: string): Promise<AutomationEntry> {
  const [entry] = await sdk.automations.entries(id, { contact }).toArray();
  return entry as AutomationEntry;
}

test("wait_for_event goes on with the first event that passes its filter, or at the timeout; the event is a variable of templates", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const template = await sdk.templates.create({
    name: "Thanks",
    slug: "thanks",
    type: "marketing",
    subject: "Thanks for {{ event.properties.order }}, {{ event.value }} {{ event.currency }}",
    html: "<p>Thanks</p>",
    publish: true,
  });
  const id = await start(world, waitForPurchase(template.id));
  const [buyer, other] = [await sdk.contacts.create({ email: "buyer@example.com" }), await sdk.contacts.create({ email: "o@example.com" })];
  const buy = (contact: string, value: number) =>
    sdk.events.track({ name: "purchase", contact, value, currency: "EUR", properties: { order: `No. ${value}` } });
  await buy(buyer.id, 500);
  for (const { id: contact } of [buyer, other]) await sdk.events.track({ name: "go", contact });
  await world.settle();
  expect(await readEntry(world, id, buyer.id)).toMatchObject({
    stepId: "wait",
    dueAt: "2026-01-04T00:00:00.000Z",
    path: [{ stepId: "wait", branch: null }],
  });
  expect((await sdk.automations.stats(id)).steps[0]).toMatchObject({ stepId: "wait", entered: 2, waiting: 2, completed: 0 });
  await world.clock.advance("1d");
  await buy(buyer.id, 99);
  await world.settle();
  expect(await readEntry(world, id, buyer.id)).toMatchObject({ status: "ACTIVE", stepId: "wait" });
  await buy(buyer.id, 100);
  await buy(buyer.id, 200);
  await world.settle();
  expect(await readEntry(world, id, buyer.id)).toMatchObject({
    status: "COMPLETED",
    path: [
      { stepId: "wait", branch: "event", at: "2026-01-01T00:00:00.000Z" },
      { stepId: "thanks", at: "2026-01-02T00:00:00.000Z" },
    ],
  });
  await world.clock.advance("2d");
  await buy(other.id, 100);
  expect(await readEntry(world, id, other.id)).toMatchObject({
    status: "COMPLETED",
    path: [
      { stepId: "wait", branch: "timeout" },
      { stepId: "late", at: "2026-01-04T00:00:00.000Z" },
    ],
  });
  expect((await world.inbox.all()).map(({ to, subject }) => [to, subject])).toEqual([["buyer@example.com", "Thanks for No. 100, 100 EUR"]]);
  expect((await sdk.automations.stats(id)).steps[0]).toMatchObject({
    entered: 2,
    waiting: 0,
    completed: 2,
    branches: { event: 1, timeout: 1 },
  });
});

test("an entry whose contact is deleted while it waits counts as completed in that step, and took none of its branches", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const template = await sdk.templates.create({ name: "Thanks", slug: "thanks", subject: "Thanks", html: "<p>Thanks</p>", publish: true });
  const id = await start(world, waitForPurchase(template.id));
  const contact = await sdk.contacts.create({ email: "ada@example.com" });
  await sdk.events.track({ name: "go", contact: contact.id });
  await world.settle();
  await sdk.contacts.delete(contact.id);
  const { exited, steps } = await sdk.automations.stats(id);
  expect([exited, steps[0]]).toEqual([
    1,
    expect.objectContaining({ entered: 1, waiting: 0, completed: 1, branches: { event: 0, timeout: 0 } }),
  ]);
});

test("wait_for_event notices a click on the mail of the step before it", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const html = '<p><a href="https://acme.example/offer">Offer</a></p>';
  const template = await sdk.templates.create({ name: "Offer", slug: "offer", type: "marketing", subject: "Offer", html, publish: true });
  await start(world, {
    steps: [
      { id: "offer", type: "send_email", templateId: template.id, from },
      { id: "click", type: "wait_for_event", event: { type: "event", name: "email.clicked" }, timeout: "3d" },
      { id: "keen", type: "add_tag", tag: "keen" },
      { id: "cold", type: "add_tag", tag: "cold" },
    ],
    connections: [
      { from: "trigger", to: "offer" },
      { from: "offer", to: "click" },
      { from: "click", to: "keen", branch: "event" },
      { from: "click", to: "cold", branch: "timeout" },
    ],
  });
  const clicks = await sdk.contacts.create({ email: "clicked@simulator.mailsvc.test" });
  const ignores = await sdk.contacts.create({ email: "ada@example.com" });
  for (const { id: contact } of [clicks, ignores]) await sdk.events.track({ name: "go", contact });
  await world.clock.advance("1d");
  expect((await sdk.contacts.get(clicks.id)).tags).toEqual(["keen"]);
  expect((await sdk.contacts.get(ignores.id)).tags).toEqual([]);
  await world.clock.advance("2d");
  expect((await sdk.contacts.get(ignores.id)).tags).toEqual(["cold"]);
});

test("an event that comes while the automation is paused counts; the entry goes on once it is active, a year later", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const id = await start(world, {
    steps: [
      { id: "wait", type: "wait_for_event", event: { type: "tag.added", tag: "vip" }, timeout: "3d" },
      { id: "yes", type: "add_tag", tag: "came" },
      { id: "no", type: "add_tag", tag: "late" },
    ],
    connections: [
      { from: "trigger", to: "wait" },
      { from: "wait", to: "yes", branch: "event" },
      { from: "wait", to: "no", branch: "timeout" },
    ],
  });
  const [came, late] = [await sdk.contacts.create({ email: "came@example.com" }), await sdk.contacts.create({ email: "late@example.com" })];
  for (const { id: contact } of [came, late]) await sdk.events.track({ name: "go", contact });
  await world.settle();
  await sdk.automations.pause(id);
  await sdk.contacts.update(came.id, { tags: ["VIP"] });
  await world.clock.advance("365d");
  expect(await sdk.automations.entries(id, { status: "ACTIVE" }).toArray()).toHaveLength(2);
  await sdk.automations.activate(id);
  await world.settle();
  expect((await sdk.contacts.get(came.id)).tags).toEqual(["VIP", "came"]);
  expect((await sdk.contacts.get(late.id)).tags).toEqual(["late"]);
});

test("filters of triggers and goals: only events that pass them count", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const id = await start(world, {
    trigger: { type: "event", name: "cart", filter: { not: { field: "properties.items", operator: "lt", value: 2 } } },
    goal: {
      type: "event",
      name: "purchase",
      filter: {
        any: [
          { field: "currency", operator: "equals", value: "EUR" },
          { field: "properties.plan", operator: "in", value: ["pro", "max"] },
        ],
      },
    },
    ...chain([{ id: "wait", type: "delay", for: "1d" }]),
  });
  const { id: contact } = await sdk.contacts.create({ email: "ada@example.com" });
  await sdk.events.track({ name: "cart", contact, properties: { items: 1 } });
  expect((await sdk.automations.get(id)).totalEntered).toBe(0);
  await sdk.events.track({ name: "cart", contact });
  expect((await sdk.automations.get(id)).totalEntered).toBe(1);
  await sdk.events.track({ name: "purchase", contact, value: 5, currency: "USD", properties: { plan: "free" } });
  expect(await sdk.automations.get(id)).toMatchObject({ goalConversions: 0, revenueGenerated: 5, goalRevenue: 0 });
  await sdk.events.track({ name: "purchase", contact, value: 7, currency: "USD", properties: { plan: "PRO" } });
  expect(await sdk.automations.get(id)).toMatchObject({ goalConversions: 1, revenueGenerated: 12, goalRevenue: 7 });
  const bad = sdk.automations.update(id, {
    goal: { type: "event", name: "x", filter: { field: "firstName" as "value", operator: "equals", value: "x" } },
  });
  await expect(bad).rejects.toMatchObject({
    details: [{ path: "goal.filter.field", message: expect.stringContaining("properties.<name>") }],
  });
});

test("a webhook step sends a signed event to the webhook it names, and to no other one", async () => {
  await using crm = await receiver();
  await using others = await receiver();
  crm.react = () => (crm.received.length === 1 ? 503 : 200);
  await using world = await createWorld();
  const { sdk } = world;
  const named = await sdk.webhooks.create({ url: crm.url, events: ["email.bounced"] });
  await sdk.webhooks.create({ url: others.url, events: ["automation.*"] });
  const gone = await sdk.webhooks.create({ url: others.url, events: ["*"] });
  const id = await start(
    world,
    chain([
      { id: "tell", type: "webhook", webhookId: named.id, data: { stage: "lead", score: 5 } },
      { id: "gone", type: "webhook", webhookId: gone.id },
      { id: "wait", type: "delay", for: "1d" },
    ]),
  );
  await sdk.webhooks.delete(gone.id);
  const contact = await sdk.contacts.create({ email: "ada@example.com" });
  await sdk.events.track({ name: "go", contact: contact.id });
  await world.settle();
  await world.clock.advance("1m");
  const entry = await readEntry(world, id, contact.id);
  expect(entry.path).toMatchObject([
    { stepId: "tell", outcome: "done" },
    { stepId: "gone", outcome: "skipped", reason: "not_found" },
    { stepId: "wait" },
  ]);
  expect(crm.received).toHaveLength(2);
  const [first, second] = crm.received;
  expect(second?.event).toMatchObject({
    type: "automation.webhook",
    automationId: id,
    contactId: contact.id,
    data: { webhookId: named.id, entryId: entry.id, stepId: "tell", data: { stage: "lead", score: 5 } },
  });
  // Attempts of one event have its id, by which a receiver knows them as one.
  expect([first?.headers["webhook-id"], second?.headers["webhook-id"]]).toEqual([second?.event.id, second?.event.id]);
  expect(second?.headers["webhook-signature"]).toMatch(/^v1,/);
  expect(others.types()).toEqual(["automation.entered"]);
  await world.clock.advance("1d");
  expect(others.types()).toEqual(["automation.entered", "automation.completed"]);
  expect(crm.received).toHaveLength(2);
});

test("a date trigger lets contacts enter before, on and after their date, each day once, in the time zone of the brand", async () => {
  await using world = await createWorld({ now: "2026-02-20T12:00:00.000Z" });
  const { sdk } = world;
  await sdk.brand.update({ timezone: "America/New_York" });
  const tag = (name: string) => chain([{ id: "tag", type: "add_tag", tag: name }]);
  const renewal = (days: number) => ({ type: "date" as const, field: "customFields.renewsOn", days, time: "09:00" });
  await start(world, { trigger: renewal(-7), ...tag("soon") });
  await start(world, { trigger: renewal(1), allowReEntry: true, ...tag("over") });
  await start(world, { trigger: { type: "date", field: "customFields.born", yearly: true, timeZone: "UTC" }, ...tag("birthday") });
  const create = async (name: string, customFields: Record<string, string>) =>
    (await sdk.contacts.create({ email: `${name}@example.com`, customFields })).id;
  const near = await create("near", { renewsOn: "2026-02-27" });
  const far = await create("far", { renewsOn: "2026-02-28T23:00:00Z", born: "1990-02-21" });
  const leap = await create("leap", { born: "1992-02-29", renewsOn: "in spring" });
  const tags = async (id: string) => (await sdk.contacts.get(id)).tags;
  await world.clock.advance("1h");
  expect(await tags(near)).toEqual([]);
  // 09:00 in New York is 14:00 UTC.
  await world.clock.advance("1h");
  expect([await tags(near), await tags(far)]).toEqual([["soon"], []]);
  await world.clock.advance("1d");
  expect([await tags(near), await tags(far)]).toEqual([["soon"], ["birthday", "soon"]]);
  await world.clock.advance("10d");
  expect([await tags(near), await tags(far), await tags(leap)]).toEqual([["soon", "over"], ["birthday", "soon", "over"], ["birthday"]]);
  const [birthdays] = await sdk.automations.list().toArray();
  expect(birthdays).toMatchObject({ triggerType: "date", totalEntered: 2, totalCompleted: 2 });
});

test("days that a date trigger missed while it was paused are not made up for", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const trigger = { type: "date" as const, field: "customFields.day" };
  const id = await start(world, { trigger, ...chain([{ id: "tag", type: "add_tag", tag: "day" }]) });
  for (const day of ["2026-01-02", "2026-01-03", "2026-01-06"])
    await sdk.contacts.create({ email: `${day}@example.com`, customFields: { day } });
  await world.clock.advance("1d");
  await sdk.automations.pause(id);
  await world.clock.advance("2d");
  await sdk.automations.activate(id);
  await sdk.automations.pause(id);
  await sdk.automations.activate(id);
  await world.clock.advance("5d");
  const entered = await sdk.automations.entries(id).toArray();
  expect(entered.map(({ enteredAt }) => enteredAt.slice(0, 10))).toEqual(["2026-01-06", "2026-01-02"]);
});

const at = (text: string): number => Date.parse(text);

test.each<[string, Omit<Step<"wait_until">, "id" | "type">, string, string]>([
  ["a time later today", { time: "09:00" }, "2026-01-01T08:30:00Z", "2026-01-01T09:00:00Z"],
  ["a time that is there", { time: "09:00" }, "2026-01-01T09:00:00Z", "2026-01-01T09:00:00Z"],
  ["a time that is over today", { time: "09:00" }, "2026-01-01T09:00:01Z", "2026-01-02T09:00:00Z"],
  ["a weekday that is today, without a time", { weekdays: ["thursday"] }, "2026-01-01T15:00:00Z", "2026-01-01T15:00:00Z"],
  ["the next of some weekdays", { weekdays: ["monday", "wednesday"] }, "2026-01-01T15:00:00Z", "2026-01-05T00:00:00Z"],
  ["a weekday at a time that is over", { weekdays: ["thursday"], time: "09:00" }, "2026-01-01T15:00:00Z", "2026-01-08T09:00:00Z"],
  ["a date", { date: "2026-12-24", time: "18:00" }, "2026-01-01T00:00:00Z", "2026-12-24T18:00:00Z"],
  ["a date that is over", { date: "2025-12-24" }, "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"],
  ["a time zone", { time: "09:00", timeZone: "Asia/Tokyo" }, "2026-01-01T00:00:01Z", "2026-01-02T00:00:00Z"],
  ["the time zone of the contact", { time: "09:00", timeZone: "contact" }, "2026-01-01T00:00:00Z", "2026-01-01T17:00:00Z"],
  ["a time that the clocks jump over", { time: "02:30", timeZone: "Europe/Berlin" }, "2026-03-29T00:00:00Z", "2026-03-29T01:00:00Z"],
])("wait_until: %s", (_name, fields, now, until) => {
  const step = { id: "wait", type: "wait_until", ...fields } as const;
  const contact = { customFields: { timeZone: "America/Los_Angeles" } };
  expect(new Date(findMoment(step, contact, "UTC", at(now))).toISOString()).toBe(new Date(at(until)).toISOString());
});

test("wait_until uses the brand's time zone for a contact without a valid one, and moves on at the moment", async () => {
  await using world = await createWorld({ now: "2026-01-01T12:00:00.000Z" });
  const { sdk } = world;
  await sdk.brand.update({ timezone: "Asia/Kolkata" });
  const id = await start(
    world,
    chain([
      { id: "morning", type: "wait_until", time: "09:30", timeZone: "contact" },
      { id: "tag", type: "add_tag", tag: "up" },
    ]),
  );
  const { id: contact } = await sdk.contacts.create({ email: "ada@example.com", customFields: { timeZone: "+05:00" } });
  await sdk.events.track({ name: "go", contact });
  await world.settle();
  expect(await readEntry(world, id, contact)).toMatchObject({ stepId: "tag", dueAt: "2026-01-02T04:00:00.000Z" });
  await world.clock.advance("16h");
  expect((await sdk.contacts.get(contact)).tags).toEqual(["up"]);
});

test("a loop goes round until the bound, and an entry that it fails says so", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const goals = Array.from({ length: 9 }, (_, i) => ({ id: `goal-${i}`, type: "goal" as const }));
  const round = chain([{ id: "wait", type: "delay", for: "1h" }, ...goals]);
  const id = await start(world, {
    ...round,
    connections: [...round.connections, { from: "goal-8", to: "wait" }],
  });
  const { id: contact } = await sdk.contacts.create({ email: "ada@example.com" });
  await sdk.events.track({ name: "go", contact });
  await world.clock.advance("5d");
  const entry = await readEntry(world, id, contact);
  expect(entry).toMatchObject({ status: "FAILED", reason: "too_many_steps", goalReachedAt: expect.any(String) });
  expect(entry.path).toHaveLength(1000);
  expect(await sdk.automations.get(id)).toMatchObject({ goalConversions: 1, totalCompleted: 0 });
});

test("an event that comes after the timeout of wait_for_event is too late, also while the automation is paused", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const { id } = await sdk.automations.create({
    name: "Bought?",
    trigger: { type: "contact.created" },
    steps: [
      { id: "wait", type: "wait_for_event", event: { type: "event", name: "purchase" }, timeout: "2d" },
      { id: "bought", type: "add_tag", tag: "bought" },
      { id: "not-bought", type: "add_tag", tag: "not-bought" },
    ],
    connections: [
      { from: "trigger", to: "wait" },
      { from: "wait", to: "bought", branch: "event" },
      { from: "wait", to: "not-bought", branch: "timeout" },
    ],
  });
  await sdk.automations.activate(id);
  for (const name of ["early", "late"]) await sdk.contacts.create({ email: `${name}@example.com` });
  await world.settle();
  await sdk.automations.pause(id);
  await world.clock.advance("1d");
  await sdk.events.track({ name: "purchase", contact: "early@example.com" });
  await world.clock.advance("8d");
  await sdk.events.track({ name: "purchase", contact: "late@example.com" });
  await sdk.automations.activate(id);
  await world.settle();
  const tagsOf = async (name: string) => (await sdk.contacts.list({ search: `${name}@example.com` })).data[0]?.tags;
  expect([await tagsOf("early"), await tagsOf("late")]).toEqual([["bought"], ["not-bought"]]);
});
