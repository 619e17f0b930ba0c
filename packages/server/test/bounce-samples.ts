/** The email that a bounce is about. */
export interface BouncedMail {
  readonly messageId: string;
  readonly to: string;
}

/** Joins lines as mail has them. */
export const mail = (...lines: readonly string[]): Buffer => Buffer.from(`${lines.join("\r\n")}\r\n`);

const returned = ({ messageId, to }: BouncedMail): string[] => [
  "Return-Path: <b-original@bounces.acme.test>",
  "From: Acme <news@acme.test>",
  `To: ${to}`,
  "Subject: News",
  `Message-ID: ${messageId}`,
];

interface Status {
  readonly action?: string;
  readonly status?: string;
  readonly diagnostic?: string;
}

/** A DSN as Postfix writes it (RFC 3464). */
export const postfixDsn = (
  bounced: BouncedMail,
  {
    action = "failed",
    status = "5.1.1",
    diagnostic = "smtp; 550 5.1.1 <ada@example.com>: Recipient address rejected: User unknown in virtual mailbox table",
  }: Status = {},
): Buffer =>
  mail(
    "Return-Path: <>",
    "From: MAILER-DAEMON@mx.example.com (Mail Delivery System)",
    "Subject: Undelivered Mail Returned to Sender",
    "Auto-Submitted: auto-replied",
    "MIME-Version: 1.0",
    "Content-Type: multipart/report; report-type=delivery-status;",
    '\tboundary="4F8D21C0A3.1767225600/mx.example.com"',
    "",
    "This is a MIME-encapsulated message.",
    "",
    "--4F8D21C0A3.1767225600/mx.example.com",
    "Content-Description: Notification",
    "Content-Type: text/plain; charset=us-ascii",
    "",
    "This is the mail system at host mx.example.com.",
    "",
    "I'm sorry to have to inform you that your message could not",
    "be delivered to one or more recipients. It's attached below.",
    "",
    "--4F8D21C0A3.1767225600/mx.example.com",
    "Content-Description: Delivery report",
    "Content-Type: message/delivery-status",
    "",
    "Reporting-MTA: dns; mx.example.com",
    "X-Postfix-Queue-ID: 4F8D21C0A3",
    "Arrival-Date: Thu,  1 Jan 2026 00:00:00 +0000 (UTC)",
    "",
    `Final-Recipient: rfc822; ${bounced.to}`,
    `Original-Recipient: rfc822;${bounced.to}`,
    `Action: ${action}`,
    `Status: ${status}`,
    "Remote-MTA: dns; mail.example.com",
    `Diagnostic-Code: ${diagnostic.slice(0, 30)}`,
    `    ${diagnostic.slice(30)}`,
    "",
    "--4F8D21C0A3.1767225600/mx.example.com",
    "Content-Description: Undelivered Message Headers",
    "Content-Type: text/rfc822-headers",
    "",
    ...returned(bounced),
    "",
    "--4F8D21C0A3.1767225600/mx.example.com--",
  );

/** A DSN as Exchange Online writes it: status 5.1.10, and a long diagnostic. */
export const exchangeDsn = (bounced: BouncedMail): Buffer =>
  mail(
    "From: <postmaster@contoso.example>",
    "Subject: =?utf-8?B?VW5kZWxpdmVyYWJsZTogTmV3cw==?=",
    "MIME-Version: 1.0",
    'Content-Type: multipart/report; report-type=delivery-status; boundary="_000_x"',
    "Auto-Submitted: auto-replied",
    "",
    "--_000_x",
    'Content-Type: multipart/alternative; differences=Content-Type; boundary="_001_x"',
    "",
    "--_001_x",
    'Content-Type: text/plain; charset="us-ascii"',
    "Content-Transfer-Encoding: quoted-printable",
    "",
    "Your message to ada@example.com couldn't be delivered.=0A=0Aada wasn't found at contoso.example.",
    "--_001_x",
    'Content-Type: text/html; charset="us-ascii"',
    "",
    "<html><body><h2>Delivery has failed</h2></body></html>",
    "--_001_x--",
    "--_000_x",
    "Content-Type: message/delivery-status",
    "",
    "Reporting-MTA: dns;AM0PR01MB0001.eurprd01.prod.exchangelabs.com",
    "",
    `Final-Recipient: rfc822;${bounced.to}`,
    "Action: failed",
    "Status: 5.1.10",
    "Diagnostic-Code: smtp;550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient",
    " not found by SMTP address lookup",
    "",
    "--_000_x",
    "Content-Type: message/rfc822",
    "",
    ...returned(bounced),
    "",
    "Hello",
    "--_000_x--",
  );

