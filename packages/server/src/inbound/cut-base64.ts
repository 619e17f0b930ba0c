import { createHash } from "node:crypto";
import { MB } from "../lib/units.ts";

/** A mail without the contents of its large files, and what finds them again once it is parsed. */
interface CutMail {
  /** The mail with a short token, itself base64, in place of each content that was cut out. */
  readonly skeleton: Uint8Array;
  /** The content for which a parsed one stands; undefined if it stands for itself. */
  restore(content: Uint8Array): Uint8Array<ArrayBuffer> | undefined;
}

const LF = 0x0a;
const NONCE = 8;
const TOKEN = NONCE + 4;
// Smaller contents are left to the parser.
const MIN_BYTES = 4096;
// The header of a part, as far as it is read here. The parser has its own limit.
const MAX_HEADER = 16 * 1024;
// RFC 2046 allows boundaries of 70 characters.
const MAX_BOUNDARY_LINE = 210;

/**
 * Cuts the contents of files in base64 out of a mail, because postal-mime reads lines: 10 MB take it 0.3 s and 50 MB of memory, and this a
 * tenth. It knows no more of MIME than the boundaries and the encoding of parts; a part that it does not recognise stays as it is.
 */
export function cutBase64(mail: Uint8Array): CutMail {
  const bytes = Buffer.from(mail.buffer, mail.byteOffset, mail.byteLength);
  // Nobody can put the hash of a mail into that mail. Most mails have no large files, and need none.
  let nonce: Buffer | null = null;
  const contents: Uint8Array<ArrayBuffer>[] = [];
  const pieces: Uint8Array[] = [];
  const boundaries = new Set<string>();
  let kept = 0;
  let at = 0;
  while (at < bytes.length) {
    const header = readHeader(bytes, at);
    if (header.boundary !== null) boundaries.add(header.boundary);
    let end = findBoundary(bytes, header.end, boundaries);
    const content = header.isFile && end.start - header.end >= MIN_BYTES ? decodeBase64(bytes, header.end, end.start) : null;
    if (content !== null) {
      nonce ??= createHash("sha256").update(bytes).digest().subarray(0, NONCE);
      const number = Buffer.alloc(4);
      number.writeUInt32BE(contents.length);
      pieces.push(bytes.subarray(kept, header.end), Buffer.from(`${Buffer.concat([nonce, number]).toString("base64")}\r\n`));
      contents.push(content);
      kept = end.start;
    }
    // What follows the end of a multipart is no part.
    while (end.closes && end.after < bytes.length) end = findBoundary(bytes, end.after, boundaries);
    at = end.after;
  }
  return {
    skeleton: pieces.length === 0 ? bytes : Buffer.concat([...pieces, bytes.subarray(kept)]),
    restore: (content) => {
      if (nonce === null || content.length !== TOKEN || !nonce.equals(content.subarray(0, NONCE))) return undefined;
      return contents[Buffer.from(content).readUInt32BE(NONCE)];
    },
  };
}

interface PartHeader {
  /** Where the content begins. */
  readonly end: number;
  readonly boundary: string | null;
  /** True for a file in base64. */
  readonly isFile: boolean;
}

function readHeader(bytes: Buffer, start: number): PartHeader {
  let at = start;
  while (at < bytes.length) {
    const lineEnd = bytes.indexOf(LF, at);
    if (lineEnd === -1) return { end: bytes.length, boundary: null, isFile: false };
    const isEmpty = lineEnd === at || (lineEnd === at + 1 && bytes[at] === 0x0d);
    at = lineEnd + 1;
    if (isEmpty) break;
  }
  const text = bytes.toString("latin1", start, Math.min(at, start + MAX_HEADER)).replace(/\r?\n[ \t]+/g, " ");
  const type = /^content-type:[ \t]*([^;\s]*)/im.exec(text)?.[1]?.toLowerCase() ?? "text/plain";
  const boundary = type.startsWith("multipart/")
    ? /^content-type:.*?;\s*boundary\s*=\s*(?:"([^"\n]{1,200})"|([^\s;"]{1,200}))/im.exec(text)
    : null;
  return {
    end: at,
    boundary: boundary?.[1] ?? boundary?.[2] ?? null,
    isFile: /^content-transfer-encoding:[ \t]*base64[ \t]*\r?$/im.test(text) && !/^(?:text|multipart|message)\//.test(type),
  };
}

/** A line that is a boundary: where it begins, where the next line does, and whether it ends its multipart. */
interface BoundaryLine {
  readonly start: number;
  readonly after: number;
  readonly closes: boolean;
}

/** The next boundary at the begin of a line; the end of the mail if there is none. */
function findBoundary(bytes: Buffer, from: number, boundaries: ReadonlySet<string>): BoundaryLine {
  if (boundaries.size > 0)
    for (let at = bytes.indexOf("\n--", Math.max(0, from - 1)) + 1; at > 0; at = bytes.indexOf("\n--", at) + 1) {
      const lineEnd = bytes.indexOf(LF, at);
      const stop = lineEnd === -1 ? bytes.length : lineEnd;
      // The boundary, perhaps "--" again, and blanks.
      const name = stop - at > MAX_BOUNDARY_LINE ? "" : bytes.toString("latin1", at + 2, stop).trimEnd();
      const closes = !boundaries.has(name) && name.endsWith("--") && boundaries.has(name.slice(0, -2));
      if (closes || boundaries.has(name)) return { start: at, after: stop + 1, closes };
    }
  return { start: bytes.length, after: bytes.length, closes: true };
}

/** Decodes a megabyte at a time; null for what postal-mime would read in another way: padding before the end. */
function decodeBase64(bytes: Buffer, start: number, end: number): Uint8Array<ArrayBuffer> | null {
  const padding = bytes.subarray(start, end).indexOf("=");
  if (padding !== -1 && !/^=[=\s]*$/.test(bytes.toString("latin1", start + padding, Math.min(end, start + padding + 100)))) return null;
  const decoded = Buffer.allocUnsafeSlow(Math.ceil(((end - start) / 4) * 3));
  let length = 0;
  let rest = "";
  for (let at = start; at < end; at += MB) {
    const digits = rest + bytes.toString("latin1", at, Math.min(end, at + MB)).replace(/[^A-Za-z0-9+/]+/g, "");
    const whole = at + MB >= end ? digits.length : digits.length - (digits.length % 4);
    length += decoded.write(digits.slice(0, whole), length, "base64");
    rest = digits.slice(whole);
  }
  return decoded.subarray(0, length);
}
