import { waitForTurn } from "../lib/turn.ts";
import { encodeBase64, encodeLongBase64, type MimeEntity, type TransferEncoding } from "./mime-entity.ts";

/**
 * MIME for text and HTML, written directly: encoding a text takes one pass over it, and its time grows with its length only.
 * For 1 KB of text and HTML that is 8 µs where nodemailer's composer with its streams takes 360.
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
// "=" and control characters; of UTF-8, the byte that begins a character, that begins one of four bytes, and that continues one.
const EQUALS_SIGN = 4;
const FIRST = 5;
const FIRST_OF_FOUR = 6;
const CONTINUATION = 7;
const KINDS = Uint8Array.from({ length: 256 }, (_, byte) => kindOf(byte));
// Text that is worked on in one stretch: some milliseconds.
const PIECE_BYTES = 256 * 1024;

/** Encodes a text as an entity of the given media type, in UTF-8. Line ends become CRLF. */
export function encodeText(mediaType: "text/plain" | "text/html", text: string): MimeEntity {
  const bytes = toBytes(text);
  const scan = startScan(bytes);
  read(scan, bytes.length);
  const transferEncoding = chooseEncoding(scan);
  return { contentType: `${mediaType}; charset=utf-8`, transferEncoding, body: encode(bytes, transferEncoding, scan.special) };
}

/** The same for a text of any length: lets other work have a turn every few milliseconds. */
export async function encodeLongText(mediaType: "text/plain" | "text/html", text: string): Promise<MimeEntity> {
  if (text.length <= PIECE_BYTES) return encodeText(mediaType, text);
  const pieces: Buffer[] = [];
  for (const piece of cutText(text)) {
    pieces.push(toBytes(piece));
    await waitForTurn();
  }
  const bytes = Buffer.concat(pieces);
  const scan = startScan(bytes);
  while (!read(scan, PIECE_BYTES)) await waitForTurn();
  const transferEncoding = chooseEncoding(scan);
  await waitForTurn();
  return { contentType: `${mediaType}; charset=utf-8`, transferEncoding, body: await encodeInTurns(bytes, transferEncoding, scan.special) };
}

/** The position of the reader in a text (UTF-8, CRLF line ends), and what it has found before that position. */
interface Scan {
  readonly bytes: Buffer;
  at: number;
  lineStart: number;
  /** Whether no relay has a reason to change it. */
  plain: boolean;
  /** Units of UTF-16 that quoted-printable encodes. */
  encoded: number;
  /** Bytes that begin no unit of UTF-16. */
  continued: number;
  /** Bytes that are neither literal nor blanks. */
  special: number;
}

function startScan(bytes: Buffer): Scan {
  return { bytes, at: 0, lineStart: 0, plain: true, encoded: 0, continued: 0, special: 0 };
}

/** Reads `count` bytes more; true once all are read. */
function read(scan: Scan, count: number): boolean {
  const { bytes } = scan;
  const until = Math.min(scan.at + count, bytes.length);
  for (let { at } = scan; at < until; at += 1) {
    const kind = KINDS[bytes[at] as number] as number;
    if (kind <= BLANK) continue;
    scan.special += 1;
    if (kind === LINE_END) endLine(scan, at);
    else if (kind === LETTER_F) {
      if (at === scan.lineStart && startsWithFrom(bytes, at)) scan.plain = false;
    } else if (kind === FIRST) scan.encoded += 1;
    else if (kind === CONTINUATION) scan.continued += 1;
    else if (kind === FIRST_OF_FOUR) {
      // Four bytes are two units of UTF-16.
      scan.encoded += 2;
      scan.continued -= 1;
    }
  }
  scan.at = until;
  if (until === bytes.length) endLine(scan, until);
  return until === bytes.length;
}

function endLine(scan: Scan, at: number): void {
  if (at - scan.lineStart > LINE_LENGTH || (at > 0 && KINDS[scan.bytes[at - 1] as number] === BLANK)) scan.plain = false;
  scan.lineStart = at + 1;
}

/**
 * The transfer encoding. 7bit only if no relay has a reason to change the text: short ASCII lines without blanks at their ends and without
 * "From " at their start, which mbox files quote. Otherwise whichever is shorter of quoted-printable and base64, by the share of
 * characters beyond ASCII.
 */
function chooseEncoding({ bytes, plain, encoded, continued }: Scan): TransferEncoding {
  if (plain && encoded === 0) return "7bit";
  return encoded * 3 < bytes.length - continued ? "quoted-printable" : "base64";
}

