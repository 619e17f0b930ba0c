import { createHash, type Hash } from "node:crypto";
import { CHUNK_BYTES, waitForTurn } from "../lib/turn.ts";
import { splitMessage } from "../mail/message-head.ts";
import type { Envelope, ReadMessage } from "./message.ts";

// Headers that an author writes. Date, Message-ID and those of servers on the way are new with each attempt.
const AUTHORS = /^(?:from|sender|reply-to|to|cc|subject|in-reply-to|references|list-.+|content-.+)$/;
const CONTENT_TYPE = /^content-type[ \t]*:/i;
const BOUNDARY = /;\s*boundary\s*=\s*(?:"([^"\r\n]{1,200})"|([^\s;"]{1,200}))/i;
// A declaration takes a line or three.
const MAX_DECLARATION = 2000;
const DELIMITER = "\r\n--";

/**
 * A hash of what the author of a message wrote, and of its envelope. It is the same when a program composes a message again: then Date,
 * Message-ID, Received and the boundaries between the parts are new.
 */
export async function fingerprint(raw: Buffer, message: ReadMessage, envelope: Envelope): Promise<string> {
  const { idempotencyKey: _key, ...instructions } = message.instructions;
  const hash = createHash("sha256");
  hash.update(JSON.stringify([envelope.from, envelope.recipients.map(({ key }) => key), instructions]));
  const { fields, content } = splitMessage(raw);
  const boundaries = new Map<string, number>();
  for (const { key, line } of fields) if (AUTHORS.test(key)) hash.update(`${key}\0${nameBoundary(line, boundaries)}`, "latin1");
  await hashBody(hash, raw.subarray(Math.max(0, raw.length - content.length - 2)), boundaries);
  return hash.digest("hex");
}

/** Hashes a body with numbers in place of its boundaries. */
async function hashBody(hash: Hash, body: Buffer, boundaries: Map<string, number>): Promise<void> {
  let hashed = 0;
  let turnEnd = CHUNK_BYTES;
  const hashTo = async (end: number): Promise<void> => {
    for (; hashed < end; hashed = Math.min(end, hashed + CHUNK_BYTES)) {
      if (hashed >= turnEnd) {
        await waitForTurn();
        turnEnd = hashed + CHUNK_BYTES;
      }
      hash.update(body.subarray(hashed, Math.min(end, hashed + CHUNK_BYTES)));
    }
  };
  if (boundaries.size > 0)
    for (let at = body.indexOf(DELIMITER); at !== -1; at = body.indexOf(DELIMITER, Math.max(at + DELIMITER.length, hashed))) {
      if (at >= turnEnd) await hashTo(at);
      const start = at + DELIMITER.length;
      const lineEnd = body.indexOf("\r\n", start);
      const line = body.toString("latin1", start, Math.min(lineEnd === -1 ? body.length : lineEnd, start + 300)).trimEnd();
      const number = boundaries.get(line) ?? boundaries.get(line.replace(/--$/, ""));
      if (number === undefined) continue;
      await hashTo(at);
      hash.update(`${DELIMITER}\0${number}${boundaries.has(line) ? "" : "--"}`);
      hashed = lineEnd === -1 ? body.length : lineEnd;
      if (boundaries.has(line)) hashed = hashPartHead(hash, body, hashed, boundaries);
    }
  await hashTo(body.length);
}

/** Hashes the headers of a part from `start`, and returns where they end. */
function hashPartHead(hash: Hash, body: Buffer, start: number, boundaries: Map<string, number>): number {
  const near = body.subarray(start, start + MAX_DECLARATION);
  const end = near.indexOf("\r\n\r\n");
  // A part whose headers are longer is hashed as it stands there.
  if (end === -1) return start;
  const lines = near.toString("latin1", 0, end + 2).split(/(?<=\r\n)(?![ \t])/);
  for (const line of lines) hash.update(nameBoundary(line, boundaries), "latin1");
  return start + end + 2;
}

/** A header line in which a number stands for the boundary that it declares. */
function nameBoundary(line: string, boundaries: Map<string, number>): string {
  if (!CONTENT_TYPE.test(line)) return line;
  const [declaration, quoted, bare] = BOUNDARY.exec(line.slice(0, MAX_DECLARATION)) ?? [];
  const boundary = quoted ?? bare;
  if (declaration === undefined || boundary === undefined) return line;
  if (!boundaries.has(boundary)) boundaries.set(boundary, boundaries.size);
  return line.replace(declaration, () => `; boundary=\0${boundaries.get(boundary)}`);
}
