import type { NewAutomation } from "@mailsvc/sdk/contract";
import { expect, test } from "vitest";
import { createWorld, type TestWorld } from "../testing.ts";

type Definition = Pick<NewAutomation, "steps" | "connections">;

async function createTemplate({ sdk }: TestWorld, slug: string, subject: string): Promise<string> {
  const { id } = await sdk.templates.create({
    name: slug,
    slug,
    type: "marketing",
    subject,
    html: `<p>${subject}</p>`,
    publish: true,
  });
  return id;
}

/** Connects steps in their order. */
function chain(steps: NewAutomation["steps"]): Definition {
  return { steps, connections: steps.map(({ id }, i) => ({ from: steps[i - 1]?.id ?? "trigger", to: id })) };
}

async function createWelcome(world: TestWorld, fields: Partial<NewAutomation> = {}): Promise<string> {
  const [one, two, three] = [
    await createTemplate(world, "one", "Welcome {{firstName}}"),
    await createTemplate(world, "two", "Tips"),
    await createTemplate(world, "three", "How is it going?"),
  ];
  const from = "news@acme.example";
  const definition = chain([
    { id: "welcome", type: "send_email", templateId: one, from },
    { id: "wait-3d", type: "delay", for: "3d" },
    { id: "tips", type: "send_email", templateId: two, from },
    { id: "wait-7d", type: "delay", for: "7d" },
    { id: "ask", type: "send_email", templateId: three, from },
  ]);
  const { id } = await world.sdk.automations.create({ name: "Welcome", trigger: { type: "contact.created" }, ...definition, ...fields });
  return id;
}

async function listSubjects(world: TestWorld): Promise<string[]> {
  return (await world.inbox.all()).map((mail) => mail.subject);
}

/** The numbers of an automation, which must equal a count of its entries. */
async function readNumbers({ sdk }: TestWorld, id: string) {
  const { totalEntered, totalCompleted, goalConversions } = await sdk.automations.get(id);
  const entries = await sdk.automations.entries(id).toArray();
  expect(totalEntered).toBe(entries.length);
  expect(totalCompleted).toBe(entries.filter(({ status }) => status === "COMPLETED").length);
  expect(goalConversions).toBe(entries.filter(({ goalReachedAt }) => goalReachedAt !== null).length);
  return { entered: totalEntered, completed: totalCompleted, goals: goalConversions };
}

test("a welcome series over ten days, with path, times and an unsubscribe link", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const id = await createWelcome(world);
  const early = await sdk.contacts.create({ email: "early@example.com" });
  expect(await sdk.automations.activate(id)).toMatchObject({ status: "ACTIVE", totalEntered: 0, reEntryDelayHours: null });
  const ada = await sdk.contacts.create({ email: "ada@example.com", firstName: "Ada" });
  await world.settle();
  expect(await listSubjects(world)).toEqual(["Welcome Ada"]);
  const mail = await world.inbox.waitFor({ to: "ada@example.com" });
  expect(mail.html).toContain("Unsubscribe");
  expect(mail.text).toContain("Unsubscribe");
  await world.clock.advance("2d");
  expect(await listSubjects(world)).toHaveLength(1);
  await world.clock.advance("1d");
  expect(await listSubjects(world)).toEqual(["Welcome Ada", "Tips"]);
  const [waiting] = await sdk.automations.entries(id, { status: "ACTIVE" }).toArray();
  expect(waiting).toMatchObject({ contactId: ada.id, stepId: "ask", dueAt: "2026-01-11T00:00:00.000Z" });
  await world.clock.advance("30d");
  expect(await listSubjects(world)).toEqual(["Welcome Ada", "Tips", "How is it going?"]);
  const [entry] = await sdk.automations.entries(id).toArray();
  expect(entry).toMatchObject({ status: "COMPLETED", reason: null, stepId: null, version: 1, endedAt: "2026-01-11T00:00:00.000Z" });
  expect(entry?.path.map(({ stepId, at, outcome }) => [stepId, at.slice(0, 10), outcome])).toEqual([
    ["welcome", "2026-01-01", "done"],
    ["wait-3d", "2026-01-01", "done"],
    ["tips", "2026-01-04", "done"],
    ["wait-7d", "2026-01-04", "done"],
    ["ask", "2026-01-11", "done"],
  ]);
  expect(await readNumbers(world, id)).toEqual({ entered: 1, completed: 1, goals: 0 });
  expect(await sdk.automations.entries(id, { contact: early.id }).toArray()).toEqual([]);
  const events = await sdk.events.list({ automation: id }).toArray();
  expect(events.map(({ type }) => type)).toEqual(["automation.completed", "automation.entered"]);
});

