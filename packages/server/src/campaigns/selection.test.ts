import type { NewCampaign } from "@mailsvc/sdk/contract";
import { expect, test } from "vitest";
import { addContacts, checkRecipients, createCampaign } from "../../test/campaign.ts";
import { createWorld, type TestWorld } from "../testing.ts";

const listMailed = async ({ inbox }: TestWorld): Promise<string[]> => (await inbox.all()).map((mail) => mail.to).toSorted();

/** Twelve contacts: the first six on one list, four to eight on another one, every third in a segment. */
async function fill(world: TestWorld) {
  const { sdk } = world;
  const emails = await addContacts(world, 12);
  const pick = (...places: number[]): string[] => places.map((i) => emails[i] as string).toSorted();
  const news = await sdk.lists.create({ name: "News" });
  const offers = await sdk.lists.create({ name: "Offers" });
  await sdk.lists.add(news.id, { contacts: pick(0, 1, 2, 3, 4, 5) });
  await sdk.lists.add(offers.id, { contacts: pick(4, 5, 6, 7, 8) });
  for (const email of pick(0, 3, 6, 9)) {
    const [contact] = (await sdk.contacts.list({ search: email })).data;
    await sdk.contacts.update(contact?.id ?? "", { tags: ["third"] });
  }
  const third = await sdk.segments.create({ name: "Third", rules: { field: "tags", operator: "contains", value: "third" } });
  return { emails, pick, news: news.id, offers: offers.id, third: third.id };
}

test("a campaign goes once to everybody in any of its lists and segments, without those in an excluded one", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const { pick, news, offers, third } = await fill(world);
  const cases: [Partial<NewCampaign>, number[], number][] = [
    [{ recipientType: "groups", include: [news, offers] }, [0, 1, 2, 3, 4, 5, 6, 7, 8], 0],
    [{ recipientType: "groups", include: [offers, third] }, [0, 3, 4, 5, 6, 7, 8, 9], 0],
    [{ recipientType: "groups", include: [news, third], exclude: [offers] }, [0, 1, 2, 3, 9], 3],
    [{ recipientType: "list", listId: news, exclude: [third] }, [1, 2, 4, 5], 2],
    [{ recipientType: "segment", segmentId: third, exclude: [news, offers] }, [9], 3],
    [{ exclude: [news, offers, third] }, [10, 11], 10],
  ];
  for (const [fields, places, excluded] of cases) {
    const { id } = await createCampaign(world, fields);
    expect(await sdk.campaigns.audience(id)).toMatchObject({ contacts: places.length, subscribed: places.length, excluded });
    await sdk.campaigns.send(id);
    await world.settle();
    expect(await listMailed(world)).toEqual(pick(...places));
    expect(await checkRecipients(world, id)).toEqual({ delivered: places.length });
    await sdk.inbox.clear();
  }
});

test("a campaign shows its lists and segments by name, and one that is gone keeps it from starting", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const { news, offers, third } = await fill(world);
  const campaign = await createCampaign(world, { recipientType: "groups", include: [news, third], exclude: [offers] });
  const list = { id: news, type: "list", name: "News", memberCount: 6 };
  const segment = { id: third, type: "segment", name: "Third", memberCount: 4 };
  const excluded = { id: offers, type: "list", name: "Offers", memberCount: 5 };
  expect(campaign).toMatchObject({ include: [news, third], exclude: [offers], included: [list, segment], excluded: [excluded] });
  expect(await sdk.campaigns.duplicate(campaign.id, {})).toMatchObject({ include: [news, third], exclude: [offers] });
  expect(await sdk.campaigns.update(campaign.id, { recipientType: "all", include: [] })).toMatchObject({ included: [], exclude: [offers] });
  await sdk.lists.delete(offers);
  expect(await sdk.campaigns.get(campaign.id)).toMatchObject({ exclude: [offers], excluded: [] });
  // Otherwise those who were to be left out would get it.
  await expect(sdk.campaigns.send(campaign.id)).rejects.toMatchObject({ code: "not_found" });
  expect(await sdk.campaigns.get(campaign.id)).toMatchObject({ status: "DRAFT" });
});

test("what does not fit together is refused with the field", async () => {
  await using world = await createWorld();
  const { news, third } = await fill(world);
  const refuse = async (fields: Partial<NewCampaign>, path: string, code: string) =>
    expect(await createCampaign(world, fields).catch((error) => error)).toMatchObject({
      code: "validation_error",
      details: expect.arrayContaining([expect.objectContaining({ path, code })]),
    });
  await refuse({ recipientType: "groups" }, "include", "required");
  await refuse({ recipientType: "list", listId: news, include: [news] }, "include", "not_allowed");
  await refuse({ recipientType: "resend" }, "resendOf", "required");
  await refuse({ resendOf: { campaignId: "cmp_1", to: "failed" } }, "resendOf", "not_allowed");
  await refuse({ recipientType: "groups", include: Array.from({ length: 21 }, () => news) }, "include", "too_big");
  const unknown = createCampaign(world, { exclude: ["list_01jc3v2m9k8q4w6x0y5z7a1b2c"] });
  await expect(unknown).rejects.toMatchObject({ code: "not_found" });
  const other = createCampaign(world, { recipientType: "groups", include: ["Readers"] });
  await expect(other).rejects.toMatchObject({ code: "not_found", message: expect.stringContaining('no list or segment "Readers"') });
  for (const fields of [
    { recipientType: "list", listId: third },
    { recipientType: "segment", segmentId: news },
  ] as const)
    await expect(createCampaign(world, fields)).rejects.toMatchObject({ code: "not_found" });
});

