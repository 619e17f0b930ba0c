import { expect, test } from "vitest";
import { addContacts, checkRecipients, createCampaign } from "../../test/campaign.ts";
import { createWorld, type TestWorld } from "../testing.ts";
import { makeUnsubscribeUrl } from "../unsubscribe/unsubscribe.ts";

/** Leaves lists on the preference page, as a person does. */
async function leave(world: TestWorld, email: string, listIds: readonly string[]): Promise<void> {
  const form = new URLSearchParams({ action: "save" });
  for (const id of listIds) form.append("shown", id);
  const response = await world.fetch(makeUnsubscribeUrl(world.app.deps, { workspaceId: world.workspaceId, email }), {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded", accept: "text/html" },
    body: form.toString(),
  });
  expect(response.status).toBe(200);
}

/** A campaign of one mail a second to the members of lists, of whom the first has it. */
async function startSlowly(world: TestWorld, fields: Parameters<typeof createCampaign>[1]): Promise<string> {
  const { id } = await createCampaign(world, { throttle: { perSecond: 1 }, ...fields });
  await world.sdk.campaigns.send(id);
  await world.settle();
  return id;
}

const listSkipped = async ({ sdk }: TestWorld, id: string) =>
  (await sdk.campaigns.recipients(id, { status: "skipped" }).toArray()).map(({ to, skipReason }) => `${to} ${skipReason}`);

test("who leaves the list on the preference page before their mail goes out gets nothing; whom the sender removes gets it", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const emails = await addContacts(world, 5);
  const list = await sdk.lists.create({ name: "News" });
  await sdk.lists.add(list.id, { contacts: emails });
  const id = await startSlowly(world, { recipientType: "list", listId: list.id });
  await leave(world, emails[1] ?? "", [list.id]);
  await sdk.lists.remove(list.id, { contacts: [emails[2] ?? ""] });
  // One comes back in time.
  await leave(world, emails[3] ?? "", [list.id]);
  await sdk.lists.add(list.id, { contacts: [emails[3] ?? ""] });
  await world.clock.advance("10s");
  expect(await listSkipped(world, id)).toEqual([`${emails[1]} left_list`]);
  const { recipients, skipped } = await sdk.campaigns.stats(id);
  expect(recipients).toMatchObject({ delivered: 4, skipped: 1 });
  expect(skipped.left_list).toBe(1);
});

test("who is still on another list of the campaign, or is in its segment, gets it", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const emails = await addContacts(world, 4);
  const [news, beta] = [await sdk.lists.create({ name: "News" }), await sdk.lists.create({ name: "Beta" })];
  await sdk.lists.add(news.id, { contacts: emails });
  await sdk.lists.add(beta.id, { contacts: emails });
  const segment = await sdk.segments.create({ name: "All", rules: { field: "email", operator: "contains", value: "@" } });
  const toLists = await startSlowly(world, { recipientType: "groups", include: [news.id, beta.id] });
  const toBoth = await startSlowly(world, { recipientType: "groups", include: [news.id, segment.id] });
  await leave(world, emails[1] ?? "", [news.id]);
  await leave(world, emails[2] ?? "", [news.id, beta.id]);
  await world.clock.advance("10s");
  expect(await listSkipped(world, toLists)).toEqual([`${emails[2]} left_list`]);
  expect(await listSkipped(world, toBoth)).toEqual([]);
  expect((await sdk.campaigns.stats(toLists)).recipients).toMatchObject({ delivered: 3, skipped: 1, total: 4 });
});

test("who left before the start and was added again by the sender gets it", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const emails = await addContacts(world, 2);
  const list = await sdk.lists.create({ name: "News" });
  await sdk.lists.add(list.id, { contacts: emails });
  await leave(world, emails[1] ?? "", [list.id]);
  await world.clock.advance("1s");
  await sdk.lists.add(list.id, { contacts: [emails[1] ?? ""] });
  const id = await startSlowly(world, { recipientType: "list", listId: list.id });
  await sdk.lists.remove(list.id, { contacts: [emails[1] ?? ""] });
  await world.clock.advance("10s");
  expect((await sdk.campaigns.stats(id)).recipients).toMatchObject({ delivered: 2 });
  expect(await checkRecipients(world, id)).toEqual({ delivered: 2 });
});
