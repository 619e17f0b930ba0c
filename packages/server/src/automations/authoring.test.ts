import type { NewAutomation } from "@mailsvc/sdk/contract";
import { expect, test } from "vitest";
import { secondWorkspace } from "../../test/tenant.ts";
import { createWorld, type TestWorld } from "../testing.ts";

const from = "news@acme.example";

async function createTemplate({ sdk }: TestWorld, slug: string, subject: string, publish = true): Promise<string> {
  const { id } = await sdk.templates.create({ name: slug, slug, type: "marketing", subject, html: `<p>${subject}</p>`, publish });
  return id;
}

/** Greets, waits, asks who is a customer by now, and says goodbye to the others in two ways. */
async function createSeries(world: TestWorld, fields: Partial<NewAutomation> = {}): Promise<string> {
  const { sdk } = world;
  const [hello, tips] = [
    await createTemplate(world, "hello", "Hello {{firstName}}"),
    await createTemplate(world, "tips", "Tips, {{lastName}}"),
  ];
  const { id: listId } = await sdk.lists.create({ name: "Customers" });
  const { id } = await sdk.automations.create({
    name: "Series",
    trigger: { type: "contact.created" },
    steps: [
      { id: "hello", type: "send_email", templateId: hello, from },
      { id: "wait", type: "delay", for: "3d" },
      { id: "name", type: "update_contact", set: { lastName: "Guest" } },
      { id: "tag", type: "add_tag", tag: "greeted" },
      { id: "list", type: "add_to_list", listId },
      {
        id: "is-listed",
        type: "condition",
        rule: {
          all: [
            { field: "lists", operator: "contains", value: listId },
            { field: "tags", operator: "contains", value: "GREETED" },
            { field: "createdAt", operator: "notWithinLast", value: "2d" },
          ],
        },
      },
      {
        id: "half",
        type: "split",
        branches: [
          { name: "a", weight: 1 },
          { name: "b", weight: 1 },
        ],
      },
      { id: "tips", type: "send_email", templateId: tips, from },
      { id: "stop", type: "exit", reason: "done with it" },
    ],
    connections: [
      { from: "trigger", to: "hello" },
      { from: "hello", to: "wait" },
      { from: "wait", to: "name" },
      { from: "name", to: "tag" },
      { from: "tag", to: "list" },
      { from: "list", to: "is-listed" },
      { from: "is-listed", to: "half", branch: "yes" },
      { from: "half", to: "tips", branch: "a" },
      { from: "half", to: "stop", branch: "b" },
    ],
    ...fields,
  });
  return id;
}

/** The rows that a dry run must leave alone. */
async function countRows({ app }: TestWorld): Promise<number[]> {
  const { automationEntries, automationMoves, automationContacts, emails, events, contactTags, listMembers } = app.deps.db.read.t;
  const tables = [automationEntries, automationMoves, automationContacts, emails, events, contactTags, listMembers];
  return Promise.all(tables.map((table) => app.deps.db.read.$count(table)));
}

test("a dry run tells the way that the contact then takes, and writes nothing", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const id = await createSeries(world);
  const people = await Promise.all(
    ["Ada", "Grace", "Joan", "Mary"].map((firstName) => sdk.contacts.create({ email: `${firstName}@example.com`, firstName })),
  );
  await sdk.suppressions.create({ email: "joan@example.com" });
  await sdk.contacts.update((people[3] as { id: string }).id, { status: "UNSUBSCRIBED" });
  await world.settle();
  const before = await countRows(world);
  const foretold = await Promise.all(people.map(({ email }) => sdk.automations.test(id, { contact: email })));
  expect(await countRows(world)).toEqual(before);
  expect(await world.inbox.all()).toEqual([]);
  expect(foretold[0]).toMatchObject({ mayEnter: true, entryReason: null, version: 1, enteredAt: "2026-01-01T00:00:00.000Z" });
  expect(foretold[0]?.path[0]).toMatchObject({ stepId: "hello", email: { from, subject: "Hello Ada" }, until: null });
  expect(foretold[0]?.path[1]).toMatchObject({ stepId: "wait", at: "2026-01-01T00:00:00.000Z", until: "2026-01-04T00:00:00.000Z" });
  // They enter by a trigger that comes for all at this instant.
  await sdk.automations.update(id, { trigger: { type: "event", name: "go" } });
  await sdk.automations.activate(id);
  for (const { id: contact } of people) await sdk.events.track({ name: "go", contact });
  await world.clock.advance("4d");
  const entries = new Map((await sdk.automations.entries(id).toArray()).map((entry) => [entry.contactId, entry]));
  for (const { contactId, status, reason, endedAt, path } of foretold) {
    const entry = entries.get(contactId);
    expect({ status, reason, endedAt }).toEqual({ status: entry?.status, reason: entry?.reason, endedAt: entry?.endedAt });
    const steps = path.map(({ stepId, at, outcome, reason: why, branch }) => ({ stepId, at, outcome, reason: why, branch }));
    expect(steps).toEqual(entry?.path.map(({ emailId: _, ...taken }) => taken));
  }
  const subjects = (await world.inbox.all()).map(({ subject }) => subject).sort();
  const told = foretold.flatMap(({ path }) => path.flatMap(({ outcome, email }) => (outcome === "done" && email ? [email.subject] : [])));
  expect(subjects).toEqual(told.sort());
  expect((await sdk.automations.test(id, { contact: people[0]?.id ?? "" })).entryReason).toBe("entered_before");
});

