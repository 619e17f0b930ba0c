import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { addContacts, checkRecipients, createCampaign } from "../../test/campaign.ts";
import { createWorld } from "../testing.ts";
import { readAudience, writeAudience } from "./audience.ts";
import { getCampaignRow } from "./campaigns.ts";
import { selectAudience } from "./selection.ts";

test("a campaign goes to all contacts once, rendered for each, and ends as SENT", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  await addContacts(world, 30);
  const { id } = await createCampaign(world, {
    previewText: "For {{firstName}} & friends",
    fromName: "Acme",
    replyTo: "help@acme.example",
  });
  expect(await sdk.campaigns.send(id)).toMatchObject({ status: "SENDING", startedAt: "2026-01-01T00:00:00.000Z" });
  await world.settle();
  expect(await sdk.campaigns.get(id)).toMatchObject({ status: "SENT", completedAt: "2026-01-01T00:00:00.000Z" });
  expect(await checkRecipients(world, id)).toEqual({ delivered: 30 });
  const p3 = await world.inbox.waitFor({ to: "p3@example.com" });
  expect(p3).toMatchObject({ subject: "Hello P3" });
  expect(p3.html).toContain("Dear P3, your plan is basic.");
  expect(p3.html).toContain("For P3 &amp; friends");
  expect(p3.text).not.toContain("friends");
  await expect(sdk.campaigns.send(id)).rejects.toMatchObject({ code: "invalid_state" });
  const events = (await sdk.events.list({ campaign: id }).toArray()).map((e) => e.type).filter((type) => type.startsWith("campaign."));
  expect(events.sort()).toEqual(["campaign.completed", "campaign.started"]);
});

test("links of a campaign get its UTM parameters, tracked or not, and so do those of its test and its duplicate", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  await addContacts(world, 1);
  const utm = { source: "mailsvc", campaign: "launch" };
  const html = '<p><a href="https://acme.example/launch?utm_source=own">Look</a> <a href="https://acme.example/more">More</a></p>';
  const { id, utm: kept } = await createCampaign(world, { html, utm, trackClicks: false });
  expect(kept).toEqual(utm);
  await sdk.campaigns.test(id, { to: ["tester@acme.example"] });
  const copy = await sdk.campaigns.duplicate(id);
  expect(copy.utm).toEqual(utm);
  await sdk.campaigns.send(id);
  const links = [
    "https://acme.example/launch?utm_source=own&utm_campaign=launch",
    "https://acme.example/more?utm_source=mailsvc&utm_campaign=launch",
  ];
  for (const to of ["p0@example.com", "tester@acme.example"])
    expect((await world.inbox.waitFor({ to })).links).toEqual(expect.arrayContaining(links));
  expect((await sdk.campaigns.update(copy.id, { utm: null })).utm).toBeNull();
  await sdk.campaigns.send(copy.id);
  const plain = await world.inbox.waitFor({ to: "p0@example.com", after: (await world.inbox.waitFor({ to: "p0@example.com" })).id });
  expect(plain.links).toContain("https://acme.example/more");
  // @ts-expect-error an unknown parameter
  await expect(createCampaign(world, { utm: { sauce: "x" } })).rejects.toMatchObject({ code: "validation_error" });
});

test("tags and other lists of a contact are variables as its texts are", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  await sdk.contacts.create({ email: "ada@example.com", tags: ["beta", "vip"], customFields: { seats: [1, 2], plan: { name: "pro" } } });
  const { id } = await createCampaign(world, { html: "<p>{{tags}}: {{seats}}</p>" });
  await sdk.campaigns.send(id);
  expect((await world.inbox.waitFor({ to: "ada@example.com" })).html).toContain("beta, vip: 1, 2");
  const { id: wrong } = await createCampaign(world, { html: "<p>{{plan}}</p>" });
  const refused = { code: "template_error", hint: expect.stringContaining("content of the campaign") };
  await expect(sdk.campaigns.preview(wrong, { contact: "ada@example.com" })).rejects.toMatchObject(refused);
});