test("a list shows exactly the fields of the specification", async () => {
  await using world = await createWorld();
  const id = await createWelcome(world, { goal: { type: "tag.added", tag: "buyer" } });
  const [listed] = await world.sdk.automations.list({ status: "DRAFT" }).toArray();
  expect(Object.keys(listed ?? {})).toEqual(
    "id name description triggerType status totalEntered totalCompleted revenueGenerated goalType goalConversions goalConversionRate goalRevenue allowReEntry reEntryDelayHours createdAt updatedAt".split(
      " ",
    ),
  );
  expect(listed).toMatchObject({ id, triggerType: "contact.created", goalType: "tag.added" });
  expect(await world.sdk.automations.list({ status: "ACTIVE" }).toArray()).toEqual([]);
  expect(await world.sdk.automations.list({ search: "WELC" }).toArray()).toMatchObject([{ id }]);
  expect(await world.sdk.automations.list({ search: "%" }).toArray()).toEqual([]);
});

test("of fifty triggers at once one enters; it enters again after the delay, and not before it is out", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const { id: contact } = await sdk.contacts.create({ email: "ada@example.com" });
  const { id } = await sdk.automations.create({
    name: "Race",
    trigger: { type: "tag.added", tag: "vip" },
    allowReEntry: true,
    reEntryDelayHours: 48,
    ...chain([{ id: "wait", type: "delay", for: "1d" }]),
  });
  await sdk.automations.activate(id);
  await Promise.all(
    Array.from({ length: 50 }, async (_, i) => {
      await sdk.contacts.update(contact, { tags: ["vip", `t${i}`] });
      await sdk.contacts.update(contact, { tags: [`t${i}`] });
    }),
  );
  await world.settle();
  expect(await readNumbers(world, id)).toEqual({ entered: 1, completed: 0, goals: 0 });
  await world.clock.advance("1d");
  expect(await readNumbers(world, id)).toEqual({ entered: 1, completed: 1, goals: 0 });
  await sdk.contacts.update(contact, { tags: ["vip"] });
  expect(await readNumbers(world, id)).toMatchObject({ entered: 1 });
  await sdk.contacts.update(contact, { tags: [] });
  await world.clock.advance("1d");
  await sdk.contacts.update(contact, { tags: ["VIP"] });
  await world.clock.advance("1d");
  expect(await readNumbers(world, id)).toEqual({ entered: 2, completed: 2, goals: 0 });
  await sdk.automations.update(id, { allowReEntry: false });
  await world.clock.advance("30d");
  await sdk.contacts.update(contact, { tags: [] });
  await sdk.contacts.update(contact, { tags: ["vip"] });
  expect(await readNumbers(world, id)).toMatchObject({ entered: 2 });
});

test("a pause holds entries over a year; what became due is done at once after it", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const id = await createWelcome(world);
  await expect(sdk.automations.pause(id)).rejects.toMatchObject({ code: "invalid_state" });
  await sdk.automations.activate(id);
  await sdk.contacts.import({ rows: Array.from({ length: 3 }, (_, i) => ({ email: `p${i}@example.com` })), startAutomations: true });
  await world.settle();
  await sdk.automations.pause(id);
  await sdk.contacts.create({ email: "late@example.com" });
  await world.clock.advance("365d");
  expect(await listSubjects(world)).toHaveLength(3);
  await expect(sdk.automations.delete((await sdk.automations.activate(id)).id)).rejects.toMatchObject({ code: "invalid_state" });
  await world.settle();
  expect(await listSubjects(world)).toHaveLength(6);
  await world.clock.advance("6d");
  expect(await listSubjects(world)).toHaveLength(6);
  await world.clock.advance("1d");
  expect((await listSubjects(world)).sort()).toEqual(
    ["How is it going?", "Tips", "Welcome "].flatMap((subject) => [subject.trim(), subject.trim(), subject.trim()]),
  );
  expect(await readNumbers(world, id)).toEqual({ entered: 3, completed: 3, goals: 0 });
});