test("a dry run takes assumptions, a version and an instant, and refuses branches that are not there", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const id = await createSeries(world);
  await sdk.contacts.create({ email: "ada@example.com", firstName: "Ada" });
  const test = (input: object = {}) => sdk.automations.test(id, { contact: "ada@example.com", ...input });
  for (const [half, last] of [
    ["a", { stepId: "tips", email: { subject: "Tips, Guest" } }],
    ["b", { stepId: "stop", reason: "done with it" }],
  ] as const) {
    const { path } = await test({ assume: { half } });
    expect(path.at(-2)).toMatchObject({ stepId: "half", branch: half, assumed: true });
    expect(path.at(-1)).toMatchObject(last);
  }
  expect(await test({ assume: { "is-listed": "no" } })).toMatchObject({ status: "COMPLETED" });
  expect(await test({ at: "2027-05-01T10:00:00Z" })).toMatchObject({ enteredAt: "2027-05-01T10:00:00.000Z" });
  await sdk.automations.update(id, { steps: [{ id: "end", type: "exit" }], connections: [{ from: "trigger", to: "end" }] });
  expect(await test()).toMatchObject({ version: 2, status: "EXITED", reason: "exit" });
  expect(await test({ version: 1 })).toMatchObject({ version: 1, path: { length: expect.any(Number) } });
  await expect(test({ version: 3 })).rejects.toMatchObject({ code: "not_found" });
  await expect(test({ version: 1, assume: { half: "c" } })).rejects.toMatchObject({
    details: [{ path: "assume.half", message: 'The step "half" leads to a, b.' }],
  });
  await expect(test({ assume: { nowhere: "yes" } })).rejects.toMatchObject({ details: [{ path: "assume.nowhere" }] });
  await expect(test({ contact: "nobody@example.com" })).rejects.toMatchObject({ code: "not_found" });
});

test("a dry run tries steps that are not saved, names what is wrong with them, and keeps the definition as it is", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const id = await createSeries(world);
  await sdk.contacts.create({ email: "ada@example.com", firstName: "Ada" });
  const before = await sdk.automations.get(id);
  const test = (definition: object, more: object = {}) =>
    sdk.automations.test(id, {
      contact: "ada@example.com",
      definition: definition as Pick<typeof before, "steps" | "connections">,
      ...more,
    });
  const shorter = { steps: [{ id: "end", type: "exit", reason: "tried" }], connections: [{ from: "trigger", to: "end" }] };
  expect(await test(shorter)).toMatchObject({ version: null, status: "EXITED", reason: "tried", path: [{ stepId: "end" }] });
  await expect(test({ ...shorter, connections: [{ from: "trigger", to: "nowhere" }] })).rejects.toMatchObject({
    code: "validation_error",
    details: [{ path: "definition.connections[0].to", message: expect.stringContaining('There is no step "nowhere".') }],
  });
  await expect(test(shorter, { version: 1 })).rejects.toMatchObject({ details: [{ path: "definition", code: "not_allowed" }] });
  expect(await sdk.automations.get(id)).toEqual(before);
});

