import { automation, Mailsvc } from "@mailsvc/sdk";
import { describe, expect, test } from "vitest";
import { mail } from "../../test/bounce-samples.ts";
import { ADA, CRLF, message, newest, type Setting, start, write } from "../../test/receiving.ts";
import { ask } from "../../test/scenario.ts";
import { talkSmtp } from "../../test/smtp-client.ts";
import { MailNotRead } from "../inbound/mail-thread.ts";
import { createWorld, type TestWorld } from "../testing.ts";

describe("a workspace that receives replies", () => {
  const update = (world: TestWorld, id: string, body: object) =>
    ask(world, { method: "PATCH", path: `/api/v1/workspaces/${id}`, key: world.operatorKey, body });
  const { replyTo: _auto, ...plain } = message;
  const sendPlain = async (s: Setting, more: { replyTo?: string } = {}): Promise<{ id: string; replyTo: string | undefined }> => {
    const { id } = await s.world.sdk.emails.send({ ...plain, ...more });
    await s.world.settle();
    const sent = (await s.world.sdk.inbox.list().toArray()).find(({ emailId }) => emailId === id);
    const { headers } = await s.world.sdk.inbox.get(sent?.id ?? "");
    return { id, replyTo: headers.find(({ name }) => name === "Reply-To")?.value };
  };

  test("gives each mail without a replyTo an address of its own, until that is turned off", async () => {
    await using s = await start();
    const workspaceId = (await s.world.sdk.me.get()).workspace.id;
    expect((await sendPlain(s)).replyTo).toBeUndefined();
    const answer = await update(s.world, workspaceId, { replies: true });
    expect(await answer.json()).toMatchObject({ id: workspaceId, replies: true });
    const { id, replyTo = "" } = await sendPlain(s);
    expect(replyTo).toMatch(/^reply\+[0-9a-z]{26}-[0-9a-f]{20}@reply\.mailsvc\.test$/);
    expect(await s.deliver(replyTo, write("Fine, thanks."))).toBe(250);
    expect(await newest(s)).toMatchObject({ emailId: id, threadId: id, from: ADA });
    expect((await sendPlain(s, { replyTo: "help@acme.test" })).replyTo).toBe("help@acme.test");
    expect(await (await update(s.world, workspaceId, { name: "Acme" })).json()).toMatchObject({ name: "Acme", replies: true });
    await update(s.world, workspaceId, { replies: false });
    expect((await sendPlain(s)).replyTo).toBeUndefined();
  });

  test("changes nothing for another workspace", async () => {
    await using s = await start();
    await update(s.world, s.world.builder.workspaceId, { replies: true });
    expect((await sendPlain(s)).replyTo).toBeUndefined();
  });

  test("is refused where the server receives no mail", async () => {
    await using world = await createWorld({ dev: false });
    const { id } = (await world.sdk.me.get()).workspace;
    const refused = await update(world, id, { replies: true });
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({ error: { details: [{ path: "replies", code: "no_inbound_domain" }] } });
    expect((await update(world, id, { replies: false })).status).toBe(200);
  });
});

