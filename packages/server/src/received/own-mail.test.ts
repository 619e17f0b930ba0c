import { expect, test } from "vitest";
import { newest, type Setting, start, write } from "../../test/receiving.ts";
import { readId, serve, submitTo } from "../../test/submission.ts";

const SUPPORT = "support@in.acme.test";

/** A world with an inbound domain. */
async function startWithDomain(): Promise<Setting> {
  const setting = await start();
  await setting.world.sdk.inboundDomains.create({ domain: "in.acme.test" });
  return setting;
}

test("a message that a program submits to a mailbox of its own workspace is received and can be answered", async () => {
  await using s = await startWithDomain();
  const { sdk } = s.world;
  const { port } = await serve(s.world);
  const form = (id: string, more = "") =>
    `From: Acme <web@acme.test>\r\nReply-To: ada@example.com\r\nTo: ${SUPPORT}\r\nSubject: A question\r\nMessage-ID: <${id}@django.acme.test>\r\n${more}\r\nWhen?\r\n`;
  for (const message of [form("1"), form("2", "In-Reply-To: <1@django.acme.test>\r\n")]) {
    // Once to Ada, too, so that there are two mails of this Message-ID.
    readId(await submitTo(port, message, { to: [SUPPORT] }));
    readId(await submitTo(port, message));
    expect(await s.deliver(SUPPORT, Buffer.from(message), "web@acme.test")).toBe(250);
    const received = await newest(s);
    expect(received).toMatchObject({ to: SUPPORT, replyTo: ["ada@example.com"], autoReply: null });
    await sdk.received.reply(received.id, { text: "Tomorrow" });
  }
  await s.deliver(SUPPORT, Buffer.from(form("3", "Auto-Submitted: auto-replied\r\n")), "web@acme.test");
  expect(await newest(s)).toMatchObject({ autoReply: "auto_submitted" });
});

test("a mail that the API sends to a mailbox of its own workspace is received, and a loop once it is an answer or came from elsewhere", async () => {
  await using s = await startWithDomain();
  const { sdk } = s.world;
  const back = async (to: string, id: string): Promise<string | null> => {
    const { messageId } = await sdk.emails.get(id);
    expect(await s.deliver(to, write("Hi", { "Message-ID": messageId, From: "web@in.acme.test" }), "web@in.acme.test")).toBe(250);
    return (await newest(s)).autoReply;
  };
  const mail = { from: "web@in.acme.test", subject: "A question", text: "When?" };
  expect(await back(SUPPORT, (await sdk.emails.send({ ...mail, to: SUPPORT })).id)).toBeNull();
  const { id: answer } = await sdk.received.reply((await newest(s)).id, { text: "Tomorrow" });
  expect(await back("web@in.acme.test", answer)).toBe("loop");
  // Ada forwards all her mail to us.
  expect(await back(SUPPORT, (await sdk.emails.send({ ...mail, to: "ada@example.com" })).id)).toBe("loop");
});

test("a mail that an automation sends to a mailbox of its own workspace counts as a loop", async () => {
  await using s = await startWithDomain();
  const { sdk } = s.world;
  const { id: templateId } = await sdk.templates.create({ name: "Hello", slug: "hello", subject: "Hello", text: "{{unsubscribeUrl}}" });
  await sdk.templates.publish(templateId);
  const { id } = await sdk.automations.create({
    name: "Welcome",
    trigger: { type: "contact.created" },
    steps: [{ id: "hello", type: "send_email", templateId, from: "web@in.acme.test" }],
    connections: [{ from: "trigger", to: "hello" }],
  });
  await sdk.automations.activate(id);
  await sdk.contacts.create({ email: SUPPORT });
  await s.world.settle();
  const [email] = (await sdk.emails.list({ to: SUPPORT })).data;
  const { messageId, campaignId } = await sdk.emails.get(email?.id ?? "");
  expect(campaignId).toBeNull();
  await s.deliver(SUPPORT, write("Hello", { "Message-ID": messageId }));
  expect((await newest(s)).autoReply).toBe("loop");
});

test("a mail that a campaign sends to a mailbox of its own workspace counts as a loop", async () => {
  await using s = await startWithDomain();
  const { sdk } = s.world;
  await sdk.contacts.create({ email: SUPPORT });
  await s.world.campaign({ name: "News", subjectLine: "News", fromEmail: "web@in.acme.test", text: "Hi" });
  const [email] = (await sdk.emails.list({ to: SUPPORT })).data;
  const { messageId } = await sdk.emails.get(email?.id ?? "");
  await s.deliver(SUPPORT, write("Hi", { "Message-ID": messageId }));
  expect((await newest(s)).autoReply).toBe("loop");
});