test("a dry run foresees waits for a moment and for an event, and what templates say about the event", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const templateId = await createTemplate(world, "cart", "Your {{event.properties.item}}");
  const { id } = await sdk.automations.create({
    name: "Cart",
    trigger: { type: "event", name: "cart" },
    steps: [
      { id: "evening", type: "wait_until", time: "18:00", weekdays: ["friday"] },
      { id: "bought", type: "wait_for_event", event: { type: "event", name: "purchase" }, timeout: "2d" },
      { id: "remind", type: "send_email", templateId, from },
      { id: "thanks", type: "add_tag", tag: "buyer" },
    ],
    connections: [
      { from: "trigger", to: "evening" },
      { from: "evening", to: "bought" },
      { from: "bought", to: "remind", branch: "timeout" },
      { from: "bought", to: "thanks", branch: "event" },
    ],
  });
  await sdk.automations.activate(id);
  const ada = await sdk.contacts.create({ email: "ada@example.com" });
  const event = { name: "cart", value: 20, currency: "EUR", properties: { item: "gears" } };
  const foretold = await sdk.automations.test(id, { contact: ada.id, event });
  expect(foretold.path.map(({ stepId, until, assumed }) => [stepId, until, assumed])).toEqual([
    ["evening", "2026-01-02T18:00:00.000Z", false],
    ["bought", "2026-01-04T18:00:00.000Z", true],
    ["remind", null, false],
  ]);
  expect(foretold.path.at(-1)?.email).toEqual({ from, subject: "Your gears" });
  const bought = await sdk.automations.test(id, { contact: ada.id, event, assume: { bought: "event" } });
  expect(bought).toMatchObject({ endedAt: "2026-01-02T18:00:00.000Z", path: [{}, { branch: "event", until: null }, { stepId: "thanks" }] });
  await sdk.events.track({ contact: ada.id, ...event });
  await world.clock.advance("4d");
  const [entry] = await sdk.automations.entries(id).toArray();
  expect(entry).toMatchObject({ status: "COMPLETED", endedAt: foretold.endedAt });
  expect(entry?.path.map(({ stepId, at, branch }) => [stepId, at, branch])).toEqual(
    foretold.path.map(({ stepId, at, branch }) => [stepId, at, branch]),
  );
  expect((await world.inbox.all()).map(({ subject }) => subject)).toEqual(["Your gears"]);
});

test("an archived automation is left out of lists, cannot be changed, and comes back with its numbers and entries", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const id = await createSeries(world);
  await sdk.automations.activate(id);
  await expect(sdk.automations.archive(id)).rejects.toMatchObject({ code: "invalid_state" });
  await sdk.contacts.create({ email: "ada@example.com" });
  await world.settle();
  await sdk.automations.pause(id);
  expect(await sdk.automations.archive(id)).toMatchObject({ status: "PAUSED", archivedAt: "2026-01-01T00:00:00.000Z" });
  expect(await sdk.automations.list().toArray()).toEqual([]);
  expect(await sdk.automations.list({ archived: true }).toArray()).toMatchObject([{ id, totalEntered: 1 }]);
  const { activate, pause, update } = sdk.automations;
  for (const call of [() => activate(id), () => pause(id), () => update(id, { name: "Other" })])
    await expect(call()).rejects.toMatchObject({ code: "invalid_state", hint: expect.stringContaining("unarchive") });
  await world.clock.advance("10d");
  expect(await world.inbox.all()).toHaveLength(1);
  expect(await sdk.automations.get(id)).toMatchObject({ totalEntered: 1, archivedAt: expect.any(String) });
  expect(await sdk.automations.unarchive(id)).toMatchObject({ status: "PAUSED", archivedAt: null });
  await sdk.automations.activate(id);
  await world.settle();
  expect(await sdk.automations.entries(id).toArray()).toMatchObject([{ status: expect.stringMatching("COMPLETED|EXITED") }]);
  await sdk.automations.pause(id);
  await sdk.automations.archive(id);
  expect(await sdk.automations.delete(id)).toMatchObject({ id });
});

test("each version of a definition can be read, and a change that is based on an older one is refused", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const id = await createSeries(world);
  await sdk.automations.activate(id);
  await world.clock.advance("1h");
  const end: Pick<NewAutomation, "steps" | "connections"> = {
    steps: [{ id: "end", type: "exit" }],
    connections: [{ from: "trigger", to: "end" }],
  };
  expect(await sdk.automations.update(id, { ...end, revision: 1 })).toMatchObject({ version: 2, revision: 2 });
  await expect(sdk.automations.update(id, { name: "Late", revision: 1 })).rejects.toMatchObject({
    code: "conflict",
    details: [{ path: "revision", code: "outdated" }],
  });
  await sdk.automations.pause(id);
  await expect(sdk.automations.activate(id, { revision: 1 })).rejects.toMatchObject({
    code: "conflict",
    details: [{ path: "revision", code: "outdated" }],
  });
  expect(await sdk.automations.get(id)).toMatchObject({ status: "PAUSED" });
  expect(await sdk.automations.activate(id, { revision: 2 })).toMatchObject({ status: "ACTIVE", revision: 2 });
  const versions = await sdk.automations.versions(id).toArray();
  expect(versions.map(({ version, current, steps, createdAt }) => [version, current, steps, createdAt.slice(11, 16)])).toEqual([
    [2, true, 1, "01:00"],
    [1, false, 9, "00:00"],
  ]);
  expect(Object.values(versions[1]?.templates ?? {})).toEqual([1, 1]);
  expect(await sdk.automations.versions(id, { page: 2, limit: 1 })).toMatchObject({ data: [{ version: 1 }], pagination: { total: 2 } });
  expect(await sdk.automations.get(id)).toMatchObject({ version: 2, shownVersion: 2, ...end });
  expect(await sdk.automations.get(id, { version: 1 })).toMatchObject({ version: 2, shownVersion: 1, steps: { length: 9 } });
  await expect(sdk.automations.get(id, { version: 3 })).rejects.toMatchObject({ code: "not_found" });
});

