import { describe, expect, test } from "vitest";
import { ask } from "../../test/scenario.ts";
import { createWorld, type TestWorld } from "../testing.ts";

const ADA = "ada@example.com";
const SEVERAL = ["Help <help@acme.test>", "sales@acme.test"];
const mail = { from: "Acme <hello@acme.test>", to: ADA, subject: "Hi", text: "Hi" };

/** The Reply-To header of the last mail to an address. */
async function readHeader(world: TestWorld, to = ADA): Promise<string | undefined> {
  await world.settle();
  const last = (await world.inbox.all({ to })).at(-1);
  const { headers } = await world.sdk.inbox.get(last?.id ?? "");
  return headers.find(({ name }) => name === "Reply-To")?.value;
}

/** A published template whose mail has these Reply-To addresses. */
async function createTemplate({ sdk }: TestWorld, replyTo: string | string[]): Promise<string> {
  const { id } = await sdk.templates.create({
    name: "Hi",
    slug: "hi",
    subject: "Hi",
    text: "{{unsubscribeUrl}}",
    from: mail.from,
    replyTo,
  });
  await sdk.templates.publish(id);
  return id;
}

describe("several Reply-To addresses", () => {
  const HEADER = "Help <help@acme.test>, sales@acme.test";

  test("are in the mail of a single send and of a batch, and are shown as they were given", async () => {
    await using world = await createWorld();
    const { id } = await world.sdk.emails.send({ ...mail, replyTo: SEVERAL });
    expect(await readHeader(world)).toBe(HEADER);
    expect((await world.sdk.emails.get(id)).replyTo).toEqual(SEVERAL);
    await world.sdk.emails.sendBatch({
      emails: [
        { ...mail, to: "bob@example.com", replyTo: SEVERAL },
        { ...mail, replyTo: "one@acme.test" },
      ],
    });
    expect(await readHeader(world, "bob@example.com")).toBe(HEADER);
    expect(await readHeader(world)).toBe("one@acme.test");
  });

  test("are those of a template, unless a send names others", async () => {
    await using world = await createWorld();
    const id = await createTemplate(world, SEVERAL);
    expect((await world.sdk.templates.get(id)).replyTo).toEqual(SEVERAL);
    await world.sdk.emails.sendTemplate({ slug: "hi", to: ADA });
    expect(await readHeader(world)).toBe(HEADER);
    await world.sdk.emails.sendTemplate({ slug: "hi", to: ADA, replyTo: ["one@acme.test"] });
    expect(await readHeader(world)).toBe("one@acme.test");
    // A version of its own: the draft has other addresses than the published one.
    await world.sdk.templates.update(id, { replyTo: "one@acme.test" });
    await world.sdk.templates.publish(id);
    expect((await world.sdk.templates.get(id)).replyTo).toBe("one@acme.test");
  });

  test("are in the mail of campaigns and automations", async () => {
    await using world = await createWorld();
    await world.sdk.contacts.create({ email: ADA });
    const campaign = await world.sdk.campaigns.create({
      name: "C",
      subjectLine: "C",
      fromEmail: "news@acme.test",
      text: "C",
      replyTo: SEVERAL,
    });
    expect((await world.sdk.campaigns.get(campaign.id)).replyTo).toEqual(SEVERAL);
    await world.sdk.campaigns.send(campaign.id);
    expect(await readHeader(world)).toBe(HEADER);
    const templateId = await createTemplate(world, SEVERAL);
    const automation = await world.sdk.automations.create({
      name: "A",
      trigger: { type: "contact.created" },
      steps: [{ id: "one", type: "send_email", templateId }],
      connections: [{ from: "trigger", to: "one" }],
    });
    await world.sdk.automations.activate(automation.id);
    await world.sdk.contacts.create({ email: "bob@example.com" });
    expect(await readHeader(world, "bob@example.com")).toBe(HEADER);
  });

  test("are answered at the first one that is received here", async () => {
    await using world = await createWorld();
    await world.sdk.inboundDomains.create({ domain: "in.acme.test" });
    const { id } = await world.sdk.emails.send({
      ...mail,
      replyTo: ["Elsewhere <x@elsewhere.test>", '"Help, please" <help@in.acme.test>'],
    });
    await world.settle();
    expect(await world.reply(ADA, { text: "Yes" })).toMatchObject({ to: "help@in.acme.test", emailId: id });
    await world.sdk.emails.send({ ...mail, replyTo: ["x@elsewhere.test", "y@elsewhere.test"] });
    await world.settle();
    await expect(world.reply(ADA, { text: "Yes" })).rejects.toThrow("x@elsewhere.test and y@elsewhere.test, which are not received here");
  });

  test.each([
    ["eleven", Array.from({ length: 11 }, (_, i) => `a${i}@acme.test`)],
    ["none", []],
    ["auto among others", ["auto", "help@acme.test"]],
    ["something else", ["help@acme.test", "nobody"]],
    ["two in one text", "help@acme.test, sales@acme.test"],
    ["a header of its own", ["help@acme.test\r\nBcc: eve@example.com"]],
  ])("cannot be %s, and the answer names the field", async (_name, replyTo) => {
    await using world = await createWorld();
    const response = await ask(world, { path: "/api/v1/send", body: { ...mail, replyTo } });
    expect(response.status).toBe(400);
    const { error } = (await response.json()) as { error: { details: { path: string }[] } };
    expect(error.details[0]?.path).toMatch(/^replyTo/);
  });
});
