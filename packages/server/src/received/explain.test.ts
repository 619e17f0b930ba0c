import { expect, test } from "vitest";
import { ADA, newest, start, write } from "../../test/receiving.ts";

test("an answer: by its reply address, who saw it, and how to answer", async () => {
  await using s = await start();
  const { id, replyTo } = await s.send();
  await s.deliver(replyTo, write("Fine."));
  const mail = await newest(s);
  const explained = await s.world.sdk.explanations.get(mail.id);
  expect(explained).toMatchObject({
    id: mail.id,
    kind: "received",
    title: `Mail from ${ADA}: "Re: Hi"`,
    status: "personal",
    summary: `It answers ${id}: it came to the reply address of that email. It counts as written by a person. Its sender is not proven: the domain in From has no DMARC record (SPF not checked, DKIM none).`,
    timeline: [
      { what: `The email that it answers was accepted: ${id}` },
      { what: `Received for ${replyTo}`, why: `It joined the conversation ${id}.` },
    ],
    next: null,
    related: [id],
  });
  expect(explained.actions.map(({ command }) => command)).toEqual([
    `mailsvc received reply ${mail.id} --text "…"`,
    `mailsvc received list --thread ${id}`,
    `mailsvc received raw ${mail.id}`,
  ]);
  await s.deliver(replyTo, write("I am away.", { "Auto-Submitted": "auto-replied", "Message-ID": "<2@x>" }));
  const away = await s.world.sdk.explanations.get((await newest(s)).id);
  expect(away).toMatchObject({ status: "automatic", summary: expect.stringMatching(/written by a program.*Auto-Submitted/) });
  expect(away.actions.map(({ what }) => what)).not.toContain("Answer it");
  const other = await s.world.createWorkspace("Other");
  await expect(other.sdk.explanations.get(mail.id)).rejects.toMatchObject({ code: "not_found" });
});

test("a mail that only names an email, and one that begins a conversation", async () => {
  await using s = await start();
  const { id, messageId } = await s.send({ replyTo: "hello@in.acme.test" });
  await s.world.sdk.inboundDomains.create({ domain: "in.acme.test" });
  const deliver = async (headers: Record<string, string>) => {
    await s.deliver("hello@in.acme.test", write("x", headers));
    return s.world.sdk.explanations.get((await newest(s)).id);
  };
  const foreign = await deliver({ From: "mallory@example.net", "In-Reply-To": messageId, "Message-ID": "<2@x>" });
  expect(foreign).toMatchObject({ summary: expect.stringContaining("names 1 email of yours that did not go to its sender"), related: [] });
  expect(await deliver({ "In-Reply-To": messageId, "Message-ID": "<3@x>" })).toMatchObject({
    summary: expect.stringContaining(`It answers ${id}: it names that email`),
  });
  expect(await deliver({ "Message-ID": "<4@x>" })).toMatchObject({
    summary: expect.stringContaining("It answers no email of yours."),
    timeline: [{ why: "It began a conversation." }],
  });
});
