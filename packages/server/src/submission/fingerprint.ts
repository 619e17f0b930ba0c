import { createHash, type Hash } from "node:crypto";
import { waitForTurn } from "../lib/turn.ts";
import type { HeaderField } from "../mail/message-head.ts";
import type { Envelope, ReadMessage } from "./message.ts";
import { findBoundary, listParts, type MessagePart, type MessageParts } from "./message-parts.ts";

// Headers that an author writes. Date, Message-ID and those of servers on the way are new with each attempt.
const AUTHORS = /^(?:from|sender|reply-to|to|cc|subject|in-reply-to|references|list-.+|content-.+)$/;
const OF_PARTS = /^content-.+$/;
// Bytes that are decoded and hashed in one stretch: a few milliseconds.
const PIECE_BYTES = 256 * 1024;
// A header takes as long as this many bytes of content.
const FIELD_BYTES = 512;
const MAX_CONTENT_ID = 500;

/**
 * A hash of what a message says, and of its envelope. It is the same when a program composes the message again: texts and files are
 * compared decoded, and numbers stand for the boundaries and Content-IDs, which are new then as Date, Message-ID and Received are. It
 * lets the event loop serve others meanwhile.
 */
export async function fingerprint(raw: Buffer, message: ReadMessage, envelope: Envelope): Promise<string> {
  const { idempotencyKey: _key, ...instructions } = message.instructions;
  const hash = createHash("sha256");
  hash.update(JSON.stringify([envelope.from, envelope.recipients.map(({ key }) => key), instructions]));
  const parts = await listParts(raw);
  const names: Names = { boundaries: parts.boundaries, contentIds: numberContentIds(parts) };
  const turns = new Turns();
  for (const [i, part] of parts.parts.entries()) {
    hash.update(`\0${part.delimiter}`);
    for (const field of part.fields) {
      const said = (i === 0 ? AUTHORS : OF_PARTS).test(field.key) ? sayField(field, names) : null;
      if (said !== null) hash.update(JSON.stringify([field.key, said]));
    }
    await turns.take(part.fields.length * FIELD_BYTES);
    await hashContent(hash, part, names, turns);
  }
  return hash.digest("hex");
}

/** Names that a message gives its own parts. Each has a number that stays the same when the message is composed again. */
interface Names {
  readonly boundaries: ReadonlyMap<string, number>;
  readonly contentIds: ReadonlyMap<string, number>;
}

/** Lets the event loop serve others each time this many bytes are worked on. */
class Turns {
  #left = PIECE_BYTES;

  async take(bytes: number): Promise<void> {
    this.#left -= bytes;
    if (this.#left > 0) return;
    this.#left = PIECE_BYTES;
    await waitForTurn();
  }
}

function numberContentIds({ parts }: MessageParts): Map<string, number> {
  const numbers = new Map<string, number>();
  for (const { fields } of parts)
    for (const { key, value } of fields) {
      const id = key === "content-id" ? trimId(value) : "";
      if (id !== "" && id.length <= MAX_CONTENT_ID && !numbers.has(id)) numbers.set(id, numbers.size);
    }
  return numbers;
}

function trimId(value: string): string {
  return value.replace(/^<|>$/g, "");
}

/** Value of a header with numbers for the names; null for one that tells only how the content is encoded. */
function sayField({ key, value }: HeaderField, { boundaries, contentIds }: Names): string | null {
  if (key === "content-transfer-encoding") return null;
  if (key === "content-id") return sayName(contentIds.get(trimId(value)), value);
  if (key !== "content-type") return value;
  const found = findBoundary(value);
  const named =
    found === null ? value : value.replace(found.declaration, () => `; boundary=${sayName(boundaries.get(found.boundary), "")}`);
  // The part of a multipart/related that is shown first, by its Content-ID.
  return named.replace(/;\s*start\s*=\s*"?<?([^<>";\s]+)>?"?/i, (all, id: string) => `; start=${sayName(contentIds.get(id), all)}`);
}

