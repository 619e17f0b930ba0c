import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  arf,
  type BouncedMail,
  exchangeDsn,
  exchangeText,
  gmailDsn,
  mail,
  postfixDsn,
  qmailBounce,
  vacation,
} from "../../test/bounce-samples.ts";
import { parseMail, type ReportEnvelope } from "./parse-mail.ts";

const ABOUT: BouncedMail = { messageId: "<em_01jc3v2m9k8q4w6x0y5z7a1b2c@acme.test>", to: "ada@example.com" };

describe("bounces", () => {
  test.each([
    ["Postfix", postfixDsn(ABOUT), "5.1.1", 550, "PERMANENT", true],
    ["Exchange Online", exchangeDsn(ABOUT), "5.1.10", 550, "PERMANENT", true],
    ["Gmail", gmailDsn(ABOUT), "5.1.1", 550, "PERMANENT", true],
    ["qmail", qmailBounce(ABOUT), "5.1.1", null, "PERMANENT", true],
    ["old Exchange", exchangeText(ABOUT), "5.1.1", null, "PERMANENT", true],
    [
      "a full mailbox",
      postfixDsn(ABOUT, { status: "5.2.2", diagnostic: "smtp; 552 5.2.2 <ada@example.com>: mailbox is over its quota, sorry" }),
      "5.2.2",
      552,
      "TRANSIENT",
      false,
    ],
    [
      "a server that never answered",
      postfixDsn(ABOUT, { status: "4.4.1", diagnostic: "X-Postfix; connect to mail.example.com[192.0.2.1]:25: Connection timed out" }),
      "4.4.1",
      null,
      "TRANSIENT",
      false,
    ],
    [
      "a policy",
      gmailDsn(ABOUT, { status: "5.7.26", diagnostic: "smtp; 550-5.7.26 This mail is unauthenticated: no such user would send it" }),
      "5.7.26",
      550,
      "PERMANENT",
      false,
    ],
    [
      "a status without a reason, and a reply with one",
      postfixDsn(ABOUT, { status: "5.0.0", diagnostic: "smtp; 550 5.1.1 <ada@example.com> unknown user account here" }),
      "5.1.1",
      550,
      "PERMANENT",
      true,
    ],
    ["qmail without a code", qmailBounce(ABOUT, "Sorry, I couldn't find any host named example.com."), null, null, "UNDETERMINED", false],
  ])("%s", async (_name, raw, enhancedCode, smtpCode, type, invalidRecipient) => {
    const { outcome, source } = await parseMail(raw);
    expect(source).toBe("dsn");
    expect(outcome).toMatchObject({ kind: "bounced", type, invalidRecipient });
    expect(outcome).toMatchObject({ error: { enhancedCode } });
    if (smtpCode !== null) expect(outcome).toMatchObject({ error: { smtpCode } });
  });

  test("a delay is no bounce, and a delivery is a delivery", async () => {
    expect((await parseMail(postfixDsn(ABOUT, { action: "delayed", status: "4.2.2" }))).outcome).toMatchObject({ kind: "deferred" });
    expect((await parseMail(postfixDsn(ABOUT, { action: "delivered", status: "2.0.0" }))).outcome).toEqual({ kind: "delivered" });
    expect((await parseMail(postfixDsn(ABOUT, { action: "relayed", status: "2.0.0" }))).outcome).toBeNull();
  });

  test("it tells which email it returns", async () => {
    for (const raw of [postfixDsn(ABOUT), exchangeDsn(ABOUT), gmailDsn(ABOUT), qmailBounce(ABOUT)])
      expect((await parseMail(raw)).about).toMatchObject({ messageId: ABOUT.messageId });
  });
});

describe("complaints", () => {
  test("abuse is a complaint, with the return path it is about", async () => {
    expect(await parseMail(arf(ABOUT, { mailFrom: "b-1@in.acme.test", rcptTo: "ada@example.com" }))).toMatchObject({
      outcome: { kind: "complained", feedbackType: "abuse" },
      source: "arf",
      about: { messageId: ABOUT.messageId, returnPath: "b-1@in.acme.test", recipient: "ada@example.com" },
    });
  });
  test.each(["not-spam", "auth-failure", "nonsense", ""])("%j is none", async (type) => {
    expect((await parseMail(arf(ABOUT, { type }))).outcome).toBeNull();
  });
});

const ENVELOPE: ReportEnvelope = { sender: "", about: ["ada@example.com"] };

/** A report whose block about the recipient has these fields. */
const report = (fields: readonly string[], words = "The mail could not be delivered."): Buffer =>
  mail(
    "From: Mail Delivery System <MAILER-DAEMON@mx.example.net>",
    "Subject: Undelivered Mail Returned to Sender",
    'Content-Type: multipart/report; report-type=delivery-status; boundary="B1"',
    "",
    "--B1",
    "Content-Type: text/plain",
    "",
    words,
    "--B1",
    "Content-Type: message/delivery-status",
    "",
    "Reporting-MTA: dns; mx.example.net",
    "",
    "Final-Recipient: rfc822; ada@example.com",
    ...fields,
    "",
    "--B1--",
  );

