import { createHash } from "node:crypto";
import { parseMailbox } from "@mailsvc/sdk/contract";
import type MimeNode from "nodemailer/lib/mime-node/index.js";
import type { DkimSigner } from "./dkim.ts";
import { customHeader, filenameParam, mailboxHeader, mailDate, nameParam, textHeader } from "./header.ts";
import type { MailAttachment, OutgoingMail } from "./mailer.ts";
import type { EncodedTexts, MimeCache } from "./mime-cache.ts";
import { chooseEncoding, encodeLongText, encodeText, joinAlternatives, type MimeEntity } from "./mime-text.ts";

const CRLF = Buffer.from("\r\n");

/**
 * Composes a message as it goes over the wire (RFC 5322, MIME): CRLF line ends, not dot-stuffed, signed if `dkim` is given.
 * The same mail gives the same bytes at every attempt. Line ends of texts become CRLF; everything else is read back
 * unchanged. A `cache` keeps the encoded content for the next mail with the same one. Throws TypeError for what the contract forbids (line breaks in headers) and AddressError for bad addresses.
 */
export async function composeMime(mail: OutgoingMail, dkim?: DkimSigner, cache?: MimeCache): Promise<Buffer> {
  if (!/^<[\x21-\x3b\x3d\x3f-\x7e]+>$/.test(mail.messageId)) throw new TypeError(`${mail.messageId} is not a Message-ID.`);
  const from = parseMailbox(mail.from);
  const content = mail.attachments.length === 0 ? await composeText(mail, cache) : await composeWithAttachments(mail);
  const head = [
    mailboxHeader("From", from),
    mailboxHeader("To", parseMailbox(mail.to)),
    ...(mail.replyTo === null ? [] : [mailboxHeader("Reply-To", parseMailbox(mail.replyTo))]),
    textHeader("Subject", mail.subject),
    `Date: ${mailDate(mail.date)}`,
    // Never folded: some readers lose a Message-ID that starts on the second line.
    `Message-ID: ${mail.messageId}`,
    ...Object.entries(mail.headers).map(([name, value]) => customHeader(name, value)),
    ...content.headers,
  ].join("\r\n");
  const message = Buffer.concat([Buffer.from(`${head}\r\n\r\n`), content.body]);
  return dkim === undefined ? message : Buffer.concat([dkim(from.domain, message), message]);
}

interface Content {
  /** Header lines of MIME, without line ends. */
  readonly headers: readonly string[];
  readonly body: Buffer;
}

/**
 * The media type that a file name suggests; `application/octet-stream` if it suggests none. A `.eml` or `.mht` file is sent
 * as bytes: MIME forbids encoding a part of the type message/*, so it would have to be a valid message itself (RFC 2046 5.2.1).
 */
export async function detectMediaType(filename: string): Promise<string> {
  // Loaded when first needed: it is a large table.
  const { detectMimeType } = await import("nodemailer/lib/mime-funcs/mime-types.js");
  const type = detectMimeType(filename);
  return !type || /^(?:message|multipart)\//i.test(type) ? "application/octet-stream" : type;
}

/** The content of a mail without attachments. */
async function composeText(mail: OutgoingMail, cache: MimeCache | undefined): Promise<Content> {
  const texts = cache?.get(mail) ?? (await encodeTexts(mail));
  cache?.set(mail, texts);
  const [only, ...others] = texts.parts;
  const { contentType, transferEncoding, body } =
    others.length === 0 ? (only as MimeEntity) : joinAlternatives(texts.parts, createBoundary(mail, texts));
  return {
    headers: [
      ...(transferEncoding === undefined ? [] : [`Content-Transfer-Encoding: ${transferEncoding}`]),
      "MIME-Version: 1.0",
      `Content-Type: ${contentType}`,
    ],
    body: body.subarray(-2).equals(CRLF) ? body : Buffer.concat([body, CRLF]),
  };
}

async function encodeTexts(mail: OutgoingMail): Promise<EncodedTexts> {
  const parts: MimeEntity[] = [];
  for (const [mediaType, text] of listTexts(mail)) parts.push(await encodeLongText(mediaType, text));
  return { parts: parts.length === 0 ? [encodeText("text/plain", "")] : parts, digest: digestTexts(mail) };
}

/** The content of a mail with attachments, composed by nodemailer. */
async function composeWithAttachments(mail: OutgoingMail): Promise<Content> {
  // Loaded with the first such message, because a start can do without these 140 KB.
  const { default: MailComposer } = await import("nodemailer/lib/mail-composer/index.js");
  const root = new MailComposer({
    alternatives: listTexts(mail).map(([mediaType, text]) => {
      const content = text.replace(/\r\n|\r|\n/g, "\r\n");
      return { contentType: `${mediaType}; charset=utf-8`, content, contentTransferEncoding: chooseEncoding(content) };
    }),
    attachments: mail.attachments.map(filePart),
    baseBoundary: createBoundary(mail, { digest: digestTexts(mail) }),
    disableFileAccess: true,
    disableUrlAccess: true,
  }).compile();
  nameFiles(root);
  const built = await root.build();
  const end = built.indexOf("\r\n\r\n");
  const headers = built
    .toString("utf8", 0, end)
    .split(/\r\n(?![ \t])/)
    .filter(isMimeHeader);
  return { headers, body: built.subarray(end + 4) };
}

/** Replaces the headers of the attachments that carry the file's name. */
function nameFiles(node: MimeNode): void {
  for (const child of node.childNodes) nameFiles(child);
  const { filename } = node;
  if (filename === undefined) return;
  for (const [header, param] of [
    ["Content-Type", nameParam(filename)],
    ["Content-Disposition", filenameParam(filename)],
  ] as const)
    node.setHeader(header, { prepared: true, value: `${node.getHeader(header)};\r\n ${param}` });
}

function listTexts(mail: OutgoingMail): ["text/plain" | "text/html", string][] {
  return [
    ...(mail.text === null ? [] : [["text/plain", mail.text] as ["text/plain", string]]),
    ...(mail.html === null ? [] : [["text/html", mail.html] as ["text/html", string]]),
  ];
}

function filePart(file: MailAttachment) {
  return {
    filename: file.filename,
    contentType: file.contentType,
    // Nothing between here and the recipient may change a file, not even its line ends.
    contentTransferEncoding: "base64",
    contentDisposition: file.contentId === null ? ("attachment" as const) : ("inline" as const),
    content: Buffer.from(file.content.buffer, file.content.byteOffset, file.content.byteLength),
    ...(file.contentId === null ? {} : { cid: file.contentId }),
  };
}

/** The same for the same message, and not to be guessed by the author of its text, because the text is part of the hash. */
function createBoundary({ messageId }: OutgoingMail, { digest }: Pick<EncodedTexts, "digest">): string {
  return createHash("sha256").update(digest).update(messageId).digest("hex").slice(0, 32);
}

function digestTexts({ text, html }: OutgoingMail): Buffer {
  return createHash("sha256")
    .update(text ?? "")
    .update("\0")
    .update(html ?? "")
    .digest();
}

// Of the composer's top headers only those of MIME are kept; all others are written here.
function isMimeHeader(line: string): boolean {
  return /^(?:mime-version|content-[a-z-]+):/i.test(line);
}
