import type { Person } from "@mailsvc/sdk/contract";
import { expect, test } from "vitest";
import { ADA, start, write } from "../../test/receiving.ts";

test("a person's mail is exported and erased, and deleted after the days that it is kept", async () => {
  await using s = await start({ flags: { keep: "received=30" } });
  const { replyTo } = await s.send({ to: "boss@example.com" });
  await s.deliver(replyTo, write("From Ada"));
  await s.deliver(replyTo, write("From Grace", { From: "grace@example.com", "Message-ID": "<2@x>" }));
  expect((await s.world.sdk.people.get(ADA)).received).toMatchObject([{ from: ADA, reply: "From Ada" }]);
  expect(await s.world.sdk.people.erase(ADA)).toMatchObject({ received: 1 });
  expect((await s.world.sdk.received.list()).data).toMatchObject([{ from: "grace@example.com" }]);
  await s.world.clock.advance("29d");
  expect((await s.world.sdk.received.list()).pagination.total).toBe(1);
  await s.world.clock.advance("3d");
  expect((await s.world.sdk.received.list()).pagination.total).toBe(0);
});

test("the event of a mail names its sender, mailbox, subject and files in lists, the stream, webhooks and the email, until it is deleted", async () => {
  await using s = await start();
  const { sdk } = s.world;
  const webhook = await sdk.webhooks.create({ url: "http://127.0.0.1:9/hook", events: ["email.received"] });
  const { replyTo, id } = await s.send({ to: ADA });
  const parts = 'multipart/mixed; boundary="b"';
  const file =
    "--b\n\nHi.\n--b\nContent-Type: text/csv\nContent-Disposition: attachment; filename=a.csv\nContent-Transfer-Encoding: base64\n\nMSwy\n--b--";
  await s.deliver(replyTo, write(file, { Subject: "Numbers", "Content-Type": parts }));
  const facts = {
    from: ADA,
    subject: "Numbers",
    mailbox: replyTo,
    attachmentCount: 1,
    attachments: [{ number: 1, filename: "a.csv", contentType: "text/csv", contentId: null, size: 3 }],
  };
  const [event] = (await sdk.events.list({ type: "email.received" })).data;
  expect(event?.data).toMatchObject(facts);
  expect(event?.data).not.toHaveProperty("text");
  const everywhere = async () => {
    const [delivery] = (await sdk.webhooks.deliveries(webhook.id)).data;
    return [
      (await sdk.events.get(event?.id ?? "")).data,
      (await sdk.events.list({ after: 0, type: "email.received" })).data[0]?.data,
      JSON.parse((await sdk.webhooks.delivery(webhook.id, delivery?.id ?? "")).body ?? "{}").data,
      (await sdk.emails.get(id)).events.find(({ type }) => type === "email.received")?.data,
    ];
  };
  for (const data of await everywhere()) expect(data).toMatchObject(facts);
  await sdk.received.delete(String(event?.data && "receivedId" in event.data && event.data.receivedId));
  for (const data of await everywhere())
    expect(data).toMatchObject({ from: null, fromName: null, subject: null, mailbox: null, attachmentCount: 1, attachments: [] });
});

test("all mails of a person are exported in pages, of which long ones have fewer", async () => {
  await using s = await start();
  await s.world.sdk.inboundDomains.create({ domain: "in.acme.test" });
  const deliver = async (i: number, text: string): Promise<void> =>
    expect(await s.deliver("x@in.acme.test", write(text, { "Message-ID": `<${i}@x>`, Subject: `${i}` }))).toBe(250);
  for (let i = 0; i < 53; i += 1) await deliver(i, `${i}`);
  const lines = `${"x".repeat(78)}\r\n`.repeat(12_500);
  for (let i = 53; i < 57; i += 1) await deliver(i, lines);
  const pages: Person[] = [];
  do pages.push(await s.world.sdk.people.get(ADA, { cursor: pages.at(-1)?.nextCursor ?? undefined }));
  while (pages.at(-1)?.nextCursor);
  expect(pages.flatMap(({ received }) => received.map(({ subject }) => subject))).toEqual(
    Array.from({ length: 57 }, (_, i) => `${56 - i}`),
  );
  expect(pages.map(({ received }) => received.length)).toEqual([2, 2, 50, 3]);
});

test("what a person answered from another address is exported as it is erased", async () => {
  await using s = await start();
  const { replyTo } = await s.send();
  await s.deliver(replyTo, write("From home", { From: "ada@home.example", "Message-ID": "<1@x>" }));
  await s.deliver(replyTo, write("From Ada", { "Message-ID": "<2@x>" }));
  expect((await s.world.sdk.people.get(ADA)).received.map(({ reply }) => reply)).toEqual(["From Ada", "From home"]);
  expect(await s.world.sdk.people.erase(ADA)).toMatchObject({ received: 2 });
});
