import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { expectCountsToBeTrue } from "../../test/recount.ts";
import { ask } from "../../test/scenario.ts";
import { createWorld, type TestWorld } from "../testing.ts";

const at50 = <T>(work: (i: number) => Promise<T>): Promise<T[]> => Promise.all(Array.from({ length: 50 }, (_, i) => work(i)));
const spelled = (i: number): string => (i % 2 === 0 ? "ada@example.com" : "ADA@Example.COM");
const tally = (statuses: number[]): Record<number, number> => {
  const sums: Record<number, number> = {};
  for (const status of statuses) sums[status] = (sums[status] ?? 0) + 1;
  return sums;
};

const only = async (world: TestWorld) => {
  const { data, pagination } = await world.sdk.contacts.list();
  expect(pagination.total).toBe(1);
  expect(data).toHaveLength(1);
  return data[0];
};

test("of 50 concurrent creates one succeeds and 49 find a duplicate", async () => {
  await using world = await createWorld();
  const answers = await at50((i) => ask(world, { path: "/api/v1/contacts", body: { email: spelled(i), tags: ["x"] } }));
  expect(tally(answers.map((a) => a.status))).toEqual({ 201: 1, 409: 49 });
  await only(world);
  await expectCountsToBeTrue(world);
});

test("of 50 concurrent upserts one creates and 49 update", async () => {
  await using world = await createWorld();
  const answers = await at50((i) =>
    ask(world, { path: "/api/v1/v1/contacts", body: { email: spelled(i), customFields: { [`f${i}`]: i } } }),
  );
  expect(tally(answers.map((a) => a.status))).toEqual({ 200: 49, 201: 1 });
  const contact = await only(world);
  // Each has set its own field, and none has taken another one's back.
  expect(Object.keys(contact?.customFields ?? {})).toHaveLength(50);
  await expectCountsToBeTrue(world);
});

test("50 concurrent replacements of the tags of one contact leave exactly one of the sets", async () => {
  await using world = await createWorld();
  const { id } = await world.sdk.contacts.create({ email: "ada@example.com", tags: ["old", "older"] });
  const set = (i: number): string[] => ["all", `even ${i % 2}`, `third ${i % 3}`, `own ${i}`];
  await at50((i) => world.sdk.contacts.update(id, { tags: set(i), status: i % 7 === 0 ? "UNSUBSCRIBED" : "SUBSCRIBED" }));
  const { tags } = await world.sdk.contacts.get(id);
  const winner = Number(tags.find((tag) => tag.startsWith("own"))?.slice(4));
  expect(tags).toEqual(set(winner));
  for (let i = 0; i < 50; i += 1) expect((await world.sdk.contacts.list({ tag: `own ${i}` })).pagination.total).toBe(i === winner ? 1 : 0);
  const { contactTags: t } = world.app.deps.db.read.t;
  const index = await world.app.deps.db.read.select().from(t).where(eq(t.workspaceId, world.workspaceId));
  expect(index.map((row) => row.tagKey).sort()).toEqual(tags.map((tag) => tag.toUpperCase()).sort());
  await expectCountsToBeTrue(world);
});

test("of 50 concurrent deletions one succeeds", async () => {
  await using world = await createWorld();
  const { id } = await world.sdk.contacts.create({ email: "ada@example.com", tags: ["x"] });
  const answers = await at50(() => ask(world, { method: "DELETE", path: `/api/v1/contacts/${id}` }));
  expect(tally(answers.map((a) => a.status))).toEqual({ 200: 1, 404: 49 });
  await expectCountsToBeTrue(world);
});

test("concurrent imports of the same rows create each contact once", async () => {
  await using world = await createWorld();
  const rows = Array.from({ length: 40 }, (_, i) => ({ email: `r${i}@example.com`, tags: ["in"] }));
  const outcomes = await Promise.all(Array.from({ length: 8 }, () => world.sdk.contacts.import({ rows })));
  expect(outcomes.reduce((sum, o) => sum + o.created, 0)).toBe(40);
  expect(outcomes.reduce((sum, o) => sum + o.unchanged, 0)).toBe(7 * 40);
  expect((await world.sdk.contacts.list({ tag: "IN" })).pagination.total).toBe(40);
  await expectCountsToBeTrue(world);
});
