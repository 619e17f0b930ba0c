import { waitForTurn } from "../lib/turn.ts";
import { type HeaderField, splitMessage } from "../mail/message-head.ts";

/** A part of a message. */
export interface MessagePart {
  /** The delimiter before it, with the number of its boundary in place of the boundary; empty for the message itself. */
  readonly delimiter: string;
  readonly fields: readonly HeaderField[];
  /** Content after its headers, up to the next delimiter; in a multipart, the text before its parts. */
  readonly content: Buffer;
}

/** The parts of a message. */
export interface MessageParts {
  /** The message itself first, and what follows a multipart as a part without headers. */
  readonly parts: readonly MessagePart[];
  /** The boundaries by their numbers, in the order in which they are declared. */
  readonly boundaries: ReadonlyMap<string, number>;
}

// A message that people send has fewer; what follows them counts as the content of the last one.
const MAX_PARTS = 1000;
// Longer headers count as content.
const MAX_PART_HEAD = 16 * 1024;
// RFC 2046 5.1.1 allows 70 characters.
const MAX_BOUNDARY = 200;
// Bytes that are searched in one stretch: with a delimiter in every line, a few milliseconds.
const PIECE_BYTES = 128 * 1024;
const DELIMITER = "\r\n--";
const BOUNDARY = /;\s*boundary\s*=\s*(?:"([^"]{1,200})"|([^\s;"]{1,200}))/i;

/** Finds the parts of a message with CRLF at its line ends, and lets the event loop serve others meanwhile. */
export async function listParts(message: Buffer): Promise<MessageParts> {
  const boundaries = new Map<string, number>();
  const parts: MessagePart[] = [];
  let open: MessagePart = { delimiter: "", ...splitMessage(message) };
  declareBoundary(open.fields, boundaries);
  let start = message.length - open.content.length;
  // Headers that were too long are not read again at each delimiter among them.
  let searched = start - 2;
  for (let from = Math.max(0, start - 2); from < message.length; from += PIECE_BYTES) {
    const piece = message.subarray(from, from + PIECE_BYTES + DELIMITER.length - 1);
    for (let found = piece.indexOf(DELIMITER); found !== -1; found = piece.indexOf(DELIMITER, found + 1)) {
      const at = from + found;
      if (at < searched || parts.length >= MAX_PARTS) continue;
      const line = readLine(message, at + DELIMITER.length);
      const delimiter = nameDelimiter(line, boundaries);
      if (delimiter === null) continue;
      parts.push({ ...open, content: message.subarray(start, Math.max(start, at)) });
      const { read, ...part } = splitPart(message.subarray(at + DELIMITER.length + line.length), delimiter.endsWith("--"));
      open = { delimiter, ...part };
      declareBoundary(open.fields, boundaries);
      start = message.length - open.content.length;
      // The line end before a delimiter may be that of the empty line after the headers.
      searched = Math.max(start - 2, at + read);
    }
    if (from + PIECE_BYTES < message.length) await waitForTurn();
  }
  parts.push({ ...open, content: message.subarray(start) });
  return { parts, boundaries };
}

/** The boundary that a Content-Type declares, as it stands there; null without one. */
export function findBoundary(contentType: string): { readonly declaration: string; readonly boundary: string } | null {
  const [declaration, quoted, bare] = BOUNDARY.exec(contentType) ?? [];
  const boundary = quoted ?? bare;
  return declaration === undefined || boundary === undefined ? null : { declaration, boundary };
}

function declareBoundary(fields: readonly HeaderField[], boundaries: Map<string, number>): void {
  for (const { key, value } of fields) {
    const found = key === "content-type" ? findBoundary(value) : null;
    if (found !== null && !boundaries.has(found.boundary)) boundaries.set(found.boundary, boundaries.size);
  }
}

/** The rest of a line, as far as a boundary may reach. */
function readLine(message: Buffer, start: number): string {
  const line = message.toString("latin1", start, start + MAX_BOUNDARY + DELIMITER.length);
  const end = line.indexOf("\r\n");
  return end === -1 ? line : line.slice(0, end);
}

/** A delimiter by the number of its boundary; null for a line that is none. */
function nameDelimiter(line: string, boundaries: ReadonlyMap<string, number>): string | null {
  const name = line.trimEnd();
  const number = boundaries.get(name);
  if (number !== undefined) return `${number}`;
  const closed = name.endsWith("--") ? boundaries.get(name.slice(0, -2)) : undefined;
  return closed === undefined ? null : `${closed}--`;
}

/** A part, and how many bytes of it were read. */
interface SplitPart extends Pick<MessagePart, "fields" | "content"> {
  readonly read: number;
}

/** The headers and the content of a part, from the end of the line of its delimiter. After the last one no headers follow. */
function splitPart(rest: Buffer, isClosed: boolean): SplitPart {
  const start = rest.subarray(2);
  if (isClosed) return { fields: [], content: start, read: 0 };
  const { fields, headBytes, content } = splitMessage(start, MAX_PART_HEAD);
  return headBytes > MAX_PART_HEAD ? { fields: [], content: start, read: MAX_PART_HEAD } : { fields, content, read: 0 };
}
