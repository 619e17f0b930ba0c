import { createHash, hash } from "node:crypto";
import { parseMailbox } from "@mailsvc/sdk/contract";
import { CHUNK_BYTES, concatInTurns, waitForTurn } from "../lib/turn.ts";
import type { DkimSigner } from "./dkim.ts";
import { customHeader, filenameParam, mailboxHeader, mailDate, nameParam, textHeader } from "./header.ts";
import type { MailAttachment, OutgoingMail } from "./mailer.ts";
import type { EncodedTexts, MimeCache } from "./mime-cache.ts";
import { encodeLongBase64, joinEntities, joinLongEntities, listEntityHeaders, type MimeEntity } from "./mime-entity.ts";
import { cutText, encodeLongText, encodeText } from "./mime-text.ts";

const CRLF = Buffer.from("\r\n");

// Characters that are hashed in one stretch: a millisecond at most.
const HASHED_AT_ONCE = 256 * 1024;

/**
 * Composes a message as it goes over the wire (RFC 5322, MIME): CRLF line ends, not dot-stuffed, signed if `dkim` is given.
 * The same mail gives the same bytes at every attempt. Line ends of texts become CRLF; everything else is read back
 * unchanged. A `cache` keeps the encoded content for the next mail with the same one, except that of a
 * personal mail: looking for it would take as long as encoding it. Throws TypeError for what the contract forbids (line breaks in headers) and AddressError for bad addresses.
 */
export async function composeMime(mail: OutgoingMail, dkim?: DkimSigner, cache?: MimeCache): Promise<Buffer> {
  if (!/^<[\x21-\x3b\x3d\x3f-\x7e]+>$/.test(mail.messageId)) throw new TypeError(`${mail.messageId} is not a Message-ID.`);
  const from = parseMailbox(mail.from);
  const content = await composeContent(mail, cache);
  const head = [
    mailboxHeader("From", from),
    mailboxHeader("To", parseMailbox(mail.to)),
    ...(mail.replyTo === null ? [] : [mailboxHeader("Reply-To", parseMailbox(mail.replyTo))]),
    textHeader("Subject", mail.subject),
    `Date: ${mailDate(mail.date)}`,
    // Never folded: some readers lose a Message-ID that starts on the second line.
    `Message-ID: ${mail.messageId}`,
    ...Object.entries(mail.headers).map(([name, value]) => customHeader(name, value)),
    "MIME-Version: 1.0",
    ...listEntityHeaders(content),
  ].join("\r\n");
  const end = content.body.subarray(-2).equals(CRLF) ? [] : [CRLF];
  const message = await concat([Buffer.from(`${head}\r\n\r\n`), content.body, ...end]);
  return dkim === undefined ? message : concat([await dkim(from.domain, message), message]);
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

/** The content of a mail: mixed(alternative(text, related(html, inline files)), other files), as far as it has these parts. */
async function composeContent(mail: OutgoingMail, cache: MimeCache | undefined): Promise<MimeEntity> {
  const texts = mail.personal || cache === undefined ? await encodeTexts(mail) : (cache.get(mail) ?? (await encodeAndKeep(mail, cache)));
  if (mail.attachments.length === 0) return texts.whole;
  const inline: MimeEntity[] = [];
  const files: MimeEntity[] = [];
  for (const file of mail.attachments) (file.contentId !== null && mail.html !== null ? inline : files).push(await encodeFile(file));
  const { boundary } = texts;
  const root = texts.parts.at(-1) as MimeEntity;
  const related = await join('multipart/related; type="text/html"', [root, ...inline], `r${boundary}`);
  const alternative = inline.length === 0 ? texts.whole : joinAlternatives([...texts.parts.slice(0, -1), related], boundary);
  return join("multipart/mixed", [alternative, ...files], `m${boundary}`);
}

function joinAlternatives(parts: readonly MimeEntity[], boundary: string): MimeEntity {
  return parts.length === 1 ? (parts[0] as MimeEntity) : joinEntities("multipart/alternative", parts, `a${boundary}`);
}

/** A multipart of two or more entities, or the only one. */
async function join(mediaType: `multipart/${string}`, parts: readonly MimeEntity[], boundary: string): Promise<MimeEntity> {
  return parts.length === 1 ? (parts[0] as MimeEntity) : joinLongEntities(mediaType, parts, boundary);
}

/**
 * No promise for a message of a usual size. It has memory of its own: a part of Node's pool would keep all of its 8 KB, scraps of encoding,
 * until the message is stored.
 */
function concat(chunks: readonly Buffer[]): Buffer | Promise<Buffer> {
  if (chunks.some(({ length }) => length > CHUNK_BYTES)) return concatInTurns(chunks);
  const all = Buffer.allocUnsafeSlow(chunks.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const chunk of chunks) at += chunk.copy(all, at);
  return all;
}

async function encodeFile({ filename, contentType, contentId, content }: MailAttachment): Promise<MimeEntity> {
  return {
    contentType: `${contentType};\r\n ${nameParam(filename)}`,
    // Nothing between here and the recipient may change a file, not even its line ends.
    transferEncoding: "base64",
    headers: [
      ...(contentId === null ? [] : [`Content-ID: <${contentId}>`]),
      `Content-Disposition: ${contentId === null ? "attachment" : "inline"};\r\n ${filenameParam(filename)}`,
    ],
    body: await encodeLongBase64(Buffer.from(content.buffer, content.byteOffset, content.byteLength)),
  };
}

async function encodeAndKeep(mail: OutgoingMail, cache: MimeCache): Promise<EncodedTexts> {
  const texts = await encodeTexts(mail);
  cache.set(mail, texts);
  return texts;
}

async function encodeTexts(mail: OutgoingMail): Promise<EncodedTexts> {
  const texts: MimeEntity[] = [];
  for (const [mediaType, text] of listTexts(mail)) texts.push(await encodeLongText(mediaType, text));
  const parts = texts.length === 0 ? [encodeText("text/plain", "")] : texts;
  const boundary = await createBoundary(mail);
  return { parts, whole: joinAlternatives(parts, boundary), boundary };
}

function listTexts(mail: OutgoingMail): ["text/plain" | "text/html", string][] {
  return [
    ...(mail.text === null ? [] : [["text/plain", mail.text] as ["text/plain", string]]),
    ...(mail.html === null ? [] : [["text/html", mail.html] as ["text/html", string]]),
  ];
}

/** The same for the same texts, and not to be guessed by their author, because it is a hash of them. Files cannot hold it: they are base64. */
async function createBoundary({ text, html }: OutgoingMail): Promise<string> {
  const texts = [text ?? "", "\0", html ?? ""];
  const isLong = texts.some(({ length }) => length > HASHED_AT_ONCE);
  return (isLong ? await hashInTurns(texts) : hash("sha256", texts.join(""))).slice(0, 32);
}

async function hashInTurns(texts: readonly string[]): Promise<string> {
  const sum = createHash("sha256");
  for (const text of texts)
    for (const piece of cutText(text)) {
      sum.update(piece);
      await waitForTurn();
    }
  return sum.digest("hex");
}
