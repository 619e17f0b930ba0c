import { describe, expect, test } from "vitest";
import { ask } from "../../test/scenario.ts";
import { createWorld, type TestWorld } from "../testing.ts";

const ADA = "ada@example.com";
const mail = { from: "Acme <hello@acme.test>", to: ADA, subject: "Hi", text: "Hi" };

type ReplyTo = { readonly replyTo?: "auto" };

async function createTemplate({ sdk }: TestWorld, given: ReplyTo): Promise<string> {
  const { id } = await sdk.templates.create({
    name: "Hi",
    slug: "hi",
    subject: "Hi",
    text: "{{unsubscribeUrl}}",
    from: mail.from,
    ...given,
  });
  await sdk.templates.publish(id);
  return id;
}

/** Each way in which a mail to Ada leaves. */
const WAYS: Readonly<Record<string, (world: TestWorld, given: ReplyTo) => Promise<unknown>>> = {
  "a single send": ({ sdk }, given) => sdk.emails.send({ ...mail, ...given }),
  "a scheduled send": async ({ sdk, clock }, given) => {
    await sdk.emails.send({ ...mail, ...given, scheduledAt: "2026-01-02T00:00:00Z" });
    await clock.advance("2d");
  },
  "one mail to several": ({ sdk }, given) => sdk.emails.send({ ...mail, ...given, cc: "bob@example.com", bcc: "eve@example.com" }),
  "a batch": ({ sdk }, given) =>
    sdk.emails.sendBatch({
      emails: [
        { ...mail, to: "bob@example.com", ...given },
        { ...mail, ...given },
      ],
    }),
  "a scheduled batch": async ({ sdk, clock }, given) => {
    await sdk.emails.sendBatch({ emails: [{ ...mail, ...given, scheduledAt: "2026-01-02T00:00:00Z" }] });
    await clock.advance("2d");
  },
  "a template": async (world, given) => {
    await createTemplate(world, given);
    await world.sdk.emails.sendTemplate({ slug: "hi", to: ADA });
  },
  "a template in a batch": async (world, given) => {
    await createTemplate(world, given);
    await world.sdk.emails.sendBatch({ emails: [{ template: "hi", to: ADA }] });
  },
  "a campaign": async ({ sdk }, given) => {
    const { id } = await sdk.campaigns.create({ name: "C", subjectLine: "Hi", fromEmail: "hello@acme.test", text: "Hi", ...given });
    await sdk.campaigns.send(id);
  },
  "a scheduled campaign": async ({ sdk, clock }, given) => {
    const { id } = await sdk.campaigns.create({ name: "C", subjectLine: "Hi", fromEmail: "hello@acme.test", text: "Hi", ...given });
    await sdk.campaigns.schedule(id, { scheduledAt: "2026-01-02T00:00:00Z" });
    await clock.advance("2d");
  },
  "an automation": async (world, given) => {
    const templateId = await createTemplate(world, given);
    const { id } = await world.sdk.automations.create({
      name: "A",
      trigger: { type: "tag.added", tag: "reader" },
      steps: [
        { id: "wait", type: "delay", for: "1d" },
        { id: "one", type: "send_email", templateId },
      ],
      connections: [
        { from: "trigger", to: "wait" },
        { from: "wait", to: "one" },
      ],
    });
    await world.sdk.automations.activate(id);
    const [ada] = (await world.sdk.contacts.list({ limit: 1 })).data;
    await world.sdk.contacts.update(ada?.id ?? "", { tags: ["reader"] });
    await world.clock.advance("2d");
  },
};

/** Ada answers what came last, and her answer comes to the email that she got. */
async function expectAnswered(world: TestWorld, contactId: string): Promise<void> {
  await world.settle();
  const got = await world.inbox.all({ to: ADA });
  expect(got).toHaveLength(1);
  const emailId = got[0]?.emailId ?? "";
  const reply = await world.reply(ADA, { text: "Thank you." });
  const { campaignId } = await world.sdk.emails.get(emailId);
  expect(reply).toMatchObject({ emailId, contactId, campaignId, autoReply: null });
  expect(reply.to).toMatch(/^reply\+[0-9a-z]{26}-[0-9a-f]{20}@reply\.mailsvc\.test$/);
  expect(await world.events.all({ type: "email.received" })).toMatchObject([
    { emailId, contactId, to: ADA, data: { receivedId: reply.id } },
  ]);
}

describe.each(Object.keys(WAYS))("the answer to %s", (way) => {
  test("is received with replyTo auto", async () => {
    await using world = await createWorld();
    const contact = await world.sdk.contacts.create({ email: ADA });
    await WAYS[way]?.(world, { replyTo: "auto" });
    await expectAnswered(world, contact.id);
  });

  test("is received in a workspace that receives replies, and not in another one", async () => {
    await using world = await createWorld();
    const contact = await world.sdk.contacts.create({ email: ADA });
    const path = `/api/v1/workspaces/${world.workspaceId}`;
    expect((await ask(world, { method: "PATCH", path, key: world.operatorKey, body: { replies: true } })).status).toBe(200);
    await WAYS[way]?.(world, {});
    await expectAnswered(world, contact.id);
  });

  test("is not received without either", async () => {
    await using world = await createWorld();
    await world.sdk.contacts.create({ email: ADA });
    await WAYS[way]?.(world, {});
    await world.settle();
    await expect(world.reply(ADA, { text: "Thank you." })).rejects.toMatchObject({ code: "invalid_state" });
    expect((await world.sdk.received.list()).data).toEqual([]);
  });
});