test("a campaign that can be rendered for nobody does not start, and one that can for somebody does", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  for (let i = 0; i < 50; i += 1) await sdk.contacts.create({ email: `c${i}@example.com`, customFields: { plan: { name: "pro" } } });
  const { id } = await createCampaign(world, { html: "<p>{{plan}}</p>" });
  const refused = { code: "template_error", message: expect.stringMatching(/for any of 20 contacts that were tried: .*plan/) };
  await expect(sdk.campaigns.send(id)).rejects.toMatchObject(refused);
  expect(await sdk.campaigns.get(id)).toMatchObject({ status: "DRAFT" });
  const abTest = { samplePercent: 20, variants: [{ html: "<p>Good</p>" }, { html: "<p>{{plan}}</p>" }] };
  const { id: half } = await createCampaign(world, { html: "<p>Both</p>", abTest });
  await expect(sdk.campaigns.send(half)).rejects.toMatchObject(refused);
  await sdk.campaigns.schedule(id, { scheduledAt: "2026-01-02T00:00:00Z" });
  await world.clock.advance("1d");
  expect(await sdk.campaigns.get(id)).toMatchObject({ status: "PAUSED", statusReason: { code: "template_error" } });
  // Nobody has got anything, and it goes on once the contacts are corrected.
  await sdk.contacts.update("c0@example.com", { customFields: { plan: "pro" } });
  await sdk.campaigns.resume(id);
  await world.settle();
  expect(await checkRecipients(world, id)).toEqual({ delivered: 1, failed: 49 });
});

test("a preview text that does not compile is refused by name, and one of an earlier version keeps a campaign from starting", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  await addContacts(world, 1);
  const refused = { status: 400, code: "validation_error", details: [{ path: "previewText" }] };
  for (const previewText of ["{{#if x}}", "a {{ b"]) await expect(createCampaign(world, { previewText })).rejects.toMatchObject(refused);
  const { id } = await createCampaign(world);
  await expect(sdk.campaigns.update(id, { previewText: "{{#if x}}" })).rejects.toMatchObject(refused);
  const abTest = { variants: [{}, { previewText: "{{" }] };
  await expect(createCampaign(world, { abTest })).rejects.toMatchObject({ details: [{ path: "abTest.variants[1].previewText" }] });
  const { campaigns: t } = world.app.deps.db.read.t;
  await world.app.deps.db.tx(async (tx) => void (await tx.update(t).set({ previewText: "{{#if x}}" }).where(eq(t.id, id))));
  await expect(sdk.campaigns.send(id)).rejects.toMatchObject(refused);
  await expect(sdk.campaigns.preview(id)).rejects.toMatchObject(refused);
});

test("a campaign without anybody is SENT at once", async () => {
  await using world = await createWorld();
  const { id } = await createCampaign(world);
  await world.sdk.campaigns.send(id);
  await world.settle();
  expect(await world.sdk.campaigns.get(id)).toMatchObject({ status: "SENT" });
  expect(await checkRecipients(world, id)).toEqual({});
});

test("contacts that must not get mail are skipped, with the reason", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const emails = await addContacts(world, 6);
  const ids = new Map((await sdk.contacts.list().toArray()).map((c) => [c.email, c.id]));
  await sdk.contacts.update(ids.get(emails[0] ?? "") ?? "", { status: "UNSUBSCRIBED" });
  await sdk.suppressions.create({ email: emails[1] ?? "", reason: "bounce" });
  await sdk.suppressions.create({ email: emails[2] ?? "", reason: "complaint" });
  await sdk.suppressions.create({ email: emails[3] ?? "", reason: "manual", scope: "marketing" });
  const { id } = await createCampaign(world);
  await sdk.campaigns.send(id);
  await world.settle();
  expect(await checkRecipients(world, id)).toEqual({ delivered: 2, skipped: 4 });
  const skipped = await sdk.campaigns.recipients(id, { status: "skipped" }).toArray();
  expect(Object.fromEntries(skipped.map((r) => [r.to, r.skipReason]))).toMatchObject({
    [emails[0] ?? ""]: "unsubscribed",
    [emails[1] ?? ""]: "bounced",
    [emails[2] ?? ""]: "complained",
  });
  expect((await sdk.campaigns.stats(id)).skipped).toMatchObject({ unsubscribed: expect.any(Number), bounced: 1, complained: 1 });
  expect((await world.inbox.all()).map((m) => m.to).sort()).toEqual([emails[4], emails[5]]);
});

