import { decodeContent, type MimePart, readEncoding, walkParts } from "./mime-parts.ts";

/**
 * Returns a mail whose flowed texts (RFC 3676) have the lines that their authors wrote: a line that was broken to fit is one again, and
 * lines of different quoting depth stay apart, where postal-mime joins them. Headers and files stay as they are. Returns the same bytes if
 * no text is flowed.
 */
export function joinFlowedTexts(mail: Uint8Array): Uint8Array {
  const bytes = Buffer.from(mail.buffer, mail.byteOffset, mail.byteLength);
  if (!bytes.includes("lowed") && !bytes.includes("LOWED")) return mail;
  const pieces: Uint8Array[] = [];
  let kept = 0;
  for (const part of walkParts(bytes)) {
    const { contentStart, contentEnd, header } = part;
    const field = findFlowedType(part);
    if (field === null) continue;
    const encoding = readEncoding(header);
    const text = Buffer.from(decodeContent(bytes.subarray(contentStart, contentEnd), encoding)).toString("latin1");
    // The last line break belongs to the boundary.
    const end = /\r?\n$/.exec(text)?.[0] ?? "";
    const joined = joinFlowedLines(text.slice(0, text.length - end.length), /;\s*delsp\s*=\s*"?yes\b/i.test(field));
    pieces.push(bytes.subarray(kept, contentStart), encode(joined + end, encoding));
    kept = contentEnd;
  }
  return pieces.length === 0 ? mail : Buffer.concat([...pieces, bytes.subarray(kept)]);
}

const FLOWED = /;\s*format\s*=\s*"?flowed\b/i;

/** The Content-Type of a part if it is flowed text; null for all others, and for texts whose bytes are no ASCII where lines begin and end. */
function findFlowedType({ type, header }: MimePart): string | null {
  if (type !== "text/plain" || /^content-disposition:[ \t]*attachment/im.test(header)) return null;
  const field = /^content-type:[ \t]*([^\r\n]*)/im.exec(header)?.[1] ?? "";
  return FLOWED.test(field) && !/;\s*charset\s*=\s*"?(?:utf|ucs)-?(?:16|32|2|4)/i.test(field) ? field : null;
}

/** A line without its quotation marks, and how many these were. */
interface FlowedLine {
  readonly depth: number;
  readonly text: string;
}

const SIGNATURE = "-- ";

/**
 * The lines of a text, with each joined to the one before it if that ends with a space, and both are quoted as deep. postal-mime, which
 * takes the text for a flowed one, finds nothing more to join: no line ends with a space, and each begins with one that it takes off.
 */
function joinFlowedLines(text: string, deletesSpace: boolean): string {
  const lines: string[] = [];
  let before: FlowedLine | null = null;
  // The parts of the line that grows: joining all at once takes linear time.
  let parts: string[] = [];
  for (const line of text.split(/\r?\n/).map(readLine)) {
    const goesOn =
      before?.text.endsWith(" ") === true && before.text !== SIGNATURE && before.depth === line.depth && line.text !== SIGNATURE;
    if (goesOn && deletesSpace) parts.push((parts.pop() as string).slice(0, -1));
    if (!goesOn && before !== null) {
      lines.push(parts.join(""));
      parts = [];
    }
    if (!goesOn && line.depth > 0) parts.push(`${">".repeat(line.depth)}${line.text === "" ? "" : " "}`);
    parts.push(line.text);
    before = line;
  }
  lines.push(parts.join(""));
  return lines.map((line) => ` ${line === SIGNATURE ? line : line.replace(/ +$/, "")}`).join("\r\n");
}

/** Takes off quotation marks, then the space that protects a line which begins like one (RFC 3676, 4.4). */
function readLine(line: string): FlowedLine {
  const depth = /^>*/.exec(line)?.[0].length ?? 0;
  const text = line.slice(depth);
  return { depth, text: text.startsWith(" ") ? text.slice(1) : text };
}

function encode(latin1: string, encoding: string): Buffer {
  if (encoding === "base64") return Buffer.from(`${Buffer.from(latin1, "latin1").toString("base64").replace(/.{76}/g, "$&\r\n")}\r\n`);
  if (encoding !== "quoted-printable") return Buffer.from(latin1, "latin1");
  const toHex = (char: string): string => `=${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
  return Buffer.from(latin1.replace(/[^\r\n\x20-\x3c\x3e-\x7e]| (?=\r\n)/g, toHex));
}
