import { describe, expect, test } from "vitest";
import { type AcceptingMailer, acceptingMailer } from "../../test/accepting-mailer.ts";
import { arf, exchangeDsn, mail, postfixDsn, qmailBounce, vacation } from "../../test/bounce-samples.ts";
import { deliverSmtp, talkSmtp } from "../../test/smtp-client.ts";
import type { SmtpListener } from "../mail/smtp-listener.ts";
import { createWorld, type TestWorld } from "../testing.ts";
import { serveInboundSmtp } from "./inbound.ts";

const FLAGS = { "inbound-domain": "in.acme.test" };
const TO = "ada@example.com";
const message = { from: "Acme <a@acme.test>", to: TO, subject: "Hi", html: "<p>Hi</p>" };

interface Setting extends AsyncDisposable {
  readonly world: TestWorld;
  readonly mailer: AcceptingMailer;
  readonly server: SmtpListener;
  /** Sends a mail and answers it with its return path. */
  send(more?: Record<string, unknown>): Promise<{ id: string; returnPath: string; messageId: string }>;
  status(id: string): Promise<string>;
  events(id: string): Promise<{ type: string; data: Record<string, unknown> }[]>;
}

async function start(mailer = acceptingMailer()): Promise<Setting> {
  const world = await createWorld({ flags: FLAGS, mailer });
  const server = await serveInboundSmtp(world.app.deps, { host: "127.0.0.1", port: 0 });
  return {
    world,
    mailer,
    server,
    send: async (more) => {
      const { id } = (await world.sdk.emails.send({ ...message, ...more } as typeof message)) as { id: string };
      await world.settle();
      const sent = mailer.mails.find(({ messageId }) => messageId.includes(id));
      return { id, returnPath: sent?.envelopeFrom ?? "", messageId: sent?.messageId ?? "" };
    },
    status: async (id) => (await world.sdk.emails.get(id)).status,
    events: async (id) => (await world.sdk.emails.get(id)).events,
    [Symbol.asyncDispose]: async () => {
      await server.close();
      await world.dispose();
    },
  };
}

test("each mail has its own return path, without the recipient's address", async () => {
  await using s = await start();
  const [one, two] = [await s.send(), await s.send({ to: "grace@example.com" })];
  expect(one.returnPath).toMatch(/^b-[0-9a-z]{26}-[0-9a-f]{20}@in\.acme\.test$/);
  expect(one.returnPath.indexOf("@")).toBeLessThanOrEqual(64);
  expect(two.returnPath).not.toBe(one.returnPath);
  await using plain = await createWorld({ mailer: acceptingMailer() });
  expect(plain.app.deps.returnPath.bounceAddress(one.id)).toBeUndefined();
});

