import type { Attachment, Email } from "postal-mime";
import { toPlainText } from "../html/plain-text.ts";
import { MAIL_LIMITS, takeStart } from "../mail/mail-start.ts";
import { isInvalidRecipient, parseReply, peerText } from "../mail/smtp-reply.ts";
import type { BounceType, ReportOutcome } from "./report.ts";

/** What a mail to one of our return paths says. */
export interface ParsedMail {
  /** Null for a mail that is no report, such as an automatic reply. */
  readonly outcome: ReportOutcome | null;
  readonly source: "dsn" | "arf";
  /** Message-ID, return path and recipient of the email it is about, as far as it returns them. */
  readonly about: { readonly messageId: string | null; readonly returnPath: string | null; readonly recipient: string | null };
  /** Its start; empty without one. */
  readonly subject: string;
  /** True if a program wrote it, not a person. */
  readonly automatic: boolean;
  /** Why it cannot be read; null if it can. */
  readonly fault: string | null;
}

// A report returns at most the email it is about. Deeper nesting is an attack.
const OPTIONS = { maxNestingDepth: MAIL_LIMITS.levels, maxHeadersSize: MAIL_LIMITS.headerBytes, forceRfc822Attachments: true } as const;

// The subject of a mail that unsubscribes holds a token of up to 500 characters.
const MAX_SUBJECT = 2000;

// Of texts without a structure only the start is read.
const MAX_TEXT = 20_000;

/**
 * Reads a bounce (RFC 3464, or in the words of qmail, Exchange and others) or a complaint (RFC 5965), from the start of a mail. Never
 * throws for what a mail contains: one that cannot be read has a fault. It may take 0.2 s: the server calls it on the thread of
 * `MailParser`.
 */
export async function parseMail(raw: Uint8Array): Promise<ParsedMail> {
  const { default: PostalMime } = await import("postal-mime");
  let mail: Email;
  try {
    mail = await PostalMime.parse(takeStart(raw), OPTIONS);
  } catch (error) {
    return {
      outcome: null,
      source: "dsn",
      about: { messageId: null, returnPath: null, recipient: null },
      subject: "",
      automatic: true,
      fault: peerText(String(error)),
    };
  }
  const about = findOriginal(mail);
  const automatic = isAutomatic(mail);
  const subject = (mail.subject ?? "").slice(0, MAX_SUBJECT);
  const feedback = findPart(mail, "message/feedback-report");
  if (feedback) {
    const fields = parseFields(readText(feedback));
    const returnPath = unwrap(fields.get("original-mail-from")) ?? about.returnPath;
    const recipient = unwrap(fields.get("original-rcpt-to") ?? fields.get("removal-recipient"));
    return {
      outcome: toComplaint(fields),
      source: "arf",
      about: { ...about, returnPath, recipient },
      subject,
      automatic: true,
      fault: null,
    };
  }
  const status = findPart(mail, "message/delivery-status") ?? findPart(mail, "message/global-delivery-status");
  const outcome = status ? toStatus(readText(status)) : readPlainBounce(mail);
  return { outcome, source: "dsn", about, subject, automatic: automatic || status !== null, fault: null };
}

/** The most telling of the recipients' blocks: a failure before a delay before a delivery. */
function toStatus(text: string): ReportOutcome | null {
  const [, ...recipients] = text.split(/\r?\n[ \t]*\r?\n/).map(parseFields);
  // Some servers leave out the block about the message.
  const blocks = recipients.some((block) => block.has("action")) ? recipients : [parseFields(text)];
  for (const actions of [/^failed/, /^delayed/, /^(?:delivered|relayed|expanded)/]) {
    const block = blocks.find((one) => actions.test(one.get("action")?.toLowerCase() ?? ""));
    if (block) return toOutcome(block);
  }
  return null;
}

