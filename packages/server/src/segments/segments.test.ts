import type { SegmentRule } from "@mailsvc/sdk/contract";
import { RULE_LIMITS } from "@mailsvc/sdk/contract";
import { describe, expect, test } from "vitest";
import { ask, scenarios } from "../../test/scenario.ts";
import { keyFor, secondWorkspace } from "../../test/tenant.ts";
import { eventsOfContact } from "../events/events.ts";
import { createWorld, type TestWorld } from "../testing.ts";

const at = "/api/v1/segments";
const NOBODY = "seg_00000000000000000000000000";
const vip: SegmentRule = { field: "tags", operator: "contains", value: "vip" };
const nested = (levels: number): unknown => (levels === 0 ? vip : { not: nested(levels - 1) });
const rules = (tree: unknown) => ({ name: "a", rules: tree });

scenarios(
  "segments refuse",
  [
    { name: "nobody in particular", path: at, key: null, body: rules(vip), status: 401, code: "unauthorized" },
    { name: "no rules", path: at, body: { name: "a" }, status: 400, code: "validation_error", details: ["rules required"] },
    { name: "no name", path: at, body: { rules: vip }, status: 400, details: ["name required"] },
    { name: "a field that does not exist", path: at, body: { ...rules(vip), rule: 1 }, status: 400, details: ["rule unknown_field"] },
    { name: "rules that are a list", path: at, body: rules([vip]), status: 400, details: ["rules invalid_type"] },
    { name: "rules that are nothing", path: at, body: rules(null), status: 400, details: ["rules invalid_type"] },
    { name: "an empty group", path: at, body: rules({ all: [] }), status: 400, details: ["rules.all too_small"] },
    {
      name: "a group of one rule without its brackets",
      path: at,
      body: rules({ any: vip }),
      status: 400,
      details: ["rules.any invalid_type"],
    },
    { name: "two groups in one", path: at, body: rules({ all: [vip], any: [vip] }), status: 400, details: ["rules.any unknown_field"] },
    { name: "nothing to turn round", path: at, body: rules({ not: null }), status: 400, details: ["rules.not invalid_type"] },
    {
      name: "a value of a wrong kind, deep inside",
      path: at,
      body: rules({ all: [vip, vip, { field: "createdAt", operator: "withinLast", value: 30 }] }),
      status: 400,
      details: ["rules.all[2].value invalid_value"],
      contains: ["such as 30d"],
    },
    {
      name: "a condition without a field",
      path: at,
      body: rules({ operator: "equals", value: "x" }),
      status: 400,
      details: ["rules.field required"],
    },
    {
      name: "a field nobody has",
      path: at,
      body: rules({ field: "password", operator: "equals", value: "x" }),
      status: 400,
      details: ["rules.field unknown_rule_field"],
      contains: ["customFields.<name>"],
    },
    {
      name: "a field every object has",
      path: at,
      body: rules({ field: "constructor", operator: "exists" }),
      status: 400,
      details: ["rules.field unknown_rule_field"],
    },
    {
      name: "a custom field without a name",
      path: at,
      body: rules({ field: "customFields.", operator: "exists" }),
      status: 400,
      details: ["rules.field invalid_field_name"],
    },
    {
      name: "a custom field with a quote",
      path: at,
      body: rules({ field: 'customFields.a"b', operator: "exists" }),
      status: 400,
      details: ["rules.field invalid_field_name"],
    },
    {
      name: "a custom field with U+0000",
      path: at,
      body: rules({ field: "customFields.a\0", operator: "exists" }),
      status: 400,
      details: ["rules.field invalid_field_name"],
    },
    {
      name: "an operator nobody knows",
      path: at,
      body: rules({ field: "email", operator: "like", value: "x" }),
      status: 400,
      details: ["rules.operator unknown_operator"],
      contains: ["startsWith"],
    },
    {
      name: "an operator of another kind of field",
      path: at,
      body: rules({ field: "email", operator: "gt", value: 5 }),
      status: 400,
      details: ["rules.operator unknown_operator"],
    },
    { name: "no value", path: at, body: rules({ field: "email", operator: "equals" }), status: 400, details: ["rules.value required"] },
    {
      name: "an empty value",
      path: at,
      body: rules({ field: "email", operator: "contains", value: "" }),
      status: 400,
      details: ["rules.value invalid_value"],
    },
    {
      name: "a value too long",
      path: at,
      body: rules({ field: "email", operator: "equals", value: "x".repeat(501) }),
      status: 400,
      details: ["rules.value invalid_value"],
    },
    {
      name: "a value with U+0000",
      path: at,
      body: rules({ field: "email", operator: "equals", value: "a\0" }),
      status: 400,
      details: ["rules.value invalid_characters"],
    },
    {
      name: "half a character",
      path: at,
      body: '{"name":"a","rules":{"field":"email","operator":"equals","value":"\\ud800"}}',
      status: 400,
      details: ["rules.value invalid_characters"],
    },
    {
      name: "a status that is none",
      path: at,
      body: rules({ field: "status", operator: "in", value: ["SUBSCRIBED", "GONE"] }),
      status: 400,
      details: ["rules.value[1] invalid_value"],
    },
    {
      name: "a number where none is",
      path: at,
      body: rules({ field: "customFields.n", operator: "gt", value: "5" }),
      status: 400,
      details: ["rules.value invalid_value"],
    },
    {
      name: "a number beyond all",
      path: at,
      body: '{"name":"a","rules":{"field":"customFields.n","operator":"gt","value":1e999}}',
      status: 400,
      details: ["rules.value invalid_value"],
    },
    {
      name: "a day that is none",
      path: at,
      body: rules({ field: "createdAt", operator: "before", value: "yesterday" }),
      status: 400,
      details: ["rules.value invalid_value"],
    },
    {
      name: "a time without a zone",
      path: at,
      body: rules({ field: "createdAt", operator: "before", value: "2026-01-01T10:00:00" }),
      status: 400,
      details: ["rules.value invalid_value"],
    },
    {
      name: "a length of time beyond all",
      path: at,
      body: rules({ field: "createdAt", operator: "withinLast", value: "999999999d" }),
      status: 400,
      details: ["rules.value invalid_value"],
    },
    {
      name: "an in without a list",
      path: at,
      body: rules({ field: "email", operator: "in", value: "x" }),
      status: 400,
      details: ["rules.value invalid_type"],
    },
    {
      name: "an in of nothing",
      path: at,
      body: rules({ field: "email", operator: "in", value: [] }),
      status: 400,
      details: ["rules.value too_small"],
    },
    {
      name: "an in of too much",
      path: at,
      body: rules({ field: "email", operator: "in", value: Array.from({ length: 101 }, String) }),
      status: 400,
      details: ["rules.value too_big"],
    },
    {
      name: "a list that is not there",
      path: at,
      body: rules({ any: [{ field: "lists", operator: "in", value: ["list_nope"] }] }),
      status: 400,
      details: ["rules.any[0].value[0] unknown_list"],
    },
    {
      name: "a surplus word in a condition",
      path: at,
      body: rules({ ...vip, negate: true }),
      status: 400,
      details: ["rules.negate unknown_field"],
    },
    {
      name: "a tree too deep",
      path: at,
      body: rules(nested(RULE_LIMITS.depth + 1)),
      status: 400,
      details: [`rules${".not".repeat(RULE_LIMITS.depth)} too_deep`],
    },
    {
      name: "a tree so deep that nobody looks",
      path: at,
      body: `{"name":"a","rules":${'{"not":'.repeat(5000)}1${"}".repeat(5001)}`,
      status: 400,
      code: "validation_error",
    },
    {
      name: "ten thousand conditions",
      path: at,
      body: rules({ any: Array.from({ length: 10_000 }, () => vip) }),
      status: 400,
      details: ["rules too_many_conditions"],
    },
    {
      name: "ten thousand groups of nothing",
      path: at,
      body: rules({ any: Array.from({ length: 10_000 }, () => ({ all: [] })) }),
      status: 400,
      code: "validation_error",
    },
    { name: "to preview without rules", path: `${at}/preview`, body: {}, status: 400, details: ["rules required"] },
    { name: "to preview too much", path: `${at}/preview`, body: { rules: vip, limit: 101 }, status: 400, details: ["limit too_big"] },
    {
      name: "to preview a list that is not there",
      path: `${at}/preview`,
      body: { rules: { field: "lists", operator: "contains", value: "x" } },
      status: 400,
      details: ["rules.value unknown_list"],
    },
    { name: "a segment that is not there", method: "GET", path: `${at}/${NOBODY}`, status: 404, code: "not_found" },
    { name: "to change it", method: "PATCH", path: `${at}/${NOBODY}`, body: { name: "b" }, status: 404, code: "not_found" },
    { name: "to delete it", method: "DELETE", path: `${at}/${NOBODY}`, status: 404, code: "not_found" },
    { name: "to show its contacts", method: "GET", path: `${at}/${NOBODY}/contacts`, status: 404, code: "not_found" },
  ],
  {
    afterwards: async ({ sdk }) => expect((await sdk.segments.list()).pagination.total).toBe(0),
  },
);