test("a list and a segment: the members at the start, and nobody who joins later", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const emails = await addContacts(world, 6);
  const list = await sdk.lists.create({ name: "News" });
  await sdk.lists.add(list.id, { contacts: emails.slice(0, 3) });
  const rules = { field: "customFields.plan", operator: "equals", value: "gold" } as const;
  const segment = await sdk.segments.create({ name: "Gold", rules });
  const toList = await createCampaign(world, { recipientType: "list", listId: list.id });
  const toSegment = await createCampaign(world, { recipientType: "segment", segmentId: segment.id });
  const { deps } = world.app;
  const start = async (id: string) => {
    const row = await getCampaignRow(deps.db.read, world.workspaceId, id);
    const { contacts } = await selectAudience(deps.db.read, deps, row);
    await deps.db.tx((tx) => writeAudience(tx, id, contacts));
    return { ...row, startedAt: deps.clock.now(), audience: contacts.size };
  };
  const [listStart, segmentStart] = [await start(toList.id), await start(toSegment.id)];
  // Before the first step of the sending, people join and leave, come and change.
  await world.clock.advance("1s");
  await sdk.lists.add(list.id, { contacts: emails.slice(3, 5) });
  await sdk.contacts.create({ email: "late@example.com", customFields: { plan: "gold" } });
  await sdk.segments.update(segment.id, { rules: { field: "email", operator: "equals", value: "late@example.com" } });
  const listed = async (row: Awaited<ReturnType<typeof start>>) => (await readAudience(deps, row)).candidates.map((c) => c.email);
  expect(await listed(listStart)).toEqual(emails.slice(0, 3));
  expect(await listed(segmentStart)).toEqual([emails[0], emails[2], emails[4]]);
});

test("chunks of an audience follow each other without a gap or an overlap", async () => {
  await using world = await createWorld();
  await addContacts(world, 2500);
  const { id } = await createCampaign(world);
  await world.sdk.campaigns.send(id);
  await world.settle();
  expect(await world.sdk.campaigns.get(id)).toMatchObject({ status: "SENT" });
  expect(await checkRecipients(world, id)).toEqual({ delivered: 2500 });
});

test("a throttle releases its number of emails per second, and a window none outside its hours", async () => {
  await using world = await createWorld({ now: "2026-01-01T07:59:58.000Z" });
  const { sdk } = world;
  await addContacts(world, 10);
  const window = { start: "09:00", end: "09:01", timeZone: "Europe/Berlin" };
  const { id } = await createCampaign(world, { throttle: { perSecond: 3, window } });
  await sdk.campaigns.send(id);
  await world.settle();
  expect(await checkRecipients(world, id)).toEqual({ queued: 10 });
  await world.clock.advance("1s");
  expect(await checkRecipients(world, id)).toEqual({ queued: 10 });
  for (const [i, expected] of [3, 6, 9].entries()) {
    await world.clock.advance("1s");
    expect(await checkRecipients(world, id), `second ${i}`).toEqual({ delivered: expected, queued: 10 - expected });
  }
  await world.clock.advance("5s");
  expect(await checkRecipients(world, id)).toEqual({ delivered: 10 });
  expect(await sdk.campaigns.get(id)).toMatchObject({ status: "SENT" });
});

test("what bounces, defers and complains is counted, and deferred mail is tried after the campaign is SENT", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const rows = ["delivered", "bounced", "opened", "clicked", "complained", "delayed"].map((name) => ({
    email: `${name}@simulator.mailsvc.test`,
  }));
  await sdk.contacts.import({ rows });
  const { id } = await createCampaign(world);
  await sdk.campaigns.send(id);
  await world.settle();
  expect(await sdk.campaigns.get(id)).toMatchObject({ status: "SENT" });
  const before = await sdk.campaigns.stats(id);
  expect(before.recipients).toMatchObject({ total: 6, deferred: 1, bounced: 1 });
  await world.clock.advance("2h");
  expect(await checkRecipients(world, id)).toEqual({ delivered: 4, bounced: 1, complained: 1 });
  const after = await sdk.campaigns.stats(id, { interval: "day" });
  expect(after).toMatchObject({
    opens: { total: 2, unique: 2, machine: 0 },
    clicks: { total: 1, unique: 1, machine: 0 },
    rates: {
      delivery: { rate: 5 / 6, count: 5, of: "attempted", total: 6 },
      open: { rate: 2 / 5, count: 2, of: "accepted", total: 5 },
      clickToOpen: { rate: 1 / 2, count: 1, of: "uniqueOpens", total: 2 },
      bounce: { rate: 1 / 6, count: 1, of: "attempted", total: 6 },
      complaint: { rate: 1 / 5, count: 1, of: "accepted", total: 5 },
    },
    series: [{ at: "2026-01-01T00:00:00.000Z", opens: 2, clicks: 1, bounced: 1, deferred: 1, complained: 1 }],
  });
  expect(await sdk.campaigns.verify(id)).toEqual({ correct: true, recipients: 6, differences: [] });
  const opened = (await sdk.campaigns.recipients(id).toArray()).filter((r) => r.openedAt !== null);
  expect(opened.map((r) => r.to).sort()).toEqual(["clicked@simulator.mailsvc.test", "opened@simulator.mailsvc.test"]);
});

