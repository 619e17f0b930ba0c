import { concatInTurns, waitForTurn } from "../lib/turn.ts";
import { encodeBase64, encodeLongBase64, type MimeEntity, type TransferEncoding } from "./mime-entity.ts";

/**
 * MIME for text and HTML, written directly: encoding a text takes one pass over it, and its time grows with its length only.
 * For 1 KB of text and HTML that is 4 µs where nodemailer's composer with its streams takes 360.
 */

// RFC 2045 6.7: at most 76 characters in an encoded line, not counting CRLF.
const LINE_LENGTH = 76;
const CR = 13;
const LF = 10;
const SPACE = 32;
const TAB = 9;
const EQUALS = 61;
const HEX = Buffer.from("0123456789ABCDEF");
const FROM = "From ";
const LINE_ENDS = /\r\n|\r|\n/g;

// The kinds of bytes that quoted-printable treats differently. A table gives the kind of each byte: most of the time is spent on bytes
// that are copied as they are.
const LITERAL = 0;
const BLANK = 1;
const LETTER_F = 2;
const LINE_END = 3;
const EQUALS_SIGN = 4;
// Control characters, and all bytes beyond ASCII.
const OTHER = 5;
const KINDS = Uint8Array.from({ length: 256 }, (_, byte) => kindOf(byte));
// Text that is worked on in one stretch: a few milliseconds.
const PIECE_BYTES = 256 * 1024;

/** True for a text that takes so long that only `encodeLongText` may encode it. */
export function isLongText(text: string): boolean {
  return text.length > PIECE_BYTES;
}

/** Encodes a text as an entity of the given media type, in UTF-8. Line ends become CRLF. */
export function encodeText(mediaType: "text/plain" | "text/html", text: string): MimeEntity {
  const lines = toCrlf(text);
  const writing = startWriting(Buffer.from(lines), lines.length);
  if (!isMostlyBeyondAscii(writing)) while (!writePiece(writing));
  const { bytes, pages } = writing;
  const transferEncoding = chooseEncoding(writing);
  const body = transferEncoding === "7bit" ? bytes : transferEncoding === "base64" ? encodeBase64(bytes) : joinPages(pages);
  return { contentType: `${mediaType}; charset=utf-8`, transferEncoding, body };
}

/** The same for a text of any length: lets other work have a turn every few milliseconds. */
export async function encodeLongText(mediaType: "text/plain" | "text/html", text: string): Promise<MimeEntity> {
  const pieces: Buffer[] = [];
  let length = 0;
  let ascii = 0;
  for (const piece of cutText(text)) {
    const lines = toCrlf(piece);
    const bytes = Buffer.from(lines);
    pieces.push(bytes);
    length += lines.length;
    ascii += countAscii(bytes);
    await waitForTurn();
  }
  const writing = startWriting(Buffer.concat(pieces), length);
  if ((length - ascii) * 3 < length) while (!writePiece(writing)) await waitForTurn();
  const { bytes, pages } = writing;
  const transferEncoding = chooseEncoding(writing);
  await waitForTurn();
  const body = transferEncoding === "7bit" ? bytes : await (transferEncoding === "base64" ? encodeLongBase64(bytes) : concatInTurns(pages));
  return { contentType: `${mediaType}; charset=utf-8`, transferEncoding, body };
}

/** Cuts a text into pieces that take a few milliseconds each, but neither a line end nor a character in two. */
export function* cutText(text: string): Generator<string> {
  for (let at = 0; at < text.length; ) {
    let end = at + PIECE_BYTES;
    if (/^(?:\r\n|[\ud800-\udbff][\udc00-\udfff])/.test(text.slice(end - 1, end + 1))) end += 1;
    yield text.slice(at, end);
    at = end;
  }
}

function toCrlf(text: string): string {
  return text.includes("\n") || text.includes("\r") ? text.replace(LINE_ENDS, "\r\n") : text;
}

/** A text (UTF-8, CRLF line ends), its quoted-printable as far as it is written, and what was found meanwhile. */
interface Writing {
  readonly bytes: Buffer;
  /** Units of UTF-16. */
  readonly length: number;
  readonly pages: Buffer[];
  at: number;
  /** Start of the line that is being read. */
  lineStart: number;
  /** Width of the line that is being written. */
  width: number;
  /** False if a relay has a reason to change a line before this one. */
  plain: boolean;
  /** Control characters and bytes beyond ASCII. */
  others: number;
}

function startWriting(bytes: Buffer, length: number): Writing {
  return { bytes, length, pages: [], at: 0, lineStart: 0, width: 0, plain: true, others: 0 };
}