test("a resend goes to those who did not open, did not click or were not reached, as they are when it is sent", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  for (const name of ["opened", "clicked", "delivered", "bounced"]) await sdk.contacts.create({ email: `${name}@simulator.mailsvc.test` });
  await sdk.contacts.create({ email: "late@example.com" });
  const unsubscribed = await sdk.contacts.create({ email: "gone@example.com" });
  await sdk.contacts.update(unsubscribed.id, { status: "UNSUBSCRIBED" });
  const first = await createCampaign(world, { html: '<a href="https://acme.example/">Look</a>' });
  await expect(sdk.campaigns.resend(first.id, { to: "failed" })).rejects.toMatchObject({ code: "invalid_state" });
  await sdk.campaigns.send(first.id);
  await world.clock.advance("1h");
  const send = async (to: "not_opened" | "not_clicked" | "failed") => {
    const again = await sdk.campaigns.resend(first.id, { to, subjectLine: `Again: ${to}` });
    expect(again).toMatchObject({
      status: "DRAFT",
      recipientType: "resend",
      resendOf: { campaignId: first.id, to },
      name: "Launch, again",
    });
    const { contacts } = await sdk.campaigns.audience(again.id);
    await sdk.campaigns.send(again.id);
    await world.clock.advance("1h");
    const recipients = await sdk.campaigns.recipients(again.id).toArray();
    expect(recipients).toHaveLength(contacts);
    return recipients.map(({ to: address, status }) => `${address.split("@")[0]} ${status}`).toSorted();
  };
  expect((await sdk.campaigns.stats(first.id)).recipients).toMatchObject({ total: 6, bounced: 1, skipped: 1 });
  expect(await send("not_opened")).toEqual(["delivered delivered", "late delivered"]);
  expect(await send("not_clicked")).toEqual(["delivered delivered", "late delivered", "opened delivered"]);
  // Contacts that unsubscribed or bounced are selected by their present state.
  await sdk.contacts.update(unsubscribed.id, { status: "SUBSCRIBED" });
  expect(await send("failed")).toEqual(["bounced skipped", "gone delivered"]);
});

test("a campaign that counted no opens cannot be sent again to those who did not open it", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  await addContacts(world, 2);
  const { id } = await createCampaign(world, { trackOpens: false });
  await sdk.campaigns.send(id);
  await world.settle();
  await expect(sdk.campaigns.resend(id, { to: "not_opened" })).rejects.toMatchObject({ code: "invalid_state" });
  await expect(sdk.campaigns.resend(id, { to: "not_clicked" })).resolves.toMatchObject({ status: "DRAFT" });
});

test("a campaign whose mail may be deleted already cannot be sent again, nor counted for it, nor by a draft or a schedule of before", async () => {
  await using world = await createWorld({ flags: { keep: "emails=30" } });
  const { sdk } = world;
  await addContacts(world, 2);
  const { id } = await createCampaign(world);
  await sdk.campaigns.send(id);
  await world.settle();
  const draft = await sdk.campaigns.resend(id, { to: "not_opened" });
  const scheduled = await sdk.campaigns.resend(id, { to: "not_clicked" });
  await sdk.campaigns.schedule(scheduled.id, { scheduledAt: "2026-02-02T00:00:00.000Z" });
  expect(await sdk.campaigns.audience(draft.id)).toMatchObject({ contacts: 2 });
  await world.clock.advance("29d");
  await expect(sdk.campaigns.resend(id, { to: "not_opened" })).resolves.toMatchObject({ status: "DRAFT" });
  await world.clock.advance("4d");
  const refused = { code: "invalid_state", message: expect.stringContaining("(--keep)") };
  await expect(sdk.campaigns.resend(id, { to: "not_opened" })).rejects.toMatchObject(refused);
  await expect(sdk.campaigns.audience(draft.id)).rejects.toMatchObject(refused);
  await expect(sdk.campaigns.send(draft.id)).rejects.toMatchObject(refused);
  expect(await sdk.campaigns.get(draft.id)).toMatchObject({ status: "DRAFT" });
  expect(await sdk.campaigns.get(scheduled.id)).toMatchObject({ status: "PAUSED", statusReason: refused });
  const sentAgain = (await world.inbox.all()).filter(({ receivedAt }) => receivedAt > "2026-01-02");
  expect(sentAgain).toEqual([]);
});