describe("a reply to the reply address of an email", () => {
  test("is received once, in the conversation of the email, with an event", async () => {
    await using s = await start();
    const contact = await s.world.sdk.contacts.create({ email: ADA });
    const { id, replyTo } = await s.send();
    expect(replyTo).toMatch(/^reply\+[0-9a-z]{26}-[0-9a-f]{20}@reply\.mailsvc\.test$/);
    const raw = write("Fine, thanks.\r\n\r\nOn Thu, Jan 1, 2026 at 1:00 AM Acme <hello@acme.test> wrote:\r\n> How are you?");
    // Servers may change the case of an address, and send a mail again whose 250 was lost.
    for (const to of [replyTo, replyTo.toUpperCase(), replyTo]) expect(await s.deliver(to, raw)).toBe(250);
    const all = await s.world.sdk.received.list();
    expect(all.pagination.total).toBe(1);
    expect(await newest(s)).toMatchObject({
      threadId: id,
      emailId: id,
      contactId: contact.id,
      to: replyTo,
      from: ADA,
      fromName: "Ada Lovelace",
      subject: "Re: Hi",
      messageId: "<1@mail.example.com>",
      autoReply: null,
      // It came from this machine, and the DNS of this world has no record.
      authentication: {
        spf: null,
        dkim: "none",
        dmarc: "none",
        signers: [],
        policy: null,
        reason: expect.stringContaining("SPF was not checked"),
      },
      text: expect.stringContaining("> How are you?"),
      reply: "Fine, thanks.",
      replyTo: [ADA],
      size: raw.length + CRLF.length,
      truncated: false,
    });
    expect(await s.world.events.all({ type: "email.received" })).toMatchObject([
      {
        emailId: id,
        to: ADA,
        contactId: contact.id,
        data: {
          receivedId: all.data[0]?.id,
          threadId: id,
          autoReply: null,
          attachmentCount: 0,
          from: ADA,
          fromName: "Ada Lovelace",
          subject: all.data[0]?.subject,
          mailbox: all.data[0]?.to,
          attachments: [],
        },
      },
    ]);
    expect((await s.world.sdk.emails.get(id)).events.map(({ type }) => type)).toContain("email.received");
  });

  test("may be sent from another address, and still counts as the contact's that was written to", async () => {
    await using s = await start();
    const contact = await s.world.sdk.contacts.create({ email: ADA });
    const { id, replyTo } = await s.send();
    expect(await s.deliver(replyTo, write("From home", { From: "ada@home.example" }))).toBe(250);
    expect(await newest(s)).toMatchObject({ from: "ada@home.example", emailId: id, contactId: contact.id });
  });

  test("cannot be invented: a thousand forged addresses are refused, and nothing is stored", async () => {
    await using s = await start();
    const { replyTo } = await s.send();
    const [, id = "", signature = "", domain = ""] = /^reply\+(.+)-(.+)@(.+)$/.exec(replyTo) ?? [];
    const forged = Array.from({ length: 1000 }, (_, i) => {
      const other = (BigInt(`0x${signature}`) ^ (1n << BigInt(i % 80))).toString(16).padStart(20, "0");
      return i < 80 ? `reply+${id}-${other}@${domain}` : `reply+${id.slice(0, 20)}${String(i).padStart(6, "0")}-${signature}@${domain}`;
    });
    const codes: string[] = [];
    // A connection is cut after 20 of them.
    for (let at = 0; at < forged.length; at += 20) {
      const lines = ["EHLO x", "MAIL FROM:<>", ...forged.slice(at, at + 20).map((address) => `RCPT TO:<${address}>`)];
      codes.push(...(await talkSmtp(s.server.port, lines)).slice(3).map((reply) => reply.slice(0, 3)));
    }
    expect(codes).toEqual(Array(1000).fill("550"));
    expect((await s.world.sdk.received.list()).pagination.total).toBe(0);
    expect(await s.deliver(replyTo, write("Real"))).toBe(250);
  });

  test("is refused once the email is erased", async () => {
    await using s = await start();
    const { replyTo } = await s.send();
    await s.world.sdk.people.erase(ADA);
    expect(await s.deliver(replyTo, write("Late"))).toBe(550);
  });
});

test("replyTo auto is refused where no mail is received, naming the field", async () => {
  await using world = await createWorld({ dev: false, flags: { "trust-sender": "acme.test" } });
  await expect(world.sdk.emails.send(message)).rejects.toMatchObject({
    code: "validation_error",
    details: [{ path: "replyTo", code: "no_inbound_domain" }],
    hint: expect.stringContaining("--inbound-domain"),
  });
  const { sdk } = world;
  const content = { fromEmail: "news@acme.test", name: "News", subjectLine: "News", text: "News" };
  const refused = { code: "validation_error", details: [{ path: "replyTo", code: "no_inbound_domain" }] };
  await expect(sdk.campaigns.create({ ...content, replyTo: "auto" })).rejects.toMatchObject(refused);
  const { id } = await sdk.campaigns.create(content);
  await expect(sdk.campaigns.update(id, { replyTo: "auto" })).rejects.toMatchObject(refused);
  // Nor is one sent that was made while mail was received.
  await world.app.deps.db.tx(async (tx) => void (await tx.update(tx.t.campaigns).set({ replyTo: "auto" })));
  await expect(sdk.campaigns.send(id)).rejects.toMatchObject(refused);
  const template = await sdk.templates.create({ name: "T", slug: "t", subject: "T", text: "T", replyTo: "auto", publish: true });
  const series = automation("Series")
    .trigger({ type: "contact.created" })
    .email("hello", { templateId: template.id, from: "news@acme.test" });
  const { id: seriesId } = await sdk.automations.create(series.build());
  await expect(sdk.automations.activate(seriesId)).rejects.toMatchObject({ message: expect.stringMatching(/"hello".* auto/) });
});

