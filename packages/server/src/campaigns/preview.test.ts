import { expect, test } from "vitest";
import { addContacts, createCampaign } from "../../test/campaign.ts";
import { createWorld } from "../testing.ts";

test("a preview is the mail as a contact sees it, and sends and counts nothing", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  await addContacts(world, 2);
  const { id } = await createCampaign(world, { fromName: "Acme" });
  const [p1] = (await sdk.contacts.list({ search: "p1@example.com" })).data;
  const preview = await sdk.campaigns.preview(id, { contact: "P1@example.com" });
  expect(preview).toMatchObject({
    variant: null,
    contactId: p1?.id,
    to: "p1@example.com",
    from: "Acme <news@acme.example>",
    subject: "Hello P1",
  });
  expect(preview.html).toContain("Dear P1, your plan is basic.");
  expect(preview.html).toContain("Unsubscribe");
  expect(preview.text).toContain("Dear P1, your plan is basic.");
  expect(await sdk.campaigns.preview(id, { contact: p1?.id ?? "" })).toEqual(preview);
  expect(await sdk.campaigns.preview(id)).toMatchObject({ contactId: null, to: null, subject: "Hello" });
  expect((await sdk.emails.list()).data).toEqual([]);
  await expect(sdk.campaigns.preview(id, { contact: "nobody@example.com" })).rejects.toMatchObject({ code: "not_found" });
  await expect(sdk.campaigns.preview(id, { variant: "B" })).rejects.toMatchObject({ code: "validation_error" });
});

test("a preview says which required variables a contact lacks, and shows each variant", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  await sdk.contacts.create({ email: "ada@example.com" });
  const variables = [{ name: "firstName", required: true }];
  const template = await sdk.templates.create({
    name: "N",
    type: "marketing",
    subject: "S",
    html: "<p>{{firstName}}</p>",
    variables,
    publish: true,
  });
  const strict = await createCampaign(world, { templateId: template.id, html: undefined });
  await expect(sdk.campaigns.preview(strict.id, { contact: "ada@example.com" })).rejects.toMatchObject({ code: "missing_variables" });
  const split = await createCampaign(world, { abTest: { variants: [{}, { subjectLine: "Other" }] } });
  expect(await sdk.campaigns.preview(split.id)).toMatchObject({ variant: "A" });
  expect(await sdk.campaigns.preview(split.id, { variant: "B" })).toMatchObject({ variant: "B", subject: "Other" });
});

test("a test can be rendered as another contact sees it", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  await addContacts(world, 2);
  const { id } = await createCampaign(world);
  await sdk.campaigns.test(id, { to: ["p0@example.com", "me@acme.example"], contact: "p1@example.com" });
  await world.settle();
  expect((await world.inbox.all()).map(({ to, subject }) => [to, subject]).toSorted()).toEqual([
    ["me@acme.example", "[Test] Hello P1"],
    ["p0@example.com", "[Test] Hello P1"],
  ]);
  const unknown = sdk.campaigns.test(id, { to: ["me@acme.example"], contact: "con_01jc3v2m9k8q4w6x0y5z7a1b2c" });
  await expect(unknown).rejects.toMatchObject({ code: "not_found" });
});