describe("the reply that a report returns decides", () => {
  test.each<[string, string[], boolean, string?]>([
    [
      "words in X-Supplementary-Info",
      ["Action: failed", "Status: 5.0.0", 'X-Supplementary-Info: <192.0.2.1 #5.0.0 smtp; 550 "Unknown User">'],
      true,
    ],
    ["words above the status", ["Action: failed", "Status: 5.0.0"], true, "ada@example.com: 550 5.1.1 <ada@example.com>: User unknown"],
    [
      "a host that is not found",
      [
        "Action: failed",
        "Status: 5.4.4",
        "Diagnostic-Code: X-Postfix; Host or domain name not found. Name service error for name=example.com type=A: Host not found",
      ],
      true,
    ],
    [
      "a mailbox that Outlook denies",
      [
        "Action: failed",
        "Status: 5.4.1",
        "Diagnostic-Code: smtp;550 5.4.1 Recipient address rejected: Access denied. [X.prod.protection.outlook.com]",
      ],
      true,
    ],
    [
      "a block list, whatever the status",
      ["Action: failed", "Status: 5.1.1", "Diagnostic-Code: smtp; 550 5.7.1 IP address blacklisted by recipient"],
      false,
    ],
    ["a quota, whatever the status", ["Action: failed", "Status: 5.1.1", "Diagnostic-Code: smtp; 552 5.2.2 Over quota"], false],
    [
      "a rate, in spite of the code",
      [
        "Action: failed",
        "Status: 5.2.1",
        "Diagnostic-Code: smtp; 550 5.2.1 The user you are trying to contact is receiving mail at a rate that 550 5.2.1 prevents additional messages from being delivered.",
      ],
      false,
    ],
    ["an action of the server's own", ["Action: expired", "Status:", "Diagnostic-Code: Connection timed out"], false],
    ["a comment in the status", ["Action: failed", "Status: 5.4.4 (Illegal host/domain name found)"], true],
  ])("%s", async (_name, fields, invalidRecipient, words) => {
    expect((await parseMail(report(fields, words), ENVELOPE)).outcome).toMatchObject({ kind: "bounced", invalidRecipient });
  });

  test("a plain text with the null sender is a bounce if it has a code", async () => {
    const raw = mail(
      "From: Administrator <administrator@corp.test>",
      "Subject: There was an error sending your mail",
      "",
      "SMTP Server <mx.example.com> rejected recipient <ada@example.com>. It responded as follows: [550 5.1.1 User unknown]",
    );
    expect((await parseMail(raw, ENVELOPE)).outcome).toMatchObject({ kind: "bounced", invalidRecipient: true });
    expect((await parseMail(raw.subarray(0, raw.indexOf("SMTP Server")), ENVELOPE)).outcome).toBeNull();
  });

  test("parts between other boundaries than the header names are read as text", async () => {
    const broken = Buffer.from(postfixDsn(ABOUT).toString().replaceAll("--4F8D21C0A3.1767225600/", "--OTHER/"));
    expect((await parseMail(broken, ENVELOPE)).outcome).toMatchObject({ kind: "bounced", invalidRecipient: true });
  });
});

describe("an automatic reply to the return path is no bounce", () => {
  const answer = (headers: readonly string[], ...text: readonly string[]): Buffer => mail("Return-Path: <>", ...headers, "", ...text);
  test.each<[string, Buffer]>([
    [
      "a challenge",
      answer(
        ["From: Ada <ada@example.com>", "Subject: Please confirm your message", "Auto-Submitted: auto-replied"],
        "Your mail was not delivered yet. Click to prove that you are a person, address not found in my list.",
      ),
    ],
    [
      "a challenge of a service",
      answer(["From: check@guard.example", "Subject: Confirm"], "Your mail to my list was not delivered yet: address not found."),
    ],
    [
      "an absence notice",
      answer(["From: ada@example.com", "Subject: Out of office"], "Mail could not be delivered to me faster. ada@example.com, ext. 550 12"),
    ],
    [
      "an absence notice of another address",
      answer(
        ["From: helper@example.com", "Subject: Away from my desk"],
        "ada@example.com is away, your mail could not be delivered to her.",
      ),
    ],
    [
      "a ticket",
      answer(["From: desk@example.com", "Subject: [#550 12] Do not reply: undeliverable", "Precedence: auto_reply"], "We got it."),
    ],
  ])("%s", async (_name, raw) => {
    expect((await parseMail(raw, ENVELOPE)).outcome).toBeNull();
  });
});

