import { expect, test } from "vitest";
import { addContacts, checkRecipients, createCampaign } from "../../test/campaign.ts";
import { createWorld } from "../testing.ts";

test("a paused campaign sends nothing, and continues where it stopped", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  await addContacts(world, 10);
  const { id } = await createCampaign(world, { throttle: { perSecond: 2 } });
  await sdk.campaigns.send(id);
  await world.settle();
  await world.clock.advance("1s");
  expect(await checkRecipients(world, id)).toEqual({ delivered: 4, queued: 6 });
  expect(await sdk.campaigns.pause(id)).toMatchObject({ status: "PAUSED", statusReason: null });
  expect(await sdk.campaigns.pause(id)).toMatchObject({ status: "PAUSED" });
  await world.clock.advance("1h");
  expect(await checkRecipients(world, id)).toEqual({ delivered: 4, queued: 6 });
  expect(await sdk.campaigns.resume(id)).toMatchObject({ status: "SENDING" });
  await world.settle();
  expect(await checkRecipients(world, id)).toEqual({ delivered: 6, queued: 4 });
  await world.clock.advance("3s");
  expect(await checkRecipients(world, id)).toEqual({ delivered: 10 });
  expect(await sdk.campaigns.get(id)).toMatchObject({ status: "SENT" });
  for (const verb of ["pause", "resume", "cancel"] as const)
    await expect(sdk.campaigns[verb](id)).rejects.toMatchObject({ code: "invalid_state" });
});

test("a pause in the middle of the mail loses nothing and repeats nothing", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  await addContacts(world, 1500);
  const { id } = await createCampaign(world);
  await sdk.campaigns.send(id);
  await sdk.campaigns.pause(id);
  await world.settle();
  const paused = await checkRecipients(world, id);
  expect((paused.delivered ?? 0) + (paused.queued ?? 0)).toBe(1500);
  await world.clock.advance("1h");
  expect(await checkRecipients(world, id)).toEqual(paused);
  await sdk.campaigns.resume(id);
  await world.settle();
  expect(await checkRecipients(world, id)).toEqual({ delivered: 1500 });
  expect(await sdk.campaigns.get(id)).toMatchObject({ status: "SENT" });
});

test("a cancelled campaign marks the rest, sends nothing more, and cannot be resumed", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  await addContacts(world, 1200);
  const { id } = await createCampaign(world, { throttle: { perSecond: 2 } });
  await sdk.campaigns.send(id);
  await world.settle();
  await sdk.campaigns.cancel(id);
  await world.settle();
  expect(await checkRecipients(world, id)).toEqual({ delivered: 2, cancelled: 1198 });
  expect(await sdk.campaigns.cancel(id)).toMatchObject({ status: "CANCELLED", completedAt: "2026-01-01T00:00:00.000Z" });
  await expect(sdk.campaigns.resume(id)).rejects.toMatchObject({ code: "invalid_state" });
  await world.clock.advance("1h");
  expect(await checkRecipients(world, id)).toEqual({ delivered: 2, cancelled: 1198 });
  await expect(sdk.campaigns.delete(id)).rejects.toMatchObject({ code: "invalid_state" });
});

test("deferred mail waits while its campaign is paused, and is cancelled with it", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  await sdk.contacts.import({
    rows: [{ email: "delayed@simulator.mailsvc.test" }, { email: "a@example.com" }, { email: "b@example.com" }],
  });
  const { id } = await createCampaign(world, { throttle: { perSecond: 2 } });
  await sdk.campaigns.send(id);
  await world.settle();
  expect(await checkRecipients(world, id)).toEqual({ deferred: 1, delivered: 1, queued: 1 });
  await sdk.campaigns.pause(id);
  await world.clock.advance("1d");
  expect(await checkRecipients(world, id)).toEqual({ deferred: 1, delivered: 1, queued: 1 });
  await sdk.campaigns.cancel(id);
  await world.settle();
  expect(await checkRecipients(world, id)).toEqual({ delivered: 1, cancelled: 2 });
});

test("a scheduled campaign starts at its time, once, also when it is scheduled back and forth", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  await addContacts(world, 3);
  const { id } = await createCampaign(world, { scheduledAt: "2026-01-01T01:00:00Z" });
  await sdk.campaigns.schedule(id, { scheduledAt: "2026-01-01T02:00:00Z" });
  await sdk.campaigns.update(id, { scheduledAt: "2026-01-01T01:00:00Z", name: "Moved" });
  await world.clock.advance("59m");
  expect(await sdk.campaigns.get(id)).toMatchObject({ status: "SCHEDULED", name: "Moved" });
  await addContacts(world, 5);
  await world.clock.advance("1m");
  // The audience is that of the start, not of the scheduling.
  expect(await checkRecipients(world, id)).toEqual({ delivered: 5 });
  await world.clock.advance("3h");
  expect(await checkRecipients(world, id)).toEqual({ delivered: 5 });
});

