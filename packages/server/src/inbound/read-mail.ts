import { createHash } from "node:crypto";
import type { AutoReplyReason } from "@mailsvc/sdk/contract";
import type { Address, Attachment, Email } from "postal-mime";
import { toPlainText } from "../html/plain-text.ts";
import { MB } from "../lib/units.ts";
import { takeStart } from "../mail/mail-start.ts";
import { peerText } from "../mail/smtp-reply.ts";
import type { IncomingFile, IncomingMail } from "../received/received.ts";
import { cutBase64 } from "./cut-base64.ts";
import { mendCharsets } from "./mend-charsets.ts";
import { parseMime } from "./parse-mime.ts";
import { cutQuoted, cutQuotedHtml } from "./quoted-text.ts";

/** Limits of reading a mail, without its files in base64; postal-mime takes 10 µs for a line. */
export const READ_LIMITS = { bytes: 4 * MB, lines: 50_000, boundaries: 1000, headerBytes: 128 * 1024, levels: 32 } as const;

// Message-IDs of one mail, and the length of one.
const MAX_REFERENCES = 100;
const MAX_MESSAGE_ID = 500;
const MAX_FILENAME = 255;
const MAX_SUBJECT = 998;
const MAX_ADDRESS = 320;
const MAX_FROM = 2000;
// Addresses of Reply-To that are read; an answer goes to 50 of them at most.
const MAX_ADDRESSES = 100;

// Extensions of types that mail programs attach without a name.
const EXTENSIONS: Readonly<Record<string, string>> = {
  "application/pdf": "pdf",
  "application/pgp-signature": "asc",
  "application/pkcs7-signature": "p7s",
  "application/zip": "zip",
  "image/gif": "gif",
  "image/jpeg": "jpg",
  "image/png": "png",
  "image/svg+xml": "svg",
  "image/webp": "webp",
  "text/csv": "csv",
  "text/html": "html",
  "text/plain": "txt",
  "text/vcard": "vcf",
};

/** A mail that was read; or why it cannot be. */
export type ReadResult = { readonly mail: IncomingMail } | { readonly fault: string };

/**
 * Reads a mail to be stored: its addresses, texts and files, what it answers, and whether a program wrote it. Never throws for what a mail
 * contains. Texts longer than `maxText` are cut. It may take seconds: the server calls it on the thread of `MailParser`.
 */
export async function readMail(raw: Uint8Array, maxText: number): Promise<ReadResult> {
  const { decodeWords } = await import("postal-mime");
  const { skeleton, restore } = cutBase64(raw);
  const start = takeStart(skeleton, READ_LIMITS);
  let mail: Email;
  try {
    mail = await parseMime(mendCharsets(start), READ_LIMITS);
  } catch (error) {
    return { fault: peerText(String(error)) };
  }
  const html = mail.html === undefined ? null : cutText(storable(mail.html), maxText);
  const text = cutText(mail.text === undefined ? toPlainText(html ?? "") : storable(mail.text), maxText);
  const author = readAuthor(mail, decodeWords);
  const from = toAddress(author.address);
  const messageId = listMessageIds(mail.messageId)[0] ?? null;
  return {
    mail: {
      from,
      fromName: cutText(storable(author.name), MAX_SUBJECT) || null,
      replyTo: listAddresses(mail.replyTo),
      subject: cutText(storable(mail.subject ?? "").replace(/\p{Cc}+/gu, " "), MAX_SUBJECT),
      messageId,
      messageKey: createHash("sha256")
        .update(messageId ?? raw)
        .digest("base64url"),
      contentKey: hashContent(raw, mail.headers),
      references: [...new Set([...listMessageIds(mail.references), ...listMessageIds(mail.inReplyTo)])].slice(-MAX_REFERENCES),
      headers: mail.headers.map(({ originalKey, value }) => ({ name: storable(originalKey), value: storable(value) })),
      text,
      html,
      reply: mail.text === undefined && html !== null ? cutQuotedHtml(html, text) : cutQuoted(text, html),
      autoReply: findAutoReply({ headers: mail.headers, from }),
      files: mail.attachments.map((file, i) => toFile(file, i + 1, restore)),
      truncated: start.length < skeleton.length || [mail.text, mail.html].some((one) => (one?.length ?? 0) > maxText),
    },
  };
}

/**
 * The mailbox in From. A name with a comma that should be in quotes and is not, as in `Lovelace, Ada <ada@example.com>`, reads as two
 * mailboxes, of which one has no address.
 */
function readAuthor(
  { from, headers }: Email,
  decode: (text: string) => string,
): { readonly name: string; readonly address: string | undefined } {
  if (from?.address) return { name: from.name ?? "", address: from.address };
  const field = headers.find(({ key }) => key === "from")?.value ?? "";
  const boxes = field.slice(0, MAX_FROM).match(/<[^<>\s@]+@[^<>\s]+>/g) ?? [];
  const [box] = boxes;
  if (box === undefined || boxes.length > 1) return { name: from?.name ?? "", address: from?.address };
  return { name: decode(field.slice(0, field.indexOf(box))).replace(/^[\s"]+|[\s"]+$/g, ""), address: box.slice(1, -1) };
}

// Headers that the author wrote; the others tell the way of a mail.
const OF_AUTHOR = /^(?:from|sender|reply-to|to|cc|subject|date|mime-version|content-type|content-transfer-encoding)$/;

