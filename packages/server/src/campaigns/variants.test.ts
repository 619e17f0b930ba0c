import { expect, test } from "vitest";
import { addContacts, checkRecipients, createCampaign } from "../../test/campaign.ts";
import { asHeld } from "../../test/plain-event.ts";
import { recordEvents } from "../events/events.ts";
import { createWorld, type TestWorld } from "../testing.ts";
import { pickVariant } from "./variants.ts";

const two = [{}, { subjectLine: "Or this" }];

/** Lets recipients of a variant open their mail. */
async function open(world: TestWorld, id: string, variant: string, n: number): Promise<void> {
  const { deps } = world.app;
  const recipients = (await world.sdk.campaigns.recipients(id, { status: "delivered" }).toArray()).filter((r) => r.variant === variant);
  const events = recipients.slice(0, n).map((r) => ({
    workspaceId: world.workspaceId,
    type: "email.opened" as const,
    at: deps.clock.now(),
    emailId: r.emailId,
    campaignId: id,
    machine: false,
  }));
  await deps.db.tx((tx) => recordEvents(tx, deps, asHeld(events)));
}

test("the sample has the size that was asked for, spread evenly, and its variants take turns", () => {
  const abTest = { variants: [{}, {}, {}], samplePercent: 15, winner: "opens" as const, decideAfterMinutes: 1 };
  const picked = Array.from({ length: 1000 }, (_, place) => pickVariant({ abTest }, place));
  const sample = picked.filter((v) => v !== null);
  expect(sample).toHaveLength(150);
  for (const name of ["A", "B", "C"]) expect(sample.filter((v) => v === name)).toHaveLength(50);
  expect(picked.slice(0, 100).filter((v) => v !== null)).toHaveLength(15);
  expect(pickVariant({ abTest: null }, 3)).toBeNull();
});

test("a sample gets the variants, and the rest the one with more opens, after the time", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  await addContacts(world, 50);
  const { id } = await createCampaign(world, { abTest: { variants: two, samplePercent: 40, decideAfterMinutes: 60 } });
  await sdk.campaigns.send(id);
  await world.settle();
  expect(await checkRecipients(world, id)).toEqual({ delivered: 20, queued: 30 });
  expect(await sdk.campaigns.get(id)).toMatchObject({ status: "SENDING", winner: null });
  await open(world, id, "A", 2);
  await open(world, id, "B", 5);
  await world.clock.advance("59m");
  expect(await checkRecipients(world, id)).toEqual({ delivered: 20, queued: 30 });
  await world.clock.advance("1m");
  expect(await checkRecipients(world, id)).toEqual({ delivered: 50 });
  expect(await sdk.campaigns.get(id)).toMatchObject({ status: "SENT", winner: "B" });
  const { variants } = await sdk.campaigns.stats(id);
  expect(variants).toMatchObject([
    { name: "A", winner: false, subjectLine: "Hello {{firstName}}", recipients: { total: 10, delivered: 10 }, opens: { unique: 2 } },
    { name: "B", winner: true, subjectLine: "Or this", recipients: { total: 40, delivered: 40 }, opens: { unique: 5 } },
  ]);
  const subjects = (await world.inbox.all()).map((m) => m.subject);
  expect(subjects.filter((s) => s === "Or this")).toHaveLength(40);
});

test("a variant whose own texts are white space is not sent, and says which field to fill in", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  await addContacts(world, 2);
  const empty = async (field: "html" | "text") => {
    const { id } = await createCampaign(world, { abTest: { variants: [{}, { [field]: " \n" }], samplePercent: 100 } });
    return sdk.campaigns.send(id);
  };
  for (const field of ["html", "text"] as const)
    await expect(empty(field)).rejects.toMatchObject({
      code: "validation_error",
      details: [{ path: `abTest.variants[1].${field}`, code: "required" }],
    });
  expect(await world.inbox.all()).toEqual([]);
});

test("a winner picked by hand goes out at once, and only once", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  await addContacts(world, 20);
  const { id } = await createCampaign(world, { abTest: { variants: two, samplePercent: 20, winner: "manual" } });
  await expect(sdk.campaigns.winner(id, { variant: "A" })).rejects.toMatchObject({ code: "invalid_state" });
  await sdk.campaigns.send(id);
  await world.clock.advance("30d");
  expect(await checkRecipients(world, id)).toEqual({ delivered: 4, queued: 16 });
  await expect(sdk.campaigns.winner(id, { variant: "C" })).rejects.toMatchObject({ code: "validation_error" });
  expect(await sdk.campaigns.winner(id, { variant: "A" })).toMatchObject({ winner: "A" });
  await world.settle();
  expect(await checkRecipients(world, id)).toEqual({ delivered: 20 });
  await expect(sdk.campaigns.winner(id, { variant: "B" })).rejects.toMatchObject({ code: "invalid_state" });
});

