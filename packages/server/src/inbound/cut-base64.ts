import { createHash } from "node:crypto";
import { MB } from "../lib/units.ts";
import { type MimePart, walkParts } from "./mime-parts.ts";

/** A mail without the contents of its large files, and what finds them again once it is parsed. */
interface CutMail {
  /** The mail with a short token, itself base64, in place of each content that was cut out. */
  readonly skeleton: Uint8Array;
  /** The content for which a parsed one stands; undefined if it stands for itself. */
  restore(content: Uint8Array): Uint8Array<ArrayBuffer> | undefined;
}

const NONCE = 8;
const TOKEN = NONCE + 4;
// Smaller contents are left to the parser.
const MIN_BYTES = 4096;

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
  let kept = 0;
  for (const part of walkParts(bytes)) {
    const { contentStart, contentEnd } = part;
    const content = isFile(part) && contentEnd - contentStart >= MIN_BYTES ? decodeBase64(bytes, contentStart, contentEnd) : null;
    if (content === null) continue;
    nonce ??= createHash("sha256").update(bytes).digest().subarray(0, NONCE);
    const number = Buffer.alloc(4);
    number.writeUInt32BE(contents.length);
    pieces.push(bytes.subarray(kept, contentStart), Buffer.from(`${Buffer.concat([nonce, number]).toString("base64")}\r\n`));
    contents.push(content);
    kept = contentEnd;
  }
  return {
    skeleton: pieces.length === 0 ? bytes : Buffer.concat([...pieces, bytes.subarray(kept)]),
    restore: (content) => {
      if (nonce === null || content.length !== TOKEN || !nonce.equals(content.subarray(0, NONCE))) return undefined;
      return contents[Buffer.from(content).readUInt32BE(NONCE)];
    },
  };
}

/** True if a part is a file in base64. */
function isFile({ header, type }: MimePart): boolean {
  return /^content-transfer-encoding:[ \t]*base64[ \t]*\r?$/im.test(header) && !/^(?:text|multipart|message)\//.test(type);
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
