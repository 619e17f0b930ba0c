import type { Email } from "@mailsvc/sdk";
import { isNotNull } from "drizzle-orm";
import { expect, test } from "vitest";
import { createWorld, type TestWorld } from "../testing.ts";

const hello = { from: "Acme <hello@acme.test>", subject: "Hello", text: "It works." };

/** A world in which requests wait, so that emails are accepted without entering the indexes of the filters. */
async function crowdedWorld(): Promise<TestWorld> {
  const world = await createWorld();
  Object.assign(world.app.deps, { overloaded: () => true });
  return world;
}

async function send(world: TestWorld, to: string): Promise<string> {
  return ((await world.sdk.emails.send({ ...hello, to })) as { id: string }).id;
}

async function list(world: TestWorld, filter: Record<string, unknown>): Promise<{ ids: string[]; total: number }> {
  const { data, pagination } = await world.sdk.emails.list(filter);
  return { ids: data.map((email: Email) => email.id), total: pagination.total };
}

test("emails accepted under load are found by each filter while they wait, among those in the indexes", async () => {
  await using world = await crowdedWorld();
  const listed = await send(world, "ada@example.com");
  await world.settle();
  await world.app.deps.queue.stop();
  const ada = await send(world, "Ada@example.com");
  const bob = await send(world, "bob@example.com");
  Object.assign(world.app.deps, { overloaded: () => false });
  const last = await send(world, "ada@example.com");
  const newest = [last, ada, listed];
  expect(await list(world, { to: "ada@example.com" })).toEqual({ ids: newest, total: 3 });
  expect(await list(world, { to: "ada@example.com", status: "queued" })).toEqual({ ids: [last, ada], total: 2 });
  expect(await list(world, { to: "ada@example.com", status: "delivered" })).toEqual({ ids: [listed], total: 1 });
  expect(await list(world, { to: "ada@example.com", inDoubt: false })).toEqual({ ids: newest, total: 3 });
  expect(await list(world, { status: "queued" })).toEqual({ ids: [last, bob, ada], total: 3 });
  expect(await list(world, { inDoubt: true })).toEqual({ ids: [], total: 0 });
  expect(await list(world, {})).toEqual({ ids: [last, bob, ada, listed], total: 4 });
  // Page by page, by number and by cursor.
  const pages = await Promise.all([1, 2, 3].map((page) => list(world, { to: "ada@example.com", limit: 1, page })));
  expect(pages.flatMap(({ ids }) => ids)).toEqual(newest);
  const first = await world.sdk.emails.list({ to: "ada@example.com", limit: 1 });
  expect((await list(world, { to: "ada@example.com", cursor: first.pagination.nextCursor })).ids).toEqual([ada, listed]);
  const person = await world.sdk.people.get("ada@example.com");
  expect(person.emails.map(({ id }) => id)).toEqual(newest);
});

test("an email enters the indexes with the first change of its status", async () => {
  await using world = await crowdedWorld();
  const delivered = await send(world, "ada@example.com");
  await world.settle();
  await world.app.deps.queue.stop();
  const cancelled = await send(world, "ada@example.com");
  const waiting = await send(world, "ada@example.com");
  await world.sdk.emails.cancel(cancelled);
  const { read } = world.app.deps.db;
  const { emails } = read.t;
  expect(await read.select({ id: emails.id }).from(emails).where(isNotNull(emails.unlisted))).toEqual([{ id: waiting }]);
  expect(await list(world, { to: "ada@example.com" })).toEqual({ ids: [waiting, cancelled, delivered], total: 3 });
  expect(await list(world, { status: "cancelled" })).toEqual({ ids: [cancelled], total: 1 });
});

test("a person's emails are erased while they wait", async () => {
  await using world = await crowdedWorld();
  await world.app.deps.queue.stop();
  await send(world, "ada@example.com");
  const bob = await send(world, "bob@example.com");
  await world.sdk.people.erase("ada@example.com");
  expect(await list(world, {})).toEqual({ ids: [bob], total: 1 });
});

test("scheduled emails, and emails accepted without a crowd, are in the indexes at once", async () => {
  await using world = await crowdedWorld();
  await world.sdk.emails.send({ ...hello, to: "ada@example.com", scheduledAt: "2026-01-02T00:00:00Z" });
  Object.assign(world.app.deps, { overloaded: () => false });
  await world.app.deps.queue.stop();
  await send(world, "ada@example.com");
  const { read } = world.app.deps.db;
  expect(await read.$count(read.t.emails, isNotNull(read.t.emails.unlisted))).toBe(0);
});
