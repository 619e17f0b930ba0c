import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { addContacts, createCampaign } from "../../test/campaign.ts";
import { createWorld, type TestWorld } from "../testing.ts";

const mail = { from: "hello@acme.example", subject: "Hello", text: "Hello" };
const upTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

/** Sends mail that arrives, and mail that the simulator lets bounce or calls spam. */
async function send({ sdk, settle }: TestWorld, arriving: number, bad: number, how: "bounced" | "complained" = "bounced"): Promise<void> {
  const to = [
    ...upTo(arriving).map((i) => `p${i}@example.com`),
    ...upTo(bad).map((i) => `${how}+${arriving}.${bad}.${i}@simulator.mailsvc.test`),
  ];
  for (let i = 0; i < to.length; i += 50) await sdk.emails.send({ ...mail, to: to.slice(i, i + 50) });
  await settle();
}

const listHigh = async ({ sdk }: TestWorld) =>
  (await sdk.events.list({ type: "mail.rate_high" })).data.map(({ data }) => (data as { state: string }).state).reverse();

/** A campaign that is being sent, slowly. */
async function startSlow(world: TestWorld): Promise<string> {
  await addContacts(world, 5);
  const { id } = await createCampaign(world, { throttle: { perSecond: 0.01 } });
  await world.sdk.campaigns.send(id);
  await world.settle();
  return id;
}

test("too many bounces first warn, then pause campaigns but no other mail; a person resumes, and the same mail pauses nothing again", async () => {
  await using world = await createWorld();
  const { sdk, clock } = world;
  await sdk.metrics.setLimits({ leastMails: 50 });
  const id = await startSlow(world);
  // Too few bounces, and too little mail, say nothing.
  await send(world, 10, 4);
  expect(await listHigh(world)).toEqual([]);
  await send(world, 80, 2);
  expect(await listHigh(world)).toEqual(["WARNED"]);
  expect((await sdk.metrics.limits()).bounce).toMatchObject({ state: "WARNED", warn: 0.05, pause: 0.1, mails: 97 });
  await send(world, 0, 1);
  expect(await listHigh(world)).toEqual(["WARNED"]);
  expect((await sdk.campaigns.get(id)).status).toBe("SENDING");
  await send(world, 0, 6);
  expect(await listHigh(world)).toEqual(["WARNED", "PAUSED"]);
  const paused = await sdk.campaigns.get(id);
  expect(paused).toMatchObject({ status: "PAUSED", statusReason: { code: "bounce_rate" } });
  expect(paused.statusReason?.message).toMatch(/^13 % of 104 emails bounced in the last 24 hours\. Your limit is 10 %/);
  // Single mail goes on; a campaign that is due waits.
  const one = await sdk.emails.send({ ...mail, to: "ada@example.org" });
  const later = await createCampaign(world, { name: "Later" });
  await sdk.campaigns.schedule(later.id, { scheduledAt: new Date(clock.now() + 600_000).toISOString() });
  await clock.advance("15m");
  expect((await sdk.emails.get(one.id)).status).toBe("delivered");
  expect(await sdk.campaigns.get(later.id)).toMatchObject({ status: "PAUSED", statusReason: { code: "bounce_rate" } });

  await sdk.campaigns.resume(id);
  expect((await sdk.metrics.limits()).bounce).toMatchObject({ state: "OK", since: null });
  expect((await sdk.metrics.limits()).bounce.mails).toBeLessThan(5);
  await send(world, 90, 4);
  expect((await sdk.campaigns.get(id)).status).toBe("SENDING");
  await send(world, 0, 12);
  expect((await sdk.campaigns.get(id)).status).toBe("PAUSED");
  expect(await listHigh(world)).toEqual(["WARNED", "PAUSED", "PAUSED"]);
  expect(await sdk.metrics.verify()).toMatchObject({ correct: true });
});

test("a campaign that was started at the moment of a pause is paused by the next bounce", async () => {
  await using world = await createWorld();
  const { sdk, app } = world;
  await sdk.metrics.setLimits({ leastMails: 20 });
  const id = await startSlow(world);
  await send(world, 10, 12);
  expect((await sdk.campaigns.get(id)).status).toBe("PAUSED");
  // As a transaction left it that had not seen the alarm yet.
  await app.deps.db.tx((tx) => tx.update(tx.t.campaigns).set({ status: "SENDING" }).where(eq(tx.t.campaigns.id, id)));
  await send(world, 1, 2);
  expect(await sdk.campaigns.get(id)).toMatchObject({ status: "PAUSED", statusReason: { code: "bounce_rate" } });
  expect(await listHigh(world)).toEqual(["PAUSED"]);
});

test("mail of test keys never counts, and a limit of null does nothing", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const { key } = await sdk.keys.create({ name: "CI", permissions: ["transactional:send"], test: true });
  await sdk.metrics.setLimits({ leastMails: 5 });
  const id = await startSlow(world);
  const staging = { ...world, sdk: sdk.withOptions({ apiKey: key }) };
  await send(staging, 5, 10);
  expect((await sdk.metrics.limits()).bounce).toMatchObject({ state: "OK", mails: 1 });
  await sdk.metrics.setLimits({ bounceWarn: null, bouncePause: null });
  await send(world, 5, 10);
  expect(await listHigh(world)).toEqual([]);
  expect((await sdk.campaigns.get(id)).status).toBe("SENDING");
  await expect(sdk.metrics.setLimits({ complaintWarn: 0.2, complaintPause: 0.1 })).rejects.toMatchObject({ code: "validation_error" });
  await expect(sdk.metrics.setLimits({ bouncePause: 0 })).rejects.toMatchObject({ code: "validation_error" });
  expect(await sdk.metrics.limits()).toMatchObject({ leastMails: 5, bounce: { warn: null }, complaint: { pause: 0.003 } });
});

test("a warning is repeated only after the rate has fallen below half of its limit", async () => {
  await using world = await createWorld();
  const { sdk, clock } = world;
  await sdk.metrics.setLimits({ leastMails: 50, bouncePause: null });
  await send(world, 90, 6);
  await send(world, 40, 1);
  await send(world, 0, 1);
  expect(await listHigh(world)).toEqual(["WARNED"]);
  await send(world, 300, 1);
  expect((await sdk.metrics.limits()).bounce.state).toBe("OK");
  await send(world, 0, 20);
  expect(await listHigh(world)).toEqual(["WARNED", "WARNED"]);
  await clock.advance("25h");
  expect((await sdk.metrics.limits()).bounce).toMatchObject({ state: "OK", mails: 0, since: null });
});

test("complaints of a week pause campaigns", async () => {
  await using world = await createWorld();
  const { sdk, clock } = world;
  await sdk.metrics.setLimits({ leastMails: 50 });
  await send(world, 100, 0);
  await clock.advance("48h");
  const id = await startSlow(world);
  await send(world, 0, 5, "complained");
  await clock.advance("1m");
  expect(await sdk.campaigns.get(id)).toMatchObject({ status: "PAUSED", statusReason: { code: "complaint_rate" } });
  expect((await sdk.metrics.limits()).complaint.state).toBe("PAUSED");
});