test("a scheduled campaign becomes a draft again, or is cancelled, and then does not start", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  await addContacts(world, 2);
  const one = await createCampaign(world, { scheduledAt: "2026-01-01T01:00:00Z" });
  const two = await createCampaign(world, { scheduledAt: "2026-01-01T01:00:00Z" });
  expect(await sdk.campaigns.update(one.id, { scheduledAt: null })).toMatchObject({ status: "DRAFT", scheduledAt: null });
  await sdk.campaigns.cancel(two.id);
  await world.clock.advance("2h");
  expect(await sdk.campaigns.get(one.id)).toMatchObject({ status: "DRAFT", startedAt: null });
  expect(await sdk.campaigns.get(two.id)).toMatchObject({ status: "CANCELLED", startedAt: null });
  expect(await world.inbox.all()).toEqual([]);
  await sdk.campaigns.delete(two.id);
  await expect(sdk.campaigns.get(two.id)).rejects.toMatchObject({ code: "not_found" });
});

test("a campaign that cannot start at its time is held with the reason, and starts when it is resumed", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  await addContacts(world, 2);
  const list = await sdk.lists.create({ name: "News" });
  const { id } = await createCampaign(world, { recipientType: "list", listId: list.id, scheduledAt: "2026-01-01T01:00:00Z" });
  await sdk.lists.delete(list.id);
  await world.clock.advance("2h");
  expect(await sdk.campaigns.get(id)).toMatchObject({ status: "PAUSED", startedAt: null, statusReason: { code: "not_found" } });
  await expect(sdk.campaigns.resume(id)).rejects.toMatchObject({ code: "not_found" });
  expect(await sdk.campaigns.update(id, { recipientType: "all", listId: null })).toMatchObject({ status: "PAUSED" });
  expect(await sdk.campaigns.resume(id)).toMatchObject({ status: "SENDING", statusReason: null });
  await world.settle();
  expect(await checkRecipients(world, id)).toEqual({ delivered: 2 });
});

test("a campaign is scheduled without content, which may come until it starts", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  await addContacts(world, 2);
  const bare = { name: "Launch", subjectLine: "Hello", fromEmail: "news@acme.example", scheduledAt: "2026-01-01T01:00:00Z" };
  const { scheduledAt, ...draft } = bare;
  expect((await sdk.campaigns.create(draft)).status).toBe("DRAFT");
  const { id, status } = await sdk.campaigns.create(bare);
  expect(status).toBe("SCHEDULED");
  const late = await sdk.campaigns.create(bare);
  const moved = await sdk.campaigns.create(draft);
  expect((await sdk.campaigns.schedule(moved.id, { scheduledAt })).status).toBe("SCHEDULED");
  expect((await sdk.explanations.get(id)).summary).toContain("It has no content yet. Without it, it does not start.");
  await sdk.campaigns.update(late.id, { text: "Here it is" });
  await world.clock.advance("1h");
  expect(await checkRecipients(world, late.id)).toEqual({ delivered: 2 });
  const reason = { code: "validation_error", message: "The campaign has no content. Give it a templateId, or html and text." };
  expect(await sdk.campaigns.get(id)).toMatchObject({ status: "PAUSED", startedAt: null, statusReason: reason });
  expect((await sdk.events.list({ campaign: id, type: "campaign.failed" })).data).toMatchObject([{ data: reason }]);
  expect((await sdk.explanations.get(id)).summary).toContain(reason.message);
  await sdk.campaigns.update(id, { text: "Now" });
  await sdk.campaigns.resume(id);
  await world.settle();
  expect((await sdk.campaigns.get(id)).status).toBe("SENT");
});

test("a sender that lost its verification stops a campaign before anything is sent", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  await addContacts(world, 2);
  const sender = await sdk.senders.create({ domain: "ours.com" });
  const { id } = await createCampaign(world, { fromEmail: "news@ours.com", scheduledAt: "2026-01-01T01:00:00Z" });
  await sdk.senders.delete(sender.id);
  await expect(sdk.campaigns.send(id)).rejects.toMatchObject({ code: "sender_not_verified" });
  await world.clock.advance("1h");
  expect(await sdk.campaigns.get(id)).toMatchObject({ status: "PAUSED", statusReason: { code: "sender_not_verified" } });
  expect(await world.inbox.all()).toEqual([]);
});

test("a draft is updated, duplicated and deleted; a started one is only duplicated", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  await addContacts(world, 1);
  const { id } = await createCampaign(world);
  expect(await sdk.campaigns.update(id, { name: "New", fromName: "Acme", html: null, text: "Hi" })).toMatchObject({
    name: "New",
    html: null,
    text: "Hi",
  });
  await expect(sdk.campaigns.update(id, { recipientType: "list" })).rejects.toMatchObject({
    details: [{ path: "listId", code: "required" }],
  });
  await sdk.campaigns.send(id);
  await world.settle();
  await expect(sdk.campaigns.update(id, { name: "x" })).rejects.toMatchObject({ code: "invalid_state" });
  const copy = await sdk.campaigns.duplicate(id);
  expect(copy).toMatchObject({ name: "Copy of New", status: "DRAFT", startedAt: null, text: "Hi" });
  expect((await sdk.campaigns.stats(copy.id)).recipients.total).toBe(0);
  await sdk.campaigns.delete(copy.id);
  expect(await checkRecipients(world, id)).toEqual({ delivered: 1 });
});
