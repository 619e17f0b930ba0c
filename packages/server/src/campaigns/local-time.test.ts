import { expect, test } from "vitest";
import { checkRecipients, createCampaign } from "../../test/campaign.ts";
import { createWorld, type TestWorld } from "../testing.ts";
import { findLocalTime } from "./audience.ts";

const AT = "2026-01-02T09:00";

test.each([
  ["2026-01-02T09:00", "Europe/Berlin", "2026-01-02T08:00:00.000Z"],
  ["2026-01-02T09:00", "America/New_York", "2026-01-02T14:00:00.000Z"],
  ["2026-01-02T09:00", "Pacific/Kiritimati", "2026-01-01T19:00:00.000Z"],
  // The clocks jump over it, and show it twice.
  ["2026-03-29T02:30", "Europe/Berlin", "2026-03-29T01:00:00.000Z"],
  ["2026-10-25T02:30", "Europe/Berlin", "2026-10-25T00:30:00.000Z"],
])("%s in %s is %s", (at, zone, instant) => {
  expect(new Date(findLocalTime({ at }, zone)).toISOString()).toBe(instant);
});

/** Contacts in four zones, one of which does not exist, and one without a zone. */
async function addReaders({ sdk }: TestWorld): Promise<void> {
  const zones = { tokyo: "Asia/Tokyo", berlin: "Europe/Berlin", york: "America/New_York", wrong: "Mars/Base" };
  for (const [name, timeZone] of Object.entries(zones))
    await sdk.contacts.create({ email: `${name}@example.com`, customFields: { timeZone } });
  await sdk.contacts.create({ email: "none@example.com" });
}

const listMailed = async ({ inbox }: TestWorld): Promise<string[]> =>
  (await inbox.all()).map(({ to }) => to.split("@")[0] ?? "").toSorted();

test("each reader gets it when their own clock shows the time, those without a zone by the fallback, and late ones at once", async () => {
  // Nine o'clock in Tokyo is over.
  await using world = await createWorld({ now: "2026-01-02T03:00:00.000Z" });
  const { sdk } = world;
  await addReaders(world);
  const { id } = await createCampaign(world, { localTime: { at: AT, fallback: "Europe/London" } });
  expect((await sdk.campaigns.get(id)).localTime).toEqual({ at: AT, field: "timeZone", fallback: "Europe/London" });
  await sdk.campaigns.send(id);
  await world.settle();
  expect(await listMailed(world)).toEqual(["tokyo"]);
  await world.clock.advance("4h59m59s");
  expect(await listMailed(world)).toEqual(["tokyo"]);
  await world.clock.advance("1s");
  expect(await listMailed(world)).toEqual(["berlin", "tokyo"]);
  await world.clock.advance("1h");
  expect(await listMailed(world)).toEqual(["berlin", "none", "tokyo", "wrong"]);
  expect(await checkRecipients(world, id)).toEqual({ delivered: 4, queued: 1 });
  expect((await sdk.campaigns.recipients(id, { status: "queued" })).data).toMatchObject([{ to: "york@example.com" }]);
  await world.clock.advance("5h");
  expect(await sdk.campaigns.get(id)).toMatchObject({ status: "SENT", completedAt: "2026-01-02T14:00:00.000Z" });
  expect(await checkRecipients(world, id)).toEqual({ delivered: 5 });
});

test("a pause lets a reader's time pass, who gets it after the resume; what is cancelled before goes to nobody", async () => {
  await using world = await createWorld({ now: "2026-01-02T03:00:00.000Z" });
  const { sdk } = world;
  await addReaders(world);
  const first = await createCampaign(world, { localTime: { at: AT } });
  await sdk.campaigns.send(first.id);
  await world.settle();
  await sdk.campaigns.pause(first.id);
  await world.clock.advance("5h");
  expect(await listMailed(world)).toEqual(["tokyo"]);
  await sdk.campaigns.resume(first.id);
  await world.settle();
  expect(await listMailed(world)).toEqual(["berlin", "tokyo"]);
  await sdk.campaigns.cancel(first.id);
  await world.clock.advance("2d");
  expect(await checkRecipients(world, first.id)).toEqual({ delivered: 2, cancelled: 3 });
});

test("the pace and the hours of a throttle hold for local times, too", async () => {
  await using world = await createWorld({ now: "2026-01-02T03:00:00.000Z" });
  const { sdk } = world;
  await addReaders(world);
  const window = { start: "10:00", end: "20:00", timeZone: "UTC" };
  const { id } = await createCampaign(world, { localTime: { at: AT }, throttle: { perSecond: 1, window } });
  await sdk.campaigns.send(id);
  await world.clock.advance("6h59m59s");
  expect(await listMailed(world)).toEqual([]);
  // Due are all but New York; one goes each second.
  await world.clock.advance("1s");
  expect(await world.inbox.all()).toHaveLength(1);
  await world.clock.advance("2s");
  expect(await world.inbox.all()).toHaveLength(3);
  await world.clock.advance("1h");
  expect(await listMailed(world)).toEqual(["berlin", "none", "tokyo", "wrong"]);
  await world.clock.advance("3h");
  expect(await sdk.campaigns.get(id)).toMatchObject({ status: "SENT" });
});

test("a time that does not exist, a zone that does not exist, and a sample that waits for its winner are refused", async () => {
  await using world = await createWorld();
  const refuse = async (fields: Parameters<typeof createCampaign>[1], path: string) =>
    expect(await createCampaign(world, fields).catch((error) => error)).toMatchObject({
      code: "validation_error",
      details: [expect.objectContaining({ path })],
    });
  await refuse({ localTime: { at: "2026-02-30T09:00" } }, "localTime.at");
  await refuse({ localTime: { at: "2026-02-20T09:00Z" } }, "localTime.at");
  await refuse({ localTime: { at: AT, fallback: "Mars/Base" } }, "localTime.fallback");
  await refuse({ localTime: { at: AT }, abTest: { variants: [{}, { subjectLine: "B" }], samplePercent: 20 } }, "localTime");
  const split = await createCampaign(world, {
    localTime: { at: AT },
    abTest: { variants: [{}, { subjectLine: "B" }], samplePercent: 100 },
  });
  await addReaders(world);
  await world.sdk.campaigns.send(split.id);
  await world.clock.advance("2d");
  expect(await world.sdk.campaigns.get(split.id)).toMatchObject({ status: "SENT" });
  expect(await checkRecipients(world, split.id)).toEqual({ delivered: 5 });
});

test("a campaign whose local time is years after its start, such as one with a mistyped year, is not sent or scheduled", async () => {
  await using world = await createWorld();
  const { campaigns } = world.sdk;
  await addReaders(world);
  const localTime = { at: AT.replace("2026", "2062") };
  const scheduledAt = "2026-03-01T00:00:00Z";
  const { id } = await createCampaign(world, { localTime });
  const tries = [
    () => campaigns.send(id),
    () => campaigns.schedule(id, { scheduledAt }),
    () => campaigns.update(id, { scheduledAt }),
    () => createCampaign(world, { localTime, scheduledAt }),
  ];
  for (const attempt of tries)
    expect(await attempt().catch((error) => error)).toMatchObject({
      code: "validation_error",
      details: [expect.objectContaining({ path: "localTime.at" })],
    });
  expect(await campaigns.get(id)).toMatchObject({ status: "DRAFT" });
});