function sayName(number: number | undefined, otherwise: string): string {
  return number === undefined ? otherwise : `\0${number}`;
}

/** Hashes the decoded content of a part, and its length, which tells it from what follows. */
async function hashContent(hash: Hash, { fields, content }: MessagePart, { contentIds }: Names, turns: Turns): Promise<void> {
  const find = (key: string): string => fields.find((field) => field.key === key)?.value.toLowerCase() ?? "";
  const type = find("content-type");
  const isText = (type === "" || type.startsWith("text/")) && contentIds.size > 0;
  const encoding = find("content-transfer-encoding");
  let length = 0;
  const add = (bytes: string | Buffer): void => {
    length += bytes.length;
    if (typeof bytes === "string") hash.update(bytes, "latin1");
    else hash.update(bytes);
  };
  let held = "";
  for (let piece = decodePiece(content, 0, encoding, ""); ; piece = decodePiece(content, piece.end, encoding, piece.rest)) {
    if (isText) {
      const text = held + piece.decoded.toString("latin1");
      const cut = piece.end === content.length ? text.length : endOfWords(text);
      add(nameReferences(text.slice(0, cut), contentIds));
      held = text.slice(cut);
    } else add(piece.decoded);
    await turns.take(piece.taken);
    if (piece.end === content.length) break;
  }
  hash.update(`\0${length}\0`);
}

interface DecodedPiece {
  readonly decoded: Buffer;
  /** Start of the next piece. */
  readonly end: number;
  readonly taken: number;
  /** Digits of base64 that belong to the next piece. */
  readonly rest: string;
}

/** Decodes the content of a part from `start`, as far as it is done in one stretch. */
function decodePiece(content: Buffer, start: number, encoding: string, rest: string): DecodedPiece {
  let end = Math.min(content.length, start + PIECE_BYTES);
  if (encoding === "base64") {
    const digits = rest + content.toString("latin1", start, end).replace(/[^A-Za-z0-9+/]+/g, "");
    const whole = end === content.length ? digits.length : digits.length - (digits.length % 4);
    return { decoded: Buffer.from(digits.slice(0, whole), "base64"), end, taken: end - start, rest: digits.slice(whole) };
  }
  if (encoding === "quoted-printable") {
    // Whole lines: an escape must not be cut.
    const lineEnd = end === content.length ? -1 : content.indexOf("\r\n", end);
    end = lineEnd === -1 ? content.length : lineEnd + 2;
    const text = content
      .toString("latin1", start, end)
      .replace(/=(?:\r\n|([0-9A-Fa-f]{2}))/g, (_all, hex: string | undefined) => toByte(hex));
    return { decoded: Buffer.from(text, "latin1"), end, taken: end - start, rest };
  }
  return { decoded: content.subarray(start, end), end, taken: end - start, rest };
}

function toByte(hex: string | undefined): string {
  return hex === undefined ? "" : String.fromCharCode(Number.parseInt(hex, 16));
}

/**
 * Start of the last word of a text, which may go on in the next piece; the end of the text if that word is longer than a
 * reference may be.
 */
function endOfWords(text: string): number {
  for (let at = text.length; at > text.length - MAX_CONTENT_ID && at > 0; at -= 1) if (/[\s"'<>()[\]]/.test(text.charAt(at - 1))) return at;
  return text.length;
}

/** A text with numbers in place of the Content-IDs of the message that it refers to (RFC 2392). */
function nameReferences(text: string, contentIds: ReadonlyMap<string, number>): string {
  return text.replace(/cid:([^\s"'<>()[\]]{1,500})/gi, (all, id: string) => {
    const number = contentIds.get(id) ?? contentIds.get(id.replace(/%([0-9a-f]{2})/gi, (_escape, hex: string) => toByte(hex)));
    return number === undefined ? all : `cid:\0${number}`;
  });
}