/** A hash of what a mail says, without the trace of its way: a mail that comes on two ways says the same. */
function hashContent(raw: Uint8Array, headers: Email["headers"]): string {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
  const fields = headers.filter(({ key }) => OF_AUTHOR.test(key)).map(({ key, value }) => [key, value]);
  const ends = ["\n\r\n", "\n\n"].map((end) => bytes.indexOf(end)).filter((at) => at !== -1);
  const body = ends.length === 0 ? bytes.subarray(bytes.length) : bytes.subarray(Math.min(...ends));
  return createHash("sha256").update(JSON.stringify(fields)).update(body).digest("base64url");
}

function toFile(file: Attachment, number: number, restore: (content: Uint8Array) => Uint8Array<ArrayBuffer> | undefined): IncomingFile {
  const { filename, mimeType, contentId } = file;
  const content = toBytes(file.content);
  const name = storable(filename ?? "").replace(/[\p{Cc}/\\]+/gu, "_");
  return {
    filename: cutText(name, MAX_FILENAME) || nameFile(mimeType, number),
    contentType: /^[a-z0-9!#$&^_.+-]{1,60}\/[a-z0-9!#$&^_.+-]{1,60}$/.test(mimeType) ? mimeType : "application/octet-stream",
    contentId: contentId === undefined ? null : cutText(storable(contentId.replace(/^<|>$/g, "")), MAX_FILENAME) || null,
    content: restore(content) ?? content,
  };
}

/** The name of a file that came without one, such as an invitation. */
function nameFile(mediaType: string, number: number): string {
  if (mediaType === "text/calendar") return "invite.ics";
  if (mediaType === "message/rfc822") return `message-${number}.eml`;
  const extension = EXTENSIONS[mediaType];
  return extension === undefined ? `file-${number}` : `file-${number}.${extension}`;
}

/** The bytes of a part, as the parser gives it. */
export function toBytes(content: Attachment["content"]): Uint8Array<ArrayBuffer> {
  if (typeof content === "string") return new TextEncoder().encode(content);
  return content instanceof Uint8Array ? new Uint8Array(content) : new Uint8Array(content);
}

/** A text as both databases store it: without NUL and lone surrogates. */
function storable(text: string): string {
  return text.replaceAll("\0", "\ufffd").toWellFormed();
}

/** The start of a text, without half a character at its end. */
function cutText(text: string, max: number): string {
  return text.length <= max ? text : text.slice(0, max).replace(/[\ud800-\udbff]$/, "");
}

function listMessageIds(header: string | undefined): string[] {
  return (header?.match(/<[\x21-\x3b\x3d\x3f-\x7e]+>/g) ?? []).filter(({ length }) => length <= MAX_MESSAGE_ID);
}

/** The addresses that a header names, also those of its groups. */
function listAddresses(header: readonly Address[] | undefined): string[] {
  const boxes = (header ?? []).flatMap((one) => one.group ?? [one]);
  return boxes.flatMap(({ address }) => toAddress(address) ?? []).slice(0, MAX_ADDRESSES);
}

/** An address as somebody wrote it into a header; null if there is none. */
function toAddress(text: string | undefined): string | null {
  return cutText(storable(text ?? ""), MAX_ADDRESS) || null;
}

/** The parts of a mail that tell if a program wrote it. */
interface MailSigns {
  /** Names in lower case. */
  readonly headers: readonly { readonly key: string; readonly value: string }[];
  /** The address in the From header; null when that is none. */
  readonly from: string | null;
}

// Servers on the way of a mail that is not going in circles.
const MAX_HOPS = 50;

const PROGRAM = /^(?:mailer-daemon|postmaster|mail-daemon|maildaemon|bounces?|no-?reply|do-?not-?reply|microsoftexchange\w*)@/i;

// Fields of programs that answer, from before RFC 3834 or beside it, and their values.
const OF_PROGRAMS: readonly (readonly [name: RegExp, value: RegExp])[] = [
  [/^x-(?:mail-)?auto-?(?:reply|generated|responder|response)$/, /^\s*(?!no\b|false\b)\S/i],
  [/^x-auto-?respond$/, /^(?!\s*(?:no|false)\b)/i],
  [/^x-auto-?reply-(?:from|domain)$/, /^/],
  [/^x-fc-machinegenerated$/, /^\s*(?:true|yes|1)\b/i],
  [/^delivered-to$/, /^\s*auto-?responder\b/i],
  [/^x-post-messageclass$/, /auto-?responder/i],
  [/^x-ms-exchange-generated-message-source$/, /mailbox rules|auto-?reply|out of office|\boof\b/i],
];

/**
 * Returns the reason a mail counts as written by a program, as its headers tell (RFC 3834): automatic replies, mail of lists and mail
 * servers, and mail that goes in circles. Null for the mail of a person.
 */
export function findAutoReply({ headers, from }: MailSigns): AutoReplyReason | null {
  const has = (name: RegExp, value = /./): boolean => headers.some((header) => name.test(header.key) && value.test(header.value));
  if (has(/^x-loop$/) || headers.filter(({ key }) => key === "received").length > MAX_HOPS) return "loop";
  if (has(/^auto-submitted$/, /^\s*(?!no\b)\S/i)) return "auto_submitted";
  if (OF_PROGRAMS.some(([name, value]) => has(name, value))) return "auto_submitted";
  if (has(/^return-path$/, /^\s*<>\s*$/)) return "null_sender";
  if (from !== null && PROGRAM.test(from)) return "program_address";
  if (has(/^list-(?:id|unsubscribe|post|help)$/)) return "mailing_list";
  if (has(/^precedence$/, /^\s*(?:bulk|junk|list|auto_?reply)\b/i)) return "precedence";
  return null;
}