describe("a bounce over SMTP", () => {
  test.each([
    ["Postfix", postfixDsn],
    ["Exchange", exchangeDsn],
    ["qmail", qmailBounce],
  ])("of an unknown mailbox (%s) bounces the mail and suppresses the address, once", async (_name, sample) => {
    await using s = await start();
    const contact = await s.world.sdk.contacts.create({ email: TO });
    const { id, returnPath, messageId } = await s.send();
    // Servers may change the case of an address.
    for (const to of [returnPath, returnPath.toUpperCase(), returnPath])
      expect(await deliverSmtp(s.server.port, to, sample({ messageId, to: TO }))).toBe(250);
    expect(await s.status(id)).toBe("bounced");
    expect((await s.events(id)).filter(({ type }) => type === "email.bounced")).toMatchObject([
      { data: { type: "PERMANENT", source: "dsn", diagnostic: expect.stringMatching(/\w/) } },
    ]);
    expect(await s.world.sdk.suppressions.get(TO)).toMatchObject({ scope: "all", reason: "bounce", emailId: id });
    expect((await s.world.sdk.contacts.get(contact.id)).status).toBe("BOUNCED");
  });

  test("after days without an answer is explained as given up, not as refused", async () => {
    await using s = await start();
    const { id, returnPath, messageId } = await s.send();
    const expired = { status: "4.4.1", diagnostic: "X-Postfix; connect to mx.example.com[192.0.2.1]:25: Connection timed out" };
    expect(await deliverSmtp(s.server.port, returnPath, postfixDsn({ messageId, to: TO }, expired))).toBe(250);
    const { summary, timeline } = await s.world.sdk.explanations.get(id);
    expect(summary).toMatch(/^The next mail server could not deliver it and gave it up\. It is not tried again\. /);
    expect(timeline.at(-1)?.what).toMatch(/^Given up by the next mail server: "/);
  });

  test("of a full mailbox bounces the mail, and the address gets further mail", async () => {
    await using s = await start();
    const { id, returnPath, messageId } = await s.send();
    const full = { status: "5.2.2", diagnostic: "smtp; 552 5.2.2 <ada@example.com>: mailbox over quota, sorry" };
    expect(await deliverSmtp(s.server.port, returnPath, postfixDsn({ messageId, to: TO }, full))).toBe(250);
    expect(await s.status(id)).toBe("bounced");
    expect((await s.events(id)).at(-1)).toMatchObject({ data: { type: "TRANSIENT", smtpCode: 552, enhancedCode: "5.2.2" } });
    expect((await s.world.sdk.suppressions.list()).pagination.total).toBe(0);
    expect((await s.send()).returnPath).not.toBe("");
  });

  test("that is a delay is an event, and the mail stays sent", async () => {
    await using s = await start();
    const { id, returnPath, messageId } = await s.send();
    const delayed = postfixDsn({ messageId, to: TO }, { action: "delayed", status: "4.4.1" });
    for (let i = 0; i < 3; i += 1) expect(await deliverSmtp(s.server.port, returnPath, delayed)).toBe(250);
    expect(await s.status(id)).toBe("sent");
    expect((await s.events(id)).filter(({ type }) => type === "email.deferred")).toHaveLength(1);
    await deliverSmtp(s.server.port, returnPath, postfixDsn({ messageId, to: TO }, { action: "delivered", status: "2.0.0" }));
    expect(await s.status(id)).toBe("delivered");
  });

  test("is known for thirty days from its arrival, however old its mail is, and then forgotten", async () => {
    await using s = await start();
    const { id, returnPath, messageId } = await s.send();
    const delayed = postfixDsn({ messageId, to: TO }, { action: "delayed", status: "4.4.1" });
    const other = postfixDsn({ messageId, to: TO });
    const events = async () => (await s.events(id)).map(({ type }) => type);
    const both = ["email.queued", "email.sent", "email.deferred", "email.bounced"];
    const { read } = s.world.app.deps.db;
    const known = () => read.$count(read.t.inboundReports);
    await deliverSmtp(s.server.port, returnPath, delayed);
    await s.world.clock.advance("20d");
    await deliverSmtp(s.server.port, returnPath, other);
    expect([await events(), await known()]).toEqual([both, 2]);
    await s.world.clock.advance("12d");
    await deliverSmtp(s.server.port, returnPath, other);
    expect([await events(), await known()]).toEqual([both, 1]);
    await s.world.clock.advance("20d");
    expect(await known()).toBe(0);
  });

  test("that is an automatic reply changes nothing", async () => {
    await using s = await start();
    const { id, returnPath } = await s.send();
    for (const raw of [vacation(), mail("Subject: hello", "", "hi"), Buffer.from("\r\n")])
      expect(await deliverSmtp(s.server.port, returnPath, raw, TO)).toBe(250);
    expect([await s.status(id), (await s.events(id)).map(({ type }) => type)]).toEqual(["sent", ["email.queued", "email.sent"]]);
  });

  test("before the mail was settled is to be sent again", async () => {
    let bounce: (() => Promise<number>) | null = null;
    const early: number[] = [];
    await using s = await start(
      acceptingMailer(async ({ envelopeFrom, messageId }) => {
        bounce = () => deliverSmtp(s.server.port, envelopeFrom, postfixDsn({ messageId, to: TO }));
        early.push(await bounce());
        return { outcome: "sent", response: "250 OK" };
      }),
    );
    const { id } = await s.send();
    expect([early, await s.status(id)]).toEqual([[451], "sent"]);
    expect(await (bounce as unknown as () => Promise<number>)()).toBe(250);
    expect(await s.status(id)).toBe("bounced");
  });
});

test("mail is taken for addresses of this installation only, and nothing is relayed", async () => {
  await using s = await start();
  const { id, returnPath, messageId } = await s.send();
  const [local = "", domain] = returnPath.split("@");
  const forged = [
    `${local}@acme.test`,
    `x${local}@${domain}`,
    `${local.slice(0, -1)}${local.endsWith("0") ? "1" : "0"}@${domain}`,
    `u${local.slice(1)}@${domain}`,
    `c${local.slice(1)}@${domain}`,
    `b-${"0".repeat(26)}-${"0".repeat(20)}@${domain}`,
    `postmaster@${domain}`,
    "grace@example.org",
  ];
  for (const to of forged) expect(await deliverSmtp(s.server.port, to, postfixDsn({ messageId, to: TO }))).toBe(550);
  expect(await s.status(id)).toBe("sent");
  const replies = await talkSmtp(s.server.port, ["EHLO x", "AUTH LOGIN", "STARTTLS", "MAIL FROM:<>", "DATA"]);
  expect(replies.slice(2).map((reply) => reply.slice(0, 1))).toEqual(["5", "5", "2", "5"]);
});

test("a message may be large, and only its start is read", async () => {
  await using s = await start();
  const { id, returnPath, messageId } = await s.send();
  const raw = Buffer.concat([postfixDsn({ messageId, to: TO }), Buffer.from(`${"x".repeat(76)}\r\n`.repeat(100_000))]);
  expect(await deliverSmtp(s.server.port, returnPath, raw)).toBe(250);
  expect(await s.status(id)).toBe("bounced");
});

test("what a bounce says is durable before its 250, and refused while the database is not writable", async () => {
  await using s = await start();
  const { id, returnPath, messageId } = await s.send();
  const { db } = s.world.app.deps;
  const { tx } = db;
  Object.assign(db, { tx: () => Promise.reject(new Error("disk full")) });
  expect(await deliverSmtp(s.server.port, returnPath, postfixDsn({ messageId, to: TO }))).toBe(451);
  Object.assign(db, { tx });
  expect(await s.status(id)).toBe("sent");
  expect(await deliverSmtp(s.server.port, returnPath, postfixDsn({ messageId, to: TO }))).toBe(250);
  expect(await s.status(id)).toBe("bounced");
});

describe("a complaint", () => {
  test("to the return path suppresses the address", async () => {
    await using s = await start();
    const { id, returnPath, messageId } = await s.send();
    for (let i = 0; i < 2; i += 1) expect(await deliverSmtp(s.server.port, returnPath, arf({ messageId, to: TO }))).toBe(250);
    expect(await s.status(id)).toBe("complained");
    expect(await s.world.sdk.suppressions.get(TO)).toMatchObject({ scope: "all", reason: "complaint" });
    expect((await s.events(id)).filter(({ type }) => type === "email.complained")).toMatchObject([
      { data: { feedbackType: "abuse", source: "arf" } },
    ]);
  });

  test("to the address for feedback loops finds its mail by what it returns", async () => {
    await using s = await start();
    const complaints = s.world.app.deps.returnPath.complaintAddress() ?? "";
    const [one, two] = [await s.send(), await s.send({ to: "grace@example.com" })];
    expect(await deliverSmtp(s.server.port, complaints, arf({ messageId: "<x@y>", to: TO }, { mailFrom: one.returnPath }))).toBe(250);
    expect(await deliverSmtp(s.server.port, complaints, arf({ messageId: two.messageId, to: TO }))).toBe(250);
    expect(await deliverSmtp(s.server.port, complaints, arf({ messageId: "<other@elsewhere>", to: TO }))).toBe(250);
    expect([await s.status(one.id), await s.status(two.id)]).toEqual(["complained", "complained"]);
  });
});

test("a report about one recipient of a mail to several concerns no other, and one that names none concerns nobody", async () => {
  await using s = await start();
  const { id } = await s.world.sdk.emails.send({ ...message, cc: ["bob@example.com", "carol@example.com"], bcc: "dan@example.com" });
  await s.world.settle();
  const statuses = async () => (await s.world.sdk.emails.get(id)).recipients.map(({ email, status }) => `${email.split("@")[0]} ${status}`);
  const [{ messageId } = { messageId: "" }] = s.mailer.mails;
  expect(new Set(s.mailer.mails.map((one) => one.messageId))).toEqual(new Set([`<${id}@acme.test>`]));
  const returnPaths = new Map(s.mailer.mails.map(({ envelopeTo, envelopeFrom }) => [envelopeTo, envelopeFrom]));
  expect(new Set(returnPaths.values()).size).toBe(4);
  const bob = returnPaths.get("bob@example.com") ?? "";
  expect(await deliverSmtp(s.server.port, bob, postfixDsn({ messageId, to: "bob@example.com" }))).toBe(250);
  expect(await statuses()).toEqual(["ada sent", "bob bounced", "carol sent", "dan sent"]);
  const complaints = s.world.app.deps.returnPath.complaintAddress() ?? "";
  for (const rcptTo of ["", "eve@example.com", "DAN@example.com", "dan@example.com"])
    expect(await deliverSmtp(s.server.port, complaints, arf({ messageId, to: TO }, { rcptTo }))).toBe(250);
  expect(await statuses()).toEqual(["ada sent", "bob bounced", "carol sent", "dan complained"]);
  expect((await s.world.sdk.suppressions.list()).data.map(({ email }) => email).sort()).toEqual(["bob@example.com", "dan@example.com"]);
  expect(await s.world.events.all({ email: id, type: "email.complained" })).toMatchObject([{ to: "dan@example.com" }]);
});

describe("the address in List-Unsubscribe", () => {
  /** Sends a mail that offers to unsubscribe; where to write, and with which subject, as a mail program does. */
  const sendNews = async ({ world, mailer }: Setting): Promise<{ address: string; subject: string }> => {
    const { id } = await world.sdk.templates.create({ name: "News", slug: "news", subject: "News", text: "No more: {{unsubscribeUrl}}" });
    await world.sdk.templates.publish(id);
    await world.sdk.templates.send("news", { from: "a@acme.test", to: TO });
    await world.settle();
    const header = mailer.mails[0]?.headers["List-Unsubscribe"] ?? "";
    const [, address = "", subject = ""] = /^<http[^>]+>, <mailto:([^?>]+)\?subject=([^>&]+)>$/.exec(header) ?? [];
    return { address, subject: decodeURIComponent(subject) };
  };
  const write = ({ server }: Setting, address: string, subject: string): Promise<number> =>
    deliverSmtp(server.port, address, mail(`From: ${TO}`, `Subject: ${subject}`, "", ""), TO);
  const unsubscribed = { scope: "marketing", reason: "unsubscribe" };
  /** As `--keep emails` does in the end. */
  const deleteMail = ({ world: { app } }: Setting) => app.deps.db.tx(async (tx) => void (await tx.delete(tx.t.emails)));

  test("unsubscribes the recipient whose mail it is in, with any subject, and nobody by an automatic reply", async () => {
    await using s = await start();
    const { address } = await sendNews(s);
    expect(await deliverSmtp(s.server.port, address, vacation(), TO)).toBe(250);
    expect((await s.world.sdk.suppressions.list()).pagination.total).toBe(0);
    expect(await write(s, address, "unsubscribe")).toBe(250);
    expect(await s.world.sdk.suppressions.get(TO)).toMatchObject(unsubscribed);
  });

  test.each([
    ["as it is", (subject: string) => subject],
    ["after a prefix, and broken into lines", (subject: string) => `Fwd: ${subject.slice(0, 60)}\r\n ${subject.slice(60)}`],
  ])("works after the mail was deleted, by the subject %s", async (_how, change) => {
    await using s = await start();
    const { address, subject } = await sendNews(s);
    await deleteMail(s);
    expect(await write(s, address, change(subject))).toBe(250);
    expect(await s.world.sdk.suppressions.get(TO)).toMatchObject(unsubscribed);
  });

  test("is refused after the mail was deleted if the subject does not say whose it was, and names the link", async () => {
    await using s = await start();
    const { address, subject } = await sendNews(s);
    await deleteMail(s);
    const other = s.world.app.deps.returnPath.unsubscribeAddress(`em_${"0".repeat(26)}`) ?? "";
    for (const [to, text] of [
      [address, "unsubscribe"],
      [address, `${subject.slice(0, -4)}AAAA`],
      [other, subject],
    ] as const)
      expect(await write(s, to, text)).toBe(550);
    const dialogue = await talkSmtp(s.server.port, [
      "EHLO test",
      `MAIL FROM:<${TO}>`,
      `RCPT TO:<${address}>`,
      "DATA",
      `From: ${TO}\r\nSubject: unsubscribe\r\n\r\n.`,
    ]);
    expect(String(dialogue)).toContain("please use the unsubscribe link in the mail");
    expect((await s.world.sdk.suppressions.list()).pagination.total).toBe(0);
  });
});

describe("soft bounces", () => {
  const full = { status: "4.2.2", diagnostic: "smtp; 452 4.2.2 <ada@example.com>: mailbox over quota, sorry" };
  const bounceSoftly = async (s: Setting, more = {}) => {
    const { returnPath, messageId } = await s.send();
    expect(await deliverSmtp(s.server.port, returnPath, postfixDsn({ messageId, to: TO }, { ...full, ...more }))).toBe(250);
  };
  const isSuppressed = async (s: Setting) => (await s.world.sdk.suppressions.list()).pagination.total > 0;

  test("five in a row over a week suppress the address, not before", async () => {
    await using s = await start();
    for (let i = 0; i < 5; i += 1) {
      expect(await isSuppressed(s)).toBe(false);
      if (i > 0) await s.world.clock.advance("42h");
      await bounceSoftly(s);
    }
    expect(await s.world.sdk.suppressions.get(TO)).toMatchObject({
      reason: "bounce",
      scope: "all",
      note: "The last 5 emails bounced softly, the first on 2026-01-01.",
    });
  });

  test("five within a day do not, nor with an accepted mail in between, nor for a reason that is ours", async () => {
    await using quick = await start();
    for (let i = 0; i < 6; i += 1) await bounceSoftly(quick);
    expect(await isSuppressed(quick)).toBe(false);
    await using between = await start();
    for (let i = 0; i < 8; i += 1) {
      await bounceSoftly(between);
      await between.world.clock.advance("42h");
      if (i % 4 === 3) await between.send();
    }
    expect(await isSuppressed(between)).toBe(false);
    await using ours = await start();
    for (let i = 0; i < 6; i += 1) {
      await bounceSoftly(ours, { status: "4.7.1", diagnostic: "smtp; 451 4.7.1 your reputation is too low to deliver" });
      await ours.world.clock.advance("42h");
    }
    expect(await isSuppressed(ours)).toBe(false);
  });

  test("mail that was given up after days of deferrals counts too", async () => {
    const error = { message: "452 4.2.2 Mailbox full", smtpCode: 452, enhancedCode: "4.2.2" };
    await using s = await start(acceptingMailer(() => ({ outcome: "deferred", error })));
    for (let i = 0; i < 5; i += 1) {
      expect(await isSuppressed(s)).toBe(false);
      await s.world.sdk.emails.send(message);
      await s.world.clock.advance("4d");
    }
    expect(await isSuppressed(s)).toBe(true);
  });
});