test("what stands for something elsewhere stands for itself here", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  for (const [i, firstName] of ["100%", "a_b", "axb", "*", "[a]", "'; drop table contacts; --", "\\"].entries())
    await sdk.contacts.create({ email: `p${i}@example.com`, firstName });
  const names = async (rule: SegmentRule) => (await sdk.segments.preview({ rules: rule })).contacts.map((c) => c.firstName);
  for (const value of ["%", "_", "*", "[", "'; DROP", "\\"])
    expect(await names({ field: "firstName", operator: "contains", value })).toHaveLength(1);
  expect(await names({ field: "firstName", operator: "equals", value: "A_B" })).toEqual(["a_b"]);
  for (const field of [
    "customFields.__proto__",
    "customFields.constructor",
    "customFields.toString",
    "customFields.$",
    "customFields.a'b",
  ] as const)
    expect(await names({ field, operator: "exists" })).toEqual([]);
});

const eventsOf = async ({ app }: TestWorld, contactId: string): Promise<string[]> =>
  (await eventsOfContact(app.deps.db.read, contactId))
    .filter((e) => e.type.startsWith("segment."))
    .map((e) => `${e.type} ${e.data?.cause}`);

const emails = (page: { data: { email: string }[] }): string[] => page.data.map((c) => c.email.split("@")[0] as string);

