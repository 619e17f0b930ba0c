import { eq } from "drizzle-orm";
import fc from "fast-check";
import { expect, test } from "vitest";
import { addContacts, checkRecipients, createCampaign } from "../../test/campaign.ts";
import { propertyRuns } from "../../test/property-runs.ts";
import type { StatusListener } from "../emails/emails.ts";
import { createWorld, type TestWorld } from "../testing.ts";
import { enqueueFinish } from "./finish-job.ts";

/** Waits, while a number of transactions fail before they commit, as those of a process that is killed. */
async function waitWithKills(world: TestWorld, wait: string, kills: number): Promise<void> {
  const { queue, statusListeners } = world.app.deps;
  const { enqueue } = queue;
  let left = kills;
  const die = (): void => {
    if (left === 0) return;
    left -= 1;
    throw new Error("The process was killed.");
  };
  const listeners = statusListeners as StatusListener[];
  listeners.push(async () => die());
  queue.enqueue = async (tx, ...jobs) => {
    await enqueue.call(queue, tx, ...jobs);
    die();
  };
  try {
    await world.clock.advance(wait);
  } finally {
    queue.enqueue = enqueue;
    listeners.pop();
  }
}

const abTest = fc.record({
  variants: fc
    .integer({ min: 2, max: 4 })
    .map((n) => Array.from({ length: n }, (_, i) => (i === 0 ? {} : { subjectLine: `Variant ${i}` }))),
  samplePercent: fc.constantFrom(10, 34, 50, 99, 100),
  winner: fc.constantFrom("manual" as const, "opens" as const, "clicks" as const),
  decideAfterMinutes: fc.constantFrom(5, 60),
});

const throttle = fc.record(
  {
    perSecond: fc.constantFrom(0.5, 1, 2, 7, 20, 500),
    window: fc.constantFrom(
      { start: "09:00", end: "10:00", timeZone: "Europe/Berlin" },
      { start: "23:00", end: "01:00", timeZone: "America/New_York" },
    ),
  },
  { requiredKeys: [] },
);

const localTime = fc.record({
  at: fc.constantFrom("2026-01-01T12:00", "2026-01-02T08:30"),
  fallback: fc.constantFrom("UTC", "Asia/Tokyo"),
});
const ZONES = ["Asia/Tokyo", "America/Los_Angeles", "Europe/Berlin", "nowhere"];

const campaign = fc
  .record({ abTest, throttle, localTime }, { requiredKeys: [] })
  // Readers outside of a sample wait for its winner, so a test with a local time is one of all.
  .map((fields) => (fields.abTest && fields.localTime ? { ...fields, abTest: { ...fields.abTest, samplePercent: 100 } } : fields));

const act = fc.oneof(
  fc.record({ wait: fc.constantFrom("100ms", "1s", "3s", "10m", "2h", "9h"), kills: fc.constantFrom(0, 0, 1, 4) }),
  fc.constantFrom("pause" as const, "resume" as const, "pause and resume" as const, "winner" as const),
);

test("every campaign ends, whatever its test, pace, hours and local time, its pauses and the kills: all get it once, and the numbers are right", async () => {
  await fc.assert(
    fc.asyncProperty(campaign, fc.integer({ min: 0, max: 60 }), fc.array(act, { maxLength: 6 }), async (fields, people, acts) => {
      await using world = await createWorld();
      const { sdk } = world;
      const rows = Array.from({ length: people }, (_, i) => ({
        email: `p${i}@example.com`,
        customFields: { timeZone: ZONES[i % ZONES.length] },
      }));
      if (people > 0) await sdk.contacts.import({ rows });
      const { id } = await createCampaign(world, fields);
      await sdk.campaigns.send(id);
      const status = async () => (await sdk.campaigns.get(id)).status;
      for (const one of acts) {
        if (typeof one === "object") await waitWithKills(world, one.wait, one.kills);
        else {
          if (one !== "resume" && one !== "winner" && (await status()) === "SENDING") await sdk.campaigns.pause(id);
          if (one !== "pause" && one !== "winner" && (await status()) === "PAUSED") await sdk.campaigns.resume(id);
          if (one === "winner" && fields.abTest && ["SENDING", "PAUSED"].includes(await status())) {
            const { winner } = await sdk.campaigns.get(id);
            if (winner === null) await sdk.campaigns.winner(id, { variant: "B" });
          }
        }
      }
      if ((await status()) === "PAUSED") await sdk.campaigns.resume(id);
      await world.clock.advance("4d");
      if (fields.abTest?.winner === "manual" && (await status()) === "SENDING") {
        const { samplePercent } = fields.abTest;
        // It waits for the person who decides, and for nothing else.
        expect((await checkRecipients(world, id))["queued"]).toBe(people - Math.floor((people * samplePercent) / 100));
        await sdk.campaigns.winner(id, { variant: "A" });
        await world.clock.advance("4d");
      }
      expect(await status()).toBe("SENT");
      expect(await checkRecipients(world, id)).toEqual(people === 0 ? {} : { delivered: people });
    }),
    { numRuns: propertyRuns(12) },
  );
}, 600_000);

