import type { Attachment, Email } from "postal-mime";
import { toPlainText } from "../html/plain-text.ts";
import { MAIL_LIMITS, takeStart } from "../mail/mail-start.ts";
import type { DeliveryError } from "../mail/mailer.ts";
import { findEnhancedCode, isMailboxGone, isTemporary } from "../mail/reply-judge.ts";
import { parseReply, peerText } from "../mail/smtp-reply.ts";
import { parseMime } from "./parse-mime.ts";
import { findAutoReply } from "./read-mail.ts";
import { type BounceType, COMPLAINTS, type ReportOutcome } from "./report.ts";

/** Content of a mail to one of our return paths. */
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
  /** Reason it cannot be read; null if it can. */
  readonly fault: string | null;
}

/** The envelope of a mail, as far as it tells what the mail is. */
export interface ReportEnvelope {
  /** The sender; empty for one that must not be answered, null if it is not known. */
  readonly sender: string | null;
  /** The recipients of the emails whose return paths the mail came to. */
  readonly about: readonly string[];
}

const UNKNOWN: ReportEnvelope = { sender: null, about: [] };

// The subject of a mail that unsubscribes holds a token of up to 500 characters.
const MAX_SUBJECT = 2000;

// Characters that are read of texts without a structure.
const MAX_TEXT = 20_000;
// A reply in several lines is joined up to here.
const MAX_LINE = 1000;

/**
 * Reads a bounce (RFC 3464, or in the words of qmail, Exchange and others) or a complaint (RFC 5965), from the start of a mail. Never
 * throws for what a mail contains: one that cannot be read has a fault. It may take 0.2 s: the server calls it on the thread of
 * `MailParser`.
 */
