import { beforeEach, describe, expect, test } from "vitest";
import { addContacts, checkRecipients, createCampaign } from "../../test/campaign.ts";
import { jobsOf } from "../features.ts";
import { createWorld, type TestWorld } from "../testing.ts";

// More than one chunk of recipients, on both databases.
const PEOPLE = 600;

/** Lets the jobs of a world go on that were stopped. */
async function goOn({ app: { deps }, settle }: TestWorld): Promise<void> {
  await deps.queue.start(jobsOf(deps), 4);
  await settle();
}

const findId = async ({ sdk }: TestWorld, email: string): Promise<string> =>
  (await sdk.contacts.list({ search: email }).toArray())[0]?.id ?? "";

const listMailed = async ({ inbox }: TestWorld): Promise<string[]> => (await inbox.all()).map((mail) => mail.to).toSorted();

interface Start {
  readonly world: TestWorld;
  readonly id: string;
  readonly emails: readonly string[];
  /** Makes a contact that would be in the audience, if it had existed at the start. */
  add(email: string): Promise<void>;
  /** Makes contacts leave what the campaign is sent to. */
  remove(emails: readonly string[]): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** A campaign to 600 contacts that has started, and of whose audience nothing is read. There is one contact more, who is not in it. */
async function start(kind: "all" | "list" | "segment"): Promise<Start> {
  const world = await createWorld();
  const { sdk } = world;
  const emails = await addContacts(world, PEOPLE);
  const list = await sdk.lists.create({ name: "News" });
  for (let i = 0; i < PEOPLE; i += 500) await sdk.lists.add(list.id, { contacts: emails.slice(i, i + 500) });
  const segment = await sdk.segments.create({ name: "Planned", rules: { field: "customFields.plan", operator: "exists" } });
  if (kind !== "all") await sdk.contacts.create({ email: "other@example.com" });
  const target = { all: {}, list: { listId: list.id }, segment: { segmentId: segment.id } }[kind];
  const { id } = await createCampaign(world, { recipientType: kind, ...target });
  await world.settle();
  await world.app.deps.queue.stop();
  await sdk.campaigns.send(id);
  return {
    world,
    id,
    emails,
    add: async (email) => {
      await sdk.contacts.create({ email, customFields: { plan: "gold" } });
      await sdk.lists.add(list.id, { contacts: [email] });
      if (kind === "segment") await sdk.contacts.update(await findId(world, "other@example.com"), { customFields: { plan: "gold" } });
      if (kind === "list") await sdk.lists.add(list.id, { contacts: ["other@example.com"] });
    },
    remove: async (some) => {
      if (kind === "list") await sdk.lists.remove(list.id, { contacts: [...some] });
      if (kind === "segment")
        for (const email of some) await sdk.contacts.update(await findId(world, email), { customFields: { plan: null } });
    },
    [Symbol.asyncDispose]: () => world.dispose(),
  };
}

describe.each(["all", "list", "segment"] as const)("a campaign to %s", (kind) => {
  let campaign: Start;
  beforeEach(async () => {
    campaign = await start(kind);
    return () => campaign[Symbol.asyncDispose]();
  });

  test("goes to the contacts of the start: also to those removed after it, and not to those added", async () => {
    const { world, id, emails, add, remove } = campaign;
    await remove(emails.slice(10, 20));
    await add("late@example.com");
    expect((await world.sdk.campaigns.stats(id)).audience).toBe(PEOPLE);
    await goOn(world);
    expect(await checkRecipients(world, id)).toEqual({ delivered: PEOPLE });
    expect(await listMailed(world)).toEqual([...emails].toSorted());
    expect(await world.sdk.campaigns.get(id)).toMatchObject({ status: "SENT" });
    expect(await world.app.deps.db.read.$count(world.app.deps.db.read.t.campaignAudience)).toBe(0);
  });

  test("counts contacts that were deleted before they were read as skipped, and keeps no address of them", async () => {
    const { world, id, emails } = campaign;
    const deleted = emails.slice(100, 103);
    for (const email of deleted) await world.sdk.contacts.delete(await findId(world, email));
    // One of them comes back as a new contact, which was not there at the start.
    await world.sdk.contacts.create({ email: deleted[0] ?? "", customFields: { plan: "gold" } });
    await world.sdk.people.erase(emails[500] ?? "");
    await goOn(world);
    expect(await checkRecipients(world, id)).toEqual({ delivered: PEOPLE - 4, skipped: 4 });
    const skipped = await world.sdk.campaigns.recipients(id, { status: "skipped" }).toArray();
    expect(skipped.map(({ to, contactId, skipReason }) => [to, contactId, skipReason])).toEqual(
      Array.from({ length: 4 }, () => ["", null, "deleted"]),
    );
    expect((await world.sdk.campaigns.stats(id)).skipped.deleted).toBe(4);
  });

  test("that is cancelled before its audience is read accounts for everybody", async () => {
    const { world, id, emails } = campaign;
    await world.sdk.contacts.delete(await findId(world, emails[7] ?? ""));
    await world.sdk.campaigns.cancel(id);
    await goOn(world);
    expect(await checkRecipients(world, id)).toEqual({ cancelled: PEOPLE - 1, skipped: 1 });
    expect(await listMailed(world)).toEqual([]);
  });
});

test("the audience of a draft is counted as it is now, with those who are subscribed", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const emails = await addContacts(world, 6);
  const list = await sdk.lists.create({ name: "News" });
  await sdk.lists.add(list.id, { contacts: emails.slice(0, 3) });
  const segment = await sdk.segments.create({
    name: "Gold",
    rules: { field: "customFields.plan", operator: "equals", value: "gold" },
  });
  await sdk.contacts.update(await findId(world, emails[0] ?? ""), { status: "UNSUBSCRIBED" });
  const toAll = await createCampaign(world);
  const toList = await createCampaign(world, { recipientType: "list", listId: list.id });
  const toSegment = await createCampaign(world, { recipientType: "segment", segmentId: segment.id });
  const computedAt = "2026-01-01T00:00:00.000Z";
  expect(await sdk.campaigns.audience(toAll.id)).toEqual({ contacts: 6, subscribed: 5, excluded: 0, computedAt });
  expect(await sdk.campaigns.audience(toList.id)).toEqual({ contacts: 3, subscribed: 2, excluded: 0, computedAt });
  expect(await sdk.campaigns.audience(toSegment.id)).toEqual({ contacts: 3, subscribed: 2, excluded: 0, computedAt });
  await sdk.campaigns.send(toList.id);
  await world.settle();
  expect(await checkRecipients(world, toList.id)).toEqual({ delivered: 2, skipped: 1 });
  await sdk.segments.delete(segment.id);
  await expect(sdk.campaigns.audience(toSegment.id)).rejects.toMatchObject({ code: "not_found" });
});
