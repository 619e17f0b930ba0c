import { eq } from "drizzle-orm";
import { expect, inject, test } from "vitest";
import { expectCountsToBeTrue } from "../../test/recount.ts";
import { createWorld, type TestWorld } from "../testing.ts";
import { UNDO_JOB } from "./undo.ts";

const statusOf = async ({ sdk }: TestWorld, email: string) =>
  (await sdk.contacts.list({ search: email })).data.map(({ status }) => status)[0] ?? null;
const suppressed = async ({ sdk }: TestWorld) => (await sdk.suppressions.list()).data.map(({ email }) => email).sort();

test("an import starts no automations unless asked, and says who would enter which one, also by segments", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const steps = [{ id: "wait", type: "delay", for: "2h" } as const];
  const connections = [{ from: "trigger", to: "wait" }];
  const segment = await sdk.segments.create({ name: "Pro", rules: { field: "customFields.plan", operator: "equals", value: "pro" } });
  const welcome = await sdk.automations.create({ name: "Welcome series", trigger: { type: "contact.created" }, steps, connections });
  const pro = await sdk.automations.create({
    name: "For pros",
    trigger: { type: "segment.entered", segmentId: segment.id },
    steps,
    connections,
  });
  for (const { id } of [welcome, pro]) await sdk.automations.activate(id);
  const rows = [{ email: "ada@example.com", customFields: { plan: "pro" } }, { email: "bob@example.com" }];
  const starts = [
    { id: welcome.id, name: "Welcome series", contacts: 2 },
    { id: pro.id, name: "For pros", contacts: 1 },
  ];
  const entered = async () =>
    Promise.all(
      [welcome, pro].map(async ({ id }) => (await sdk.automations.entries(id)).data.filter(({ status }) => status === "ACTIVE").length),
    );
  expect((await sdk.contacts.import({ rows, dryRun: true })).automations).toEqual(starts);
  expect((await sdk.contacts.import({ rows })).automations).toEqual(starts);
  expect(await entered()).toEqual([0, 0]);
  const more = rows.map(({ email, ...rest }) => ({ ...rest, email: `new-${email}` }));
  expect((await sdk.contacts.import({ rows: more, startAutomations: true })).automations).toEqual(starts);
  expect(await entered()).toEqual([2, 1]);
  await sdk.contacts.create({ email: "single@example.com" });
  expect(await entered()).toEqual([3, 1]);
});

test("an import into a list says who would join, and enter an automation by that, before it does so", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const [list, asking] = [
    await sdk.lists.create({ name: "News" }),
    await sdk.lists.create({ name: "Asking", doubleOptIn: true, confirmationFrom: "hello@acme.example" }),
  ];
  const { id, name } = await sdk.automations.create({
    name: "Welcome to the list",
    trigger: { type: "list.joined", listId: list.id },
    steps: [{ id: "wait", type: "delay", for: "2h" }],
    connections: [{ from: "trigger", to: "wait" }],
  });
  await sdk.automations.activate(id);
  await sdk.contacts.create({ email: "member@example.com" });
  await sdk.lists.add(list.id, { contacts: ["member@example.com"], startAutomations: false });
  const rows = [
    ...["member@example.com", "new@example.com", "new@example.com"].map((email) => ({ email })),
    { email: "no@example.com", status: "UNSUBSCRIBED" as const },
  ];
  const dry = await sdk.contacts.import({ rows, list: list.id, dryRun: true, startAutomations: true });
  const asked = { joined: 0, asked: 2, automations: [] };
  expect(await sdk.contacts.import({ rows, list: asking.id, dryRun: true })).toMatchObject(asked);
  expect(await sdk.contacts.import({ rows, list: asking.id })).toMatchObject(asked);
  const real = await sdk.contacts.import({ rows, list: list.id, startAutomations: true });
  expect(real).toMatchObject({ joined: 2, asked: 0, automations: [{ id, name }] });
  expect((await sdk.automations.entries(id)).data).toHaveLength(real.automations[0]?.contacts ?? 0);
  expect(dry).toMatchObject({ joined: real.joined, asked: real.asked, automations: real.automations });
  await expect(sdk.contacts.import({ rows, list: "lst_none", dryRun: true })).rejects.toMatchObject({ code: "not_found" });
  expect(await sdk.contacts.import({ rows, list: list.id })).toMatchObject({ joined: 0, automations: [] });
});