describe("a segment", () => {
  test("holds those who fulfil its rules from the start, and follows them as they change", async () => {
    await using world = await createWorld();
    const { sdk } = world;
    const ada = await sdk.contacts.create({ email: "ada@example.com", tags: ["VIP"] });
    const bob = await sdk.contacts.create({ email: "bob@example.com" });
    const made = await sdk.segments.create({ name: "VIPs", description: "d", rules: vip });
    expect(made).toMatchObject({ name: "VIPs", description: "d", rules: vip, state: "BUILDING", memberCount: 0 });
    // Before the job that counts them has run.
    expect(emails(await sdk.segments.contacts(made.id))).toEqual(["ada"]);
    await world.settle();
    expect(await sdk.segments.get(made.id)).toMatchObject({ state: "READY", memberCount: 1 });
    await sdk.contacts.update(bob.id, { tags: ["vip", "new"] });
    expect(emails(await sdk.segments.contacts(made.id))).toEqual(["bob", "ada"]);
    expect(await sdk.contacts.get(bob.id)).toMatchObject({ segments: [{ id: made.id, name: "VIPs" }], lists: [] });
    await sdk.contacts.update(bob.id, { firstName: "Bob" });
    await sdk.contacts.update(ada.id, { tags: [] });
    expect(await sdk.segments.get(made.id)).toMatchObject({ memberCount: 1 });
    expect(await eventsOf(world, ada.id)).toEqual(["segment.entered rules", "segment.left contact"]);
    expect(await eventsOf(world, bob.id)).toEqual(["segment.entered contact"]);
    await sdk.contacts.delete(bob.id);
    expect(await sdk.segments.get(made.id)).toMatchObject({ memberCount: 0 });
    expect(emails(await sdk.segments.contacts(made.id))).toEqual([]);
  });

  test("follows lists, too", async () => {
    await using world = await createWorld();
    const { sdk } = world;
    const ada = await sdk.contacts.create({ email: "ada@example.com" });
    const list = await sdk.lists.create({ name: "l" });
    const on = await sdk.segments.create({ name: "on", rules: { field: "lists", operator: "contains", value: list.id } });
    const off = await sdk.segments.create({ name: "off", rules: { field: "lists", operator: "exists", value: false } });
    await world.settle();
    const both = async () => [emails(await sdk.segments.contacts(on.id)), emails(await sdk.segments.contacts(off.id))];
    expect(await both()).toEqual([[], ["ada"]]);
    await sdk.lists.add(list.id, { contacts: [ada.id] });
    expect(await both()).toEqual([["ada"], []]);
    expect((await sdk.contacts.get(ada.id)).segments).toEqual([{ id: on.id, name: "on" }]);
    await sdk.lists.delete(list.id);
    await world.settle();
    expect(await both()).toEqual([[], ["ada"]]);
    expect(await eventsOf(world, ada.id)).toEqual([
      "segment.entered rules",
      "segment.entered contact",
      "segment.left contact",
      "segment.left contact",
      "segment.entered contact",
    ]);
  });

  test("whose rules change holds those who fulfil the new ones at once, and tells of the difference", async () => {
    await using world = await createWorld();
    const { sdk } = world;
    const ada = await sdk.contacts.create({ email: "ada@example.com", tags: ["vip"] });
    const bob = await sdk.contacts.create({ email: "bob@example.com", tags: ["old"] });
    const both = await sdk.contacts.create({ email: "both@example.com", tags: ["vip", "old"] });
    const made = await sdk.segments.create({ name: "s", rules: vip });
    await world.settle();
    const changed = await sdk.segments.update(made.id, { rules: { field: "tags", operator: "contains", value: "old" } });
    expect(changed.state).toBe("BUILDING");
    expect(emails(await sdk.segments.contacts(made.id))).toEqual(["both", "bob"]);
    await world.settle();
    expect(await sdk.segments.get(made.id)).toMatchObject({ state: "READY", memberCount: 2, name: "s" });
    expect(await eventsOf(world, ada.id)).toEqual(["segment.entered rules", "segment.left rules"]);
    expect(await eventsOf(world, bob.id)).toEqual(["segment.entered rules"]);
    expect(await eventsOf(world, both.id)).toEqual(["segment.entered rules"]);
    expect(await sdk.segments.update(made.id, { name: "t" })).toMatchObject({ name: "t", state: "READY" });
  });

  test("of what mail does to people follows their mail: sent, delivered, opened, clicked", async () => {
    await using world = await createWorld();
    const { sdk } = world;
    const people = ["opened", "clicked", "delivered"].map((name) => `${name}@simulator.mailsvc.test`);
    for (const email of [...people, "never@example.com"]) await sdk.contacts.create({ email });
    const of = async (field: "lastSentAt" | "lastDeliveredAt" | "lastOpenedAt" | "lastClickedAt") =>
      (await sdk.segments.create({ name: field, rules: { field, operator: "withinLast", value: "30d" } })).id;
    const ids = [await of("lastSentAt"), await of("lastDeliveredAt"), await of("lastOpenedAt"), await of("lastClickedAt")];
    const never = await sdk.segments.create({ name: "never", rules: { field: "lastOpenedAt", operator: "exists", value: false } });
    const held = async () => Promise.all(ids.map(async (id) => emails(await sdk.segments.contacts(id)).sort()));
    expect(await held()).toEqual([[], [], [], []]);
    await sdk.emails.send({ from: "a@acme.test", subject: "Hi", text: "x", to: people });
    await world.clock.advance("1h");
    const all = ["clicked", "delivered", "opened"];
    const [sent, delivered, opened, clicked] = await held();
    expect([sent, delivered]).toEqual([all, all]);
    expect(opened).toContain("opened");
    expect(opened).not.toContain("delivered");
    expect(clicked).toEqual(["clicked"]);
    expect(emails(await sdk.segments.contacts(never.id))).toContain("never");
    expect(emails(await sdk.segments.contacts(never.id))).not.toContain("opened");
    await world.clock.advance("30d");
    expect(await held()).toEqual([[], [], [], []]);
  });

  test("of days is right at any moment, and tells who left within the hour", async () => {
    await using world = await createWorld();
    const { sdk } = world;
    const ada = await sdk.contacts.create({ email: "ada@example.com", customFields: { trialEnds: "2026-01-03" } });
    const recent = await sdk.segments.create({ name: "new", rules: { field: "createdAt", operator: "withinLast", value: "1d" } });
    const soon = await sdk.segments.create({
      name: "soon",
      rules: { field: "customFields.trialEnds", operator: "withinNext", value: "1d" },
    });
    await world.settle();
    const both = async () => [emails(await sdk.segments.contacts(recent.id)), emails(await sdk.segments.contacts(soon.id))];
    expect(await both()).toEqual([["ada"], []]);
    await world.clock.advance("1d");
    await world.clock.advance("1s");
    expect(await both()).toEqual([[], ["ada"]]);
    await world.clock.advance("1h");
    expect((await eventsOf(world, ada.id)).sort()).toEqual(["segment.entered rules", "segment.entered time", "segment.left time"]);
    await world.clock.advance("30d");
    expect(await both()).toEqual([[], []]);
    expect(await eventsOf(world, ada.id)).toHaveLength(4);
  });

  test("that is deleted is gone at once, and leaves nothing behind", async () => {
    await using world = await createWorld();
    const { sdk } = world;
    const ada = await sdk.contacts.create({ email: "ada@example.com", tags: ["vip"] });
    const made = await sdk.segments.create({ name: "s", rules: vip });
    await world.settle();
    expect(await sdk.segments.delete(made.id)).toMatchObject({ id: made.id, memberCount: 1 });
    await expect(sdk.segments.get(made.id)).rejects.toMatchObject({ code: "not_found" });
    expect((await sdk.contacts.get(ada.id)).segments).toEqual([]);
    await sdk.contacts.update(ada.id, { tags: [] });
    await world.clock.advance("1d");
    const { read } = world.app.deps.db;
    expect([await read.$count(read.t.segmentMembers), await read.$count(read.t.tallies)]).toEqual([0, 0]);
    expect(await eventsOf(world, ada.id)).toEqual(["segment.entered rules"]);
  });

  test("comes in pages that hold together, live and from its index", async () => {
    await using world = await createWorld();
    const { sdk } = world;
    await sdk.contacts.import({
      rows: Array.from({ length: 45 }, (_, i) => ({ email: `p${i}@example.com`, tags: i % 3 === 0 ? ["other"] : ["vip"] })),
    });
    const made = await sdk.segments.create({ name: "s", rules: { all: [vip, { field: "email", operator: "contains", value: "p" }] } });
    const pages = async () => {
      const first = await sdk.segments.contacts(made.id, { limit: 10 });
      expect(first.pagination).toMatchObject({ total: 30, totalPages: 3, hasMore: true });
      const second = await sdk.segments.contacts(made.id, { limit: 10, cursor: first.pagination.nextCursor as string });
      const third = await sdk.segments.contacts(made.id, { limit: 10, page: 3 });
      expect(third.pagination).toMatchObject({ hasMore: false, nextCursor: null });
      expect((await sdk.segments.contacts(made.id, { page: 9 })).data).toEqual([]);
      return [first, second, third].flatMap(emails);
    };
    const live = await pages();
    expect(new Set(live).size).toBe(30);
    await world.settle();
    expect((await sdk.segments.get(made.id)).state).toBe("READY");
    expect(await pages()).toEqual(live);
    expect(await sdk.segments.preview({ rules: made.rules, limit: 3 })).toMatchObject({ count: 30, contacts: [{}, {}, {}] });
    expect(await sdk.segments.preview({ rules: made.rules, limit: 0 })).toEqual({ count: 30, contacts: [] });
  });

  test("of which there are more contacts than one step takes is built to the end", async () => {
    await using world = await createWorld();
    const { sdk } = world;
    for (let k = 0; k < 2; k += 1)
      await sdk.contacts.import({ rows: Array.from({ length: 1000 }, (_, i) => ({ email: `p${k}-${i}@example.com`, tags: ["vip"] })) });
    const made = await sdk.segments.create({ name: "s", rules: vip });
    await world.settle();
    expect(await sdk.segments.get(made.id)).toMatchObject({ state: "READY", memberCount: 2000 });
    const { read } = world.app.deps.db;
    expect(await read.$count(read.t.segmentMembers)).toBe(2000);
  });
});