test("branches, splits, tags, lists, fields and goals", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const [news, old] = [await sdk.lists.create({ name: "News" }), await sdk.lists.create({ name: "Old" })];
  const { id } = await sdk.automations.create({
    name: "Branches",
    trigger: { type: "list.joined", listId: old.id },
    goal: { type: "tag.added", tag: "Buyer" },
    steps: [
      { id: "is-gold", type: "condition", rule: { field: "customFields.plan", operator: "equals", value: "gold" } },
      { id: "tag", type: "add_tag", tag: "gold" },
      { id: "untag", type: "remove_tag", tag: "old" },
      { id: "join", type: "add_to_list", listId: news.id },
      { id: "leave", type: "remove_from_list", listId: old.id },
      { id: "set", type: "update_contact", set: { lastName: "Gold", customFields: { seen: true } } },
      { id: "wait", type: "delay", for: "1d" },
      {
        id: "half",
        type: "split",
        branches: [
          { name: "a", weight: 1 },
          { name: "b", weight: 1 },
        ],
      },
      { id: "stop", type: "exit", reason: "basic plan" },
    ],
    connections: [
      { from: "trigger", to: "is-gold" },
      { from: "is-gold", to: "tag", branch: "yes" },
      { from: "is-gold", to: "half", branch: "no" },
      { from: "tag", to: "untag" },
      { from: "untag", to: "join" },
      { from: "join", to: "leave" },
      { from: "leave", to: "set" },
      { from: "set", to: "wait" },
      { from: "half", to: "stop", branch: "a" },
      { from: "half", to: "stop", branch: "b" },
    ],
  });
  await sdk.automations.activate(id);
  const gold = await sdk.contacts.create({ email: "gold@example.com", tags: ["old", "kept"], customFields: { plan: "gold" } });
  const basic = await sdk.contacts.create({ email: "basic@example.com", customFields: { plan: "basic" } });
  await sdk.lists.add(old.id, { contacts: [gold.id, basic.id] });
  await world.settle();
  expect(await sdk.contacts.get(gold.id)).toMatchObject({
    tags: ["kept", "gold"],
    lastName: "Gold",
    customFields: { plan: "gold", seen: true },
    lists: [{ id: news.id }],
  });
  const [ended] = await sdk.automations.entries(id, { contact: basic.id }).toArray();
  expect(ended).toMatchObject({ status: "EXITED", reason: "basic plan", path: [{ branch: "no" }, { stepId: "half" }, { stepId: "stop" }] });
  // Only who is inside reaches the goal, and only once.
  await sdk.contacts.update(basic.id, { tags: ["buyer"] });
  await sdk.contacts.update(gold.id, { tags: ["buyer"] });
  await sdk.contacts.update(gold.id, { tags: [] });
  await sdk.contacts.update(gold.id, { tags: ["buyer"] });
  expect(await readNumbers(world, id)).toEqual({ entered: 2, completed: 0, goals: 1 });
  expect(await sdk.automations.get(id)).toMatchObject({ goalConversionRate: 0.5, goalConversions: 1 });
  await world.clock.advance("1d");
  expect(await readNumbers(world, id)).toEqual({ entered: 2, completed: 1, goals: 1 });
});

