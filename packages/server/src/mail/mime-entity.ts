import { concatInTurns, waitForTurn } from "../lib/turn.ts";

/** An encoded MIME entity: its Content-* headers and its body. */
export interface MimeEntity {
  readonly contentType: string;
  /** Absent for a multipart, whose parts have their own. */
  readonly transferEncoding?: TransferEncoding;
  /** Header lines besides these two, without line ends. */
  readonly headers?: readonly string[];
  readonly body: Buffer;
}

export type TransferEncoding = "7bit" | "quoted-printable" | "base64";

// RFC 2045 6.8: at most 76 characters in an encoded line, not counting CRLF. They hold 57 bytes.
const LINE_LENGTH = 76;
const LINE_BYTES = 57;
// Bytes that are encoded in one stretch: a few milliseconds.
const PIECE_BYTES = 4096 * LINE_BYTES;
const CRLF = Buffer.from("\r\n");

/** The header lines of an entity, without the line end of the last one. */
export function entityHeaders({ contentType, transferEncoding, headers = [] }: MimeEntity): string {
  const encoding = transferEncoding === undefined ? "" : `Content-Transfer-Encoding: ${transferEncoding}\r\n`;
  return `${encoding}${headers.map((line) => `${line}\r\n`).join("")}Content-Type: ${contentType}`;
}

/** Joins entities to a multipart (RFC 2046 5.1): of alternatives the preferred one is the last, of related ones the root is the first. */
export function joinEntities(mediaType: `multipart/${string}`, parts: readonly MimeEntity[], boundary: string): MimeEntity {
  return { contentType: `${mediaType}; boundary="${boundary}"`, body: concat(listChunks(parts, boundary)) };
}

/** The same for entities of any size. */
export async function joinLongEntities(
  mediaType: `multipart/${string}`,
  parts: readonly MimeEntity[],
  boundary: string,
): Promise<MimeEntity> {
  return { contentType: `${mediaType}; boundary="${boundary}"`, body: await concatInTurns(listChunks(parts, boundary).map(toBytes)) };
}

/** Joins texts and bytes in new memory. */
export function concat(chunks: readonly (string | Buffer)[], allocate = Buffer.allocUnsafe): Buffer {
  let size = 0;
  for (const chunk of chunks) size += Buffer.byteLength(chunk);
  const all = allocate(size);
  let at = 0;
  for (const chunk of chunks) at += typeof chunk === "string" ? all.write(chunk, at) : chunk.copy(all, at);
  return all;
}

export function toBytes(chunk: string | Buffer): Buffer {
  return typeof chunk === "string" ? Buffer.from(chunk) : chunk;
}

/** Base64 in lines of 76 characters, the last one without a line end. */
export function encodeBase64(bytes: Buffer): Buffer {
  const text = bytes.toString("base64");
  const lines: string[] = [];
  for (let at = 0; at < text.length; at += LINE_LENGTH) lines.push(text.slice(at, at + LINE_LENGTH));
  return Buffer.from(lines.join("\r\n"), "latin1");
}

/** The same for any number of bytes: lets other work have a turn every few milliseconds. */
export async function encodeLongBase64(bytes: Buffer): Promise<Buffer> {
  const digits = Math.ceil(bytes.length / 3) * 4;
  const text = Buffer.allocUnsafeSlow(digits + Math.max(0, Math.ceil(digits / LINE_LENGTH) - 1) * CRLF.length);
  let end = 0;
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    if (at > 0) {
      end += CRLF.copy(text, end);
      await waitForTurn();
    }
    end += encodeBase64(bytes.subarray(at, at + PIECE_BYTES)).copy(text, end);
  }
  return text;
}

function listChunks(parts: readonly MimeEntity[], boundary: string): (string | Buffer)[] {
  const chunks: (string | Buffer)[] = [];
  let lineEnd = "";
  for (const part of parts) {
    chunks.push(`${lineEnd}--${boundary}\r\n${entityHeaders(part)}\r\n\r\n`, part.body);
    lineEnd = "\r\n";
  }
  chunks.push(`\r\n--${boundary}--\r\n`);
  return chunks;
}
