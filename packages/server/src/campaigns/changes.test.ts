import { expect, test } from "vitest";
import { addContacts, checkRecipients, createCampaign } from "../../test/campaign.ts";
import { asHeld } from "../../test/plain-event.ts";
import { recordEvents } from "../events/events.ts";
import { createWorld, type TestWorld } from "../testing.ts";

/** A campaign of which one mail is sent each second, with the first one sent. */
async function startSlowly(
  world: TestWorld,
  n: number,
  fields: Parameters<typeof createCampaign>[1] = {},
): Promise<{ id: string; emails: string[] }> {
  const emails = await addContacts(world, n);
  const { id } = await createCampaign(world, { throttle: { perSecond: 1 }, ...fields });
  await world.sdk.campaigns.send(id);
  await world.settle();
  expect(await checkRecipients(world, id)).toEqual({ delivered: 1, queued: n - 1 });
  return { id, emails };
}

async function findId(world: TestWorld, email: string): Promise<string> {
  return (await world.sdk.contacts.list({ search: email }).toArray())[0]?.id ?? "";
}

test("contacts that are deleted, unsubscribed, suppressed and changed in the middle", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const { id, emails } = await startSlowly(world, 6);
  await sdk.contacts.delete(await findId(world, emails[1] ?? ""));
  await sdk.contacts.update(await findId(world, emails[2] ?? ""), { status: "UNSUBSCRIBED" });
  await sdk.suppressions.create({ email: emails[3] ?? "", reason: "bounce" });
  await sdk.contacts.update(await findId(world, emails[4] ?? ""), { firstName: "Changed" });
  await world.clock.advance("10s");
  expect(await sdk.campaigns.get(id)).toMatchObject({ status: "SENT" });
  expect(await checkRecipients(world, id)).toEqual({ delivered: 3, skipped: 3 });
  const reasons = (await sdk.campaigns.recipients(id, { status: "skipped" }).toArray()).map((r) => [r.to, r.skipReason]);
  expect(Object.fromEntries(reasons)).toEqual({
    [emails[1] ?? ""]: "deleted",
    [emails[2] ?? ""]: "unsubscribed",
    [emails[3] ?? ""]: "bounced",
  });
  expect((await world.inbox.waitFor({ to: emails[4] ?? "" })).subject).toBe("Hello Changed");
  expect(await sdk.campaigns.stats(id)).toMatchObject({ skipped: { deleted: 1, unsubscribed: 1, bounced: 1, invalid: 0 } });
});

test("a deleted contact that comes back under the same address gets no second mail", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const { id, emails } = await startSlowly(world, 3);
  await sdk.contacts.delete(await findId(world, emails[0] ?? ""));
  await sdk.contacts.create({ email: (emails[0] ?? "").toUpperCase().replace("EXAMPLE.COM", "example.com") });
  await world.clock.advance("10s");
  expect(await checkRecipients(world, id)).toEqual({ delivered: 3 });
});

test("an erased person leaves the statistics, which still equal a recount", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const { id, emails } = await startSlowly(world, 4);
  const [first] = await sdk.campaigns.recipients(id, { status: "delivered" }).toArray();
  const { deps } = world.app;
  const about = { workspaceId: world.workspaceId, emailId: first?.emailId ?? "", campaignId: id };
  const click = (url: string, machine: boolean) => ({
    ...about,
    type: "email.clicked" as const,
    at: deps.clock.now(),
    machine,
    data: { url },
  });
  await deps.db.tx((tx) =>
    recordEvents(
      tx,
      deps,
      asHeld([
        { ...about, type: "email.opened", at: deps.clock.now(), machine: false },
        { ...about, type: "email.opened", at: deps.clock.now(), machine: true },
        click("https://a.example", false),
        click("https://a.example", false),
        click("https://b.example", true),
      ]),
    ),
  );
  expect(await sdk.campaigns.stats(id)).toMatchObject({
    opens: { total: 1, unique: 1, machine: 1 },
    clicks: { total: 2, unique: 1, machine: 1 },
    links: [
      { url: "https://a.example", clicks: 2, uniqueClicks: 1, machineClicks: 0 },
      { url: "https://b.example", clicks: 0, uniqueClicks: 0, machineClicks: 1 },
    ],
  });
  // One who got it and one who waits.
  await sdk.people.erase(emails[0] ?? "");
  await sdk.people.erase(emails[3] ?? "");
  await world.clock.advance("10s");
  expect(await checkRecipients(world, id)).toEqual({ delivered: 2 });
  const stats = await sdk.campaigns.stats(id);
  expect(stats).toMatchObject({ opens: { total: 0, unique: 0, machine: 0 }, clicks: { total: 0, unique: 0, machine: 0 } });
  expect(stats.links).toEqual([]);
  expect(JSON.stringify(await sdk.campaigns.recipients(id).toArray())).not.toContain(emails[3]);
});

