import type { NewAutomation } from "@mailsvc/sdk/contract";
import { expect, test } from "vitest";
import { ask } from "../../test/scenario.ts";
import { createWorld, type TestWorld } from "../testing.ts";

const ADA = "ada@example.com";

/** A template whose replies are received. */
async function createTemplate({ sdk }: TestWorld, slug: string): Promise<string> {
  const { id } = await sdk.templates.create({
    name: slug,
    slug,
    subject: slug,
    text: "{{unsubscribeUrl}}",
    from: "a@acme.test",
    replyTo: "auto",
  });
  await sdk.templates.publish(id);
  return id;
}

/** Two mails with a day in between, for each new contact. */
async function startSeries(world: TestWorld, goal: NewAutomation["goal"]): Promise<string> {
  const steps = [
    { id: "one", type: "send_email" as const, templateId: await createTemplate(world, "one") },
    { id: "day", type: "delay" as const, for: "1d" },
    { id: "two", type: "send_email" as const, templateId: await createTemplate(world, "two") },
    { id: "last", type: "delay" as const, for: "1h" },
  ];
  const connections = [
    { from: "trigger", to: "one" },
    { from: "one", to: "day" },
    { from: "day", to: "two" },
    { from: "two", to: "last" },
  ];
  const { id } = await world.sdk.automations.create({ name: "Series", trigger: { type: "contact.created" }, goal, steps, connections });
  await world.sdk.automations.activate(id);
  await world.sdk.contacts.create({ email: ADA });
  await world.settle();
  return id;
}

const subjects = async (world: TestWorld) => (await world.inbox.all({ to: ADA })).map(({ subject }) => subject);

test("the goal replied ends the series of a contact who answers", async () => {
  await using world = await createWorld();
  const id = await startSeries(world, { type: "replied" });
  await world.reply(ADA, { text: "Tell me more." });
  await world.clock.advance("3d");
  expect(await subjects(world)).toEqual(["one"]);
  expect(await world.sdk.automations.get(id)).toMatchObject({ goalConversions: 1, totalEntered: 1 });
  expect((await world.sdk.automations.entries(id)).data).toMatchObject([{ status: "EXITED", reason: "replied" }]);
});

test("an automatic answer ends nothing, nor does mail that answers none", async () => {
  await using world = await createWorld();
  const id = await startSeries(world, { type: "replied" });
  await world.reply(ADA, { text: "I am away.", automatic: true });
  await world.sdk.inboundDomains.create({ domain: "in.acme.test" });
  await world.sdk.emails.send({ from: "a@in.acme.test", to: "grace@example.com", subject: "Hi", text: "Hi" });
  await world.reply("grace@example.com", { text: "I am nobody's contact." });
  await world.clock.advance("3d");
  expect(await subjects(world)).toEqual(["one", "two"]);
  expect(await world.sdk.automations.get(id)).toMatchObject({ goalConversions: 0, totalCompleted: 1 });
});

test("a reply makes a contact enter, and ends a wait", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const { id } = await sdk.automations.create({
    name: "Talk",
    trigger: { type: "replied" },
    steps: [
      { id: "again", type: "wait_for_event", event: { type: "replied" }, timeout: "7d" },
      { id: "keen", type: "add_tag", tag: "keen" },
    ],
    connections: [
      { from: "trigger", to: "again" },
      { from: "again", to: "keen", branch: "event" },
    ],
  });
  await sdk.automations.activate(id);
  const { id: contactId } = await sdk.contacts.create({ email: ADA });
  await sdk.emails.send({ from: "a@acme.test", to: ADA, subject: "Hi", text: "Hi", replyTo: "auto" });
  await world.reply(ADA, { text: "One" });
  expect(await sdk.automations.get(id)).toMatchObject({ totalEntered: 1 });
  expect((await sdk.contacts.get(contactId)).tags).toEqual([]);
  await world.clock.advance("1h");
  await world.reply(ADA, { text: "Two" });
  expect((await sdk.contacts.get(contactId)).tags).toEqual(["keen"]);
});

test("after a contact has answered, the automation skips the mail that waits for them, and sends that of other contacts", async () => {
  await using world = await createWorld();
  const id = await startSeries(world, { type: "replied" });
  await world.sdk.contacts.create({ email: "bob@example.com" });
  await world.settle();
  const operate = (path: string, body: object) =>
    ask(world, { method: "POST", path: `/api/v1/queue/${path}`, key: world.operatorKey, body });
  await operate("hold", { domain: "example.com" });
  await world.clock.advance("24h 1m");
  const [waiting] = await world.sdk.emails.list({ to: ADA, status: "queued" }).toArray();
  expect(waiting).toMatchObject({ subject: "two" });
  await world.reply(ADA, { text: "Tell me more." });
  expect((await world.sdk.automations.entries(id, { status: "EXITED" })).data).toMatchObject([{ reason: "replied" }]);
  await operate("release", { domain: "example.com" });
  await world.settle();
  expect(await subjects(world)).toEqual(["one"]);
  expect((await world.inbox.all({ to: "bob@example.com" })).map(({ subject }) => subject)).toEqual(["one", "two"]);
  expect(await world.sdk.emails.get(waiting?.id ?? "")).toMatchObject({ status: "skipped", attempts: 0 });
  expect((await world.sdk.explanations.get(waiting?.id ?? "")).summary).toContain("has answered");
});