test("the variants of a test take turns at a pace that is slower than they are many", async () => {
  await using world = await createWorld();
  await addContacts(world, 12);
  const variants = [{}, { subjectLine: "B" }, { subjectLine: "C" }];
  const { id } = await createCampaign(world, { throttle: { perSecond: 1 }, abTest: { variants, samplePercent: 100, winner: "manual" } });
  await world.sdk.campaigns.send(id);
  await world.clock.advance("5s");
  expect((await world.sdk.campaigns.stats(id)).variants.map((v) => v.recipients.delivered)).toEqual([2, 2, 2]);
});

test("a split of everybody at a pace ends, and so does one that was paused and resumed", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  await addContacts(world, 90);
  const fields = {
    throttle: { perSecond: 20 },
    abTest: { variants: [{}, { subjectLine: "B" }], samplePercent: 100, winner: "manual" as const },
  };
  const { id } = await createCampaign(world, fields);
  await sdk.campaigns.send(id);
  await world.clock.advance("1s");
  expect(await checkRecipients(world, id)).toEqual({ delivered: 40, queued: 50 });
  await sdk.campaigns.pause(id);
  await sdk.campaigns.resume(id);
  await world.clock.advance("10s");
  expect((await sdk.campaigns.get(id)).status).toBe("SENT");
  expect(await checkRecipients(world, id)).toEqual({ delivered: 90 });
});

test("a campaign of which no mail left for minutes says since when, and for what it waits", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  await addContacts(world, 10);
  const abTest = { variants: [{}, { subjectLine: "B" }], samplePercent: 20, winner: "manual" as const };
  const { id } = await createCampaign(world, { abTest });
  await sdk.campaigns.send(id);
  await world.clock.advance("1m");
  expect((await sdk.campaigns.stats(id)).quiet).toBeNull();
  await world.clock.advance("9m");
  expect((await sdk.campaigns.stats(id)).quiet).toEqual({
    since: expect.stringMatching(/^2026-01-01T00:00:00/),
    reason: "Its sample is out. The others get it once you pick the winner.",
  });
  expect((await sdk.explanations.get(id)).summary).toMatch(/No mail left for (?:9|10) minutes\. Its sample is out\./);
  await sdk.campaigns.winner(id, { variant: "A" });
  await world.settle();
  expect((await sdk.campaigns.stats(id)).quiet).toBeNull();
});

test("recipients that wait although their campaign is taken for released get it", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const { deps } = world.app;
  await addContacts(world, 4);
  const { id } = await createCampaign(world, { throttle: { perSecond: 2 } });
  await sdk.campaigns.send(id);
  await world.settle();
  await sdk.campaigns.pause(id);
  await world.clock.advance("1m");
  // As if it was resumed, and its last step had overlooked two of them.
  const { campaigns: t } = deps.db.read.t;
  await deps.db.tx(async (tx) => {
    await tx.update(t).set({ status: "SENDING", releasedAt: deps.clock.now() }).where(eq(t.id, id));
    await enqueueFinish(tx, deps, { workspaceId: world.workspaceId, id });
  });
  await world.clock.advance("1m");
  expect((await sdk.campaigns.get(id)).status).toBe("SENT");
  expect(await checkRecipients(world, id)).toEqual({ delivered: 4 });
});
