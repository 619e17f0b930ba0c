import { ApiError } from "../lib/api-error.ts";
import { CHUNK_BYTES, concatInTurns, waitForTurn } from "../lib/turn.ts";
import { encodeLongBase64 } from "../mail/mime-entity.ts";
import { listParts, type MessagePart } from "./message-parts.ts";

// RFC 5322 2.1.1, without the line end.
const MAX_LINE = 998;
const [LF, CR, DOT] = [10, 13, 46];

/** Faults in the lines of a message. */
interface LineFaults {
  /** Number of lines that end in LF without CR. */
  readonly bare: number;
  readonly long: boolean;
}

/**
 * A message whose lines are as the servers behind this one want them. A bare LF becomes CRLF: only CRLF.CRLF has ended the message, so
 * none is smuggled in. A part with lines over 998 bytes is written in base64, unless the message is signed, or captured, where it may
 * stay. Returns the same bytes where nothing is wrong. Throws ApiError validation_error for a CR without LF, a NUL byte, and long lines
 * that cannot be encoded.
 */
export async function mendLines(raw: Buffer, captured: boolean): Promise<Buffer> {
  const { bare, long } = await findFaults(raw);
  const lines = bare === 0 ? raw : await endWithCrlf(raw, bare);
  if (captured || !long) return lines;
  const encoded = await encodeLongLines(lines);
  if (encoded === null || (await findFaults(encoded)).long)
    throw unreadable(`A line of the message is longer than ${MAX_LINE} bytes, and is signed or a header; encode it (RFC 5322 2.1.1).`);
  return encoded;
}

async function findFaults(raw: Buffer): Promise<LineFaults> {
  let [bare, long, start] = [0, false, 0];
  // Byte by byte: a search for each line end takes ten times as long where lines are short.
  for (let at = 0; at < raw.length; at += 1) {
    if (at % CHUNK_BYTES === CHUNK_BYTES - 1) await waitForTurn();
    const byte = raw[at];
    if (byte === LF) {
      const isBare = raw[at - 1] !== CR;
      if (isBare) bare += 1;
      if (at - (isBare ? 0 : 1) - start > MAX_LINE) long = true;
      start = at + 1;
    } else if (byte === CR && raw[at + 1] !== LF) throw unreadable("The message has a CR without LF; lines end in CRLF (RFC 5321 2.3.8).");
    else if (byte === 0) throw unreadable("The message holds a NUL byte; encode it (RFC 5321 2.3.8).");
  }
  return { bare, long: long || raw.length - start > MAX_LINE };
}

/** A message with CRLF for each bare LF. Programs that send bare LFs put a second dot before one at the begin of a line, as after CRLF. */
async function endWithCrlf(raw: Buffer, bare: number): Promise<Buffer> {
  const out = Buffer.allocUnsafeSlow(raw.length + bare);
  let size = 0;
  for (let at = 0; at < raw.length; at += 1) {
    if (at % CHUNK_BYTES === CHUNK_BYTES - 1) await waitForTurn();
    const byte = raw[at] as number;
    const isBare = byte === LF && raw[at - 1] !== CR;
    if (isBare) out[size++] = CR;
    out[size++] = byte;
    if (isBare && raw[at + 1] === DOT && raw[at + 2] === DOT) at += 1;
  }
  return out.subarray(0, size);
}

/** The message with each part that has long lines in base64; null for one that is signed or encrypted, which must not change. */
async function encodeLongLines(message: Buffer): Promise<Buffer | null> {
  const { parts } = await listParts(message);
  if (parts.some(isSealed)) return null;
  const pieces: Buffer[] = [];
  let kept = 0;
  for (const [i, part] of parts.entries()) {
    const content = await toBase64(part);
    if (content === null) continue;
    const start = part.content.byteOffset - message.byteOffset;
    const [headEnd, headStart] = [start - 2, start - 2 - part.fields.reduce((sum, { line }) => sum + line.length, 0)];
    // Text without any header has no empty line before it.
    if (headStart < kept || headEnd < 0) continue;
    const head = part.fields.filter(({ key }) => key !== "content-transfer-encoding").map(({ line }) => line);
    if (i === 0 && !part.fields.some(({ key }) => key === "mime-version")) head.push("MIME-Version: 1.0\r\n");
    head.push("Content-Transfer-Encoding: base64\r\n\r\n");
    const isLast = start + part.content.length === message.length;
    pieces.push(message.subarray(kept, headStart), Buffer.from(head.join(""), "latin1"), content, Buffer.from(isLast ? "\r\n" : ""));
    kept = start + part.content.length;
  }
  return concatInTurns([...pieces, message.subarray(kept)]);
}

/** True if a part is covered by a signature, or is encrypted. */
function isSealed({ fields }: MessagePart): boolean {
  return fields.some(
    ({ key, value }) =>
      key === "dkim-signature" ||
      (key === "content-type" && /^(?:multipart\/(?:signed|encrypted)|application\/(?:x-)?pkcs7-mime)/i.test(value)),
  );
}

/** The content of a part in base64; null if its lines are short, or it is no single text or file. */
async function toBase64({ fields, content, delimiter }: MessagePart): Promise<Buffer | null> {
  const find = (name: string): string => fields.find(({ key }) => key === name)?.value ?? "";
  if (delimiter.endsWith("--") || /^(?:multipart|message)\//i.test(find("content-type"))) return null;
  if (!(await findFaults(content)).long) return null;
  const encoding = find("content-transfer-encoding").trim().toLowerCase();
  if (encoding === "base64") return encodeLongBase64(Buffer.from(content.toString("latin1"), "base64"));
  if (encoding === "quoted-printable") return encodeLongBase64(decodeQuotedPrintable(content));
  return ["", "7bit", "8bit", "binary"].includes(encoding) ? encodeLongBase64(content) : null;
}

function decodeQuotedPrintable(content: Buffer): Buffer {
  const text = content.toString("latin1").replace(/=[ \t]*\r\n/g, "");
  return Buffer.from(
    text.replace(/=([0-9a-f]{2})/gi, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    "latin1",
  );
}

function unreadable(message: string): ApiError {
  return new ApiError("validation_error", message, { hint: "See docs/smtp.md." });
}
