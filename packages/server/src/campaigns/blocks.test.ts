import type { MailBlock } from "@mailsvc/sdk/contract";
import { expect, test } from "vitest";
import { addContacts, checkRecipients, createCampaign } from "../../test/campaign.ts";
import { createWorld } from "../testing.ts";

const BLOCKS: MailBlock[] = [
  { type: "heading", text: "Hello {{firstName}}" },
  { type: "button", label: "Look", href: "https://acme.example/launch" },
];

test("a campaign in blocks is the same mail in its preview, its test and for its recipients, with a footer", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  await addContacts(world, 2);
  const { id, blocks, html } = await createCampaign(world, { html: undefined, blocks: BLOCKS, trackClicks: false, trackOpens: false });
  expect({ blocks, hasHtml: html !== null }).toEqual({ blocks: BLOCKS, hasHtml: true });
  const preview = await sdk.campaigns.preview(id, { contact: "p1@example.com" });
  expect(preview.html).toContain("Hello P1</h2>");
  expect(preview.html).toContain('class="mailsvc-footer"');
  await sdk.campaigns.test(id, { to: ["me@acme.example"], contact: "p1@example.com" });
  await sdk.campaigns.send(id);
  await world.settle();
  expect(await checkRecipients(world, id)).toEqual({ delivered: 2 });
  const found = (await world.inbox.all()).filter(({ to }) => to === "p1@example.com" || to === "me@acme.example");
  const mails = await Promise.all(found.map((mail) => world.inbox.get(mail.id)));
  const bare = (text: string | null): string => (text ?? "").trimEnd().replace(/<p class="mailsvc-footer[\s\S]*<\/p>/, "");
  expect(mails.map((mail) => bare(mail.html))).toEqual([bare(preview.html), bare(preview.html)]);
});

test("HTML takes the place of blocks for good, and blocks that of HTML", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const { id, html } = await createCampaign(world, { html: undefined, blocks: BLOCKS });
  expect(await sdk.campaigns.update(id, { name: "Same" })).toMatchObject({ blocks: BLOCKS, html });
  expect(await sdk.campaigns.update(id, { blocks: null })).toMatchObject({ blocks: null, html });
  expect(await sdk.campaigns.update(id, { blocks: BLOCKS })).toMatchObject({ blocks: BLOCKS, html });
  expect(await sdk.campaigns.update(id, { html: "<p>Own</p>" })).toMatchObject({ blocks: null, html: "<p>Own</p>" });
  expect(await sdk.campaigns.update(id, { blocks: [] })).toMatchObject({ blocks: [], html: null });
  const template = await sdk.templates.create({ name: "N", type: "marketing", subject: "S", html: "<p>x</p>", publish: true });
  await expect(sdk.campaigns.update(id, { templateId: template.id })).rejects.toMatchObject({ details: [{ path: "templateId" }] });
  expect(await sdk.campaigns.update(id, { templateId: template.id, blocks: null })).toMatchObject({
    blocks: null,
    templateId: template.id,
  });
  await expect(sdk.campaigns.update(id, { html: "x", blocks: BLOCKS })).rejects.toMatchObject({
    details: [{ path: "blocks", code: "not_allowed" }],
  });
  const copy = await createCampaign(world, { html: undefined, blocks: BLOCKS });
  expect(await sdk.campaigns.duplicate(copy.id)).toMatchObject({ blocks: BLOCKS, html: copy.html });
});

test("a campaign with a button without a link can be drafted and looked at, but neither scheduled nor sent", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  await addContacts(world, 1);
  const { id } = await createCampaign(world, { html: undefined, blocks: [{ type: "button", label: "Look", href: "" }] });
  expect((await sdk.campaigns.preview(id)).html).toContain("Look");
  const refused = { code: "validation_error", details: [{ path: "blocks[0].href", code: "required" }] };
  await expect(sdk.campaigns.schedule(id, { scheduledAt: new Date(world.clock.now() + 3_600_000).toISOString() })).rejects.toMatchObject(
    refused,
  );
  await expect(sdk.campaigns.send(id)).rejects.toMatchObject(refused);
});

test("a fault in a block names the block and the field", async () => {
  await using world = await createWorld();
  const { id } = await createCampaign(world);
  const of = (block: object) => world.sdk.campaigns.update(id, { blocks: [block as MailBlock] });
  await expect(of({ type: "button", label: "x", href: "ftp://x" })).rejects.toMatchObject({ details: [{ path: "blocks[0].href" }] });
  await expect(of({ type: "heading", text: "{{#if x}}" })).rejects.toMatchObject({ details: [{ path: "blocks[0].text" }] });
});

test("a variant of an A/B test has blocks of its own, which are sent, shown as they were given, and named where they are wrong", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  await addContacts(world, 2);
  const abTest = (blocks: MailBlock[]) => ({ variants: [{}, { blocks }], samplePercent: 100, winner: "manual" as const });
  const own: MailBlock[] = [{ type: "heading", text: "Other words for {{firstName}}" }];
  const { id } = await createCampaign(world, { html: undefined, blocks: BLOCKS, abTest: abTest(own), trackOpens: false });
  expect((await sdk.campaigns.get(id)).abTest?.variants).toEqual([{}, { blocks: own }]);
  expect((await sdk.campaigns.update(id, { abTest: abTest(own) })).abTest?.variants).toEqual([{}, { blocks: own }]);
  expect((await sdk.campaigns.preview(id, { variant: "A", contact: "p1@example.com" })).html).toContain("Hello P1");
  expect((await sdk.campaigns.preview(id, { variant: "B", contact: "p1@example.com" })).html).toContain("Other words for P1");
  const fault = (path: string) => ({ code: "validation_error", details: [expect.objectContaining({ path })] });
  await expect(sdk.campaigns.update(id, { abTest: abTest([{ type: "heading", text: "{{#if x}}" }]) })).rejects.toMatchObject(
    fault("abTest.variants[1].blocks[0].text"),
  );
  await sdk.campaigns.update(id, { abTest: abTest([{ type: "button", label: "Look", href: "" }]) });
  await expect(sdk.campaigns.send(id)).rejects.toMatchObject(fault("abTest.variants[1].blocks[0].href"));
  await sdk.campaigns.update(id, { abTest: abTest([]) });
  await expect(sdk.campaigns.send(id)).rejects.toMatchObject({ code: "validation_error" });
  await sdk.campaigns.update(id, { abTest: abTest(own) });
  await sdk.campaigns.send(id);
  await world.settle();
  expect(await checkRecipients(world, id)).toEqual({ delivered: 2 });
  const mails = await Promise.all((await world.inbox.all()).map((mail) => world.inbox.get(mail.id)));
  const headings = mails.map(({ html }) => /(?:Hello|Other words for) P\d/.exec(html ?? "")?.[0]?.slice(0, -3)).sort();
  expect(headings).toEqual(["Hello", "Other words for"]);
});