describe("an answer to a received mail", () => {
  test("goes on in the same conversation, on both sides", async () => {
    await using s = await start();
    const first = await s.send();
    await s.deliver(first.replyTo, write("Fine. And you?", { References: first.messageId, "In-Reply-To": first.messageId }));
    const received = await newest(s);
    const answer = await s.world.sdk.received.reply(received.id, { text: "Fine, too." });
    expect(answer).toMatchObject({ status: "queued", threadId: first.id });
    await s.world.settle();
    const sent = await s.world.inbox.waitFor({ to: ADA, subject: "Re: Hi" });
    const headers = Object.fromEntries(sent.headers.map(({ name, value }) => [name, value]));
    expect(headers).toMatchObject({
      From: "Acme <hello@acme.test>",
      Subject: "Re: Hi",
      "In-Reply-To": "<1@mail.example.com>",
      References: `${first.messageId} <1@mail.example.com>`,
      "Reply-To": expect.stringMatching(/^reply\+/),
    });
    expect(await s.world.sdk.emails.get(answer.id)).toMatchObject({ threadId: first.id });
    expect((await s.world.sdk.emails.list({ thread: first.id })).data.map(({ id }) => id)).toEqual([answer.id]);
    expect((await s.world.sdk.emails.list({ thread: answer.id })).data).toEqual([]);
    expect(await s.world.sdk.emails.get(first.id)).toMatchObject({ threadId: first.id });
    // Ada's next mail joins it, too: by its address, or by its headers alone.
    await s.deliver(headers["Reply-To"] ?? "", write("Good.", { "Message-ID": "<2@mail.example.com>" }));
    expect(await newest(s)).toMatchObject({ threadId: first.id, emailId: answer.id });
    expect((await s.world.sdk.received.list({ thread: first.id })).pagination.total).toBe(2);
  });

  test("goes to Reply-To, and to people who unsubscribed if they wrote it or were written to", async () => {
    await using s = await start();
    const { replyTo } = await s.send();
    await s.world.settle();
    for (const email of [ADA, "desk@example.com", "home@example.com"])
      await s.world.sdk.suppressions.create({ email, reason: "unsubscribe" });
    await s.deliver(replyTo, write("To my desk, please", { "Reply-To": "desk@example.com" }));
    await expect(s.world.sdk.received.reply((await newest(s)).id, { text: "Yes" })).rejects.toMatchObject({ code: "recipient_suppressed" });
    const all = { From: "home@example.com", "Reply-To": `${ADA}, home@example.com, desk@example.com`, "Message-ID": "<2@x>" };
    await s.deliver(replyTo, write("To all of us, please", all));
    const { recipients } = await s.world.sdk.received.reply((await newest(s)).id, { text: "Yes" });
    expect(recipients?.map(({ email, status }) => [email, status])).toEqual([
      [ADA, "queued"],
      ["home@example.com", "queued"],
      ["desk@example.com", "suppressed"],
    ]);
    await s.world.settle();
    expect((await s.world.inbox.waitFor({ to: "home@example.com" })).text?.trim()).toBe("Yes");
    expect(await s.world.inbox.all({ to: "desk@example.com" })).toEqual([]);
  });

  test("goes as one mail to all addresses of Reply-To, except for suppressed ones and our own", async () => {
    await using s = await start();
    const { id, replyTo } = await s.send();
    await s.world.sdk.suppressions.create({ email: "gone@example.com", reason: "bounce" });
    const header = `Desk <desk@example.com>, team: Bob <bob@example.com>, gone@example.com;, DESK@example.com, nobody, ${replyTo}`;
    await s.deliver(replyTo, write("To all of us, please", { "Reply-To": header }));
    const mail = await newest(s);
    expect(mail.replyTo).toEqual(["desk@example.com", "bob@example.com", "gone@example.com"]);
    const answer = await s.world.sdk.received.reply(mail.id, { text: "Yes" });
    expect(answer).toMatchObject({
      threadId: id,
      recipients: [
        { email: "desk@example.com", kind: "to", status: "queued" },
        { email: "bob@example.com", kind: "to", status: "queued" },
        { email: "gone@example.com", kind: "to", status: "suppressed" },
      ],
    });
    expect((await s.world.sdk.emails.list({ thread: id })).data.map((one) => one.id)).toEqual([answer.id]);
    const listed = async (query: object) => (await s.world.sdk.emails.list({ thread: id, ...query })).data.map((one) => one.id);
    expect(await listed({ to: "bob@example.com" })).toEqual([answer.id]);
    expect(await listed({ status: "suppressed" })).toEqual([answer.id]);
    await s.world.settle();
    const sent = await s.world.inbox.waitFor({ to: "bob@example.com" });
    expect(sent.headers.find(({ name }) => name === "To")?.value).toBe("desk@example.com, bob@example.com, gone@example.com");
    // Whichever of them writes next writes in the same conversation.
    await s.deliver(sent.headers.find(({ name }) => name === "Reply-To")?.value ?? "", write("Good", { "Message-ID": "<2@x>" }));
    expect(await newest(s)).toMatchObject({ threadId: id });
  });

  test("goes to as many addresses as a mail may have", async () => {
    await using s = await start();
    const { replyTo } = await s.send();
    const boxes = Array.from({ length: 60 }, (_, i) => `a${i}@example.com`);
    await s.deliver(replyTo, write("To all of us, please", { "Reply-To": boxes.join(",\r\n ") }));
    const mail = await newest(s);
    expect(mail.replyTo).toEqual(boxes.slice(0, 50));
    expect((await s.world.sdk.received.reply(mail.id, { text: "Yes" })).recipients).toHaveLength(50);
  });

  test("is refused for mail of programs and for mail without an address", async () => {
    await using s = await start();
    const { replyTo } = await s.send();
    await s.deliver(replyTo, write("I am away", { "Auto-Submitted": "auto-replied" }));
    await expect(s.world.sdk.received.reply((await newest(s)).id, { text: "x" })).rejects.toMatchObject({ code: "invalid_state" });
    await s.deliver(replyTo, write("Who am I?", { From: "undisclosed", "Message-ID": "<3@x>" }));
    await expect(s.world.sdk.received.reply((await newest(s)).id, { text: "x" })).rejects.toMatchObject({ code: "invalid_state" });
    await expect(s.world.sdk.received.reply("rcv_00000000000000000000000000", { text: "x" })).rejects.toMatchObject({ code: "not_found" });
  });
});

