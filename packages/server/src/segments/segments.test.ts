import type { SegmentRule } from "@mailsvc/sdk/contract";
import { and, eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { ask } from "../../test/scenario.ts";
import { keyFor, secondWorkspace } from "../../test/tenant.ts";
import { listContactEvents } from "../events/events.ts";
import { createWorld, type TestWorld } from "../testing.ts";

const at = "/api/v1/segments";
const vip: SegmentRule = { field: "tags", operator: "contains", value: "vip" };

test("characters with a meaning in SQL patterns match themselves", async () => {
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
  (await listContactEvents(app.deps.db.read, contactId))
    .filter((e) => e.type.startsWith("segment."))
    .map((e) => `${e.type} ${e.data?.cause}`);

const emails = (page: { data: { email: string }[] }): string[] => page.data.map((c) => c.email.split("@")[0] as string);

describe("a segment", () => {
  test("has the matching contacts from the start, and follows their changes", async () => {
    await using world = await createWorld();
    const { sdk } = world;
    const ada = await sdk.contacts.create({ email: "ada@example.com", tags: ["VIP"] });
    const bob = await sdk.contacts.create({ email: "bob@example.com" });
    const made = await sdk.segments.create({ name: "VIPs", description: "d", rules: vip });
    expect(made).toMatchObject({ name: "VIPs", description: "d", rules: vip, state: "READY", memberCount: 1 });
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

  test("follows changes of lists", async () => {
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

  test("does not count a date that does not exist as a date", async () => {
    await using world = await createWorld();
    const { sdk } = world;
    const dates = ["2024-02-29", "2026-02-30", "2026-13-45", "2023-02-29", "2026-01-10T12:00:60Z", "0000-01-01", "2026-12-31T23:59:59Z"];
    for (const [i, born] of dates.entries()) await sdk.contacts.create({ email: `p${i}@example.com`, customFields: { born } });
    const rules = { field: "customFields.born", operator: "before", value: "9999-12-31" } as const;
    const { contacts } = await sdk.segments.preview({ rules });
    expect(contacts.map((contact) => contact.customFields["born"])).toEqual(["2026-12-31T23:59:59Z", "0000-01-01", "2024-02-29"]);
    const segment = await sdk.segments.create({ name: "born", rules });
    expect(segment.memberCount).toBe(3);
  });

  test("with new rules has the contacts that match them at once, and records the difference", async () => {
    await using world = await createWorld();
    const { sdk } = world;
    const ada = await sdk.contacts.create({ email: "ada@example.com", tags: ["vip"] });
    const bob = await sdk.contacts.create({ email: "bob@example.com", tags: ["old"] });
    const both = await sdk.contacts.create({ email: "both@example.com", tags: ["vip", "old"] });
    const made = await sdk.segments.create({ name: "s", rules: vip });
    await world.settle();
    const changed = await sdk.segments.update(made.id, { rules: { field: "tags", operator: "contains", value: "old" } });
    expect(changed).toMatchObject({ state: "READY", memberCount: 2 });
    expect(emails(await sdk.segments.contacts(made.id))).toEqual(["both", "bob"]);
    await world.settle();
    expect(await sdk.segments.get(made.id)).toMatchObject({ state: "READY", memberCount: 2, name: "s" });
    expect(await eventsOf(world, ada.id)).toEqual(["segment.entered rules", "segment.left rules"]);
    expect(await eventsOf(world, bob.id)).toEqual(["segment.entered rules"]);
    expect(await eventsOf(world, both.id)).toEqual(["segment.entered rules"]);
    expect(await sdk.segments.update(made.id, { name: "t" })).toMatchObject({ name: "t", state: "READY" });
  });

  test("is not changed by who has not seen the last change, also while the clock stands still", async () => {
    await using world = await createWorld();
    const { sdk } = world;
    const made = await sdk.segments.create({ name: "s", rules: vip });
    const renamed = await sdk.segments.update(made.id, { name: "theirs", revision: made.revision });
    expect(renamed.revision).toBeGreaterThan(made.revision);
    await expect(sdk.segments.update(made.id, { name: "mine", revision: made.revision })).rejects.toMatchObject({
      code: "conflict",
      status: 409,
      details: [{ path: "revision", code: "outdated" }],
    });
    expect(await sdk.segments.get(made.id)).toMatchObject({ name: "theirs", revision: renamed.revision });
    expect((await sdk.segments.list()).data[0]).toMatchObject({ revision: renamed.revision });
    expect(await sdk.segments.update(made.id, { name: "mine", revision: renamed.revision })).toMatchObject({ name: "mine" });
  });

  test("on engagement follows emails sent, delivered, opened and clicked", async () => {
    await using world = await createWorld();
    const { sdk } = world;
    const people = ["opened", "clicked", "delivered"].map((name) => `${name}@simulator.mailsvc.test`);
    for (const email of [...people, "never@example.com"]) await sdk.contacts.create({ email });
    const of = async (field: "lastSentAt" | "lastDeliveredAt" | "lastOpenedAt" | "lastClickedAt") =>
      (await sdk.segments.create({ name: field, rules: { field, operator: "withinLast", value: "3d" } })).id;
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
    await world.clock.advance("3d");
    expect(await held()).toEqual([[], [], [], []]);
  });

  test("records who enters by an email sent, delivered, opened or clicked, also deep in a rule, and at once", async () => {
    await using world = await createWorld();
    const { sdk } = world;
    const { id } = await sdk.contacts.create({ email: "clicked@simulator.mailsvc.test", tags: ["vip"] });
    const names = new Map<unknown, string>();
    for (const field of ["lastSentAt", "lastDeliveredAt", "lastOpenedAt", "lastClickedAt"] as const) {
      const never = { not: { field, operator: "exists", value: true } } as const;
      names.set((await sdk.segments.create({ name: field, rules: { all: [vip, { not: never }] } })).id, field);
    }
    await sdk.segments.create({ name: "of tags", rules: vip });
    await world.settle();
    await sdk.emails.send({ from: "a@acme.test", subject: "Hi", text: "x", to: "clicked@simulator.mailsvc.test" });
    await world.clock.advance("30m");
    const { events: t } = world.app.deps.db.read.t;
    const rows = await world.app.deps.db.read
      .select()
      .from(t)
      .where(and(eq(t.contactId, id), eq(t.type, "segment.entered")));
    const entered = rows.filter(({ data }) => data?.cause === "contact").map(({ data }) => names.get(data?.segmentId));
    expect(entered.sort()).toEqual(["lastClickedAt", "lastDeliveredAt", "lastOpenedAt", "lastSentAt"]);
  });

  test("on durations is right at any moment, and records who left within the hour", async () => {
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
    await world.clock.advance("3d");
    expect(await both()).toEqual([[], []]);
    expect(await eventsOf(world, ada.id)).toHaveLength(4);
  });

  test("that is deleted disappears at once with its members", async () => {
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
    expect([await read.$count(read.t.segmentMembers), await read.$count(read.t.counters)]).toEqual([0, 0]);
    expect(await eventsOf(world, ada.id)).toEqual(["segment.entered rules"]);
  });

  test("has stable pages, evaluated and from its members", async () => {
    await using world = await createWorld();
    const { sdk } = world;
    await sdk.contacts.import({
      rows: Array.from({ length: 450 }, (_, i) => ({ email: `p${i}@example.com`, tags: i % 3 === 0 ? ["other"] : ["vip"] })),
    });
    const made = await sdk.segments.create({ name: "s", rules: { all: [vip, { field: "email", operator: "contains", value: "p" }] } });
    const pages = async () => {
      const first = await sdk.segments.contacts(made.id, { limit: 100 });
      expect(first.pagination).toMatchObject({ total: 300, totalPages: 3, hasMore: true });
      const second = await sdk.segments.contacts(made.id, { limit: 100, cursor: first.pagination.nextCursor as string });
      const third = await sdk.segments.contacts(made.id, { limit: 100, page: 3 });
      expect(third.pagination).toMatchObject({ hasMore: false, nextCursor: null });
      expect((await sdk.segments.contacts(made.id, { page: 99 })).data).toEqual([]);
      return [first, second, third].flatMap(emails);
    };
    expect(made.state).toBe("BUILDING");
    const live = await pages();
    expect(new Set(live).size).toBe(300);
    await world.settle();
    expect((await sdk.segments.get(made.id)).state).toBe("READY");
    expect(await pages()).toEqual(live);
    expect(await sdk.segments.preview({ rules: made.rules, limit: 3 })).toMatchObject({ count: 300, contacts: [{}, {}, {}] });
    expect(await sdk.segments.preview({ rules: made.rules, limit: 0 })).toEqual({ count: 300, contacts: [] });
  });

  test("with more contacts than one chunk is built completely", async () => {
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

test("segments of other workspaces cannot be seen, and each endpoint needs its permission", async () => {
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
