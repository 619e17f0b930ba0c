import { waitForTurn } from "../lib/turn.ts";
import { encodeBase64, encodeLongBase64, type MimeEntity, type TransferEncoding } from "./mime-entity.ts";

/**
 * MIME for text and HTML, written directly: encoding a text takes one pass over it, and its time grows with its length only.
 * For 1 KB of text and HTML that is 15 µs where nodemailer's composer with its streams takes 360.
 */

// RFC 2045 6.7: at most 76 characters in an encoded line, not counting CRLF.
const LINE_LENGTH = 76;
const CR = 13;
const LF = 10;
const SPACE = 32;
const TAB = 9;
const EQUALS = 61;
const TILDE = 126;
const HEX = Buffer.from("0123456789ABCDEF");
const FROM = "From ";
const LINE_END = /\r\n|\r|\n/g;
// Text that is worked on in one stretch: some milliseconds.
const PIECE_BYTES = 256 * 1024;

/** Encodes a text as an entity of the given media type, in UTF-8. Line ends become CRLF. */
export function encodeText(mediaType: "text/plain" | "text/html", text: string): MimeEntity {
  const bytes = toBytes(text);
  const transferEncoding = chooseEncoding(bytes);
  return { contentType: `${mediaType}; charset=utf-8`, transferEncoding, body: encode(bytes, transferEncoding) };
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
  const scan = createScan(bytes);
  while (!scan.read(PIECE_BYTES)) await waitForTurn();
  const transferEncoding = scan.choose();
  await waitForTurn();
  return { contentType: `${mediaType}; charset=utf-8`, transferEncoding, body: await encodeInTurns(bytes, transferEncoding) };
}

/**
 * The transfer encoding for a text in UTF-8 with CRLF line ends. 7bit only if no relay has a reason to change the text: short ASCII lines
 * without blanks at their ends and without "From " at their start, which mbox files quote. Otherwise whichever is shorter of
 * quoted-printable and base64, by the share of characters beyond ASCII.
 */
export function chooseEncoding(bytes: Buffer): TransferEncoding {
  const scan = createScan(bytes);
  scan.read(bytes.length);
  return scan.choose();
}

/** Reads a text for `chooseEncoding`, `count` bytes at a time; true once all are read. */
function createScan(bytes: Buffer): { read(count: number): boolean; choose(): TransferEncoding } {
  let plain = true;
  let encoded = 0;
  // Bytes that begin no unit of UTF-16: the share is one of these.
  let continued = 0;
  let lineStart = 0;
  let previous = LF;
  let start = 0;
  const read = (count: number): boolean => {
    const until = Math.min(start + count, bytes.length);
    for (let at = start; at < until; at += 1) {
      const code = bytes[at] as number;
      if (code === CR || code === LF) {
        if (previous === SPACE || previous === TAB || at - lineStart > LINE_LENGTH) plain = false;
        lineStart = at + 1;
      } else if (code > TILDE || (code < SPACE && code !== TAB)) {
        if ((code & 0xc0) === 0x80) continued += 1;
        // Four bytes are two units of UTF-16.
        else if (code >= 0xf0) {
          encoded += 2;
          continued -= 1;
        } else encoded += 1;
      } else if (at === lineStart && startsWithFrom(bytes, at)) {
        plain = false;
      }
      previous = code;
    }
    start = until;
    return until === bytes.length;
  };
  const choose = (): TransferEncoding => {
    if (previous === SPACE || previous === TAB || bytes.length - lineStart > LINE_LENGTH) plain = false;
    if (plain && encoded === 0) return "7bit";
    return encoded * 3 < bytes.length - continued ? "quoted-printable" : "base64";
  };
  return { read, choose };
}

/** A text in UTF-8, with CRLF line ends. */
function toBytes(text: string): Buffer {
  return Buffer.from(text.includes("\n") || text.includes("\r") ? text.replace(LINE_END, "\r\n") : text);
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

function encode(bytes: Buffer, encoding: TransferEncoding): Buffer {
  if (encoding === "7bit") return bytes;
  if (encoding === "base64") return encodeBase64(bytes);
  const encoder = createQuotedPrintable(bytes);
  encoder.encode(bytes.length);
  return encoder.result();
}

async function encodeInTurns(bytes: Buffer, encoding: TransferEncoding): Promise<Buffer> {
  if (encoding === "7bit") return bytes;
  if (encoding === "base64") return encodeLongBase64(bytes);
  const encoder = createQuotedPrintable(bytes);
  for (let done = false; !done; await waitForTurn()) done = encoder.encode(PIECE_BYTES);
  return encoder.result();
}

/** Encodes bytes with CRLF line ends as quoted-printable (RFC 2045 6.7), `count` of them at a time; true once all are encoded. */
function createQuotedPrintable(bytes: Buffer): { encode(count: number): boolean; result(): Buffer } {
  // Three bytes for each byte, and a soft line break ("=" CRLF) after at least 73 of them.
  const out = Buffer.allocUnsafe(bytes.length * 3 + Math.ceil((bytes.length * 3) / 73) * 3 + 3);
  let end = 0;
  let column = 0;
  let start = 0;
  const encodePiece = (count: number): boolean => {
    const until = Math.min(start + count, bytes.length);
    let at = start;
    let size = end;
    let width = column;
    for (; at < until; at += 1) {
      const byte = bytes[at] as number;
      const next = bytes[at + 1];
      if (byte === CR && next === LF) {
        out[size++] = CR;
        out[size++] = LF;
        width = 0;
        at += 1;
        continue;
      }
      let literal = isLiteral(byte, next);
      // One column stays free for the "=" of a soft line break, unless the line ends right here.
      const room = LINE_LENGTH - (next === undefined || next === CR ? 0 : 1);
      if (width + (literal ? 1 : 3) > room) {
        out[size++] = EQUALS;
        out[size++] = CR;
        out[size++] = LF;
        width = 0;
      }
      if (width === 0 && startsWithFrom(bytes, at)) literal = false;
      width += literal ? 1 : 3;
      if (literal) {
        out[size++] = byte;
      } else {
        out[size++] = EQUALS;
        out[size++] = HEX[byte >> 4] as number;
        out[size++] = HEX[byte & 15] as number;
      }
    }
    start = at;
    end = size;
    column = width;
    return at >= bytes.length;
  };
  return { encode: encodePiece, result: () => out.subarray(0, end) };
}

/** Whether a byte needs no encoding. A blank at the end of a line does, because relays strip it. */
function isLiteral(byte: number, next: number | undefined): boolean {
  if (byte === SPACE || byte === TAB) return next !== undefined && next !== CR && next !== LF;
  return byte > SPACE && byte <= TILDE && byte !== EQUALS;
}

function startsWithFrom(bytes: Buffer, at: number): boolean {
  return bytes[at] === 70 && bytes.toString("latin1", at, at + FROM.length) === FROM;
}