test("files are stored as they were sent, and the raw message too", async () => {
  await using s = await start();
  const { replyTo } = await s.send();
  const file = Buffer.from(Array.from({ length: 2_500_000 }, (_, i) => (i * 7919) & 255));
  const raw = mail(
    `From: ${ADA}`,
    "MIME-Version: 1.0",
    "Content-Type: multipart/mixed; boundary=x",
    "",
    "--x",
    "Content-Type: text/plain; charset=iso-8859-1",
    "Content-Transfer-Encoding: quoted-printable",
    "",
    "Gr=FC=DFe",
    "--x",
    'Content-Type: application/pdf; name="../a/b.pdf"',
    "Content-Transfer-Encoding: base64",
    "Content-Disposition: attachment",
    "",
    file.toString("base64").replace(/.{76}/g, "$&\r\n"),
    "--x",
    "Content-Type: text/plain; name=note.txt",
    "Content-Disposition: attachment",
    "",
    "short",
    "--x--",
  );
  expect(await s.deliver(replyTo, raw)).toBe(250);
  const { id, text, attachments } = await newest(s);
  expect(text.trim()).toBe("Grüße");
  expect(attachments).toMatchObject([
    { number: 1, filename: ".._a_b.pdf", contentType: "application/pdf", size: file.length },
    { number: 2, filename: "note.txt", contentType: "text/plain" },
  ]);
  expect(await s.world.sdk.received.attachments(id)).toEqual({ data: attachments });
  expect(file.equals(await s.world.sdk.received.attachment(id, "1"))).toBe(true);
  expect(
    Buffer.from(await s.world.sdk.received.attachment(id, "2"))
      .toString()
      .trim(),
  ).toBe("short");
  expect(Buffer.concat([raw, CRLF]).equals(await s.world.sdk.received.raw(id))).toBe(true);
  await expect(s.world.sdk.received.attachment(id, "3")).rejects.toMatchObject({ code: "not_found" });
  await s.world.sdk.received.delete(id);
  await expect(s.world.sdk.received.raw(id)).rejects.toMatchObject({ code: "not_found" });
  const { read } = s.world.app.deps.db;
  expect([await read.$count(read.t.receivedParts), await read.$count(read.t.receivedFiles)]).toEqual([0, 0]);
});