test("the numbers of steps equal a count of the paths, while entries wait, after a new version, and once all have ended", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const id = await createSeries(world);
  await sdk.automations.activate(id);
  await sdk.contacts.import({ rows: Array.from({ length: 12 }, (_, i) => ({ email: `p${i}@example.com` })), startAutomations: true });
  const gone = await sdk.contacts.create({ email: "gone@example.com" });
  await sdk.suppressions.create({ email: "p3@example.com" });
  await world.settle();
  expect(await recount(world, id)).toMatchObject({ inside: 13, steps: { wait: { entered: 13, waiting: 13, completed: 0 } } });
  await sdk.contacts.delete(gone.id);
  expect(await recount(world, id)).toMatchObject({ inside: 12, exited: 1, steps: { wait: { waiting: 12, completed: 1 } } });
  await sdk.automations.update(id, {
    steps: [
      { id: "wait", type: "delay", for: "1d" },
      { id: "end", type: "goal" },
    ],
    connections: [
      { from: "trigger", to: "wait" },
      { from: "wait", to: "end" },
    ],
  });
  await sdk.contacts.create({ email: "new@example.com" });
  await world.settle();
  expect(await recount(world, id)).toMatchObject({ steps: { wait: { waiting: 13 }, hello: { type: null } } });
  await world.clock.advance("10d");
  const { inside, steps } = await recount(world, id);
  expect(inside).toBe(0);
  expect(Object.values(steps).map(({ waiting }) => waiting)).toEqual(Object.values(steps).map(() => 0));
  expect(steps["half"]?.branches).toEqual({ a: expect.any(Number), b: expect.any(Number) });
  expect(steps["tips"]).toMatchObject({ skipped: expect.any(Number) });
});

/** The statistics, after comparing them with a count of all entries and their paths. */
async function recount({ sdk }: TestWorld, id: string) {
  const { steps, ...totals } = await sdk.automations.stats(id);
  const entries = await sdk.automations.entries(id).toArray();
  const count = (status: string): number => entries.filter((entry) => entry.status === status).length;
  expect(totals).toMatchObject({
    entered: entries.length,
    inside: count("ACTIVE"),
    completed: count("COMPLETED"),
    exited: count("EXITED"),
    failed: count("FAILED"),
  });
  const taken = entries.flatMap(({ path }) => path);
  for (const { stepId, entered, waiting, completed, skipped, branches } of steps) {
    const own = taken.filter((step) => step.stepId === stepId);
    expect({ stepId, entered, skipped }).toEqual({
      stepId,
      entered: own.length,
      skipped: own.filter(({ outcome }) => outcome === "skipped").length,
    });
    expect(entered).toBe(waiting + completed + skipped);
    for (const [name, n] of Object.entries(branches ?? {})) expect(n).toBe(own.filter(({ branch }) => branch === name).length);
    expect(waiting).toBe(
      entries.filter(({ status, path }) => status === "ACTIVE" && path.at(-1)?.stepId === stepId && stepId === "wait").length,
    );
  }
  return { ...totals, steps: Object.fromEntries(steps.map((step) => [step.stepId, step])) };
}

test("a condition on a list of another workspace is refused, and the step is named", async () => {
  await using world = await createWorld();
  const other = await secondWorkspace(world);
  const mine = await world.sdk.lists.create({ name: "Mine" });
  const theirs = await other.sdk.lists.create({ name: "Theirs" });
  const create = (listId: string) =>
    world.sdk.automations.create({
      name: `On ${listId}`,
      trigger: { type: "contact.created" },
      steps: [
        { id: "is-member", type: "condition", rule: { field: "lists", operator: "contains", value: listId } },
        { id: "tag", type: "add_tag", tag: "member" },
      ],
      connections: [
        { from: "trigger", to: "is-member" },
        { from: "is-member", to: "tag", branch: "yes" },
      ],
    });
  await expect(create(theirs.id)).rejects.toMatchObject({ code: "validation_error", details: [{ path: "steps[0].rule" }] });
  await expect(create(mine.id)).resolves.toMatchObject({ status: "DRAFT" });
});

test("an order of a few million rupiah can be tracked", async () => {
  await using world = await createWorld();
  await world.sdk.contacts.create({ email: "ada@example.com" });
  const purchase = { name: "purchase", contact: "ada@example.com", value: 48_500_000, currency: "IDR" };
  expect(await world.sdk.events.track(purchase)).toMatchObject({ name: "purchase" });
  expect((await world.sdk.events.list({ type: "contact.tracked" })).data[0]?.data).toMatchObject({ value: 48_500_000 });
});
