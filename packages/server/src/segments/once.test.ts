import type { SegmentRule } from "@mailsvc/sdk/contract";
import { describe, expect, test } from "vitest";
import { listContactEvents } from "../events/events.ts";
import { createWorld, type TestWorld } from "../testing.ts";

const vip: SegmentRule = { field: "tags", operator: "contains", value: "vip" };

const eventsOf = async ({ app }: TestWorld, contactId: string): Promise<string[]> =>
  (await listContactEvents(app.deps.db.read, contactId))
    .filter((e) => e.type.startsWith("segment."))
    .map((e) => `${e.type} ${e.data?.cause}`);

describe("exactly once", () => {
  test("fifty concurrent tags of one contact make it enter once", async () => {
    await using world = await createWorld();
    const { sdk } = world;
    const ada = await sdk.contacts.create({ email: "ada@example.com" });
    const made = await sdk.segments.create({ name: "s", rules: vip });
    await world.settle();
    await Promise.all(Array.from({ length: 50 }, (_, i) => sdk.contacts.update(ada.id, { tags: ["vip", `t${i}`] })));
    expect(await eventsOf(world, ada.id)).toEqual(["segment.entered contact"]);
    expect(await sdk.segments.get(made.id)).toMatchObject({ memberCount: 1 });
  });

  test("concurrent changes of different tables about one contact do not miss each other", async () => {
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

  test("concurrent changes of contacts and rules converge", async () => {
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
      // The same event never twice in a row, and the last event is the final state.
      expect(events.filter((e, n) => e === events[n - 1])).toEqual([]);
      expect(events.at(-1) === "segment.entered").toBe(i % 3 === 0);
    }
  });

  test("a segment built while contacts come and go ends with those that match", async () => {
    await using world = await createWorld();
    const { sdk } = world;
    for (const k of [0, 1, 2])
      await sdk.contacts.import({ rows: Array.from({ length: 800 }, (_, i) => ({ email: `p${k}-${i}@example.com`, tags: ["vip"] })) });
    const some = (await sdk.contacts.list({ limit: 40 })).data;
    const made = await sdk.segments.create({ name: "s", rules: vip });
    await Promise.all(some.map(({ id }, i) => (i % 2 ? sdk.contacts.delete(id) : sdk.contacts.update(id, { tags: [] }))));
    await world.clock.advance("2m");
    expect(await sdk.segments.get(made.id)).toMatchObject({ state: "READY", memberCount: 2360 });
    expect((await sdk.segments.contacts(made.id)).pagination.total).toBe(2360);
    expect((await sdk.segments.preview({ rules: vip })).count).toBe(2360);
  });
});
