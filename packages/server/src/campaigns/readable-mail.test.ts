import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { createCampaign } from "../../test/campaign.ts";
import { createWorld } from "../testing.ts";

const CONTENT = { subjectLine: "Spring is here, {{firstName}}", html: "<p>Hello {{firstName}}</p>", text: "Hello {{firstName}}" };

test("mail of a campaign is listed and shown as each recipient reads it, by all filters", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  for (const firstName of ["Ada", "Grace"]) await sdk.contacts.create({ email: `${firstName.toLowerCase()}@example.com`, firstName });
  await sdk.emails.send({ from: "hello@acme.example", to: "ada@example.com", subject: "Not {{rendered}}", text: "As it is" });
  const { id } = await createCampaign(world, CONTENT);
  await sdk.campaigns.send(id);
  await world.settle();
  const subjects = async (query: Parameters<typeof sdk.emails.list>[0]) =>
    (await sdk.emails.list(query)).data.map(({ subject }) => subject);
  expect((await subjects({})).sort()).toEqual(["Not {{rendered}}", "Spring is here, Ada", "Spring is here, Grace"]);
  expect((await subjects({ campaign: id })).sort()).toEqual(["Spring is here, Ada", "Spring is here, Grace"]);
  expect(await subjects({ to: "grace@example.com" })).toEqual(["Spring is here, Grace"]);
  const [mail] = (await sdk.emails.list({ to: "grace@example.com" })).data;
  const shown = await sdk.emails.get(mail?.id ?? "");
  expect(shown).toMatchObject({ subject: "Spring is here, Grace", text: "Hello Grace" });
  expect(shown.html).toContain("<p>Hello Grace</p>");
  const { emails } = await sdk.people.get("grace@example.com");
  expect(emails).toMatchObject([{ subject: "Spring is here, Grace", text: "Hello Grace" }]);
  expect((await sdk.explanations.get(shown.id)).title).toBe('Email to grace@example.com: "Spring is here, Grace"');
});

test("each variant of an A/B test is listed with its own subject", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  for (let i = 0; i < 8; i += 1) await sdk.contacts.create({ email: `reader${i}@example.com`, firstName: `Reader ${i}` });
  const abTest = { variants: [{}, { subjectLine: "Summer, {{firstName}}" }], samplePercent: 50, winner: "manual" as const };
  const { id } = await createCampaign(world, { ...CONTENT, abTest });
  await sdk.campaigns.send(id);
  await world.settle();
  const captured = new Map((await sdk.inbox.list({ limit: 100 })).data.map(({ to, subject }) => [to, subject]));
  const listed = (await sdk.emails.list({ campaign: id, status: "delivered" })).data;
  expect(listed.length).toBeGreaterThan(1);
  expect(new Set(listed.map(({ subject }) => subject.split(",")[0]))).toEqual(new Set(["Spring is here", "Summer"]));
  for (const { to, subject } of listed) expect(subject).toBe(captured.get(to));
});

test("mail whose contact is gone, or lacks what the subject needs, is listed with the subject as it was written", async () => {
  await using world = await createWorld();
  const { sdk } = world;
  const { id: ada } = await sdk.contacts.create({ email: "ada@example.com", firstName: "Ada" });
  const { id } = await createCampaign(world, CONTENT);
  await sdk.campaigns.send(id);
  await world.settle();
  await sdk.contacts.delete(ada);
  expect((await sdk.emails.list({ campaign: id })).data.map(({ subject }) => subject)).toEqual([CONTENT.subjectLine]);
});

test("a campaign whose source compiles no more is listed and shown beside others, and a list compiles no mail", async () => {
  await using world = await createWorld();
  const { sdk, app } = world;
  const { db, compiledTemplates } = app.deps;
  await sdk.contacts.create({ email: "ada@example.com", firstName: "Ada" });
  const subjects = ["Sound, {{firstName}}", "Bad body, {{firstName}}", "Bad subject, {{firstName}}"];
  for (const subjectLine of subjects) {
    const { id } = await createCampaign(world, { ...CONTENT, subjectLine });
    await sdk.campaigns.send(id);
    await world.settle();
  }
  await db.tx(async (tx) => {
    const { campaignContents: t } = tx.t;
    for (const { contentsId, source } of await tx.select().from(t)) {
      const wrong = source?.subject?.startsWith("Bad body") ? { html: "{{#if}" } : { subject: "{{#if}" };
      if (source?.subject?.startsWith("Bad"))
        await tx
          .update(t)
          .set({ source: { ...source, ...wrong } })
          .where(eq(t.contentsId, contentsId));
    }
  });
  compiledTemplates.pinned.clear();
  compiledTemplates.subjects.clear();
  const { data } = await sdk.emails.list();
  expect(data.map(({ subject }) => subject)).toEqual(["Bad subject, {{firstName}}", "Bad body, Ada", "Sound, Ada"]);
  // The next list needs no source of those that compiled.
  expect([compiledTemplates.pinned.size, compiledTemplates.subjects.size]).toEqual([0, 2]);
  const shown = await Promise.all(data.map(({ id }) => sdk.emails.get(id)));
  expect(shown.map(({ subject }) => subject)).toEqual(["Bad subject, {{firstName}}", "Bad body, {{firstName}}", "Sound, Ada"]);
});