/** True for a text that becomes base64 for sure: writing it as quoted-printable would be in vain. */
function isMostlyBeyondAscii({ bytes, length }: Writing): boolean {
  // A unit beyond ASCII takes two bytes at least.
  return (bytes.length - length) * 3 >= length && (length - countAscii(bytes)) * 3 >= length;
}

function countAscii(bytes: Buffer): number {
  let count = 0;
  for (let at = 0; at < bytes.length; at += 1) if ((bytes[at] as number) < 0x80) count += 1;
  return count;
}

function joinPages(pages: readonly Buffer[]): Buffer {
  return pages.length === 1 ? (pages[0] as Buffer) : Buffer.concat(pages);
}

/**
 * The transfer encoding. 7bit only if no relay has a reason to change the text: short ASCII lines without blanks at their ends and without
 * "From " at their start, which mbox files quote. Otherwise whichever is shorter of quoted-printable and base64, by the share of
 * characters beyond ASCII.
 */
function chooseEncoding({ bytes, length, at, lineStart, plain, others }: Writing): TransferEncoding {
  if (at < bytes.length) return "base64";
  if (plain && others === 0 && bytes.length - lineStart <= LINE_LENGTH) return "7bit";
  // In UTF-16: a character of four bytes is two units, any other is one.
  const encoded = others - (bytes.length - length);
  return encoded * 3 < length ? "quoted-printable" : "base64";
}

/** Encodes a piece more as quoted-printable (RFC 2045 6.7); true once all is encoded. */
function writePiece(writing: Writing): boolean {
  const { bytes } = writing;
  const until = Math.min(writing.at + PIECE_BYTES, bytes.length);
  // Three bytes for each byte at most, and a soft line break ("=" CRLF) after at least 73 of them. Copied once its length is known.
  const page = Buffer.allocUnsafe(4 * (until - writing.at) + 8);
  let { at, lineStart, plain, others } = writing;
  let size = 0;
  let start = 0 - writing.width;
  while (at < until) {
    // One column stays free for the "=" of a soft line break, unless the line ends right here.
    const full = Math.min(until, at + start + LINE_LENGTH - 1 - size);
    while (at < full && (KINDS[bytes[at] as number] as number) <= BLANK) page[size++] = bytes[at++] as number;
    if (size > 0 && endsLine(bytes, at) && KINDS[page[size - 1] as number] === BLANK) {
      at -= 1;
      size -= 1;
    } else if (at === until) break;
    const byte = bytes[at] as number;
    const kind = KINDS[byte] as number;
    if (kind === LINE_END) {
      if (at - lineStart > LINE_LENGTH) plain = false;
      page[size++] = CR;
      page[size++] = LF;
      at += 2;
      lineStart = at;
      start = size;
      continue;
    }
    const ends = endsLine(bytes, at + 1);
    // A blank at the end of a line is encoded, because relays strip it.
    let literal = kind <= LETTER_F && !(kind === BLANK && ends);
    if (size - start + (literal ? 1 : 3) > LINE_LENGTH - (ends ? 0 : 1)) {
      page[size++] = EQUALS;
      page[size++] = CR;
      page[size++] = LF;
      start = size;
    }
    if (kind === LETTER_F && size === start && startsWithFrom(bytes, at)) literal = false;
    if (literal) page[size++] = byte;
    else {
      page[size++] = EQUALS;
      page[size++] = HEX[byte >> 4] as number;
      page[size++] = HEX[byte & 15] as number;
      if (kind === OTHER) others += 1;
      else if (kind === BLANK || at === lineStart) plain &&= kind === EQUALS_SIGN;
    }
    at += 1;
  }
  writing.pages.push(Buffer.from(page.subarray(0, size)));
  writing.at = at;
  writing.lineStart = lineStart;
  writing.width = size - start;
  writing.plain = plain;
  writing.others = others;
  return at >= bytes.length;
}

function kindOf(byte: number): number {
  if (byte === SPACE || byte === TAB) return BLANK;
  if (byte === CR || byte === LF) return LINE_END;
  if (byte === EQUALS) return EQUALS_SIGN;
  if (byte === FROM.charCodeAt(0)) return LETTER_F;
  return byte < SPACE || byte > 126 ? OTHER : LITERAL;
}

function endsLine(bytes: Buffer, at: number): boolean {
  return at >= bytes.length || bytes[at] === CR;
}

function startsWithFrom(bytes: Buffer, at: number): boolean {
  return bytes.toString("latin1", at, at + FROM.length) === FROM;
}