test("the older report of Hotmail, the mail with one field above it, is a complaint", async () => {
  const raw = mail(
    "From: staff@hotmail.com",
    "Subject: complaint about message from 192.0.2.1",
    'Content-Type: multipart/mixed; boundary="B1"',
    "",
    "--B1",
    "Content-Type: message/rfc822",
    "",
    "X-HmXmrOriginalRecipient: ada@example.com",
    `Message-ID: ${ABOUT.messageId}`,
    "Subject: News",
    "",
    "News",
    "--B1--",
  );
  expect(await parseMail(raw)).toMatchObject({
    outcome: { kind: "complained" },
    about: { messageId: ABOUT.messageId, recipient: "ada@example.com" },
  });
});

test("the mail of Apple's button to unsubscribe is the wish of a person, though it says auto-replied", async () => {
  const raw = mail("From: ada@example.com", "Subject: unsubscribe", "Auto-Submitted: auto-replied", "X-Apple-Unsubscribe: true", "", "x");
  expect((await parseMail(raw, { sender: "ada@example.com", about: [] })).automatic).toBe(false);
});

describe("what is no report", () => {
  test.each([
    ["an automatic reply", vacation()],
    ["a person's mail about a failed delivery", mail("From: ada@example.com", "Subject: delivery failed", "", "550 5.1.1 user unknown")],
    ["nothing", Buffer.alloc(0)],
    ["zeros", Buffer.alloc(5000)],
    ["a report without its parts", mail("Content-Type: multipart/report; report-type=delivery-status; boundary=x", "", "--x--")],
    [
      "a status in words",
      mail("Content-Type: multipart/report; boundary=x", "", "--x", "Content-Type: message/delivery-status", "", "failed!", "--x--"),
    ],
  ])("%s", async (_name, raw) => {
    expect((await parseMail(raw)).outcome).toBeNull();
  });
});

describe("hostile input is read within limits", () => {
  const nested = (depth: number): Buffer => {
    const lines: string[] = [];
    for (let i = 0; i < depth; i += 1) lines.push(`Content-Type: multipart/mixed; boundary=b${i}`, "", `--b${i}`);
    return mail(...lines, "Content-Type: message/delivery-status", "", "Action: failed", "Status: 5.1.1");
  };
  test.each<[string, () => Buffer]>([
    ["a thousand levels", () => nested(1000)],
    ["messages within messages", () => mail(...Array.from({ length: 500 }, () => ["Content-Type: message/rfc822", ""]).flat())],
    ["a megabyte of headers", () => mail(...Array.from({ length: 20_000 }, (_, i) => `X-${i}: ${"x".repeat(40)}`), "", "x")],
    ["a header without an end", () => mail(`Subject: ${"x".repeat(1_000_000)}`)],
    ["a megabyte in one line", () => mail("From: mailer-daemon@x.example", "Subject: failure notice", "", "550 ".repeat(250_000))],
    ["a megabyte of status", () => postfixDsn(ABOUT, { diagnostic: `smtp; 550 ${"user unknown ".repeat(80_000)}` })],
    [
      "a wrong charset and encoding",
      () =>
        mail(
          "From: mailer-daemon@x.example",
          "Subject: =?x-klingon?Q?failure=20notice?=",
          "Content-Type: text/plain; charset=x-klingon",
          "Content-Transfer-Encoding: base64",
          "",
          "!!!! not base64 \u00ff\u00fe",
        ),
    ],
    [
      "ten thousand parts",
      () => mail("Content-Type: multipart/mixed; boundary=x", "", ...Array.from({ length: 10_000 }, () => ["--x", "", "y"]).flat()),
    ],
  ])("%s", async (_name, make) => {
    const raw = make();
    const before = process.threadCpuUsage();
    const { outcome } = await parseMail(raw);
    const { user, system } = process.threadCpuUsage(before);
    expect((user + system) / 1000).toBeLessThan(5000);
    if (outcome !== null && "error" in outcome) expect(outcome.error.message.length).toBeLessThanOrEqual(500);
  });

  test("any bytes, and any change of a real report", async () => {
    const real = postfixDsn(ABOUT);
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 2000 }), fc.nat(real.length), fc.nat(300), async (bytes, at, length) => {
        await parseMail(bytes);
        await parseMail(Buffer.concat([real.subarray(0, at), bytes, real.subarray(Math.min(real.length, at + length))]));
      }),
      { numRuns: 50 },
    );
  });
});

test("a field of blanks in a report is read in time that rises with its length", async () => {
  await parseMail(Buffer.from(postfixDsn(ABOUT)));
  const report = Buffer.from(postfixDsn(ABOUT, { status: "5.1.1", diagnostic: `${" ".repeat(19_000)}x\u2028` }));
  const before = process.cpuUsage();
  expect(await parseMail(report)).toMatchObject({});
  const { user, system } = process.cpuUsage(before);
  // About 10 ms; half a second if each blank is read again with those after it.
  expect((user + system) / 1000).toBeLessThan(200);
});
