import type { ServerResponse } from "node:http";
import { eq } from "drizzle-orm";
import { expect, onTestFinished, test, vi } from "vitest";
import { asHeld } from "../../test/plain-event.ts";
import { receiver } from "../../test/receiver.ts";
import { StorageUnavailable } from "../db/errors.ts";
import * as events from "../events/events.ts";
import { createWorld, type TestWorld } from "../testing.ts";

const { deleteEvents, recordEvents } = events;

/** Real time of a world that passes when it is told to. */
function passTime({ app: { deps } }: TestWorld): (ms: number) => void {
  const { clock } = deps;
  let passed = 0;
  const real = { ...clock.real, now: () => clock.real.now() + passed };
  Object.assign(deps, { clock: Object.create(clock, { real: { value: real } }) });
  return (ms) => {
    passed += ms;
  };
}

test("events are kept for as long as --keep says, with their deliveries, and their numbers go on", async () => {
  await using world = await createWorld({ flags: { keep: "events=30" } });
  await using hook = await receiver();
  const { sdk, app, workspaceId } = world;
  const { db } = app.deps;
  await sdk.webhooks.create({ url: hook.url });
  await db.tx((tx) =>
    recordEvents(
      tx,
      app.deps,
      // More than a sweep deletes at a time.
      asHeld(
        Array.from({ length: 450 }, (_, i) => ({ workspaceId, type: "email.sent" as const, at: app.deps.clock.now(), emailId: `em_${i}` })),
      ),
    ),
  );
  await world.clock.advance("29d");
  expect((await sdk.events.list()).pagination.total).toBe(450);
  await world.clock.advance("20d");
  await sdk.contacts.create({ email: "ada@example.com" });
  // On Postgres the events of January go once all of January is 30 days old.
  await world.clock.advance("15d");
  expect((await sdk.events.list()).data.map((e) => [e.type, e.sequence])).toEqual([["contact.created", 451]]);
  expect(await db.read.$count(db.read.t.webhookDeliveries)).toBe(1);
  await sdk.contacts.create({ email: "grace@example.com" });
  expect((await sdk.events.list()).data[0]?.sequence).toBe(452);
});

test("erasing a person deletes the deliveries about them, with what receivers answered", async () => {
  await using world = await createWorld();
  await using hook = await receiver();
  const { sdk, app } = world;
  hook.react =
    ({ event }) =>
    (response) =>
      response.writeHead(event.type === "email.sent" ? 500 : 200).end(`thanks for ${event.to}`);
  const { id } = await sdk.webhooks.create({ url: hook.url });
  await sdk.contacts.create({ email: "canary@example.com", firstName: "Canary" });
  await sdk.emails.send({ from: "Acme <hello@acme.example>", to: "canary@example.com", subject: "Hello", text: "It works." });
  await sdk.emails.send({ from: "Acme <hello@acme.example>", to: "ada@example.com", subject: "Hello", text: "It works." });
  await world.settle();
  await world.clock.advance("1m");
  const { read } = app.deps.db;
  const stored = async (): Promise<string> =>
    JSON.stringify([await read.select().from(read.t.webhookDeliveries), await read.select().from(read.t.webhookAttempts)]).toLowerCase();
  expect(await stored()).toContain("canary@example.com");
  await sdk.people.erase("canary@example.com");
  expect(await stored()).not.toContain("canary");
  hook.received.length = 0;
  await world.clock.advance("3d");
  // Events that waited for their next attempt are not sent any more.
  expect(JSON.stringify(hook.received).toLowerCase()).not.toContain("canary");
  expect((await sdk.webhooks.deliveries(id)).data.length).toBeGreaterThan(0);
});

test("what waits for a slow receiver is not sent any more once the person it names was erased", async () => {
  await using world = await createWorld();
  await using hook = await receiver();
  const { sdk, app, workspaceId } = world;
  const pass = passTime(world);
  const { clock } = app.deps;
  const { id } = await sdk.webhooks.create({ url: hook.url, events: ["email.opened"] });
  const mail = { from: "Acme <hello@acme.example>", to: "canary@example.com", subject: "Hello", text: "It works." };
  const { id: emailId } = (await sdk.emails.send(mail)) as { id: string };
  await world.settle();
  const first = Promise.withResolvers<ServerResponse>();
  hook.react = () => (response) => first.resolve(response);
  const opened = { workspaceId, type: "email.opened" as const, at: clock.now(), emailId };
  await app.deps.db.tx((tx) => recordEvents(tx, app.deps, asHeld(Array.from({ length: 10 }, () => opened))));
  const response = await first.promise;
  hook.react = () => 200;
  await sdk.people.erase("canary@example.com");
  pass(501);
  response.end();
  await world.settle();
  expect(hook.received.map(({ event }) => event.to)).toEqual(["canary@example.com"]);
  // The stream goes on.
  await app.deps.db.tx((tx) => recordEvents(tx, app.deps, asHeld([opened])));
  await world.settle();
  expect(hook.received.map(({ event }) => event.to)).toEqual(["canary@example.com", null]);
  expect((await sdk.webhooks.deliveries(id)).data).toMatchObject([{ state: "delivered" }]);
});

test("events that cannot be read again for want of the database go out when it is back, not a minute later", async () => {
  await using world = await createWorld();
  await using hook = await receiver();
  const { sdk, app, workspaceId } = world;
  const pass = passTime(world);
  await sdk.webhooks.create({ url: hook.url, events: ["email.opened"] });
  const first = Promise.withResolvers<ServerResponse>();
  hook.react = () => (response) => first.resolve(response);
  const opened = { workspaceId, type: "email.opened" as const, at: app.deps.clock.now(), emailId: "em_1" };
  await app.deps.db.tx((tx) => recordEvents(tx, app.deps, asHeld([opened, opened, opened])));
  const response = await first.promise;
  hook.react = () => 200;
  const unavailable = vi.spyOn(events, "readByKeys").mockRejectedValueOnce(new StorageUnavailable("The disk is full."));
  onTestFinished(() => unavailable.mockRestore());
  pass(501);
  response.end();
  await world.settle();
  expect(unavailable).toHaveBeenCalled();
  expect(hook.received).toHaveLength(3);
});

test("an event that is gone before its turn is cancelled, and the next one goes out", async () => {
  await using world = await createWorld();
  await using hook = await receiver(() => 500);
  const { sdk, app, workspaceId } = world;
  const { db } = app.deps;
  const { id } = await sdk.webhooks.create({ url: hook.url });
  const record = (n: number) =>
    db.tx((tx) =>
      recordEvents(
        tx,
        app.deps,
        asHeld(Array.from({ length: n }, () => ({ workspaceId, type: "email.sent" as const, at: app.deps.clock.now(), emailId: "em_1" }))),
      ),
    );
  await record(2);
  await world.settle();
  // Deleted without its deliveries, as no code of ours does.
  const [first] = await db.read.select().from(db.read.t.events).orderBy(db.read.t.events.sequence);
  await db.tx((tx) => deleteEvents(tx, eq(tx.t.events.sequence, first?.sequence ?? 0)));
  hook.react = () => 200;
  hook.received.length = 0;
  await world.clock.advance("1h");
  expect(hook.received.map(({ event }) => event.sequence)).toEqual([2]);
  expect((await sdk.webhooks.deliveries(id)).data.map((d) => d.state)).toEqual(["delivered", "cancelled"]);
});