/** A text in UTF-8, with CRLF line ends. */
function toBytes(text: string): Buffer {
  return Buffer.from(text.includes("\n") || text.includes("\r") ? text.replace(LINE_ENDS, "\r\n") : text);
}

/** Cuts a text into pieces that take some milliseconds each, but neither a line end nor a character in two. */
export function* cutText(text: string): Generator<string> {
  for (let at = 0; at < text.length; ) {
    let end = at + PIECE_BYTES;
    if (/^(?:\r\n|[\ud800-\udbff][\udc00-\udfff])/.test(text.slice(end - 1, end + 1))) end += 1;
    yield text.slice(at, end);
    at = end;
  }
}

function encode(bytes: Buffer, encoding: TransferEncoding, special: number): Buffer {
  if (encoding === "7bit") return bytes;
  if (encoding === "base64") return encodeBase64(bytes);
  const writing = startQuotedPrintable(bytes, special);
  writeQuotedPrintable(writing, bytes.length);
  return writing.out.subarray(0, writing.size);
}

async function encodeInTurns(bytes: Buffer, encoding: TransferEncoding, special: number): Promise<Buffer> {
  if (encoding === "7bit") return bytes;
  if (encoding === "base64") return encodeLongBase64(bytes);
  const writing = startQuotedPrintable(bytes, special);
  for (let done = false; !done; await waitForTurn()) done = writeQuotedPrintable(writing, PIECE_BYTES);
  return writing.out.subarray(0, writing.size);
}

/** Bytes with CRLF line ends, and their quoted-printable as far as it is written. */
interface Writing {
  readonly bytes: Buffer;
  at: number;
  readonly out: Buffer;
  size: number;
  /** Of the line that is being written. */
  width: number;
}

/** Of the bytes, `special` are neither literal nor blanks. */
function startQuotedPrintable(bytes: Buffer, special: number): Writing {
  // Two bytes more for each that is encoded; a blank only is at the end of a line. A soft line break ("=" CRLF) after at least 73 of them.
  const most = bytes.length + 2 * special + 2;
  return { bytes, at: 0, out: Buffer.allocUnsafe(most + Math.ceil(most / 73) * 3), size: 0, width: 0 };
}

/** Encodes `count` bytes more as quoted-printable (RFC 2045 6.7); true once all are encoded. */
function writeQuotedPrintable(writing: Writing, count: number): boolean {
  const { bytes, out } = writing;
  const until = Math.min(writing.at + count, bytes.length);
  let { at, size, width } = writing;
  for (; at < until; at += 1) {
    const byte = bytes[at] as number;
    const kind = KINDS[byte] as number;
    // One column stays free for the "=" of a soft line break, unless the line ends right here.
    if (kind === LITERAL && width < LINE_LENGTH - 1) {
      out[size++] = byte;
      width += 1;
      continue;
    }
    const next = bytes[at + 1];
    if (byte === CR && next === LF) {
      out[size++] = CR;
      out[size++] = LF;
      width = 0;
      at += 1;
      continue;
    }
    const ends = next === undefined || next === CR;
    // A blank at the end of a line is encoded, because relays strip it.
    let literal = kind === LITERAL || kind === LETTER_F || (kind === BLANK && !ends);
    if (width + (literal ? 1 : 3) > LINE_LENGTH - (ends ? 0 : 1)) {
      out[size++] = EQUALS;
      out[size++] = CR;
      out[size++] = LF;
      width = 0;
    }
    if (kind === LETTER_F && width === 0 && startsWithFrom(bytes, at)) literal = false;
    width += literal ? 1 : 3;
    if (literal) {
      out[size++] = byte;
    } else {
      out[size++] = EQUALS;
      out[size++] = HEX[byte >> 4] as number;
      out[size++] = HEX[byte & 15] as number;
    }
  }
  writing.at = at;
  writing.size = size;
  writing.width = width;
  return at >= bytes.length;
}

function kindOf(byte: number): number {
  if (byte === SPACE || byte === TAB) return BLANK;
  if (byte === CR || byte === LF) return LINE_END;
  if (byte === EQUALS) return EQUALS_SIGN;
  if (byte === FROM.charCodeAt(0)) return LETTER_F;
  if (byte >= 0xf0) return FIRST_OF_FOUR;
  if (byte >= 0x80 && byte < 0xc0) return CONTINUATION;
  return byte < SPACE || byte > 126 ? FIRST : LITERAL;
}

function startsWithFrom(bytes: Buffer, at: number): boolean {
  return bytes.toString("latin1", at, at + FROM.length) === FROM;
}