test("a template and a list that are deleted in the middle, and contacts that unsubscribe or are deleted", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const list = await sdk.lists.create({ name: "News" });
  const [first, second] = [await createTemplate(world, "first", "First"), await createTemplate(world, "second", "Second")];
  const from = "news@acme.example";
  const { id } = await sdk.automations.create({
    name: "Middle",
    trigger: { type: "contact.created" },
    ...chain([
      { id: "wait", type: "delay", for: "1d" },
      { id: "first", type: "send_email", templateId: first, from },
      { id: "join", type: "add_to_list", listId: list.id },
      { id: "second", type: "send_email", templateId: second, from },
    ]),
  });
  await sdk.automations.activate(id);
  const stays = await sdk.contacts.create({ email: "stays@example.com" });
  const leaves = await sdk.contacts.create({ email: "leaves@example.com" });
  const goes = await sdk.contacts.create({ email: "goes@example.com" });
  await world.settle();
  await sdk.templates.delete(first);
  await sdk.lists.delete(list.id);
  await sdk.contacts.update(leaves.id, { status: "UNSUBSCRIBED" });
  await sdk.contacts.delete(goes.id);
  expect(await sdk.automations.update(id, { description: "Renamed" })).toMatchObject({ version: 1, description: "Renamed" });
  await world.clock.advance("2d");
  const entries = new Map((await sdk.automations.entries(id).toArray()).map((entry) => [entry.contactId, entry]));
  const reasons = (contact: string) => entries.get(contact)?.path.map(({ stepId, outcome, reason }) => [stepId, outcome, reason]);
  expect(reasons(stays.id)).toEqual([
    ["wait", "done", null],
    ["first", "skipped", "template_not_found"],
    ["join", "skipped", "not_found"],
    ["second", "done", null],
  ]);
  expect(reasons(leaves.id)?.at(-1)).toEqual(["second", "skipped", "unsubscribed"]);
  expect(entries.get(goes.id)).toMatchObject({ status: "EXITED", reason: "contact_deleted" });
  expect((await world.inbox.all()).map(({ to }) => to)).toEqual(["stays@example.com"]);
  expect(await readNumbers(world, id)).toEqual({ entered: 3, completed: 2, goals: 0 });
});

test("who is inside stays in the version they entered, and the pinned version of a template", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const templateId = await createTemplate(world, "mail", "Version 1");
  const from = "news@acme.example";
  const waitAndSend = chain([
    { id: "wait", type: "delay", for: "1d" },
    { id: "mail", type: "send_email", templateId, from },
  ]);
  const { id } = await sdk.automations.create({ name: "Versions", trigger: { type: "contact.created" }, ...waitAndSend });
  await sdk.automations.activate(id);
  await sdk.contacts.create({ email: "one@example.com" });
  await world.settle();
  await sdk.templates.update(templateId, { subject: "Version 2", publish: true });
  expect(await sdk.automations.update(id, chain([{ id: "mail", type: "send_email", templateId, from }]))).toMatchObject({ version: 2 });
  await sdk.contacts.create({ email: "two@example.com" });
  await world.clock.advance("1d");
  const mails = (await world.inbox.all()).map(({ to, subject }) => [to, subject]);
  expect(Object.fromEntries(mails)).toEqual({ "one@example.com": "Version 1", "two@example.com": "Version 2" });
  await sdk.automations.pause(id);
  await sdk.automations.delete(id);
  await world.settle();
  await expect(sdk.automations.get(id)).rejects.toMatchObject({ code: "not_found" });
  const { automationEntries, automationMoves, automationContacts, automationVersions } = world.app.deps.db.read.t;
  for (const table of [automationEntries, automationMoves, automationContacts, automationVersions])
    expect(await world.app.deps.db.read.$count(table)).toBe(0);
});

test("revenue is the sum of the values tracked while contacts are inside", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const cart = await sdk.automations.create({
    name: "Cart",
    trigger: { type: "event", name: "cart" },
    goal: { type: "event", name: "purchase" },
    currency: "EUR",
    ...chain([{ id: "wait", type: "delay", for: "1d" }]),
  });
  await sdk.automations.activate(cart.id);
  const { id } = await sdk.contacts.create({ email: "ada@example.com" });
  const purchase = (value: number, currency = "EUR") => sdk.events.track({ name: "purchase", contact: id, value, currency });
  await purchase(1000);
  await sdk.events.track({ name: "cart", contact: "Ada@Example.com", value: 500, currency: "EUR" });
  await purchase(10, "USD");
  await purchase(49.9);
  await purchase(0.15);
  await world.clock.advance("1d");
  await purchase(1000);
  expect(await readNumbers(world, cart.id)).toEqual({ entered: 1, completed: 1, goals: 1 });
  // The purchase in another currency reached the goal, so no other one did.
  expect(await sdk.automations.get(cart.id)).toMatchObject({ revenueGenerated: 50.05, goalRevenue: 0, currency: "EUR" });
  expect(await sdk.automations.entries(cart.id).toArray()).toMatchObject([{ revenue: 50.05, goalRevenue: 0 }]);
  const joan = await sdk.contacts.create({ email: "joan@example.com" });
  await sdk.events.track({ name: "cart", contact: joan.id });
  await sdk.events.track({ name: "purchase", contact: joan.id, value: 20, currency: "EUR" });
  await sdk.events.track({ name: "purchase", contact: joan.id, value: 5, currency: "EUR" });
  expect(await sdk.automations.list().toArray()).toMatchObject([
    { revenueGenerated: 75.05, goalRevenue: 20, goalConversions: 2, goalConversionRate: 1 },
  ]);
  await expect(sdk.events.track({ name: "purchase", contact: "con_x" })).rejects.toMatchObject({ code: "not_found" });
  await expect(sdk.events.track({ name: "email.opened", contact: id })).rejects.toMatchObject({ details: [{ path: "name" }] });
  await expect(sdk.events.track({ name: "purchase", contact: id, value: 5 })).rejects.toMatchObject({ details: [{ path: "currency" }] });
});

