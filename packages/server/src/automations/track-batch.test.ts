import { expect, test } from "vitest";
import { ask } from "../../test/scenario.ts";
import { createWorld, type TestWorld } from "../testing.ts";

const MINUTE = 60_000;

const listTracked = async (world: TestWorld) => (await world.sdk.events.list({ type: "contact.tracked", limit: 100 })).data;

test("a batch answers each event by its index, and stores those that are right", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const ada = await sdk.contacts.create({ email: "ada@example.com", externalId: "1" });
  const now = world.clock.now();
  const at = (ms: number): string => new Date(now + ms).toISOString();
  const done = await sdk.events.trackBatch({
    events: [
      { name: "purchase", contact: "1", value: 10, currency: "USD", properties: { order: "a" } },
      { name: "purchase", contact: "ADA@example.com", at: at(-90 * 24 * 60 * MINUTE) },
      { name: "purchase", contact: "nobody@example.com" },
      { name: "purchase", contact: "2" },
      { name: "purchase", contact: ada.id, value: 1 },
      { name: "", contact: ada.id },
      { name: "purchase", contact: ada.id, at: at(6 * MINUTE) },
      { name: "purchase", contact: ada.id, at: at(4 * MINUTE) },
      null,
    ],
  });
  expect(done).toMatchObject({ tracked: 3, repeated: 0, failed: 6, created: 0 });
  expect(done.results.map((one) => one.charAt(0)).join("")).toBe("ttffffftf");
  expect(done.errors.map(({ index, path, code }) => `${index} ${path} ${code}`)).toEqual([
    "2 contact not_found",
    "3 contact not_found",
    "4 currency required",
    "5 name too_small",
    "6 at in_future",
    "8  invalid_type",
  ]);
  const events = await listTracked(world);
  expect(events).toHaveLength(3);
  expect(events.every(({ externalId }) => externalId === "1")).toBe(true);
  // A clock that is a little fast means now.
  expect(events.map((event) => Date.parse(event.at) - now).sort((a, b) => a - b)).toEqual([-90 * 24 * 60 * MINUTE, 0, 0]);
});

test("an event with an id is tracked once: in one batch, again, alone, and by many at once", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  await sdk.contacts.create({ email: "ada@example.com" });
  const event = (id: string) => ({ id, name: "purchase", contact: "ada@example.com" });
  expect((await sdk.events.trackBatch({ events: [event("a"), event("b"), event("a")] })).results).toEqual([
    "tracked",
    "tracked",
    "repeated",
  ]);
  expect(await sdk.events.track(event("a"))).toMatchObject({ repeated: true });
  expect(await sdk.events.track(event("c"))).toMatchObject({ repeated: false });
  // An event that failed does not take its id.
  await sdk.events.trackBatch({ events: [{ ...event("d"), contact: "nobody" }] });
  expect(await sdk.events.track(event("d"))).toMatchObject({ repeated: false });
  const events = Array.from({ length: 30 }, (_, i) => event(`race-${i}`));
  const answers = await Promise.all(
    Array.from({ length: 6 }, (_, i) => sdk.events.trackBatch({ events: i % 2 === 0 ? events : events.toReversed() })),
  );
  expect(answers.reduce((sum, { tracked }) => sum + tracked, 0)).toBe(30);
  expect(answers.reduce((sum, { repeated }) => sum + repeated, 0)).toBe(150);
  expect(await listTracked(world)).toHaveLength(34);
});

