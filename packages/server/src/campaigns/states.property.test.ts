import type { CampaignStatus } from "@mailsvc/sdk/contract";
import { eq } from "drizzle-orm";
import fc from "fast-check";
import { expect, test } from "vitest";
import { addContacts, checkRecipients, createCampaign } from "../../test/campaign.ts";
import { propertyRuns } from "../../test/property-runs.ts";
import { createWorld } from "../testing.ts";
import { START_JOB, startScheduled } from "./start.ts";

const VERBS = ["send", "schedule", "unschedule", "pause", "resume", "cancel", "delete", "second"] as const;
type Verb = (typeof VERBS)[number];

/** The table of `states.ts`: what a verb makes of a state; undefined where it is refused. */
function expected(status: CampaignStatus, started: boolean, verb: Verb): CampaignStatus | "gone" | undefined {
  const editable = !started && (status === "DRAFT" || status === "SCHEDULED" || status === "PAUSED");
  if (verb === "send") return status === "DRAFT" || status === "SCHEDULED" ? "SENDING" : undefined;
  if (verb === "schedule") return editable ? "SCHEDULED" : undefined;
  if (verb === "unschedule") return editable ? "DRAFT" : undefined;
  if (verb === "pause") return status === "SENDING" || status === "PAUSED" ? "PAUSED" : undefined;
  if (verb === "resume") return status === "PAUSED" || status === "SENDING" ? "SENDING" : undefined;
  if (verb === "cancel") return status === "DRAFT" || status === "SENT" ? undefined : "CANCELLED";
  if (verb === "delete") return started ? undefined : "gone";
  return status;
}

test("any sequence of calls moves a campaign as the table says, mails each recipient at most once, and keeps the numbers right", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom(...VERBS), { minLength: 3, maxLength: 12 }), async (verbs) => {
      await using world = await createWorld();
      const { sdk } = world;
      await addContacts(world, 4);
      const { id } = await createCampaign(world, { throttle: { perSecond: 1 } });
      for (const verb of verbs) {
        const before = await sdk.campaigns.get(id);
        const wanted = expected(before.status, before.startedAt !== null, verb);
        const scheduledAt = new Date(world.clock.now() + 2000).toISOString();
        const act = {
          send: () => sdk.campaigns.send(id),
          schedule: () => sdk.campaigns.schedule(id, { scheduledAt }),
          unschedule: () => sdk.campaigns.update(id, { scheduledAt: null }),
          pause: () => sdk.campaigns.pause(id),
          resume: () => sdk.campaigns.resume(id),
          cancel: () => sdk.campaigns.cancel(id),
          delete: () => sdk.campaigns.delete(id),
          second: () => world.clock.advance("1s").then(() => before),
        }[verb];
        if (wanted === undefined) {
          await expect(act(), `${verb} of ${before.status}`).rejects.toMatchObject({ code: "invalid_state" });
          expect((await sdk.campaigns.get(id)).status).toBe(before.status);
        } else expect(verb === "delete" ? "gone" : (await act()).status, `${verb} of ${before.status}`).toBe(wanted);
        if (wanted === "gone") {
          await act();
          return;
        }
        await world.settle();
        const states = await checkRecipients(world, id);
        expect(Object.values(states).reduce<number>((sum, n) => sum + (n ?? 0), 0)).toBe(
          (await sdk.campaigns.get(id)).startedAt === null ? 0 : 4,
        );
      }
      await world.clock.advance("1m");
      const states = await checkRecipients(world, id);
      const { status } = await sdk.campaigns.get(id);
      if (status === "SENT") expect(states).toEqual({ delivered: 4 });
      expect(["DRAFT", "SENT", "PAUSED", "CANCELLED"]).toContain(status);
    }),
    { numRuns: propertyRuns(12) },
  );
});

test("a scheduled campaign that is changed while its audience is selected starts with the new audience", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const { deps } = world.app;
  const emails = await addContacts(world, 3);
  const list = await sdk.lists.create({ name: "News" });
  await sdk.lists.add(list.id, { contacts: emails.slice(0, 1) });
  const scheduledAt = "2026-01-02T00:00:00.000Z";
  const { id } = await createCampaign(world, { scheduledAt });
  const payload = { workspaceId: world.workspaceId, campaignId: id, at: Date.parse(scheduledAt) };
  const { commit } = await startScheduled(deps)({ id: "1", kind: START_JOB, payload, attempt: 1, interruptions: 0, maxAttempts: 2 });
  await sdk.campaigns.update(id, { recipientType: "list", listId: list.id });
  await expect(deps.db.tx(async (tx) => commit?.(tx))).rejects.toMatchObject({ code: "conflict" });
  expect(await sdk.campaigns.get(id)).toMatchObject({ status: "SCHEDULED", scheduledAt });
  await world.clock.advance("2d");
  expect(await sdk.campaigns.get(id)).toMatchObject({ status: "SENT" });
  expect(await checkRecipients(world, id)).toEqual({ delivered: 1 });
});

test.each([
  ["hold", 59, "SENDING"],
  ["hold", 61, "PAUSED"],
  ["send", 61, "SENDING"],
] as const)("--late-campaigns %s: a campaign that is %d minutes late becomes %s", async (late, minutes, status) => {
  await using world = await createWorld({ flags: { "late-campaigns": late } });
  const { deps } = world.app;
  await addContacts(world, 2);
  const { id } = await createCampaign(world, { scheduledAt: "2026-01-02T00:00:00Z", throttle: { perSecond: 0.01 } });
  // As if the server had been down at that time: the job is found late.
  const at = deps.clock.now() - minutes * 60_000;
  await deps.db.tx((tx) => tx.update(tx.t.campaigns).set({ scheduledAt: at }).where(eq(tx.t.campaigns.id, id)));
  const payload = { workspaceId: world.workspaceId, campaignId: id, at };
  const { commit } = await startScheduled(deps)({ id: "1", kind: START_JOB, payload, attempt: 1, interruptions: 0, maxAttempts: 1 });
  await deps.db.tx(async (tx) => commit?.(tx));
  await world.settle();
  const campaign = await world.sdk.campaigns.get(id);
  expect(campaign.status).toBe(status);
  expect(await world.inbox.all()).toHaveLength(status === "SENDING" ? 1 : 0);
  if (status === "PAUSED") {
    expect(campaign.statusReason).toMatchObject({ code: "late", message: expect.stringContaining("61 minutes late") });
    expect(await world.sdk.campaigns.resume(id)).toMatchObject({ status: "SENDING", statusReason: null });
  }
});
