import { type Person, RECEIVED_LIMITS } from "@mailsvc/sdk/contract";
import { describe, expect, test } from "vitest";
import { mail } from "../../test/bounce-samples.ts";
import { deliverSmtp, talkSmtp } from "../../test/smtp-client.ts";
import { serveInboundSmtp } from "../inbound/inbound.ts";
import type { SmtpListener } from "../mail/smtp-listener.ts";
import { createWorld, type TestWorld, type WorldOptions } from "../testing.ts";

const ADA = "ada@example.com";
const message = { from: "Acme <hello@acme.test>", to: ADA, subject: "Hi", text: "How are you?", replyTo: "auto" };

interface Setting extends AsyncDisposable {
  readonly world: TestWorld;
  readonly server: SmtpListener;
  /** Sends a mail, and answers how it can be answered. */
  send(more?: Partial<typeof message>): Promise<{ id: string; replyTo: string; messageId: string }>;
  /** A mail over SMTP, and the code of the reply. */
  deliver(to: string, raw: Uint8Array, from?: string): Promise<number>;
}

async function start(options: WorldOptions = {}): Promise<Setting> {
  const world = await createWorld(options);
  const server = await serveInboundSmtp(world.app.deps, { host: "127.0.0.1", port: 0 });
  return {
    world,
    server,
    send: async (more) => {
      const { id } = await world.sdk.emails.send({ ...message, ...more });
      await world.settle();
      const sent = (await world.sdk.inbox.list().toArray()).find(({ emailId }) => emailId === id);
      const { headers } = await world.sdk.inbox.get(sent?.id ?? "");
      const find = (name: string): string => headers.find((header) => header.name === name)?.value ?? "";
      return { id, replyTo: find("Reply-To"), messageId: find("Message-ID") };
    },
    deliver: (to, raw, from = ADA) => deliverSmtp(server.port, to, raw, from),
    [Symbol.asyncDispose]: async () => {
      await server.close();
      await world.dispose();
    },
  };
}

// What ends the last line of a mail on its way.
const CRLF = Buffer.from("\r\n");

/** A mail by Ada. */
function write(text: string, headers: Record<string, string> = {}): Buffer {
  const fields = { From: `Ada Lovelace <${ADA}>`, Subject: "Re: Hi", "Message-ID": "<1@mail.example.com>", ...headers };
  return mail(...Object.entries(fields).map(([name, value]) => `${name}: ${value}`), "", text);
}

