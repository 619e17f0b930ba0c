import { createHash, hash } from "node:crypto";
import { CALENDAR_LIMITS, parseAnyMailbox } from "@mailsvc/sdk/contract";
import { CHUNK_BYTES, concatInTurns, waitForTurn } from "../lib/turn.ts";
import type { DkimSigner } from "./dkim.ts";
import { customHeader, filenameParam, mailboxHeader, mailDate, nameParam, textHeader } from "./header.ts";
import type { MailAttachment, OutgoingMail } from "./mailer.ts";
import { splitMessage } from "./message-head.ts";
import { concat, encodeLongBase64, entityHeaders, joinEntities, joinLongEntities, type MimeEntity, toBytes } from "./mime-entity.ts";
import { cutText, encodeLongText, encodeText, isLongText } from "./mime-text.ts";

const LF = 10;

/** The texts of a mail, encoded. */
interface EncodedTexts {
  /** One or two alternatives. */
  readonly parts: readonly MimeEntity[];
  /** The alternatives together, or the only one: the content of a mail without files. */
  readonly whole: MimeEntity;
  /** End of the boundaries of multiparts that hold these texts. */
  readonly boundary: string;
}

/**
 * Composes a message as it goes over the wire (RFC 5322, MIME): CRLF line ends, not dot-stuffed, signed if `dkim` is given.
 * The same mail gives the same bytes at every attempt. Line ends of texts become CRLF; everything else is read back
 * unchanged.
 * Throws TypeError for what the contract forbids (line breaks in headers) and AddressError for bad addresses.
 */
export async function composeMime(mail: OutgoingMail, dkim?: DkimSigner): Promise<Buffer> {
  if (!/^<[\x21-\x3b\x3d\x3f-\x7e]+>$/.test(mail.messageId)) throw new TypeError(`${mail.messageId} is not a Message-ID.`);
  const from = parseAnyMailbox(mail.from);
  if (mail.message !== undefined) return completeMessage(mail, Buffer.from(mail.message), from.domain, dkim);
  const texts = await encodeTexts(mail);
  const content = mail.attachments.length === 0 ? texts.whole : await addFiles(mail.attachments, texts, mail.html !== null);
  const head = [mailboxHeader("From", from), ...addresseeHeaders(mail)];
  if (mail.replyTo !== null) head.push(mailboxHeader("Reply-To", ...[mail.replyTo].flat().map(parseAnyMailbox)));
  head.push(
    textHeader("Subject", mail.subject),
    `Date: ${mailDate(mail.date)}`,
    // Never folded: some readers lose a Message-ID that starts on the second line.
    `Message-ID: ${mail.messageId}`,
  );
  for (const [name, value] of Object.entries(mail.headers)) head.push(customHeader(name, value));
  head.push("MIME-Version: 1.0", entityHeaders(content), "\r\n");
  const { body } = content;
  const message = await concatMessage([head.join("\r\n"), body, body.at(-1) === LF ? "" : "\r\n"]);
  return dkim === undefined ? message : concatMessage([await dkim(from.domain, message, findOwner(mail)), message]);
}

/** A message that goes out as it came in, with the headers that it lacks before its own, below the trace of the servers on its way. */
async function completeMessage(mail: OutgoingMail, message: Buffer, domain: string, dkim: DkimSigner | undefined): Promise<Buffer> {
  const { fields } = splitMessage(message);
  const names = new Set(fields.map(({ key }) => key));
  const others = fields.findIndex(({ key }) => key !== "received" && key !== "return-path");
  const trace = fields.slice(0, others === -1 ? fields.length : others).reduce((sum, { line }) => sum + line.length, 0);
  const added = Object.entries(mail.headers).map(([name, value]) => customHeader(name, value));
  if (!names.has("message-id")) added.push(`Message-ID: ${mail.messageId}`);
  if (!names.has("date")) added.push(`Date: ${mailDate(mail.date)}`);
  const whole =
    added.length === 0 ? message : await concatMessage([message.subarray(0, trace), `${added.join("\r\n")}\r\n`, message.subarray(trace)]);
  return dkim === undefined ? whole : concatMessage([await dkim(domain, whole, findOwner(mail)), whole]);
}