export async function parseMail(raw: Uint8Array, envelope = UNKNOWN): Promise<ParsedMail> {
  const start = takeStart(raw);
  let mail: Email;
  try {
    mail = await parseMime(start, MAIL_LIMITS);
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
  const automatic = isAutomatic(mail, envelope);
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
  const complaining = findHotmailRecipient(mail);
  if (complaining !== null)
    return {
      ...{ outcome: { kind: "complained", feedbackType: "abuse" }, source: "arf", subject, automatic: true, fault: null },
      about: { ...about, recipient: complaining },
    };
  const status = findPart(mail, "message/delivery-status") ?? findPart(mail, "message/global-delivery-status");
  const outcome = status ? toStatus(readText(status), mail) : (findStrayStatus(mail, envelope) ?? readPlainBounce(mail, about, envelope));
  return { outcome, source: "dsn", about, subject, automatic: automatic || status !== null, fault: null };
}

/** The most telling of the recipients' blocks: a failure before a delay before a delivery. */
function toStatus(text: string, mail: Email): ReportOutcome | null {
  const [, ...recipients] = text.split(/\r?\n[ \t]*\r?\n/).map(parseFields);
  // Some servers leave out the block about the message.
  const blocks = recipients.some((block) => block.has("action")) ? recipients : [parseFields(text)];
  for (const kind of ["failed", "delayed", "delivered"] as const) {
    const block = blocks.find((one) => readAction(one) === kind);
    if (block) return toOutcome(kind, block, mail);
  }
  return null;
}

/** The status of a report whose parts cannot be told apart, so that it stands in the text. */
function findStrayStatus(mail: Email, envelope: ReportEnvelope): ReportOutcome | null {
  if (!isFromMailServer(mail, envelope)) return null;
  const text = (mail.text ?? "").slice(0, MAX_TEXT);
  const [block] = text.split(/\r?\n[ \t]*\r?\n/).filter((one) => /^final-recipient:/im.test(one) && /^action:/im.test(one));
  return block === undefined ? null : toStatus(block, mail);
}

/**
 * The action of RFC 3464, also from servers that have words of their own, such as "expired". Relayed and expanded mail is another server's,
 * which will not report again: null.
 */
function readAction(block: ReadonlyMap<string, string>): "failed" | "delayed" | "delivered" | null {
  const action = block.get("action")?.toLowerCase() ?? "";
  if (/^(?:relayed|expanded)/.test(action)) return null;
  const [known] = /^(?:failed|delayed|delivered)/.exec(action) ?? [];
  if (known !== undefined) return known as "failed" | "delayed" | "delivered";
  if (/^(?:expired|failure|undeliver|rejected|refused|bounced|error)/.test(action)) return "failed";
  return /^\s*5\./.test(block.get("status") ?? "") && block.has("final-recipient") ? "failed" : null;
}

function toOutcome(action: "failed" | "delayed" | "delivered", block: ReadonlyMap<string, string>, mail: Email): ReportOutcome | null {
  // Another server took it over; that it arrived is not known.
  if (action === "delivered") return { kind: "delivered" };
  const status = /\b([245]\.\d{1,3}\.\d{1,3})\b/.exec(block.get("status") ?? "")?.[1] ?? null;
  const error = readReply(block, status, mail);
  return action === "failed" ? toBounce(error) : { kind: "deferred", error };
}

/** Reads the mail server's reply. It is worth more than the status, which programs on the way derive from it, and not always well. */
function readReply(block: ReadonlyMap<string, string>, status: string | null, mail: Email): DeliveryError {
  // "smtp; 550 5.1.1 no such user"; and "<192.0.2.1 #5.0.0 smtp; 550 "Unknown User">"
  const diagnostic = block.get("diagnostic-code")?.replace(/^[\w-]+\s*;\s*/, "") ?? "";
  const supplement = /;\s*([45]\d\d.*?)>?\s*$/.exec(block.get("x-supplementary-info") ?? "")?.[1] ?? "";
  const comment = /\((.*)\)\s*$/.exec(block.get("status") ?? "")?.[1] ?? "";
  const said = diagnostic || supplement || findWords(mail, block) || comment;
  const reply = parseReply(said.replace(/^#/, ""));
  const own = reply.enhancedCode ?? findEnhancedCode(said);
  // Servers that know no reason say x.0.0, and the other one knows better.
  const enhancedCode = own === null || (/\.0\.0$/.test(own) && status !== null) ? (status ?? own) : own;
  return { message: reply.message || peerText(`Status ${status ?? "unknown"}`), smtpCode: reply.smtpCode, enhancedCode };
}

/** The reply in the words above the status, such as "p@people.test: 550 5.1.1 User unknown" of OpenSMTPD; empty if there is none. */
function findWords(mail: Email, block: ReadonlyMap<string, string>): string {
  const recipient = /([^\s;<>]+@[^\s;<>]+)/.exec(block.get("final-recipient") ?? block.get("original-recipient") ?? "")?.[1];
  const lines = joinLines((mail.text ?? "").slice(0, MAX_TEXT));
  const about = lines.filter((line) => recipient !== undefined && line.toLowerCase().includes(recipient.toLowerCase()));
  const line = about.find((one) => REPLY.test(one)) ?? about.find((one) => FAULT.test(one)) ?? lines.find((one) => REPLY.test(one)) ?? "";
  return cutToReply(line);
}

const REPLY = /(?:^|[\s:#([])(?:[45]\d\d[ -]|#?[45]\.\d{1,3}\.\d{1,3}\b)/;

/** A line from the code of the reply in it on. */
function cutToReply(line: string): string {
  return /(?:^|[\s:[(])([45]\d\d[ -].*)/.exec(line)?.[1] ?? line;
}

/** Lines of a report, with those joined that continue one: they are indented, or the line before them ends with a colon. */
function joinLines(text: string): string[] {
  const lines: string[] = [];
  for (const line of text.split(/\r?\n/)) {
    const last = lines.at(-1);
    const continues = last !== undefined && last.trim() !== "" && line.trim() !== "" && (/^\s{2,}|^\t/.test(line) || /:\s*$/.test(last));
    if (continues && last.length < MAX_LINE) lines[lines.length - 1] = `${last} ${line.trim()}`;
    else lines.push(line);
  }
  return lines;
}

/**
 * A bounce without a structured part. Only what a mail server wrote counts, if it says that delivery failed and is about the email: it has
 * a code, names the recipient, or returns a mail. Absence notices and challenges may have all its words, and nothing of that.
 */
function readPlainBounce(mail: Email, about: ParsedMail["about"], envelope: ReportEnvelope): ReportOutcome | null {
  const text = (mail.text ?? toPlainText((mail.html ?? "").slice(0, 5 * MAX_TEXT))).slice(0, MAX_TEXT);
  if (!isFromMailServer(mail, envelope) || isAnswer(mail, envelope)) return null;
  // The text below is our own mail.
  const [report = ""] = text.split(RETURNED);
  const lines = joinLines(report);
  const isNamed = (line: string): boolean => envelope.about.some((one) => line.toLowerCase().includes(one.toLowerCase()));
  const named =
    lines.some(isNamed) ||
    isNamed(mail.subject ?? "") ||
    mail.headers.some(({ key, value }) => key === "x-failed-recipients" && isNamed(value));
  const coded = lines.find((line) => REPLY.test(line));
  if (coded === undefined && !named && about.messageId === null) return null;
  const isCertain = coded !== undefined && named && isMailServer(mail.from?.address ?? "");
  if (!isCertain && !FAILURE.test(`${mail.subject ?? ""}\n${text}`)) return null;
  const failed = lines.filter((line) => FAULT.test(line));
  const reply = cutToReply(coded ?? failed.find(isNamed) ?? failed[0] ?? "");
  const smtpCode = /(?:^|[\s:#(])([45]\d\d)(?=[\s-])/.exec(reply)?.[1];
  const error = {
    message: peerText(reply || mail.subject || "The mail came back without a reason."),
    smtpCode: smtpCode === undefined ? null : Number(smtpCode),
    enhancedCode: findEnhancedCode(reply),
  };
  return DELAY.test(report) && !GIVEN_UP.test(report) ? { kind: "deferred", error } : toBounce(error);
}

/** True if the recipient, or a program for them, wrote a mail: an absence notice, a challenge, a ticket. */
function isAnswer(mail: Email, { about }: ReportEnvelope): boolean {
  const from = mail.from?.address?.toLowerCase() ?? "";
  if (about.some((one) => one.toLowerCase() === from)) return true;
  if (from === "" || isMailServer(from)) return false;
  // The sender is looked at by itself: bounces have none either.
  const headers = mail.headers.filter(({ key }) => key !== "return-path");
  const reason = findAutoReply({ headers, from: null });
  return reason !== null || ABSENCE.test(mail.subject ?? "");
}

const ABSENCE =
  /\bout of (?:the )?office|\bauto(?:matic)?[- ]?(?:reply|response|antwort)|\bvacation|\baway from|\bautomatische (?:antwort|reactie)|\babwesenheit|\babwesend|r[ée]ponse automatique|respuesta autom[áa]tica|risposta automatica|resposta autom[áa]tica|\bconfirm your (?:message|mail|email)|\bticket\b/i;
// The begin of what a report returns.
const RETURNED =
  /^-{2,} ?(?:below this line|original message|this is a copy|forwarded|included is a copy|the header|returned message|unsent message|(?:original )?(?:message )?headers?|undelivered message)|^received: from /im;

const FAILURE =
  /undeliver|not (?:be |yet been )?deliver|failed delivery|failure delivery|rejected (?:recipient|your (?:message|mail|email))|error sending your|(?:trouble|unable to) deliver|delivery (?:errors|failed)|returned mail|mail (?:failed|failure)|delivery (?:status|has failed|failure|notification|problem|incomplete|to the following)|failure notice|returned (?:mail|to sender)|mail delivery (?:failed|system|subsystem)|could ?n[o']t be delivered|did not reach|wasn't able to deliver|unzustellbar|non remis|no se (?:ha )?p(?:udo|odido) entregar/i;
const FAULT =
  /\b[45]\d\d[ -]|\b[45]\.\d{1,3}\.\d{1,3}\b|\b(?:unknown|no such|not found|invalid|rejected|refused|quota|full|disabled|does ?n[o']t exist|no mailbox|no mx|unrouteable|illegal|not listed|unable to|host or domain)\b/i;
const DELAY =
  /\b(?:delayed|still trying|will (?:keep|continue|be) (?:trying|retried)|will retry|warning message only|temporar(?:y|ily) (?:problem|defer))/i;
const GIVEN_UP = /given up|permanent|will not be retried|no longer be retried/i;

function toBounce(error: DeliveryError): ReportOutcome {
  const invalidRecipient = isMailboxGone(error);
  return { kind: "bounced", error, type: invalidRecipient ? "PERMANENT" : judgeType(error), invalidRecipient };
}

// A full mailbox is given up for now, and takes mail again one day; 5.4.7 is given up for its age.
const TRANSIENT = /^(?:5\.2\.2$|5\.4\.7$)/;

function judgeType(error: DeliveryError): BounceType {
  const { smtpCode, enhancedCode } = error;
  if (enhancedCode === null && smtpCode === null) return "UNDETERMINED";
  return isTemporary(error) || TRANSIENT.test(enhancedCode ?? "") ? "TRANSIENT" : "PERMANENT";
}

function toComplaint(fields: ReadonlyMap<string, string>): ReportOutcome | null {
  const type = (fields.get("feedback-type") ?? "").trim().toLowerCase();
  return COMPLAINTS.has(type) ? { kind: "complained", feedbackType: type } : null;
}

/** The recipient that the older reports of Hotmail name: the mail itself as a part, with this field above it and nothing else. */
function findHotmailRecipient(mail: Email): string | null {
  const part = findPart(mail, "message/rfc822") ?? findPart(mail, "text/rfc822-headers");
  return part === null ? null : unwrap(/^x-hmxmroriginalrecipient:\s*(\S+)/im.exec(readText(part).split(/\r?\n\r?\n/)[0] ?? "")?.[1]);
}

/** Finds the ids and headers that a report returns of the email it is about. */
function findOriginal(mail: Email): ParsedMail["about"] {
  const part = findPart(mail, "message/rfc822") ?? findPart(mail, "text/rfc822-headers") ?? findPart(mail, "message/global");
  const returned = part ? readText(part) : (mail.text ?? "").slice(0, MAX_TEXT);
  return {
    messageId: /^message-id:\s*(<[^<>\s]{1,500}>)/im.exec(returned)?.[1] ?? null,
    returnPath: /^return-path:\s*<([^<>\s]{1,320})>/im.exec(returned)?.[1] ?? null,
    recipient: null,
  };
}

function isFromMailServer(mail: Email, { sender }: ReportEnvelope): boolean {
  const [from = ""] = [mail.from?.address, mail.sender?.address].filter((address) => address !== undefined);
  const returnPath = mail.headers.find(({ key }) => key === "return-path")?.value.trim();
  return sender === "" || returnPath === "<>" || from === "" || isMailServer(from);
}

/** True for an address that mail servers write reports from. */
function isMailServer(address: string): boolean {
  return /^(?:mailer-daemon|post_?master|mail-?daemon|mail\.delivery\.system|bounces?|administrator|microsoftexchange\w*)(?:@|$)/i.test(
    address,
  );
}

function isAutomatic(mail: Email, envelope: ReportEnvelope): boolean {
  // Apple Mail says "auto-replied" of what its button to unsubscribe sends.
  if (mail.headers.some(({ key, value }) => key === "x-apple-unsubscribe" && /^\s*true/i.test(value))) return false;
  return mail.headers.some(({ key, value }) => key === "auto-submitted" && !/^\s*no\b/i.test(value)) || isFromMailServer(mail, envelope);
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

function unwrap(address: string | undefined): string | null {
  return address === undefined ? null : address.replace(/^<|>$/g, "").trim() || null;
}