/** A DSN as Gmail writes it. */
export const gmailDsn = (
  bounced: BouncedMail,
  {
    status = "5.1.1",
    action = "failed",
    diagnostic = "smtp; 550-5.1.1 The email account that you tried to reach does not exist.",
  }: Status = {},
): Buffer =>
  mail(
    "From: Mail Delivery Subsystem <mailer-daemon@googlemail.com>",
    "Auto-Submitted: auto-replied",
    "Subject: Delivery Status Notification (Failure)",
    'Content-Type: multipart/report; boundary="000000000000a1"; report-type=delivery-status',
    "",
    "--000000000000a1",
    'Content-Type: multipart/related; boundary="000000000000b2"',
    "",
    "--000000000000b2",
    'Content-Type: text/plain; charset="UTF-8"',
    "",
    "** Address not found **",
    "--000000000000b2--",
    "--000000000000a1",
    "Content-Type: message/delivery-status",
    "",
    "Reporting-MTA: dns; googlemail.com",
    "Arrival-Date: Thu, 01 Jan 2026 00:00:00 -0800 (PST)",
    "",
    `Final-Recipient: rfc822; ${bounced.to}`,
    `Action: ${action}`,
    `Status: ${status}`,
    `Diagnostic-Code: ${diagnostic}`,
    "",
    "--000000000000a1",
    "Content-Type: message/rfc822",
    "",
    ...returned(bounced),
    "",
    "--000000000000a1--",
  );

/** A bounce in the words of qmail, which has no structured part. */
export const qmailBounce = (bounced: BouncedMail, reason = "Sorry, no mailbox here by that name. (#5.1.1)"): Buffer =>
  mail(
    "Return-Path: <>",
    "From: MAILER-DAEMON@mx.example.com",
    "Subject: failure notice",
    "",
    "Hi. This is the qmail-send program at mx.example.com.",
    "I'm afraid I wasn't able to deliver your message to the following addresses.",
    "This is a permanent error; I've given up. Sorry it didn't work out.",
    "",
    `<${bounced.to}>:`,
    reason,
    "",
    "--- Below this line is a copy of the message.",
    "",
    ...returned(bounced),
    "",
    "Our flat is full, 550 roses were rejected.",
  );

/** A bounce of an old Exchange server: plain text. */
export const exchangeText = (bounced: BouncedMail): Buffer =>
  mail(
    "From: System Administrator <postmaster@contoso.example>",
    "Subject: Undeliverable: News",
    "Content-Type: text/plain; charset=x-unknown-charset",
    "",
    "Your message did not reach some or all of the intended recipients.",
    "",
    "      Subject:\tNews",
    "",
    "The following recipient(s) could not be reached:",
    "",
    `      ${bounced.to} on 1/1/2026 12:00 AM`,
    "            The e-mail account does not exist at the organization this message was sent to.",
    "            <mx.contoso.example #5.1.1 smtp;550 5.1.1 User unknown>",
  );

/** A complaint of a feedback loop (RFC 5965). */
export const arf = (
  bounced: BouncedMail,
  { type = "abuse", mailFrom = "", rcptTo = "" }: { type?: string; mailFrom?: string; rcptTo?: string } = {},
): Buffer =>
  mail(
    "From: <feedback@mailbox.example>",
    "Subject: FW: News",
    "MIME-Version: 1.0",
    'Content-Type: multipart/report; report-type=feedback-report; boundary="part1_13d.2e68ed54_boundary"',
    "",
    "--part1_13d.2e68ed54_boundary",
    'Content-Type: text/plain; charset="US-ASCII"',
    "",
    "This is an email abuse report.",
    "",
    "--part1_13d.2e68ed54_boundary",
    "Content-Type: message/feedback-report",
    "",
    `Feedback-Type: ${type}`,
    "User-Agent: SomeGenerator/1.0",
    "Version: 1",
    ...(mailFrom === "" ? [] : [`Original-Mail-From: <${mailFrom}>`]),
    ...(rcptTo === "" ? [] : [`Original-Rcpt-To: <${rcptTo}>`]),
    "",
    "--part1_13d.2e68ed54_boundary",
    "Content-Type: message/rfc822",
    "Content-Disposition: inline",
    "",
    ...returned(bounced),
    "",
    "Hello",
    "--part1_13d.2e68ed54_boundary--",
  );

/** An out-of-office reply. */
export const vacation = (): Buffer =>
  mail(
    "From: Ada <ada@example.com>",
    "Subject: Out of office: delivery of your parcel failed",
    "Auto-Submitted: auto-replied",
    "",
    "I am away. My old mailbox 550 5.1.1 does not exist any more.",
  );