test("tags and lists start automations for the contacts a call names, and not where it says so; writing rules starts none", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const steps = [{ id: "wait", type: "delay", for: "2h" } as const];
  const connections = [{ from: "trigger", to: "wait" }];
  const list = await sdk.lists.create({ name: "News" });
  const ids: string[] = [];
  for (const trigger of [{ type: "tag.added", tag: "vip" } as const, { type: "list.joined", listId: list.id } as const]) {
    const { id } = await sdk.automations.create({ name: trigger.type, trigger, steps, connections });
    await sdk.automations.activate(id);
    ids.push(id);
  }
  for (const email of ["a@example.com", "b@example.com"]) await sdk.contacts.create({ email });
  const entered = async () => Promise.all(ids.map(async (id) => (await sdk.automations.entries(id)).data.length));
  await sdk.contacts.tag({ contacts: ["a@example.com"], add: ["vip"], startAutomations: false });
  await sdk.lists.add(list.id, { contacts: ["a@example.com"], startAutomations: false });
  expect(await entered()).toEqual([0, 0]);
  await sdk.contacts.tag({ contacts: ["b@example.com"], add: ["vip"] });
  await sdk.lists.add(list.id, { contacts: ["b@example.com"] });
  expect(await entered()).toEqual([1, 1]);
});

test("an import tags its people with the day and a number, and undoing it deletes those it created", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const day = new Date(world.clock.now()).toISOString().slice(0, 10);
  const first = await sdk.contacts.startImport({ file: "people.csv" });
  const second = await sdk.contacts.startImport({ tag: null });
  expect([first.tag, second.tag, second.name]).toEqual([`import:${day}-1`, null, `${day}-2`]);
  const list = await sdk.lists.create({ name: "News" });
  const rows = [{ email: "ada@example.com" }, { email: "gone@example.com", status: "UNSUBSCRIBED" }];
  expect(await sdk.contacts.import({ rows, import: first.id, list: list.id })).toMatchObject({ created: 2, joined: 2 });
  expect((await sdk.contacts.list({ tag: `import:${day}-1` })).pagination.total).toBe(2);
  expect(await sdk.contacts.getImport(`import:${day}-1`)).toMatchObject({
    ...{ created: 2, existing: 0, memberships: 2 },
    ...{ file: "people.csv", state: "OPEN" },
  });
  expect(await sdk.contacts.undoImport(`import:${day}-1`)).toMatchObject({ state: "UNDONE", created: 0, memberships: 0, kept: 0 });
  expect((await sdk.contacts.list()).pagination.total).toBe(0);
  expect(await suppressed(world)).toEqual([]);
  expect((await sdk.lists.get(list.id)).memberCount).toBe(0);
  expect(await sdk.contacts.undoImport(first.id)).toMatchObject({ state: "UNDONE" });
  await expect(sdk.contacts.import({ rows, import: first.id })).rejects.toMatchObject({ code: "invalid_state" });
  await expectCountsToBeTrue(world);
});

test("undoing gives existing contacts their former values, and leaves what others have changed since", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const before = await sdk.contacts.create({
    email: "ada@example.com",
    firstName: "Ada",
    lastName: "Byron",
    tags: ["vip", "old"],
    customFields: { plan: "pro", seats: 5 },
  });
  const { id, tag } = await sdk.contacts.startImport({});
  const row = {
    email: "ada@example.com",
    firstName: "ADA",
    lastName: "King",
    phone: "+1",
    tags: ["vip", "new"],
    customFields: { plan: "free", seats: 9, city: "Paris" },
    status: "UNSUBSCRIBED",
  };
  expect(await sdk.contacts.import({ rows: [row], import: id })).toMatchObject({ updated: 1 });
  expect(await sdk.contacts.get(before.id)).toMatchObject({ tags: ["vip", "new", tag], status: "UNSUBSCRIBED" });
  await sdk.contacts.update(before.id, { lastName: "Lovelace", customFields: { seats: 12 } });
  await sdk.contacts.tag({ contacts: [before.id], add: ["since"] });
  expect(await sdk.people.get("ada@example.com")).toMatchObject({ formerValues: [{ firstName: "Ada", customFields: { plan: "pro" } }] });
  await sdk.contacts.undoImport(id);
  expect(await sdk.contacts.get(before.id)).toMatchObject({
    firstName: "Ada",
    lastName: "Lovelace",
    phone: null,
    tags: ["vip", "since", "old"],
    customFields: { plan: "pro", seats: 12 },
    status: "SUBSCRIBED",
  });
  expect(await suppressed(world)).toEqual([]);
  await expectCountsToBeTrue(world);
});

