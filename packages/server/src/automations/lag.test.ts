import type { NewAutomation } from "@mailsvc/sdk/contract";
import { expect, test } from "vitest";
import { createWorld, type TestWorld } from "../testing.ts";

const HOUR_LONG: Pick<NewAutomation, "steps" | "connections"> = {
  steps: [{ id: "pause", type: "delay", for: "1h" }],
  connections: [{ from: "trigger", to: "pause" }],
};

/** Lets something happen while readers stand still, as behind a long queue or in a process that died before they went on. */
async function unread(world: TestWorld, work: () => Promise<void>): Promise<void> {
  const { queue, eventStream } = world.app.deps;
  await world.settle();
  const loop = eventStream as typeof eventStream & { start(): void; stop(): Promise<void> };
  await loop.stop();
  await work();
  loop.start();
  await queue.idle();
}

async function track({ sdk }: TestWorld, contact: string, name: string): Promise<void> {
  await sdk.events.track({ contact, name });
}

test("what happened before an automation was activated makes nobody enter, also if it is read later; what happens after it does", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  for (const name of ["ada", "bea"]) await sdk.contacts.create({ email: `${name}@example.com` });
  const { id } = await sdk.automations.create({ name: "Bought", trigger: { type: "event", name: "bought" }, ...HOUR_LONG });
  await unread(world, async () => {
    await track(world, "ada@example.com", "bought");
    await sdk.automations.activate(id);
    await track(world, "bea@example.com", "bought");
  });
  const entries = await sdk.automations.entries(id).toArray();
  expect(entries.map(({ status }) => status)).toEqual(["ACTIVE"]);
  expect(entries[0]?.contactId).toBe((await sdk.contacts.list({ search: "bea" })).data[0]?.id);
});

test("an event that is read late counts as the goal of who was inside when it happened, and of nobody else", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  for (const name of ["ada", "bea"]) await sdk.contacts.create({ email: `${name}@example.com` });
  const trigger = { type: "event", name: "started" } as const;
  const { id } = await sdk.automations.create({ name: "Buyers", trigger, goal: { type: "event", name: "bought" }, ...HOUR_LONG });
  await sdk.automations.activate(id);
  await unread(world, async () => {
    // One buys after the start, the other one before it.
    await track(world, "ada@example.com", "started");
    await track(world, "ada@example.com", "bought");
    await track(world, "bea@example.com", "bought");
    await track(world, "bea@example.com", "started");
  });
  expect(await sdk.automations.stats(id)).toMatchObject({ entered: 2, goalConversions: 1 });
});

test("a wait ends by what happens after it began, not by what the step before it did", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const ada = await sdk.contacts.create({ email: "ada@example.com" });
  const { id } = await sdk.automations.create({
    name: "Tagged",
    trigger: { type: "event", name: "started" },
    steps: [
      { id: "tag", type: "add_tag", tag: "vip" },
      { id: "wait", type: "wait_for_event", event: { type: "tag.added", tag: "vip" }, timeout: "2d" },
      { id: "met", type: "add_tag", tag: "met" },
    ],
    connections: [
      { from: "trigger", to: "tag" },
      { from: "tag", to: "wait" },
      { from: "wait", to: "met", branch: "event" },
    ],
  });
  await sdk.automations.activate(id);
  await track(world, "ada@example.com", "started");
  await world.settle();
  expect(await sdk.automations.stats(id)).toMatchObject({ inside: 1 });
  await sdk.contacts.update(ada.id, { tags: [] });
  await unread(world, async () => {
    await sdk.contacts.update(ada.id, { tags: ["vip"] });
  });
  expect((await sdk.contacts.get(ada.id)).tags.sort()).toEqual(["met", "vip"]);
});

test("a person who is erased before what they did was read leaves nothing, and the statistics are those of the others", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const emails = ["opened+ada@simulator.mailsvc.test", "clicked+bea@simulator.mailsvc.test"];
  for (const email of emails) await sdk.contacts.create({ email });
  const { id } = await sdk.automations.create({ name: "Opened", trigger: { type: "event", name: "email.opened" }, ...HOUR_LONG });
  await sdk.automations.activate(id);
  let campaign = "";
  await unread(world, async () => {
    const fields = {
      name: "News",
      subjectLine: "News",
      fromEmail: "news@acme.example",
      html: '<p>Hello <a href="https://acme.example">you</a></p>',
    };
    campaign = (await world.campaign(fields)).id;
    await world.app.deps.queue.idle();
    await sdk.people.erase(emails[0] ?? "");
  });
  const { correct, differences } = await sdk.campaigns.verify(campaign);
  expect(differences).toEqual([]);
  expect(correct).toBe(true);
  expect(await sdk.campaigns.stats(campaign)).toMatchObject({ recipients: { total: 1 } });
  expect((await sdk.automations.entries(id).toArray()).length).toBeLessThanOrEqual(1);
});