describe("exactly once", () => {
  test("fifty who tag one contact at once make it enter once", async () => {
    await using world = await createWorld();
    const { sdk } = world;
    const ada = await sdk.contacts.create({ email: "ada@example.com" });
    const made = await sdk.segments.create({ name: "s", rules: vip });
    await world.settle();
    await Promise.all(Array.from({ length: 50 }, (_, i) => sdk.contacts.update(ada.id, { tags: ["vip", `t${i}`] })));
    expect(await eventsOf(world, ada.id)).toEqual(["segment.entered contact"]);
    expect(await sdk.segments.get(made.id)).toMatchObject({ memberCount: 1 });
  });

  test("changes of different tables that meet on one contact do not miss each other", async () => {
    await using world = await createWorld();
    const { sdk } = world;
    const list = await sdk.lists.create({ name: "l" });
    const made = await sdk.segments.create({ name: "s", rules: { all: [vip, { field: "lists", operator: "contains", value: list.id }] } });
    await world.settle();
    const people = await Promise.all(Array.from({ length: 20 }, (_, i) => sdk.contacts.create({ email: `p${i}@example.com` })));
    await Promise.all(people.flatMap(({ id }) => [sdk.contacts.update(id, { tags: ["vip"] }), sdk.lists.add(list.id, { contacts: [id] })]));
    expect(await sdk.segments.get(made.id)).toMatchObject({ memberCount: 20 });
    for (const { id } of people) expect(await eventsOf(world, id)).toEqual(["segment.entered contact"]);
  });

  test("contacts and rules that change at the same time come to the same in the end", async () => {
    await using world = await createWorld();
    const { sdk } = world;
    const people = await Promise.all(
      Array.from({ length: 30 }, (_, i) => sdk.contacts.create({ email: `p${i}@example.com`, tags: i % 2 ? ["vip"] : ["old"] })),
    );
    const made = await sdk.segments.create({ name: "s", rules: vip });
    const old: SegmentRule = { field: "tags", operator: "contains", value: "old" };
    await Promise.all([
      ...people.map(({ id }, i) => sdk.contacts.update(id, { tags: i % 3 ? ["vip"] : ["old"] })),
      sdk.segments.update(made.id, { rules: old }),
      sdk.segments.update(made.id, { name: "t" }),
    ]);
    await world.clock.advance("2m");
    expect(await sdk.segments.get(made.id)).toMatchObject({ state: "READY", memberCount: 10 });
    for (const [i, { id }] of people.entries()) {
      const events = (await eventsOf(world, id)).map((e) => e.split(" ")[0]);
      // Never twice the same, and where it stands in the end is what was told last.
      expect(events.filter((e, n) => e === events[n - 1])).toEqual([]);
      expect(events.at(-1) === "segment.entered").toBe(i % 3 === 0);
    }
  });

  test("a segment built while contacts come and go ends with those who fulfil it", async () => {
    await using world = await createWorld();
    const { sdk } = world;
    await sdk.contacts.import({ rows: Array.from({ length: 600 }, (_, i) => ({ email: `p${i}@example.com`, tags: ["vip"] })) });
    const some = (await sdk.contacts.list({ limit: 40 })).data;
    const made = await sdk.segments.create({ name: "s", rules: vip });
    await Promise.all(some.map(({ id }, i) => (i % 2 ? sdk.contacts.delete(id) : sdk.contacts.update(id, { tags: [] }))));
    await world.clock.advance("2m");
    expect(await sdk.segments.get(made.id)).toMatchObject({ state: "READY", memberCount: 560 });
    expect((await sdk.segments.contacts(made.id)).pagination.total).toBe(560);
    expect((await sdk.segments.preview({ rules: vip })).count).toBe(560);
  });
});