function toOutcome(block: ReadonlyMap<string, string>): ReportOutcome | null {
  const action = block.get("action")?.toLowerCase() ?? "";
  const status = /\b([245]\.\d{1,3}\.\d{1,3})\b/.exec(block.get("status") ?? "")?.[1];
  // "smtp; 550 5.1.1 no such user"
  const said = block.get("diagnostic-code")?.replace(/^[\w-]+\s*;\s*/, "") ?? "";
  const reply = parseReply(said.replace(/^#/, ""));
  // Servers that know no reason say x.0.0, and the reply knows better.
  const enhancedCode =
    status === undefined || /\.0\.0$/.test(status) ? (reply.enhancedCode ?? findEnhancedCode(said) ?? status ?? null) : status;
  const error = { message: reply.message || peerText(`Status ${status ?? "unknown"}`), smtpCode: reply.smtpCode, enhancedCode };
  if (action.startsWith("failed")) return toBounce(error);
  if (action.startsWith("delayed")) return { kind: "deferred", error };
  // Relayed and expanded: another server took it, and will not report again.
  return action.startsWith("delivered") ? { kind: "delivered" } : null;
}

/** A bounce without a structured part. Only what a mail server wrote counts, and only if it says that delivery failed. */
function readPlainBounce(mail: Email): ReportOutcome | null {
  const text = (mail.text ?? toPlainText((mail.html ?? "").slice(0, 5 * MAX_TEXT))).slice(0, MAX_TEXT);
  if (!isFromMailServer(mail) || !FAILURE.test(`${mail.subject ?? ""}\n${text}`)) return null;
  // What follows is our own mail.
  const [report = ""] = text.split(/^-{2,} ?(?:below this line|original message|this is a copy|forwarded|included is a copy|the header)/im);
  const failed = report.split(/\r?\n/).filter((line) => FAULT.test(line));
  const reply = failed.find((line) => /\b[45]\d\d[ -]|\b[45]\.\d{1,3}\.\d{1,3}\b/.test(line)) ?? failed[0] ?? "";
  const smtpCode = /(?:^|[\s:#(])([45]\d\d)(?=[\s-])/.exec(reply)?.[1];
  const error = {
    message: peerText(reply || mail.subject || "The mail came back without a reason."),
    smtpCode: smtpCode === undefined ? null : Number(smtpCode),
    enhancedCode: findEnhancedCode(reply),
  };
  return DELAY.test(report) && !GIVEN_UP.test(report) ? { kind: "deferred", error } : toBounce(error);
}

const FAILURE =
  /undeliver|not (?:be )?deliver|delivery (?:status|has failed|failure|notification|problem|incomplete|to the following)|failure notice|returned (?:mail|to sender)|mail delivery (?:failed|system|subsystem)|could ?n[o']t be delivered|did not reach|wasn't able to deliver|unzustellbar|non remis|no se (?:ha )?p(?:udo|odido) entregar/i;
const FAULT =
  /\b[45]\d\d[ -]|\b[45]\.\d{1,3}\.\d{1,3}\b|\b(?:unknown|no such|not found|invalid|rejected|refused|quota|full|disabled|does ?n[o']t exist|no mailbox|unrouteable|host or domain)\b/i;
const DELAY =
  /\b(?:delayed|still trying|will (?:keep|continue|be) (?:trying|retried)|will retry|warning message only|temporar(?:y|ily) (?:problem|defer))/i;
const GIVEN_UP = /given up|permanent|will not be retried|no longer be retried/i;

function toBounce(error: { message: string; smtpCode: number | null; enhancedCode: string | null }): ReportOutcome {
  const invalidRecipient = error.enhancedCode?.startsWith("4") !== true && isInvalidRecipient(error);
  return { kind: "bounced", error, type: invalidRecipient ? "PERMANENT" : judge(error), invalidRecipient };
}

// A full mailbox is given up for now, and takes mail again one day.
const TRANSIENT = /^(?:4|5\.2\.2$|5\.4\.7$)/;

function judge({ smtpCode, enhancedCode }: { smtpCode: number | null; enhancedCode: string | null }): BounceType {
  if (enhancedCode !== null) return TRANSIENT.test(enhancedCode) ? "TRANSIENT" : "PERMANENT";
  if (smtpCode !== null) return smtpCode < 500 ? "TRANSIENT" : "PERMANENT";
  return "UNDETERMINED";
}

/** `not-spam` and `auth-failure` are no complaints. */
function toComplaint(fields: ReadonlyMap<string, string>): ReportOutcome | null {
  const type = (fields.get("feedback-type") ?? "").trim().toLowerCase();
  return /^(?:abuse|fraud|virus|other|opt-out|opt-out-list|miscategorized)$/.test(type) ? { kind: "complained", feedbackType: type } : null;
}

/** What a report returns of the email it is about. */
function findOriginal(mail: Email): ParsedMail["about"] {
  const part = findPart(mail, "message/rfc822") ?? findPart(mail, "text/rfc822-headers") ?? findPart(mail, "message/global");
  const returned = part ? readText(part) : (mail.text ?? "").slice(0, MAX_TEXT);
  return {
    messageId: /^message-id:\s*(<[^<>\s]{1,500}>)/im.exec(returned)?.[1] ?? null,
    returnPath: /^return-path:\s*<([^<>\s]{1,320})>/im.exec(returned)?.[1] ?? null,
    recipient: null,
  };
}

function isFromMailServer(mail: Email): boolean {
  const [from = ""] = [mail.from?.address, mail.sender?.address].filter((address) => address !== undefined);
  const returnPath = mail.headers.find(({ key }) => key === "return-path")?.value.trim();
  return (
    returnPath === "<>" || from === "" || /^(?:mailer-daemon|postmaster|mail-daemon|maildaemon|bounces?|microsoftexchange\w*)@/i.test(from)
  );
}

function isAutomatic(mail: Email): boolean {
  return mail.headers.some(({ key, value }) => key === "auto-submitted" && !/^\s*no\b/i.test(value)) || isFromMailServer(mail);
}

function findPart({ attachments }: Email, mimeType: string): Attachment | null {
  return attachments.find((part) => part.mimeType === mimeType) ?? null;
}

function readText({ content }: Attachment): string {
  return (typeof content === "string" ? content : Buffer.from(content as ArrayBuffer).toString("utf8")).slice(0, MAX_TEXT);
}

/** Header fields, unfolded, by their names in lower case; of two with one name the first. */
function parseFields(text: string): Map<string, string> {
  const fields = new Map<string, string>();
  for (const line of text.replace(/\r?\n[ \t]+/g, " ").split(/\r?\n/)) {
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(0, colon)).trimEnd().toLowerCase();
    if (/^[\w-]{1,60}$/.test(name) && !fields.has(name)) fields.set(name, line.slice(colon + 1).trim());
  }
  return fields;
}

function findEnhancedCode(text: string): string | null {
  return /(?:^|[^\d.])([45]\.\d{1,3}\.\d{1,3})(?![\d.])/.exec(text)?.[1] ?? null;
}

function unwrap(address: string | undefined): string | null {
  return address === undefined ? null : address.replace(/^<|>$/g, "").trim() || null;
}
