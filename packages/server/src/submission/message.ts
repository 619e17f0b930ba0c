import {
  AddressError,
  type Mailbox,
  parseAddress,
  parseAnyAddress,
  parseAnyMailbox,
  parseMailbox,
  type RecipientKind,
  SEND_LIMITS,
} from "@mailsvc/sdk/contract";
import { ApiError, invalid } from "../lib/api-error.ts";
import { concatInTurns } from "../lib/turn.ts";
import { MAX_BOXES, readAddressList } from "../mail/address-list.ts";
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
  /** True if no mail leaves the server: then the message may name addresses of local hosts, such as root@localhost, and have long lines. */
  readonly captured: boolean;
  /** The number of further recipients that were refused one by one; absent for none. */
  readonly refused?: number;
}

/** A recipient of a message: who it is, and how the headers name them. */
interface ReadRecipient {
  readonly kind: RecipientKind;
  /** The address, with the name that the headers give. */
  readonly text: string;
}

/** A submitted message. */
export interface ReadMessage {
  readonly from: string;
  /** The mailbox of the Sender header. */
  readonly sender: string | null;
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

/**
 * Reads a submitted message, whose lines `mendLines` has mended: its sender, the people in its headers, and its instructions to
 * this server. Headers that are not for others are removed and a Received header is added; all else stays as it is. Throws
 * ApiError validation_error.
 */
export async function readMessage(raw: Buffer, envelope: Envelope): Promise<ReadMessage> {
  const { fields, headBytes, content } = splitMessage(raw, MAX_HEAD);
  if (headBytes > MAX_HEAD) throw unreadable(`The headers take more than ${MAX_HEAD / 1024} KB.`);
  if (fields.filter(({ key }) => key === "received").length > MAX_RECEIVED)
    throw unreadable("The message has passed too many servers: it goes in a circle.");
  const { decodeWords } = await import("postal-mime");
  const { captured } = envelope;
  const from = readMailbox("From", { fields, captured, decode: decodeWords }) ?? readEnvelopeFrom(envelope);
  const [to, cc] = [readNamed("To", fields, decodeWords), readNamed("Cc", fields, decodeWords)];
  const instructions = readInstructions(fields, decodeWords);
  const kept = mendFields(fields.filter((field) => !isStripped(field))).map(({ line }) => line);
  const trace = `Received: by ${envelope.by} (mailsvc) with ${envelope.protocol};\r\n\t${mailDate(envelope.at)}\r\n`;
  const missing = fields.some(({ key }) => key === "from") ? "" : `From: ${from}\r\n`;
  return {
    from,
    sender: readMailbox("Sender", { fields, captured, decode: decodeWords }),
    subject: toSubject(decodeWords(fields.find(({ key }) => key === "subject")?.value ?? "")),
    messageId: readMessageId(fields),
    recipients: envelope.recipients.map(({ key, address }) => {
      const kind = to.has(key) ? "to" : cc.has(key) ? "cc" : "bcc";
      return { kind, text: to.get(key) ?? cc.get(key) ?? address };
    }),
    instructions,
    // With an empty line also in a message of headers only: without it a signature would cover none of them.
    bytes: await concatInTurns([Buffer.from(trace + missing), Buffer.from(`${kept.join("")}\r\n`, "latin1"), content]),
  };
}

// Header fields that a message has once (RFC 5322 3.6); big receivers refuse those that have two.
const ONCE: ReadonlySet<string> = new Set(["subject", "message-id", "date", "reply-to", "in-reply-to", "references"]);

/**
 * The fields as they go out: of those that a message has once the first, To and Cc in one field each, and no Date that cannot be read, in
 * whose place the server writes its own. A message that is signed stays as it is.
 */
function mendFields(fields: readonly HeaderField[]): readonly HeaderField[] {
  if (fields.some(({ key }) => key === "dkim-signature")) return fields;
  const seen = new Set<string>();
  return fields.flatMap((field): readonly HeaderField[] => {
    const { key, name, value } = field;
    if (key === "date" && !isDate(value)) return [];
    const isRepeated = seen.has(key);
    seen.add(key);
    if (ONCE.has(key)) return isRepeated ? [] : [field];
    if (key !== "to" && key !== "cc") return [field];
    if (isRepeated) return [];
    const same = fields.filter((one) => one.key === key);
    if (same.length === 1) return [field];
    // Each as it was folded, so that no line gets longer.
    const written = same.map(({ line }) =>
      line
        .slice(line.indexOf(":") + 1)
        .replace(/\r\n$/, "")
        .replace(/[,\s]+$/, ""),
    );
    return [{ ...field, value, line: `${name}:${written.join(",\r\n")}\r\n` }];
  });
}

function isDate(value: string): boolean {
  return !Number.isNaN(Date.parse(value.replace(/\([^()]*\)/g, " ").replace(/\bUT\b/, "UTC")));
}

function unreadable(message: string): ApiError {
  return new ApiError("validation_error", message, { hint: "See docs/smtp.md." });
}

/**
 * The mailboxes that the headers of a name list, with their names, by their keys. Throws ApiError validation_error for more than are read:
 * a recipient among the others would be taken for one of Bcc.
 */
function readNamed(name: string, fields: readonly HeaderField[], decode: (value: string) => string): Map<string, string> {
  const named = new Map<string, string>();
  let count = 0;
  for (const { value } of fields.filter(({ key }) => key === name.toLowerCase())) {
    const { boxes, complete } = readAddressList(value);
    count += boxes.length;
    if (!complete || count > MAX_BOXES)
      throw invalid(
        name,
        "too_big",
        `The ${name} header names more than ${MAX_BOXES} mailboxes; name fewer, and the others in RCPT TO only.`,
      );
    for (const box of boxes) for (const [key, text] of toEntry(decode(box.name), box.address)) named.set(key, text);
  }
  return named;
}

/**
 * The mailbox of a header that names who sends; null without that header. Readers disagree about what is not exactly one mailbox: the one
 * that is verified must be the one that recipients see.
 */
function readMailbox(
  name: string,
  { fields, captured, decode }: { fields: readonly HeaderField[]; captured: boolean; decode: (value: string) => string },
): string | null {
  const [found, second] = fields.filter(({ key }) => key === name.toLowerCase());
  if (second !== undefined) throw invalid(name, "duplicate", `The message has several ${name} headers; one is allowed (RFC 5322 3.6).`);
  if (found === undefined) return null;
  const { boxes, strict } = readAddressList(found.value);
  const [box, other] = boxes;
  if (box === undefined || other !== undefined || !strict) {
    const example = `${name}: Acme <hello@acme.example>`;
    const why = `The ${name} header must be exactly one mailbox, such as ${example}; put a name with , : @ or brackets in double quotes.`;
    throw invalid(name, "invalid_address", why);
  }
  parseSender(name, box.address, captured ? parseAnyAddress : parseAddress);
  const written = found.value.replaceAll("\t", " ");
  if (!written.includes("=?") && isMailbox(written)) return written;
  const [[, text] = []] = toEntry(decode(box.name), box.address);
  return text ?? box.address;
}

function isMailbox(text: string): boolean {
  try {
    parseAnyMailbox(text);
    return true;
  } catch {
    return false;
  }
}

function readEnvelopeFrom({ from, captured }: Envelope): string {
  return parseSender("From", from, captured ? parseAnyMailbox : parseMailbox);
}

function parseSender(name: string, text: string, parse: (text: string) => Mailbox): string {
  try {
    parse(text);
    return text;
  } catch (error) {
    if (!(error instanceof AddressError)) throw error;
    throw invalid(name, "invalid_address", `The ${name} header cannot be used: ${error.message}`);
  }
}

function readMessageId(fields: readonly HeaderField[]): string | null {
  const value = fields.find(({ key }) => key === "message-id")?.value;
  return value === undefined ? null : (/^<[\x21-\x3b\x3d\x3f-\x7e]{1,500}>$/.exec(value)?.[0] ?? null);
}

/** The key of an address with the mailbox as text; nothing for what is no address, such as undisclosed-recipients. */
function toEntry(name: string, address: string): [string, string][] {
  const text = name === "" ? address : `"${toSubject(name).replace(/["\\]/g, "\\$&")}" <${address}>`;
  for (const one of new Set([text, address]))
    try {
      return [[parseAnyMailbox(one).key, one]];
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