test.each<[string, Partial<Definition>, string, RegExp]>([
  ["an unknown step", { connections: [{ from: "trigger", to: "nowhere" }] }, "connections[0].to", /"nowhere"/],
  [
    "an unreachable step",
    {
      steps: [
        { id: "a", type: "goal" },
        { id: "b", type: "goal" },
      ],
    },
    "steps[1]",
    /"b"/,
  ],
  [
    "a cycle without a delay",
    {
      connections: [
        { from: "trigger", to: "a" },
        { from: "a", to: "a" },
      ],
    },
    "connections",
    /"a" → "a"/,
  ],
  [
    "two ways on",
    {
      connections: [
        { from: "trigger", to: "a" },
        { from: "trigger", to: "a" },
      ],
    },
    "connections[1].from",
    /"trigger"/,
  ],
  ["no start", { connections: [] }, "connections", /"trigger"/],
  [
    "a branch of a step without branches",
    { connections: [{ from: "trigger", to: "a", branch: "yes" }] },
    "connections[0].branch",
    /"trigger"/,
  ],
  ["a list that does not exist", { steps: [{ id: "a", type: "add_to_list", listId: "list_x" }] }, "steps[0].listId", /"a"/],
  ["a template that does not exist", { steps: [{ id: "a", type: "send_email", templateId: "tpl_x" }] }, "steps[0].templateId", /"a"/],
])("%s is refused, naming the step", async (_name, definition, path, message) => {
  await using world = await createWorld();
  const valid: Definition = { steps: [{ id: "a", type: "goal" }], connections: [{ from: "trigger", to: "a" }] };
  const created = world.sdk.automations.create({ name: "Bad", trigger: { type: "contact.created" }, ...valid, ...definition });
  await expect(created).rejects.toMatchObject({
    code: "validation_error",
    details: [{ path, message: expect.stringMatching(message) }],
  });
});

test("an unpublished template and an empty definition keep an automation from being activated", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const template = await sdk.templates.create({ name: "Draft", slug: "draft", type: "marketing", subject: "Draft", html: "<p>Draft</p>" });
  const empty = await sdk.automations.create({ name: "Empty", trigger: { type: "contact.created" }, steps: [], connections: [] });
  await expect(sdk.automations.activate(empty.id)).rejects.toMatchObject({ code: "validation_error", details: [{ path: "steps" }] });
  const step = { id: "mail", type: "send_email" as const, templateId: template.id, from: "news@acme.example" };
  const { id } = await sdk.automations.update(empty.id, chain([step]));
  await expect(sdk.automations.activate(id)).rejects.toMatchObject({
    details: [{ path: "steps[0]", code: "template_not_found", message: expect.stringContaining('"mail"') }],
  });
  await sdk.templates.publish(template.id);
  expect(await sdk.automations.activate(id)).toMatchObject({ status: "ACTIVE", version: 2 });
});

test("an unknown type of step or trigger is answered with the types there are", async () => {
  await using world = await createWorld();
  const body = {
    name: "Bad",
    trigger: { type: "tag.gone" },
    steps: [{ id: "hello", type: "sned" }],
    connections: [{ from: "trigger", to: "hello" }],
  };
  const response = await world.fetch(`${world.url}/api/v1/automations`, {
    method: "POST",
    headers: { authorization: `Bearer ${world.apiKey}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(400);
  const text = await response.text();
  expect(text).toContain("tag.added");
  expect(text).toContain("hello");
  expect(text).toContain("send_email");
});