test("who unsubscribed after the import stays unsubscribed, also where the file said so already", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  for (const name of ["a", "b", "c"]) await sdk.contacts.create({ email: `${name}@example.com` });
  const { id } = await sdk.contacts.startImport({});
  const rows = [
    { email: "a@example.com", status: "UNSUBSCRIBED" },
    { email: "b@example.com", firstName: "B" },
    { email: "c@example.com", status: "UNSUBSCRIBED" },
  ];
  await sdk.contacts.import({ rows, import: id });
  for (const email of ["a@example.com", "b@example.com"]) await sdk.suppressions.create({ email, reason: "unsubscribe" });
  await sdk.contacts.undoImport(id);
  expect([await statusOf(world, "a@"), await statusOf(world, "b@"), await statusOf(world, "c@")]).toEqual([
    "UNSUBSCRIBED",
    "UNSUBSCRIBED",
    "SUBSCRIBED",
  ]);
  expect(await suppressed(world)).toEqual(["a@example.com", "b@example.com"]);
});

test("a contact that two imports brought goes when both are undone, with what the first found", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  await sdk.contacts.create({ email: "old@example.com", firstName: "Zero" });
  const [first, second] = [await sdk.contacts.startImport({}), await sdk.contacts.startImport({})];
  await sdk.contacts.import({ rows: [{ email: "new@example.com" }, { email: "old@example.com", firstName: "One" }], import: first.id });
  await sdk.contacts.import({ rows: [{ email: "new@example.com" }, { email: "old@example.com", firstName: "Two" }], import: second.id });
  const rows = { created: 0, updated: 0, unchanged: 0, skipped: 0, failed: 0 };
  expect(await sdk.contacts.getImport(first.id)).toMatchObject({ rows: { ...rows, created: 1, updated: 1 } });
  expect(await sdk.contacts.getImport(second.id)).toMatchObject({ rows: { ...rows, updated: 1, unchanged: 1 } });
  expect(await sdk.contacts.undoImport(first.id)).toMatchObject({ kept: 1 });
  const names = async () => (await sdk.contacts.list({ search: "@example.com" })).data.map(({ email, firstName }) => [email, firstName]);
  expect(await names()).toEqual([
    ["new@example.com", null],
    ["old@example.com", "Two"],
  ]);
  await sdk.contacts.undoImport(second.id);
  expect(await names()).toEqual([["old@example.com", "Zero"]]);
  await expectCountsToBeTrue(world);
});

test("imports leave what was there before, in whatever order they sent their rows and are undone", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const orders = [0, 1, 2].flatMap((a) => [0, 1, 2].filter((b) => b !== a).map((b) => [a, b, 3 - a - b]));
  for (const [i, sent] of orders.entries())
    for (const [j, undone] of orders.entries()) {
      if ((i + j) % inject("oneCaseIn") > 0) continue;
      const email = `ada${i}${j}@example.com`;
      const about = `sent ${sent}, undone ${undone}`;
      const { id } = await sdk.contacts.create({ email, firstName: "Ada", tags: ["vip"], customFields: { plan: "pro" } });
      const imports: string[] = [];
      for (const n of [0, 1, 2]) imports[n] = (await sdk.contacts.startImport({})).id;
      for (const n of sent) {
        const rows = [{ email, firstName: `${n}`, tags: [`t${n}`], customFields: { plan: `${n}`, city: `${n}` } }];
        await sdk.contacts.import({ rows, import: imports[n] as string });
      }
      for (const [at, n] of undone.entries()) {
        await sdk.contacts.undoImport(imports[n] as string);
        const left = undone.slice(at + 1);
        expect((await sdk.contacts.get(id)).firstName, about).toBe(`${sent.findLast((one) => left.includes(one)) ?? "Ada"}`);
      }
      const { tags, customFields } = await sdk.contacts.get(id);
      expect({ tags, customFields }, about).toEqual({ tags: ["vip"], customFields: { plan: "pro" } });
    }
});