const newest = async ({ world }: Setting) => {
  const [first] = (await world.sdk.received.list()).data;
  return world.sdk.received.get(first?.id ?? "");
};

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
      authentication: null,
      text: expect.stringContaining("> How are you?"),
      reply: "Fine, thanks.",
      replyTo: ADA,
      size: raw.length + CRLF.length,
      truncated: false,
    });
    expect(await s.world.events.all({ type: "email.received" })).toMatchObject([
      {
        emailId: id,
        to: ADA,
        contactId: contact.id,
        data: { receivedId: all.data[0]?.id, threadId: id, autoReply: null, attachmentCount: 0 },
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
    expect(await s.world.sdk.emails.get(first.id)).toMatchObject({ threadId: first.id });
    // Ada's next mail joins it, too: by its address, or by its headers alone.
    await s.deliver(headers["Reply-To"] ?? "", write("Good.", { "Message-ID": "<2@mail.example.com>" }));
    expect(await newest(s)).toMatchObject({ threadId: first.id, emailId: answer.id });
    expect((await s.world.sdk.received.list({ thread: first.id })).pagination.total).toBe(2);
  });

  test("goes to Reply-To, and to people who unsubscribed", async () => {
    await using s = await start();
    const { replyTo } = await s.send();
    await s.world.sdk.suppressions.create({ email: "desk@example.com", reason: "unsubscribe" });
    await s.deliver(replyTo, write("To my desk, please", { "Reply-To": "desk@example.com" }));
    await s.world.sdk.received.reply((await newest(s)).id, { text: "Yes" });
    expect((await s.world.inbox.waitFor({ to: "desk@example.com" })).text?.trim()).toBe("Yes");
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

describe("an inbound domain", () => {
  test("takes mail at every address of it, begins conversations and finds them by In-Reply-To and References", async () => {
    await using s = await start();
    const contact = await s.world.sdk.contacts.create({ email: ADA });
    expect(await s.deliver("sales@in.acme.test", write("Hello?"))).toBe(550);
    await s.world.sdk.inboundDomains.create({ domain: "in.acme.test" });
    expect(await s.deliver("Sales@In.Acme.Test", write("Hello?", { Subject: "A question" }))).toBe(250);
    const first = await newest(s);
    expect(first).toMatchObject({
      to: "Sales@in.acme.test",
      emailId: null,
      contactId: contact.id,
      threadId: first.id,
      subject: "A question",
    });
    expect(await s.world.events.all({ type: "email.received" })).toMatchObject([{ emailId: null, contactId: contact.id }]);
    await s.deliver("sales@in.acme.test", write("Still there?", { "Message-ID": "<2@x>", References: "<0@x> <1@mail.example.com>" }));
    expect(await newest(s)).toMatchObject({ threadId: first.id, references: ["<0@x>", "<1@mail.example.com>"] });
    const { id } = await s.world.sdk.received.reply(first.id, { text: "Yes" });
    expect(await s.world.sdk.emails.get(id)).toMatchObject({ from: "Sales@in.acme.test", subject: "Re: A question", threadId: first.id });
  });

  test("finds the email that a mail answers by its Message-ID, and not that of another workspace", async () => {
    await using s = await start();
    const { id, messageId } = await s.send({ replyTo: "hello@in.acme.test" });
    await s.world.sdk.inboundDomains.create({ domain: "in.acme.test" });
    await s.deliver("hello@in.acme.test", write("Fine", { "In-Reply-To": messageId }));
    expect(await newest(s)).toMatchObject({ emailId: id, threadId: id });
    const other = await s.world.createWorkspace("Other");
    await other.sdk.inboundDomains.create({ domain: "other.test" });
    await s.deliver("x@other.test", write("Fine", { "In-Reply-To": messageId }));
    const [foreign] = (await other.sdk.received.list()).data;
    expect(foreign).toMatchObject({ emailId: null, contactId: null, threadId: foreign?.id });
    await expect(s.world.sdk.received.get(foreign?.id ?? "")).rejects.toMatchObject({ code: "not_found" });
  });

  test("takes who only names an email into the conversation, but not for its recipient", async () => {
    await using s = await start();
    const contact = await s.world.sdk.contacts.create({ email: ADA });
    const { id, messageId } = await s.send({ replyTo: "hello@in.acme.test" });
    await s.world.sdk.inboundDomains.create({ domain: "in.acme.test" });
    const to = { "In-Reply-To": messageId };
    await s.deliver("hello@in.acme.test", write("Stop writing to me", { ...to, From: "mallory@example.net" }), "mallory@example.net");
    expect(await newest(s)).toMatchObject({ emailId: null, contactId: null, threadId: id, campaignId: null });
    await s.deliver("hello@in.acme.test", write("Fine", { ...to, From: "ADA@example.com", "Message-ID": "<2@x>" }));
    expect(await newest(s)).toMatchObject({ emailId: id, contactId: contact.id, threadId: id });
    const events = await s.world.events.all({ type: "email.received" });
    expect(events.map(({ emailId, contactId }) => [emailId, contactId])).toEqual([
      [null, null],
      [id, contact.id],
    ]);
  });

  test("is verified by a TXT record, belongs to one workspace, and is no longer taken once removed", async () => {
    const records: string[] = [];
    const flags = { "inbound-domain": "bounces.acme.test" };
    await using s = await start({ dev: false, flags, dns: { txt: async (name) => (name === "_mailsvc.in.acme.test" ? records : []) } });
    const { inboundDomains } = s.world.sdk;
    const domain = await inboundDomains.create({ domain: "In.Acme.test" });
    expect(domain).toMatchObject({
      domain: "in.acme.test",
      status: "PENDING",
      dnsRecords: [
        { type: "TXT", name: "_mailsvc.in.acme.test", value: expect.stringMatching(/^mailsvc-verify=[0-9a-f]{48}$/) },
        { type: "MX", name: "in.acme.test", value: "bounces.acme.test", priority: 10 },
      ],
    });
    await expect(inboundDomains.create({ domain: "in.acme.test" })).rejects.toMatchObject({ code: "conflict" });
    await expect(inboundDomains.create({ domain: "bounces.acme.test" })).rejects.toMatchObject({ code: "conflict" });
    expect(await inboundDomains.verify(domain.id, {})).toMatchObject({
      status: "PENDING",
      lastError: expect.stringContaining("no TXT record"),
    });
    expect(await s.deliver("x@in.acme.test", write("Early"))).toBe(550);
    records.push(domain.dnsRecords[0]?.value ?? "");
    await s.world.clock.advance("10m");
    expect(await inboundDomains.get(domain.id)).toMatchObject({ status: "VERIFIED", lastError: null });
    expect(await s.deliver("x@in.acme.test", write("Now"))).toBe(250);
    const other = await s.world.createWorkspace("Other");
    const theirs = await other.sdk.inboundDomains.create({ domain: "in.acme.test" });
    records.push(theirs.dnsRecords[0]?.value ?? "");
    await expect(other.sdk.inboundDomains.verify(theirs.id, {})).rejects.toMatchObject({ code: "conflict" });
    await s.world.clock.advance("10m");
    expect(await other.sdk.inboundDomains.get(theirs.id)).toMatchObject({
      status: "PENDING",
      lastError: expect.stringContaining("Another workspace"),
    });
    await inboundDomains.delete(domain.id);
    expect(await s.deliver("x@in.acme.test", write("Late"))).toBe(550);
    await s.world.clock.advance("10m");
    expect(await other.sdk.inboundDomains.get(theirs.id)).toMatchObject({ status: "VERIFIED" });
    expect((await s.world.sdk.received.list()).pagination.total).toBe(1);
  });
});

test("of two workspaces that verify an inbound domain at once, one gets it and the other a conflict", async () => {
  const records: string[] = [];
  await using s = await start({ dev: false, flags: { "inbound-domain": "bounces.acme.test" }, dns: { txt: async () => records } });
  const other = await s.world.createWorkspace("Other");
  for (let round = 0; round < 5; round += 1) {
    const sdks = [s.world.sdk, other.sdk];
    const domains = await Promise.all(sdks.map((sdk) => sdk.inboundDomains.create({ domain: `in${round}.acme.test` })));
    records.push(...domains.map(({ dnsRecords }) => dnsRecords[0]?.value ?? ""));
    const results = await Promise.allSettled(sdks.map((sdk, i) => sdk.inboundDomains.verify(domains[i]?.id ?? "", {})));
    expect(results.map((one) => (one.status === "fulfilled" ? one.value.status : one.reason.code)).sort()).toEqual([
      "VERIFIED",
      "conflict",
    ]);
  }
});

describe("automatic mail is marked", () => {
  test.each([
    ["auto_submitted", { "Auto-Submitted": "auto-replied" }],
    ["auto_submitted", { "X-Autoreply": "yes" }],
    ["precedence", { Precedence: "bulk" }],
    ["mailing_list", { "List-Id": "<talk.example.com>" }],
    ["loop", { "X-Loop": "hello@acme.test" }],
    ["program_address", { From: "MAILER-DAEMON@example.com" }],
    [null, { "Auto-Submitted": "no" }],
  ])("%s by %j", async (autoReply, headers) => {
    await using s = await start();
    const { replyTo } = await s.send();
    expect(await s.deliver(replyTo, write("x", headers as Record<string, string>))).toBe(250);
    expect((await newest(s)).autoReply).toBe(autoReply);
    expect((await s.world.sdk.received.list({ autoReply: false })).pagination.total).toBe(autoReply === null ? 1 : 0);
  });

  test("when its sender is empty, when it is our own, and when one sender writes twenty within an hour", async () => {
    await using s = await start();
    const { replyTo, messageId } = await s.send();
    await s.deliver(replyTo, write("x"), "");
    expect((await newest(s)).autoReply).toBe("null_sender");
    await s.deliver(replyTo, write("x", { "Message-ID": messageId }));
    expect((await newest(s)).autoReply).toBe("loop");
    const reasons: (string | null)[] = [];
    for (let i = 0; i < 20; i += 1) {
      await s.deliver(replyTo, write("x", { "Message-ID": `<m${i}@x>` }));
      reasons.push((await newest(s)).autoReply);
    }
    expect(reasons).toEqual([...Array(18).fill(null), "too_many", "too_many"]);
    await s.world.clock.advance("1h");
    await s.deliver(replyTo, write("x", { "Message-ID": "<later@x>" }));
    expect((await newest(s)).autoReply).toBeNull();
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

describe("mail is refused with 452 before it is taken", () => {
  test.each([
    ["number", { mails: RECEIVED_LIMITS.mailsPerDay - 1, kilobytes: 0 }],
    ["bytes", { mails: 0, kilobytes: RECEIVED_LIMITS.bytesPerDay / 1024 - 1 }],
  ])("beyond the quota of a day by %s, and only for that workspace", async (_name, used) => {
    await using s = await start();
    const { replyTo } = await s.send();
    await s.world.sdk.inboundDomains.create({ domain: "in.acme.test" });
    const { db, clock } = s.world.app.deps;
    const { workspaceId } = (await db.read.select().from(db.read.t.inboundDomains))[0] ?? {};
    const day = Math.floor(clock.now() / 86_400_000);
    await db.tx(
      async (tx) => void (await tx.insert(tx.t.receivedQuotas).values({ workspaceId: workspaceId ?? "", part: 0, day, ...used })),
    );
    expect(await s.deliver(replyTo, write("The last one"))).toBe(250);
    const greeting = ["EHLO x", `MAIL FROM:<${ADA}>`, `RCPT TO:<${replyTo}>`];
    expect((await talkSmtp(s.server.port, greeting)).at(-1)).toMatch(/^452 4\.2\.2/);
    await expect(s.world.reply(ADA, { text: "One more" })).rejects.toMatchObject({ code: "limit_reached" });
    expect((await s.world.sdk.received.list()).pagination.total).toBe(1);
    const other = await s.world.createWorkspace("Other");
    await other.sdk.inboundDomains.create({ domain: "other.test" });
    expect(await s.deliver("x@other.test", write("Elsewhere"))).toBe(250);
    await s.world.clock.advance("1d");
    expect(await s.deliver(replyTo, write("Tomorrow", { "Message-ID": "<2@x>" }))).toBe(250);
  });

  test("while the disk is nearly full, and taken again afterwards", async () => {
    await using s = await start();
    const { replyTo } = await s.send();
    const { storage } = s.world.app.deps;
    storage.lowDisk = "The disk is nearly full.";
    expect(await s.deliver(replyTo, write("x"))).toBe(452);
    storage.lowDisk = null;
    expect(await s.deliver(replyTo, write("x"))).toBe(250);
  });
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

test("all mails of a person are exported in pages, of which long ones have fewer", async () => {
  await using s = await start();
  await s.world.sdk.inboundDomains.create({ domain: "in.acme.test" });
  for (let i = 0; i < 53; i += 1) await s.deliver("x@in.acme.test", write(`${i}`, { "Message-ID": `<${i}@x>`, Subject: `${i}` }));
  const lines = `${"x".repeat(78)}\r\n`.repeat(12_500);
  for (let i = 53; i < 57; i += 1) await s.deliver("x@in.acme.test", write(lines, { "Message-ID": `<${i}@x>`, Subject: `${i}` }));
  const pages: Person[] = [];
  do pages.push(await s.world.sdk.people.get(ADA, { cursor: pages.at(-1)?.nextCursor ?? undefined }));
  while (pages.at(-1)?.nextCursor);
  expect(pages.flatMap(({ received }) => received.map(({ subject }) => subject))).toEqual(
    Array.from({ length: 57 }, (_, i) => `${56 - i}`),
  );
  expect(pages.map(({ received }) => received.length)).toEqual([2, 2, 50, 3]);
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
  });
});