test("a mail is durable before its 250, and refused while the database is not writable", async () => {
  await using s = await start();
  const { replyTo } = await s.send();
  const { db } = s.world.app.deps;
  const { tx } = db;
  Object.assign(db, { tx: () => Promise.reject(new Error("disk full")) });
  expect(await s.deliver(replyTo, write("x"))).toBe(451);
  Object.assign(db, { tx });
  expect((await s.world.sdk.received.list()).pagination.total).toBe(0);
  expect(await s.deliver(replyTo, write("x"))).toBe(250);
  expect((await s.world.sdk.received.list()).pagination.total).toBe(1);
});

test("a dot between bare line feeds does not end a message, so that none can be smuggled in", async () => {
  await using s = await start();
  const { replyTo } = await s.send();
  for (const [i, end] of ["\n.\n", "\n.\r\n", "\r\n.\n", "\r.\r", "\r\n.\r"].entries()) {
    const smuggled = `one${end}MAIL FROM:<x@y.example>\r\nRCPT TO:<${replyTo}>\r\nDATA\r\nSubject: smuggled\r\n\r\ntwo`;
    const lines = ["EHLO x", `MAIL FROM:<${ADA}>`, `RCPT TO:<${replyTo}>`, "DATA"];
    const body = Buffer.from(`From: ${ADA}\r\nMessage-ID: <${i}@x>\r\n\r\n${smuggled}\r\n.\r\n`);
    const replies = await talkSmtp(s.server.port, [...lines, body, "QUIT"]);
    expect([end, replies.slice(-2).map((reply) => reply.slice(0, 3))]).toEqual([end, ["250", "221"]]);
  }
  const { data } = await s.world.sdk.received.list();
  expect(data.map(({ subject }) => subject)).toEqual(Array(5).fill(""));
});

test("a mail with the Message-ID of another one is kept out by nothing, and the same mail by another way is stored once", async () => {
  await using s = await start();
  const { replyTo } = await s.send();
  for (const text of ["Mallory was first", "What Ada wrote"]) expect(await s.deliver(replyTo, write(text))).toBe(250);
  expect(await s.deliver(replyTo, write("What Ada wrote", { Received: "from mx2.example.com" }))).toBe(250);
  const { data } = await s.world.sdk.received.list();
  const texts = await Promise.all(data.map(async ({ id }) => (await s.world.sdk.received.get(id)).reply));
  expect(texts).toEqual(["What Ada wrote", "Mallory was first"]);
});

test("a message of more than 25 MB is refused with 552", async () => {
  await using s = await start();
  const { replyTo } = await s.send();
  const large = Buffer.concat([write("x"), Buffer.alloc(26 * 1024 * 1024, `${"x".repeat(998)}\r\n`)]);
  expect(await s.deliver(replyTo, large)).toBe(552);
  expect((await s.world.sdk.received.list()).pagination.total).toBe(0);
});

test("the list is filtered by sender, recipient, email and time, in pages", async () => {
  await using s = await start();
  const { id, replyTo } = await s.send();
  await s.world.sdk.inboundDomains.create({ domain: "in.acme.test" });
  for (let i = 0; i < 5; i += 1) {
    await s.deliver(
      i % 2 ? replyTo : "sales@in.acme.test",
      write("x", { From: i < 3 ? "ADA@example.com" : "grace@example.com", "Message-ID": `<${i}@x>` }),
    );
    await s.world.clock.advance("1m");
  }
  const { received } = s.world.sdk;
  const list = async (query: NonNullable<Parameters<typeof received.list>[0]>) =>
    (await received.list(query)).data.map(({ messageId }) => messageId?.slice(1, 2)).join("");
  expect(await list({})).toBe("43210");
  expect(await list({ from: ADA })).toBe("210");
  expect(await list({ to: "Sales@in.acme.test" })).toBe("420");
  expect(await list({ email: id })).toBe("31");
  expect(await list({ email: id, from: ADA })).toBe("1");
  expect(await list({ since: "2026-01-01T00:03:00.000Z" })).toBe("43");
  expect(await list({ until: "2026-01-01T00:01:00.000Z" })).toBe("0");
  const pages = await received.list({ limit: 2, from: ADA });
  expect(pages.pagination).toMatchObject({ total: 3, hasMore: true });
  expect(await list({ limit: 2, from: ADA, cursor: pages.pagination.nextCursor ?? "" })).toBe("0");
});

