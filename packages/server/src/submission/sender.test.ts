import { describe, expect, test } from "vitest";
import { readId, startProduction, submitTo } from "../../test/submission.ts";
import { readMessage } from "./message.ts";

describe("who a message is from", () => {
  test.each([
    ["two mailboxes", "From: a@acme.example, CEO <ceo@victim.example>", "From header must be exactly one mailbox"],
    [
      "two mailboxes without a comma",
      "From: =?utf-8?Q?A?= <a@acme.example> <ceo@victim.example>",
      "From header must be exactly one mailbox",
    ],
    ["a mailbox after a group", "From: A: a@acme.example;, ceo@victim.example", "From header must be exactly one mailbox"],
    ["a group", "From: Acme: a@acme.example;", "From header must be exactly one mailbox"],
    ["an address as name", "From: ceo@victim.example <a@acme.example>", "From header must be exactly one mailbox"],
    ["an address in a comment", "From: (ceo@victim.example) a@acme.example", "From header must be exactly one mailbox"],
    ["an address in a comment after it", "From: a@acme.example (ceo@victim.example)", "From header must be exactly one mailbox"],
    ["a comment with brackets", "From: a@acme.example (<ceo@victim.example>)", "From header must be exactly one mailbox"],
    ["a comment in a comment", "From: a@acme.example (CEO (\\))", "From header must be exactly one mailbox"],
    ["a comment and more text", "From: a@acme.example (CEO) ceo@victim.example", "From header must be exactly one mailbox"],
    ["a comment before brackets", "From: a@acme.example (CEO) <ceo@victim.example>", "From header must be exactly one mailbox"],
    ["a mailbox after a comment", "From: <a@acme.example> (CEO) <ceo@victim.example>", "From header must be exactly one mailbox"],
    ["an address in a comment behind brackets", "From: <a@acme.example> (ceo@victim.example)", "From header must be exactly one mailbox"],
    ["a list as name", "From: a@acme.example, b@acme.example <a@acme.example>", "From header must be exactly one mailbox"],
    ["two comments", "From: a@acme.example (CEO) (ceo)", "From header must be exactly one mailbox"],
    ["a comment that is not closed", "From: a@acme.example (CEO", "From header must be exactly one mailbox"],
    ["a quotation that is not closed", 'From: "CEO <ceo@victim.example> <a@acme.example>', "From header must be exactly one mailbox"],
    ["an encoded address", "From: =?utf-8?Q?a=40acme.example?=", "has no @"],
    ["nothing", "From:", "From header must be exactly one mailbox"],
    ["two headers", "From: a@acme.example\r\nFROM: ceo@victim.example", "The message has several From headers"],
    [
      "two headers, one with a blank before its colon",
      "From : a@acme.example\r\nFrom: ceo@victim.example",
      "The message has several From headers",
    ],
    [
      "a Sender of others",
      "From: a@acme.example\r\nSender: ceo@victim.example",
      "Neither ceo@victim.example nor the domain victim.example",
    ],
    ["two Senders", "From: a@acme.example\r\nSender: a@acme.example\r\nSender: b@acme.example", "The message has several Sender headers"],
    [
      "a Sender that is a list",
      "From: a@acme.example\r\nSender: a@acme.example, ceo@victim.example",
      "Sender header must be exactly one mailbox",
    ],
  ])("must be clear: %s", async (_name, headers, fault) => {
    const { world, port, login } = await startProduction();
    const answer = await submitTo(port, `${headers}\r\nTo: ada@example.com\r\n\r\nHi\r\n`, { login });
    expect(answer).toMatch(/^550 /);
    expect(answer).toContain(fault);
    // SMTP has no fields to look at.
    expect(answer).not.toContain("details");
    expect((await world.sdk.emails.list()).data).toEqual([]);
  });

  test.each([
    ["From: =?utf-8?Q?Acm=C3=A9?=\r\n\t=?utf-8?Q?=2C_Inc.?= <a@acme.example>", '"Acmé, Inc." <a@acme.example>'],
    ['From: "Acme, <Inc.>" <a@acme.example>', '"Acme, <Inc.>" <a@acme.example>'],
    ['From: "=?utf-8?Q?Acm=C3=A9?=" <a@acme.example>', '"Acmé" <a@acme.example>'],
    ['From: "Acme" Inc. <a@acme.example>', '"Acme Inc." <a@acme.example>'],
    ["From: Acme\r\n\t<a@acme.example>", "Acme <a@acme.example>"],
    // As cron writes it.
    ["From: root@acme.example (Cron Daemon)", '"Cron Daemon" <root@acme.example>'],
    ["From: root@acme.example (=?utf-8?Q?Acm=C3=A9?=)", '"Acmé" <root@acme.example>'],
    ["From: root@acme.example ()", "root@acme.example"],
    ["From: Acme <a@acme.example> (Acme Inc.)", '"Acme" <a@acme.example>'],
    ["From: <a@acme.example> (Acme Inc.)", '"Acme Inc." <a@acme.example>'],
    ["From: a@acme.example <a@acme.example>", '"a@acme.example" <a@acme.example>'],
    ["From: a@acme.example\r\nSender: Robot <b@acme.example>", "a@acme.example"],
  ])("is read as others read it: %s", async (headers, from) => {
    const { world, port, login } = await startProduction();
    const id = readId(await submitTo(port, `${headers}\r\nTo: ada@example.com\r\n\r\nHi\r\n`, { login }));
    expect((await world.sdk.emails.get(id)).from).toBe(from);
  });

  test("is the sender of the envelope without a From header, in UTF-8 too", async () => {
    const message = await readMessage(Buffer.from("Subject: Hi\r\n\r\nHi\r\n"), {
      ...{ from: "jürgen@acme.example", recipients: [], protocol: "ESMTP", by: "localhost", at: 0, captured: false },
    });
    expect(message.bytes.toString()).toContain("\r\nFrom: jürgen@acme.example\r\nSubject: Hi\r\n");
  });
});
