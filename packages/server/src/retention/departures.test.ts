import { expect, test } from "vitest";
import { addContacts, createCampaign } from "../../test/campaign.ts";
import { createWorld, type TestWorld } from "../testing.ts";
import { makeUnsubscribeUrl } from "../unsubscribe/unsubscribe.ts";

async function leave(world: TestWorld, email: string, listId: string): Promise<void> {
  const url = makeUnsubscribeUrl(world.app.deps, { workspaceId: world.workspaceId, email });
  const response = await world.fetch(url, { method: "POST", body: new URLSearchParams({ action: "save", shown: listId }) });
  expect(response.status).toBe(200);
}

async function countEvents({ app }: TestWorld, type: string): Promise<number> {
  const { read } = app.deps.db;
  return (await read.select({ type: read.t.events.type }).from(read.t.events)).filter((event) => event.type === type).length;
}

test("who left the list of a campaign that pauses for longer than events are kept gets none of it", async () => {
  await using world = await createWorld({ flags: { keep: "events=1" } });
  const { sdk } = world;
  const emails = await addContacts(world, 4);
  const list = await sdk.lists.create({ name: "News" });
  await sdk.lists.add(list.id, { contacts: emails });
  // A departure before the campaign is no departure from it.
  await leave(world, emails[3] ?? "", list.id);
  await world.clock.advance("1s");
  const { id } = await createCampaign(world, { throttle: { perSecond: 1 }, recipientType: "list", listId: list.id });
  await sdk.campaigns.send(id);
  await world.settle();
  await sdk.campaigns.pause(id);
  await leave(world, emails[1] ?? "", list.id);
  await world.clock.advance("10d");
  expect(await countEvents(world, "contact.created")).toBe(0);
  expect(await countEvents(world, "list.left")).toBe(1);
  await sdk.campaigns.resume(id);
  await world.clock.advance("10s");
  expect(await sdk.campaigns.recipients(id, { status: "skipped" }).toArray()).toMatchObject([{ to: emails[1], skipReason: "left_list" }]);
  expect((await sdk.campaigns.stats(id)).recipients).toMatchObject({ delivered: 2, skipped: 1, total: 3 });
  expect((await sdk.campaigns.get(id)).status).toBe("SENT");
  // Nobody needs it any more.
  await world.clock.advance("5d");
  expect(await countEvents(world, "list.left")).toBe(0);
});