test("the list, the segment and the template deleted in the middle change nothing", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const emails = await addContacts(world, 4);
  const list = await sdk.lists.create({ name: "News" });
  await sdk.lists.add(list.id, { contacts: emails });
  const segment = await sdk.segments.create({ name: "On the list", rules: { field: "lists", operator: "contains", value: list.id } });
  const partial = await sdk.templates.create({ name: "Foot", type: "partial", html: "<i>{{plan}}</i>", publish: true });
  const html = "<p>One {{firstName}}</p>{{> foot}}";
  const template = await sdk.templates.create({ name: "News", type: "marketing", subject: "s", html, publish: true });
  const fields = { html: undefined, templateId: template.id, throttle: { perSecond: 1 } };
  const toList = await createCampaign(world, { ...fields, recipientType: "list", listId: list.id });
  const toSegment = await createCampaign(world, { ...fields, recipientType: "segment", segmentId: segment.id, subjectLine: "Segment" });
  // All of it at once: the audiences have not been read when the list goes.
  await Promise.all([sdk.campaigns.send(toList.id), sdk.campaigns.send(toSegment.id)]);
  await sdk.templates.update(template.id, { html: "<p>Two</p>", publish: true });
  await sdk.templates.delete(template.id);
  await sdk.templates.delete(partial.id);
  await sdk.segments.delete(segment.id);
  await sdk.lists.delete(list.id);
  await world.clock.advance("30s");
  for (const { id } of [toList, toSegment]) {
    expect(await sdk.campaigns.get(id)).toMatchObject({ status: "SENT", template: null });
    expect((await sdk.campaigns.stats(id)).recipients).toMatchObject({ total: 4, delivered: 4 });
    expect((await sdk.campaigns.verify(id)).differences).toEqual([]);
  }
  const bodies = await Promise.all((await world.inbox.all()).map((mail) => world.inbox.get(mail.id)));
  expect(bodies).toHaveLength(8);
  for (const { html: body } of bodies) expect(body).toMatch(/One P\d.*<i>(?:gold|basic)<\/i>/s);
});

test("a contact without a variable that the template requires is skipped; others are empty", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  await sdk.contacts.import({ rows: [{ email: "a@example.com", customFields: { code: "X1" } }, { email: "b@example.com" }] });
  const template = await sdk.templates.create({
    name: "Code",
    type: "marketing",
    subject: "s",
    html: "<p>Dear {{firstName}}: {{code}}</p>",
    variables: [{ name: "code", type: "string", required: true }],
    publish: true,
  });
  const { id } = await createCampaign(world, { html: undefined, templateId: template.id, subjectLine: "Hi {{firstName}} there" });
  await sdk.campaigns.send(id);
  await world.settle();
  expect(await checkRecipients(world, id)).toEqual({ delivered: 1, skipped: 1 });
  expect((await sdk.campaigns.stats(id)).skipped.missing_variables).toBe(1);
  const mail = await world.inbox.waitFor({ to: "a@example.com" });
  expect(mail.html).toContain("Dear : X1");
});

test("a mail that cannot be rendered fails alone, with the reason", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  await sdk.contacts.import({ rows: [{ email: "a@example.com", firstName: "Ada" }, { email: "b@example.com" }] });
  const { id } = await createCampaign(world, { subjectLine: "{{firstName}}" });
  await sdk.campaigns.send(id);
  await world.settle();
  expect(await checkRecipients(world, id)).toEqual({ delivered: 1, failed: 1 });
  const [failed] = await sdk.campaigns.recipients(id, { status: "failed" }).toArray();
  expect(failed).toMatchObject({ to: "b@example.com", lastError: { message: expect.stringContaining("subject is empty") } });
});

test("revenue of events that name the campaign is summed by currency", async () => {
  await using world = await createWorld();
  const { id } = await startSlowly(world, 2);
  const { deps } = world.app;
  const bought = (value: number, currency: string) => ({
    workspaceId: world.workspaceId,
    type: "automation.goal_reached" as const,
    at: deps.clock.now(),
    campaignId: id,
    data: { value, currency },
  });
  await deps.db.tx((tx) => recordEvents(tx, deps, [bought(19.99, "EUR"), bought(0.01, "EUR"), bought(5, "USD")]));
  const { revenue } = await world.sdk.campaigns.stats(id);
  expect(revenue.sort((a, b) => (a.currency < b.currency ? -1 : 1))).toEqual([
    { currency: "EUR", amount: 20, events: 2 },
    { currency: "USD", amount: 5, events: 1 },
  ]);
  expect((await world.sdk.campaigns.verify(id)).correct).toBe(true);
});