/** The headers that name the recipients of a mail. One that names nobody says so, because some servers refuse mail without To. */
function addresseeHeaders({ to, cc }: Pick<OutgoingMail, "to" | "cc">): string[] {
  if (to.length + cc.length === 0) return ["To: undisclosed-recipients:;"];
  const headers = [["To", to] as const, ["Cc", cc] as const].filter(([, boxes]) => boxes.length > 0);
  return headers.map(([name, boxes]) => mailboxHeader(name, ...boxes));
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

/**
 * The content of a mail: mixed(alternative(text, related(html, inline files), invitation), other files), as far as it has these parts. The
 * first calendar message among the files is the last alternative, as mail programs want it, and a file as well.
 */
async function addFiles(
  attachments: readonly MailAttachment[],
  { parts, whole, boundary }: EncodedTexts,
  hasHtml: boolean,
): Promise<MimeEntity> {
  const inline: MimeEntity[] = [];
  const files: MimeEntity[] = [];
  for (const file of attachments) (file.contentId !== null && hasHtml ? inline : files).push(await encodeFile(file));
  const root = parts.at(-1) as MimeEntity;
  const related = await join('multipart/related; type="text/html"', [root, ...inline], `r${boundary}`);
  const message = attachments.find(isCalendarMessage);
  const invitation = message ? [await encodeInvitation(message)] : [];
  const isPlain = inline.length === 0 && invitation.length === 0;
  const alternative = isPlain ? whole : joinAlternatives([...parts.slice(0, -1), related, ...invitation], boundary);
  return join("multipart/mixed", [alternative, ...files], `m${boundary}`);
}

function joinAlternatives(parts: readonly MimeEntity[], boundary: string): MimeEntity {
  return parts.length === 1 ? (parts[0] as MimeEntity) : joinEntities("multipart/alternative", parts, `a${boundary}`);
}

/** A multipart of two or more entities, or the only one. */
async function join(mediaType: `multipart/${string}`, parts: readonly MimeEntity[], boundary: string): Promise<MimeEntity> {
  return parts.length === 1 ? (parts[0] as MimeEntity) : joinLongEntities(mediaType, parts, boundary);
}

/** The message has memory of its own: a part of Node's pool would keep all of its 8 KB, scraps of encoding, until the message is stored. */
async function concatMessage(chunks: readonly (string | Buffer)[]): Promise<Buffer> {
  if (chunks.some(({ length }) => length > CHUNK_BYTES)) return concatInTurns(chunks.map(toBytes));
  return concat(chunks, Buffer.allocUnsafeSlow);
}

/** True for a file such as `text/calendar; method=REQUEST`: an invitation, its change or its end. */
function isCalendarMessage({ contentType, contentId, content }: MailAttachment): boolean {
  const isMessage = /^text\/calendar *;(?:.*;)? *method=/i.test(contentType.replace(/"[^"]*"/g, '""'));
  return isMessage && contentId === null && content.byteLength <= CALENDAR_LIMITS.content;
}

/** An alternative without a Content-Disposition: with one, mail programs show a file instead of buttons. */
async function encodeInvitation({ contentType, content }: MailAttachment): Promise<MimeEntity> {
  const body = await encodeLongBase64(Buffer.from(content.buffer, content.byteOffset, content.byteLength));
  const type = withoutName(contentType);
  // Mail programs take what says nothing for ASCII (RFC 6047, 2.4), and programs write UTF-8.
  return { contentType: /; *charset=/i.test(type) ? type : `${type}; charset=utf-8`, transferEncoding: "base64", body };
}

/** A media type without the parameter `name`: files have their own. */
function withoutName(contentType: string): string {
  return contentType.replace(/ *; *name=(?:"[^"]*"|[^;]*)/gi, "");
}

async function encodeFile(file: MailAttachment): Promise<MimeEntity> {
  const { filename, contentType, contentId, content } = file;
  // Under its own type, a calendar message would be shown a second time.
  const type = isCalendarMessage(file) ? "application/ics" : withoutName(contentType);
  return {
    contentType: `${type};\r\n ${nameParam(filename)}`,
    // Nothing between here and the recipient may change a file, not even its line ends.
    transferEncoding: "base64",
    headers: [
      ...(contentId === null ? [] : [`Content-ID: <${contentId}>`]),
      `Content-Disposition: ${contentId === null ? "attachment" : "inline"};\r\n ${filenameParam(filename)}`,
    ],
    body: await encodeLongBase64(Buffer.from(content.buffer, content.byteOffset, content.byteLength)),
  };
}

async function encodeTexts(mail: Pick<OutgoingMail, "text" | "html">): Promise<EncodedTexts> {
  const parts: MimeEntity[] = [];
  const hashed: string[] = [];
  const alternatives = [["text/plain", mail.text] as const, ["text/html", mail.html] as const];
  for (const [mediaType, text] of alternatives) {
    if (text === null) continue;
    const part = isLongText(text) ? await encodeLongText(mediaType, text) : encodeText(mediaType, text);
    parts.push(part);
    // The end of other texts is enough to tell mails apart: it holds the link to unsubscribe.
    hashed.push(part.transferEncoding === "7bit" ? text : text.slice(-64));
  }
  if (parts.length === 0) parts.push(encodeText("text/plain", ""));
  // The same for the same texts, and in none of the parts. Quoted-printable and base64 cannot hold "=_" (RFC 2045 6.7). Text that is sent
  // as it is must be hashed whole: its author cannot guess the hash of it.
  const sum = hashed.some(isLongText) ? await hashInTurns(hashed) : hash("sha256", hashed.join("\0"));
  const boundary = `=_${sum.slice(0, 32)}`;
  return { parts, whole: joinAlternatives(parts, boundary), boundary };
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

/** The workspace whose mail it is; null for mail of the server itself, such as the confirmation of a sender. */
function findOwner({ origin }: OutgoingMail): string | null {
  return origin === undefined || origin.emailId === null ? null : origin.workspaceId;
}