test("workspaces do not see each other's segments or contacts, and keys do what they may", async () => {
  await using world = await createWorld();
  await world.sdk.contacts.create({ email: "ada@example.com", tags: ["vip"] });
  const made = await world.sdk.segments.create({ name: "Ours", rules: vip });
  const other = await secondWorkspace(world);
  for (const [method, path, body] of [
    ["GET", `${at}/${made.id}`],
    ["PATCH", `${at}/${made.id}`, { name: "x" }],
    ["DELETE", `${at}/${made.id}`],
    ["GET", `${at}/${made.id}/contacts`],
  ] as const)
    expect((await ask(world, { method, path, key: other.apiKey, ...(body && { body }) })).status).toBe(404);
  const seen = await ask(world, { path: `${at}/preview`, key: other.apiKey, body: { rules: vip } });
  expect(await seen.json()).toEqual({ count: 0, contacts: [] });
  const reader = await keyFor(world, "segments:read");
  expect((await ask(world, { method: "GET", path: at, key: reader })).status).toBe(200);
  expect((await ask(world, { method: "GET", path: `${at}/${made.id}/contacts`, key: reader })).status).toBe(403);
  expect((await ask(world, { path: `${at}/preview`, key: reader, body: { rules: vip } })).status).toBe(403);
});