test("what somebody has changed between two imports comes back when the later one is undone, whatever becomes of the first", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const { id } = await sdk.contacts.create({ email: "ada@example.com", firstName: "Ada", customFields: { plan: "pro" } });
  const [first, second] = [await sdk.contacts.startImport({}), await sdk.contacts.startImport({})];
  const row = (value: string) => ({ email: "ada@example.com", firstName: value, customFields: { plan: value } });
  await sdk.contacts.import({ rows: [row("One")], import: first.id });
  await sdk.contacts.update(id, { firstName: "Countess", customFields: { plan: "gift" } });
  await sdk.contacts.import({ rows: [row("Two")], import: second.id });
  await sdk.contacts.undoImport(first.id);
  expect(await sdk.contacts.get(id)).toMatchObject({ firstName: "Two" });
  await sdk.contacts.undoImport(second.id);
  expect(await sdk.contacts.get(id)).toMatchObject({ firstName: "Countess", customFields: { plan: "gift" } });
});

test("no import begins with the tag of one that is being undone", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const { id } = await sdk.contacts.startImport({ tag: "fair" });
  const { db } = world.app.deps;
  const setState = (state: "UNDOING" | "UNDONE") =>
    db.tx(async (tx) => void (await tx.update(tx.t.contactImports).set({ state }).where(eq(tx.t.contactImports.id, id))));
  await setState("UNDOING");
  await expect(sdk.contacts.startImport({ tag: "fair" })).rejects.toMatchObject({
    code: "invalid_state",
    hint: expect.stringContaining("get-import fair"),
  });
  await sdk.contacts.startImport({ tag: "other" });
  await setState("UNDONE");
  await sdk.contacts.startImport({ tag: "fair" });
});

test("a large import is undone in the background, and nothing is kept of one after a week", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const { id, tag } = await sdk.contacts.startImport({});
  const rows = Array.from({ length: 450 }, (_, i) => ({ email: `r${i}@example.com` }));
  await sdk.contacts.import({ rows, import: id });
  expect(await sdk.contacts.undoImport(id)).toMatchObject({ state: "UNDOING", created: 250 });
  await world.settle();
  expect(await sdk.contacts.getImport(id)).toMatchObject({ state: "UNDONE", created: 0 });
  expect((await sdk.contacts.list()).pagination.total).toBe(0);
  await world.clock.advance("8d");
  await expect(sdk.contacts.undoImport(tag as string)).rejects.toMatchObject({ code: "not_found" });
  expect((await sdk.contacts.imports()).data).toEqual([]);
});

test("an import that is being undone when its week is over is undone whole", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const { db, queue } = world.app.deps;
  const { id } = await sdk.contacts.startImport({});
  await sdk.contacts.import({ rows: Array.from({ length: 450 }, (_, i) => ({ email: `r${i}@example.com` })), import: id });
  // The server is down between the answer and the next part.
  await db.tx(async (tx) => void (await tx.update(tx.t.contactImports).set({ state: "UNDOING" }).where(eq(tx.t.contactImports.id, id))));
  await world.clock.advance("8d");
  await db.tx((tx) => queue.enqueue(tx, { kind: UNDO_JOB, payload: { importId: id } }).then(() => undefined));
  await world.settle();
  expect((await sdk.contacts.list()).pagination.total).toBe(0);
  await world.clock.advance("2h");
  expect(await db.read.select().from(db.read.t.contactImports)).toEqual([]);
});