test("contacts are created when asked, by addresses alone, with the status that fits", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  await sdk.suppressions.create({ email: "gone@example.com", reason: "unsubscribe" });
  const events = ["new@example.com", "NEW@example.com", "gone@example.com", "user_7", "no@no@"].map((contact) => ({
    name: "seen",
    contact,
  }));
  const done = await sdk.events.trackBatch({ events, createContacts: true });
  expect(done).toMatchObject({ tracked: 3, failed: 2, created: 2 });
  expect(done.errors.map(({ index, code }) => `${index} ${code}`)).toEqual(["3 not_found", "4 invalid_email"]);
  expect(await sdk.contacts.get("new@example.com")).toMatchObject({ status: "SUBSCRIBED" });
  expect(await sdk.contacts.get("gone@example.com")).toMatchObject({ status: "UNSUBSCRIBED" });
  // Nobody is created for an event that is refused.
  const future = new Date(world.clock.now() + 60 * MINUTE).toISOString();
  await sdk.events.trackBatch({ events: [{ name: "seen", contact: "late@example.com", at: future }], createContacts: true });
  expect((await sdk.contacts.list()).pagination.total).toBe(2);
  const { key } = await sdk.keys.create({ name: "events only", permissions: ["events:write"] });
  const refused = await ask(world, { key, path: "/api/v1/track/batch", body: { events, createContacts: true } });
  expect(refused.status).toBe(403);
});

test("erasing a person forgets their events with the ids, and creates nobody again unasked", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  await sdk.contacts.create({ email: "ada@example.com", externalId: "1" });
  await sdk.events.trackBatch({ events: [{ id: "order-of-ada", name: "purchase", contact: "1" }] });
  await sdk.people.erase("1");
  const { read } = world.app.deps.db;
  expect(await read.select().from(read.t.trackedIds)).toEqual([]);
  const again = await sdk.events.trackBatch({ events: [{ id: "order-of-ada", name: "purchase", contact: "1" }] });
  expect(again).toMatchObject({ failed: 1, errors: [{ code: "not_found" }] });
});

test("events of the past start, end and reach nothing; those of now do", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const automation = await sdk.automations.create({
    name: "Thanks",
    trigger: { type: "event", name: "purchase" },
    steps: [{ id: "wait", type: "delay", for: "1d" }],
    connections: [{ from: "trigger", to: "wait" }],
  });
  await sdk.automations.activate(automation.id);
  for (const email of ["past@example.com", "now@example.com"]) await sdk.contacts.create({ email });
  const at = new Date(world.clock.now() - 6 * MINUTE).toISOString();
  await sdk.events.trackBatch({
    events: [
      { name: "purchase", contact: "past@example.com", at },
      { name: "purchase", contact: "now@example.com" },
    ],
  });
  await world.settle();
  const { data } = await sdk.automations.entries(automation.id);
  expect(data.map(({ contactId }) => contactId)).toEqual([(await sdk.contacts.get("now@example.com")).id]);
  expect((await sdk.automations.entries(automation.id, { contact: "past@example.com" })).data).toEqual([]);
});

test("too many events are refused as a whole, too large ones alone, and a full batch is taken once", async () => {
  await using world = await createWorld();
  await world.sdk.contacts.create({ email: "ada@example.com" });
  const event = { name: "seen", contact: "ada@example.com" };
  const path = "/api/v1/track/batch";
  expect((await ask(world, { path, body: { events: Array.from({ length: 1001 }, () => event) } })).status).toBe(400);
  expect((await ask(world, { path, body: { events: [] } })).status).toBe(400);
  const large = { ...event, properties: { text: "x".repeat(15_000) } };
  expect((await ask(world, { path, body: { events: Array.from({ length: 700 }, () => large) } })).status).toBe(200);
  const tooLarge = { ...event, properties: { text: "x".repeat(17_000) } };
  expect(await world.sdk.events.trackBatch({ events: [tooLarge, event] })).toMatchObject({
    tracked: 1,
    errors: [{ index: 0, code: "too_big" }],
  });
  const full = Array.from({ length: 1000 }, (_, i) => ({
    ...event,
    id: `i${i}`,
    value: i,
    currency: "USD",
    properties: { a: 1, b: "2", c: true },
  }));
  expect(await world.sdk.events.trackBatch({ events: full })).toMatchObject({ tracked: 1000 });
  expect(await world.sdk.events.trackBatch({ events: full })).toMatchObject({ repeated: 1000 });
});
