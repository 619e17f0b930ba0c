import { AddressError, type Mailbox, parseMailbox, type RecipientKind, SEND_LIMITS } from "@mailsvc/sdk/contract";
import { ApiError, invalid } from "../lib/api-error.ts";
import { mailDate } from "../mail/header.ts";
import { type HeaderField, splitMessage } from "../mail/message-head.ts";
import { type Instructions, isStripped, readInstructions } from "./instructions.ts";

/** The envelope of a message, and how it came. */
export interface Envelope {
  readonly from: string;
  /** Each address once. */
  readonly recipients: readonly Mailbox[];
  /** The protocol for the Received header, such as ESMTPSA. */
  readonly protocol: string;
  /** The name of this server. */
  readonly by: string;
  readonly at: number;
}

/** A recipient of a message: who it is, and how the headers name them. */
export interface ReadRecipient {
  readonly kind: RecipientKind;
  /** The address, with the name that the headers give. */
  readonly text: string;
}

/** A submitted message. */
export interface ReadMessage {
  readonly from: string;
  readonly subject: string;
  readonly messageId: string | null;
  readonly recipients: readonly ReadRecipient[];
  readonly instructions: Instructions;
  /** The message as it goes out. */
  readonly bytes: Buffer;
}

const MAX_HEAD = 128 * 1024;
// RFC 5321 6.3 wants at least 100: a message that has passed more servers goes in a circle.
const MAX_RECEIVED = 100;
const MAX_LINE = 998;
const [LF, CR] = [10, 13];

/**
 * Reads a submitted message: who it is from, whom its headers name, and what they say to this server. What is not for others is taken out of
 * the headers and a Received header is added; all else stays as it is. Throws ApiError validation_error.
 */
export async function readMessage(raw: Buffer, envelope: Envelope): Promise<ReadMessage> {
  assertLines(raw);
  const { fields, rest } = splitMessage(raw);
  if (raw.length - rest.length > MAX_HEAD) throw unreadable(`The headers take more than ${MAX_HEAD / 1024} KB.`);
  if (fields.filter(({ key }) => key === "received").length > MAX_RECEIVED)
    throw unreadable("The message has passed too many servers: it goes in a circle.");
  const { addressParser, decodeWords } = await import("postal-mime");
  const listBoxes = (key: string): Map<string, string> => {
    const boxes = fields.filter((field) => field.key === key).flatMap(({ value }) => addressParser(value, { flatten: true }));
    return new Map(boxes.flatMap(({ name = "", address = "" }) => toEntry(decodeWords(name), address)));
  };
  const from = readFrom(fields, envelope.from, (value) => [...listBoxes("from").values()][0] ?? value);
  const [to, cc] = [listBoxes("to"), listBoxes("cc")];
  const instructions = readInstructions(fields, decodeWords);
  const kept = fields.filter((field) => !isStripped(field)).map(({ line }) => line);
  const trace = `Received: by ${envelope.by} (mailsvc) with ${envelope.protocol};\r\n\t${mailDate(envelope.at)}\r\n`;
  const missing = fields.some(({ key }) => key === "from") ? "" : `From: ${from}\r\n`;
  return {
    from,
    subject: toSubject(decodeWords(fields.find(({ key }) => key === "subject")?.value ?? "")),
    messageId: readMessageId(fields),
    recipients: envelope.recipients.map(({ key, address }) => {
      const kind = to.has(key) ? "to" : cc.has(key) ? "cc" : "bcc";
      return { kind, text: to.get(key) ?? cc.get(key) ?? address };
    }),
    instructions,
    bytes: Buffer.concat([Buffer.from(trace + missing + kept.join(""), "latin1"), rest]),
  };
}

/** A line must end in CRLF and nothing else: servers that disagree about where a message ends let a second one be smuggled in. */
function assertLines(raw: Buffer): void {
  let start = 0;
  for (let at = raw.indexOf(LF); at !== -1; at = raw.indexOf(LF, start)) {
    if (raw[at - 1] !== CR) throw unreadable("A line of the message ends in LF without CR; lines end in CRLF (RFC 5321 2.3.8).");
    if (at - 1 - start > MAX_LINE) throw unreadable(`A line of the message is longer than ${MAX_LINE} bytes; encode it (RFC 5322 2.1.1).`);
    start = at + 1;
  }
  for (let at = raw.indexOf(CR); at !== -1; at = raw.indexOf(CR, at + 1))
    if (raw[at + 1] !== LF) throw unreadable("The message has a CR without LF; lines end in CRLF (RFC 5321 2.3.8).");
  if (raw.includes(0)) throw unreadable("The message holds a NUL byte; encode it (RFC 5321 2.3.8).");
}

function unreadable(message: string): ApiError {
  return new ApiError("validation_error", message, { hint: "See docs/smtp.md." });
}

/** The mailbox of the From header; without one, the sender of the envelope. */
function readFrom(fields: readonly HeaderField[], envelopeFrom: string, decode: (value: string) => string): string {
  const found = fields.filter(({ key }) => key === "from");
  if (found.length > 1) throw invalid("From", "duplicate", "The message has several From headers.");
  const value = found[0]?.value ?? envelopeFrom;
  const text = value.includes("=?") || value.includes(",") ? decode(value) : value;
  try {
    parseMailbox(text);
    return text;
  } catch (error) {
    if (!(error instanceof AddressError)) throw error;
    throw invalid("From", "invalid_address", `The From header cannot be used: ${error.message}`);
  }
}

function readMessageId(fields: readonly HeaderField[]): string | null {
  const value = fields.find(({ key }) => key === "message-id")?.value;
  return value === undefined ? null : (/^<[\x21-\x3b\x3d\x3f-\x7e]{1,500}>$/.exec(value)?.[0] ?? null);
}

/** The key of an address with the mailbox as text; nothing for what is no address, such as undisclosed-recipients. */
function toEntry(name: string, address: string): [string, string][] {
  const text = name === "" ? address : `"${toSubject(name).replace(/["\\]/g, "\\$&")}" <${address}>`;
  for (const one of [text, address])
    try {
      return [[parseMailbox(one).key, one]];
    } catch {
      // A name that cannot be written is left out.
    }
  return [];
}

/** A text of a header as it is stored: in one line. */
function toSubject(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\p{Cc}\u2028\u2029]+/gu, " ")
    .slice(0, SEND_LIMITS.subject)
    .toWellFormed();
}
