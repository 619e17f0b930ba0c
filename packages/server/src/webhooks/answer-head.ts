/*
 * Reads heads of answers to HTTP/1.1 requests (RFC 9112), strictly: whoever answers webhooks with something else is told so. Of an
 * answer only its status, its beginning, and whether the connection may carry another request are of interest.
 */

/** What came is not HTTP/1.1. The code says where it went wrong. */
export class BadAnswer extends Error {
  override name = "BadAnswer";
  readonly code: string;

  constructor(code: string) {
    super(`Not a valid answer: ${code}.`);
    this.code = code;
  }
}

/** How the end of a body is known. */
export type Framing = { readonly kind: "length"; readonly length: number } | { readonly kind: "chunked" } | { readonly kind: "close" };

/** What matters of a head. */
export interface Head {
  /** Below 200 for what only announces the answer. */
  readonly status: number;
  readonly retryAfter: string | null;
  /** For how long the connection may carry further requests, ms; 0 when it must be closed. */
  readonly keepMs: number;
  readonly framing: Framing;
}

// For how long a connection is kept that says nothing about it, ms; and how much sooner than it says it is given up.
const KEEP_MS = 4000;
const MARGIN_MS = 1000;

// The longest head that is remembered.
const SHORT = 1024;

const STATUS = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/;
/** A line of a head or a trailer. */
export const FIELD = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[\t ]*([\t\x20-\x7e\x80-\xff]*)$/;

/** The fields that matter, by their names in lower case; each may stand there once, but for lists. */
const LISTS = new Set(["connection", "transfer-encoding"]);
const KNOWN = new Set([...LISTS, "content-length", "retry-after", "keep-alive"]);

/** Reads the heads of one connection. */
export class Heads {
  #text = "";
  #head: Head | null = null;

  /** What matters of a head, given without the blank line behind it. Throws BadAnswer. */
  read(text: string): Head {
    // A webhook answers alike within the second that stands in its Date: most heads need not be read, 4 µs each.
    if (this.#head !== null && text === this.#text) return this.#head;
    const head = readHead(text);
    if (text.length > SHORT) return head;
    this.#text = text;
    this.#head = head;
    return head;
  }
}

function fieldsOf(lines: readonly string[]): Map<string, string> {
  const fields = new Map<string, string>();
  for (let i = 1; i < lines.length; i += 1) {
    const match = FIELD.exec(lines[i] as string);
    if (!match) throw new BadAnswer("HEADER");
    const name = (match[1] as string).toLowerCase();
    if (!KNOWN.has(name)) continue;
    const value = (match[2] as string).trim();
    // Not everybody takes a tab for a blank there.
    if ((match[0] as string).includes("\t")) throw new BadAnswer("HEADER");
    const before = fields.get(name);
    if (before === undefined) fields.set(name, value);
    else if (LISTS.has(name)) fields.set(name, `${before}, ${value}`);
    else if (name === "content-length") throw new BadAnswer("CONTENT_LENGTH");
  }
  return fields;
}

function framingOf(status: number, fields: ReadonlyMap<string, string>): Framing {
  const length = fields.get("content-length");
  const encoding = fields.get("transfer-encoding");
  if (length !== undefined && !/^\d{1,15}$/.test(length)) throw new BadAnswer("CONTENT_LENGTH");
  if (encoding === "" || (length !== undefined && encoding !== undefined)) throw new BadAnswer("TRANSFER_ENCODING");
  if (status === 204 || status === 304) return { kind: "length", length: 0 };
  if (encoding !== undefined) return /(?:^|,)[\t ]*chunked$/i.test(encoding) ? { kind: "chunked" } : { kind: "close" };
  return length === undefined ? { kind: "close" } : { kind: "length", length: Number(length) };
}

/** For how long the connection may be kept after this answer, ms. */
function keptFor(version: string, fields: ReadonlyMap<string, string>): number {
  if (version !== "1" || /\bclose\b/i.test(fields.get("connection") ?? "")) return 0;
  const says = /\btimeout=(\d{1,6})/i.exec(fields.get("keep-alive") ?? "")?.[1];
  return says === undefined ? KEEP_MS : Math.min(KEEP_MS, Math.max(0, Number(says) * 1000 - MARGIN_MS));
}

function readHead(text: string): Head {
  const lines = text.split("\r\n");
  const match = STATUS.exec(lines[0] as string);
  if (!match) throw new BadAnswer("STATUS_LINE");
  const [, version = "", digits] = match;
  const status = Number(digits);
  const fields = fieldsOf(lines);
  if (status < 200) {
    const framed = fields.has("content-length") || fields.has("transfer-encoding");
    // Nobody asked for another protocol.
    if (status === 101 || version === "0" || framed) throw new BadAnswer("INTERIM");
  }
  const framing = framingOf(status, fields);
  const keepMs = framing.kind === "close" ? 0 : keptFor(version, fields);
  return { status, retryAfter: fields.get("retry-after") ?? null, keepMs, framing };
}
