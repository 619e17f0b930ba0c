import {
  CONTACT_TEXT_FIELDS,
  CONTACT_TEXTS,
  FORM_FIELDS,
  type FormField,
  isPartOfName,
  labelContactText,
  mapContactTexts,
} from "@mailsvc/sdk/contract";
import { expect, test } from "vitest";
import { createTestAgent } from "../../test/agent.ts";
import { createCampaign } from "../../test/campaign.ts";
import { createWorld } from "../testing.ts";

// Every consumer of the list of fields, for every field of it.

const VALUES = { ...mapContactTexts((field) => `My ${CONTACT_TEXTS[field].noun}`), language: "de-CH" };
const ALL = CONTACT_TEXT_FIELDS.map((field) => `${field}=${VALUES[field]}`).join(" ");
const TEMPLATE = `<p>${CONTACT_TEXT_FIELDS.map((field) => `${field}={{${field}}}`).join(" ")}</p>`;

test("each text field can be set, read, cleared and searched for by a segment, those of the name by a search, too", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const { id } = await sdk.contacts.create({ email: "ada@example.com", ...VALUES });
  expect(await sdk.contacts.get(id)).toMatchObject(VALUES);
  for (const field of CONTACT_TEXT_FIELDS) {
    const { contacts } = await sdk.segments.preview({ rules: { field, operator: "equals", value: VALUES[field] } });
    expect(contacts.map((contact) => contact.id)).toEqual([id]);
    const search = { search: VALUES[field].toUpperCase() };
    expect((await sdk.contacts.list(search)).data.map((contact) => contact.id)).toEqual(isPartOfName(field) ? [id] : []);
    expect(await sdk.contacts.update(id, { [field]: "" })).toMatchObject({ [field]: null });
  }
});

test("each text field is a variable of campaigns, of their tests, and of automations", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  await sdk.contacts.create({ email: "ada@example.com", ...VALUES });
  const campaign = await createCampaign(world, { html: TEMPLATE });
  await sdk.campaigns.test(campaign.id, { to: ["ada@example.com"] });
  await sdk.campaigns.send(campaign.id);
  const template = { name: "All", slug: "all", type: "marketing", subject: "All", html: TEMPLATE, publish: true } as const;
  const { id: templateId } = await sdk.templates.create(template);
  const automation = await sdk.automations.create({
    name: "All",
    trigger: { type: "contact.created" },
    steps: [{ id: "mail", type: "send_email", templateId, from: "news@acme.example" }],
    connections: [{ from: "trigger", to: "mail" }],
  });
  await sdk.automations.activate(automation.id);
  await sdk.contacts.create({ email: "grace@example.com", ...VALUES });
  await world.settle();
  const mails = await world.inbox.all();
  expect(mails.map(({ to }) => to).sort()).toEqual(["ada@example.com", "ada@example.com", "grace@example.com"]);
  for (const { id } of mails) expect((await world.inbox.get(id)).html).toContain(ALL);
});

test("each text field but the language can be asked for by the form of a landing page, under its own label", async () => {
  await using world = await createWorld();
  const agent = await createTestAgent(world);
  const labels: Partial<Record<FormField, string>> = { firstName: "Mine" };
  const { status, body } = await agent.call("POST", "/landing-pages", {
    title: "All",
    html: "<p>x</p><form></form>",
    status: "PUBLISHED",
    form: { fields: FORM_FIELDS, labels },
  });
  expect({ status, body }).toMatchObject({ status: 201 });
  const page = await (await world.fetch(body.url)).text();
  for (const field of FORM_FIELDS) {
    const { input, autocomplete, maxLength } = CONTACT_TEXTS[field];
    expect(page).toContain(`<label for="${field}">${labels[field] ?? labelContactText(field)}</label>`);
    expect(page).toContain(
      `name="${field}" type="${input}"${field === "phone" ? ' dir="ltr"' : ""} autocomplete="${autocomplete}" maxlength="${maxLength}"`,
    );
  }
  const submit = async (values: Record<string, string>) =>
    (await world.fetch(body.url, { method: "POST", body: new URLSearchParams({ email: "ada@example.com", ...values }) })).text();
  const tooLong = await submit(mapContactTexts((field) => "x".repeat(CONTACT_TEXTS[field].maxLength + 1)));
  for (const field of FORM_FIELDS) expect(tooLong).toContain(`id="wrong-${field}">This is too long. Please shorten it.`);
  const broken = await submit(mapContactTexts(() => "a\tb"));
  for (const field of FORM_FIELDS) expect(broken).toContain(`id="wrong-${field}">Please enter this again, in one line.`);
  await submit(VALUES);
  expect((await world.sdk.contacts.list()).data).toMatchObject([{ email: "ada@example.com", ...VALUES, language: null }]);
});