test("a test that is paused while it waits is decided after it resumes", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  await addContacts(world, 10);
  const { id } = await createCampaign(world, { abTest: { variants: two, samplePercent: 20, decideAfterMinutes: 10 } });
  await sdk.campaigns.send(id);
  await world.clock.advance("5m");
  await sdk.campaigns.pause(id);
  await world.clock.advance("1h");
  expect(await checkRecipients(world, id)).toEqual({ delivered: 2, queued: 8 });
  await sdk.campaigns.resume(id);
  await world.settle();
  expect(await checkRecipients(world, id)).toEqual({ delivered: 10 });
});

test("a sample of all recipients is a split without a winner", async () => {
  await using world = await createWorld();
  await addContacts(world, 9);
  const variants = [{}, { html: "<p>B</p>" }, { text: "C" }];
  const { id } = await createCampaign(world, { abTest: { variants, samplePercent: 100 } });
  await world.sdk.campaigns.send(id);
  await world.settle();
  expect(await world.sdk.campaigns.get(id)).toMatchObject({ status: "SENT", winner: null });
  expect((await world.sdk.campaigns.stats(id)).variants.map((v) => v.recipients.total)).toEqual([3, 3, 3]);
  expect(await checkRecipients(world, id)).toEqual({ delivered: 9 });
});

test.each(["opens", "manual"] as const)(
  "an A/B test (%s) of an empty audience, or of one that gets nothing, is over at once",
  async (winner) => {
    await using world = await createWorld();
    const { sdk } = world;
    const abTest = { variants: two, samplePercent: 20, winner };
    const { id } = await createCampaign(world, { abTest });
    await sdk.campaigns.send(id);
    await world.settle();
    expect(await sdk.campaigns.get(id)).toMatchObject({ status: "SENT", winner: null });
    for (const address of await addContacts(world, 10)) await sdk.suppressions.create({ email: address });
    const { id: skipped } = await createCampaign(world, { abTest });
    await sdk.campaigns.send(skipped);
    await world.settle();
    expect(await sdk.campaigns.get(skipped)).toMatchObject({ status: "SENT", winner: null });
    expect(await checkRecipients(world, skipped)).toEqual({ skipped: 10 });
  },
);

test("a test that cannot compare two variants is decided at once, unless a person decides it", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  await addContacts(world, 9);
  for (const samplePercent of [10, 20]) {
    const { id } = await createCampaign(world, { abTest: { variants: two, samplePercent, decideAfterMinutes: 60 } });
    await sdk.campaigns.send(id);
    await world.settle();
    expect(await sdk.campaigns.get(id)).toMatchObject({ status: "SENT", winner: "A" });
    expect((await sdk.campaigns.stats(id)).recipients).toMatchObject({ delivered: 9 });
  }
  const { id } = await createCampaign(world, { abTest: { variants: two, samplePercent: 10, winner: "manual" } });
  await sdk.campaigns.send(id);
  await world.settle();
  expect(await sdk.campaigns.get(id)).toMatchObject({ status: "SENDING", winner: null });
  await sdk.campaigns.winner(id, { variant: "B" });
  await world.settle();
  expect(await sdk.campaigns.get(id)).toMatchObject({ status: "SENT", winner: "B" });
});

test("a test is over when those who wait for its winner are gone, once its sample had an attempt", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  await addContacts(world, 10);
  const abTest = { variants: two, samplePercent: 20, winner: "manual" } as const;
  const { id } = await createCampaign(world, { abTest });
  await sdk.campaigns.send(id);
  await world.settle();
  const waiting = (await sdk.campaigns.recipients(id, { status: "queued" }).toArray()).map(({ to }) => to);
  expect(waiting).toHaveLength(8);
  for (const address of waiting.slice(1)) await sdk.people.erase(address);
  await world.settle();
  expect(await sdk.campaigns.get(id)).toMatchObject({ status: "SENDING" });
  await sdk.people.erase(waiting[0] ?? "");
  await world.settle();
  expect(await sdk.campaigns.get(id)).toMatchObject({ status: "SENT", winner: null });
  expect(await checkRecipients(world, id)).toEqual({ delivered: 2 });
});

test("an error in the content that variants share is named at the campaign's own field, and one in a variant's own content there", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const { id } = await createCampaign(world, { abTest: { variants: two, samplePercent: 40, decideAfterMinutes: 60 } });
  const refusedAt = (change: Parameters<typeof sdk.campaigns.update>[1], path: string): Promise<void> =>
    expect(sdk.campaigns.update(id, change)).rejects.toHaveProperty("details.0.path", path);
  await refusedAt({ html: "<p>{{#if</p>" }, "html");
  await refusedAt({ subjectLine: "{{#if" }, "subjectLine");
  await refusedAt({ abTest: { variants: [{}, { html: "<p>{{#if</p>" }], samplePercent: 40 } }, "abTest.variants[1].html");
  await refusedAt({ abTest: { variants: [{}, { subjectLine: "{{#if" }], samplePercent: 40 } }, "abTest.variants[1].subjectLine");
});
