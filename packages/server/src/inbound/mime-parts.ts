const LF = 0x0a;
// The header of a part, as far as it is read here. The parser has its own limit.
const MAX_HEADER = 16 * 1024;
// RFC 2046 allows boundaries of 70 characters.
const MAX_BOUNDARY_LINE = 210;

/** A part of a mail, or the mail itself: where its header and its content are. */
export interface MimePart {
  readonly start: number;
  /** Begin of its content, and of the boundary after it. */
  readonly contentStart: number;
  readonly contentEnd: number;
  /** Its header, unfolded. */
  readonly header: string;
  /** Such as `text/plain`, in lower case. */
  readonly type: string;
}

/** The parts of a mail in their order. It knows no more of MIME than boundaries. */
export function* walkParts(bytes: Buffer): Generator<MimePart> {
  const boundaries = new Set<string>();
  let at = 0;
  while (at < bytes.length) {
    const header = readHeader(bytes, at);
    if (header.boundary !== null) boundaries.add(header.boundary);
    let end = findBoundary(bytes, header.end, boundaries);
    yield { start: at, contentStart: header.end, contentEnd: end.start, header: header.text, type: header.type };
    // Text behind the end of a multipart is no part.
    while (end.closes && end.after < bytes.length) end = findBoundary(bytes, end.after, boundaries);
    at = end.after;
  }
}

/** The transfer encoding that a part's header names. */
export function readEncoding(header: string): string {
  return /^content-transfer-encoding:[ \t]*([\w-]+)/im.exec(header)?.[1]?.toLowerCase() ?? "8bit";
}

/** The content of a part without its transfer encoding. */
export function decodeContent(content: Buffer, encoding: string): Uint8Array {
  if (encoding === "base64") return Buffer.from(content.toString("latin1"), "base64");
  if (encoding !== "quoted-printable") return content;
  const text = content.toString("latin1").replace(/=[ \t]*\r?\n/g, "");
  return Buffer.from(
    text.replace(/=([0-9a-f]{2})/gi, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    "latin1",
  );
}

interface PartHeader {
  /** Begin of the content. */
  readonly end: number;
  readonly boundary: string | null;
  readonly text: string;
  readonly type: string;
}

function readHeader(bytes: Buffer, start: number): PartHeader {
  let at = start;
  while (at < bytes.length) {
    const lineEnd = bytes.indexOf(LF, at);
    if (lineEnd === -1) return { end: bytes.length, boundary: null, text: "", type: "" };
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
    text,
    type,
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