test("replies go where the campaign says, or else its template, also those to a test", async () => {
  await using world = await createWorld();
  const { sdk, inbox } = world;
  const [reader = ""] = await addContacts(world, 1);
  const content = { subject: "News", html: "<p>News</p>", replyTo: ["help@acme.example", "Ada <ada@acme.example>"] };
  const { id: templateId } = await sdk.templates.create({ name: "News", slug: "news", type: "marketing", ...content, publish: true });
  const replyTo = async (to: string): Promise<(string | undefined)[]> => {
    const mails = await Promise.all((await inbox.all({ to })).map(({ id }) => inbox.get(id)));
    return mails.map(({ headers }) => headers.find(({ name }) => name === "Reply-To")?.value).toSorted();
  };
  const ofTemplate = await createCampaign(world, { html: undefined, templateId });
  const own = await createCampaign(world, { html: undefined, templateId, replyTo: "own@acme.example" });
  for (const { id } of [ofTemplate, own]) {
    await sdk.campaigns.test(id, { to: ["me@acme.example"] });
    await sdk.campaigns.send(id);
    await world.settle();
  }
  for (const to of [reader, "me@acme.example"])
    expect(await replyTo(to)).toEqual(["help@acme.example, Ada <ada@acme.example>", "own@acme.example"]);
});

test("a test goes to given addresses with the fields of their contacts, and counts nothing", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  await addContacts(world, 2);
  const { id } = await createCampaign(world, { abTest: { variants: [{}, { subjectLine: "B for {{firstName}}" }] } });
  expect(await sdk.campaigns.test(id, { to: ["p1@example.com", "me@acme.example"] })).toMatchObject({ count: 4 });
  const mails = await world.inbox.all();
  expect(mails.map((m) => `${m.to} ${m.subject}`).sort()).toEqual([
    "me@acme.example [Test A] Hello",
    "me@acme.example [Test B] B for",
    "p1@example.com [Test A] Hello P1",
    "p1@example.com [Test B] B for P1",
  ]);
  // Each has the footer of a campaign, with a link for its own address.
  const bodies = await Promise.all(mails.map((m) => world.inbox.get(m.id)));
  const links = bodies.map((m) => m.html?.match(/href="(\S+)"[^>]*>Unsubscribe</)?.[1]);
  expect(links).not.toContain(undefined);
  expect(new Set(links).size).toBe(4);
  expect(await sdk.campaigns.get(id)).toMatchObject({ status: "DRAFT" });
  expect((await sdk.campaigns.stats(id)).recipients.total).toBe(0);
  await expect(sdk.campaigns.test(id, { to: ["me@acme.example"], variant: "C" })).rejects.toMatchObject({ code: "validation_error" });
});

test("world.campaign sends a campaign and moves the clock to its end", async () => {
  await using world = await createWorld();
  await addContacts(world, 6);
  const fields = { name: "x", subjectLine: "Hi", fromEmail: "news@acme.example", text: "Hi" };
  expect(await world.campaign({ ...fields, throttle: { perSecond: 0.1 } })).toMatchObject({ status: "SENT" });
  expect(world.clock.now() - Date.parse("2026-01-01T00:00:00Z")).toBeGreaterThanOrEqual(50_000);
  const manual = { variants: [{}, { subjectLine: "B" }], winner: "manual" as const };
  expect(await world.campaign({ ...fields, abTest: manual })).toMatchObject({ status: "SENDING" });
});