describe("in dev mode", () => {
  test("a recipient answers a captured mail, by the same path", async () => {
    await using world = await createWorld();
    const { id } = await world.sdk.emails.send(message);
    const received = await world.reply(ADA, { text: "Yes, please.", attachments: [{ filename: "a.txt", content: "aGk=" }] });
    expect(received).toMatchObject({ emailId: id, threadId: id, from: ADA, subject: "Re: Hi", attachmentCount: 1, autoReply: null });
    expect(await world.sdk.received.get(received.id)).toMatchObject({
      reply: "Yes, please.",
      text: expect.stringContaining("> How are you?"),
    });
    expect(await world.reply(ADA, { text: "I am away.", automatic: true })).toMatchObject({ autoReply: "auto_submitted", threadId: id });
    await world.sdk.emails.send({ from: message.from, to: "grace@example.com", subject: "No", text: "No" });
    await expect(world.reply("grace@example.com", { text: "x" })).rejects.toMatchObject({
      code: "invalid_state",
      hint: expect.stringContaining("auto"),
    });
    await expect(world.reply("nobody@example.com", { text: "x" })).rejects.toThrow("No mail was sent");
  });

  test("reply@ answers by itself, once", async () => {
    await using world = await createWorld();
    await world.sdk.emails.send({ ...message, to: "reply@simulator.mailsvc.test" });
    await world.sdk.emails.send({ ...message, to: "reply@simulator.mailsvc.test", replyTo: "hello@acme.test" });
    await world.clock.advance("10s");
    expect((await world.sdk.received.list()).data).toMatchObject([{ from: "reply@simulator.mailsvc.test", autoReply: null }]);
    await world.clock.advance("1d");
    // No attempt to answer the second one has failed.
    expect((await world.sdk.jobs.list()).data).toEqual([]);
  });
});

test("a mail that can never be read is refused for good, not for now", async () => {
  await using s = await start();
  const { replyTo } = await s.send();
  const { mailParser } = s.world.app.deps;
  const never = async (): Promise<never> => {
    throw new MailNotRead("Reading it takes too much memory.", true);
  };
  Object.assign(s.world.app.deps, { mailParser: { read: never, parse: never, close: () => mailParser.close() } });
  expect(await s.deliver(replyTo, write("Hi"))).toBe(554);
});

test("answers to emails of test keys are apart from live mail, and a test key sees no other", async () => {
  await using s = await start();
  const { sdk } = s.world;
  const { key } = await sdk.keys.create({ name: "staging", test: true, permissions: ["transactional:send", "received:read"] });
  const testing = new Mailsvc({ apiKey: key, baseUrl: s.world.url, fetch: s.world.fetch });
  const to = "reply@simulator.mailsvc.test";
  await testing.emails.send({ ...message, to });
  await sdk.emails.send({ ...message, to });
  await s.world.clock.advance("10s");
  const [live, tested] = [(await sdk.received.list()).data, (await sdk.received.list({ test: true })).data];
  expect([live, tested]).toMatchObject([[{ test: false }], [{ test: true }]]);
  expect((await testing.received.list()).data).toEqual(tested);
  expect(await testing.received.get(tested[0]?.id ?? "")).toMatchObject({ test: true });
  await expect(testing.received.get(live[0]?.id ?? "")).rejects.toMatchObject({ code: "not_found" });
  await expect(testing.received.raw(live[0]?.id ?? "")).rejects.toMatchObject({ code: "not_found" });
  const { db } = s.world.app.deps;
  expect((await db.read.select().from(db.read.t.receivedQuotas)).reduce((sum, { mails }) => sum + mails, 0)).toBe(1);
});
