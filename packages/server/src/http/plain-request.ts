/** A request of which nothing is left open. */
export interface PlainRequest {
  /** Method and path, as `POST /api/v1/send`. */
  readonly target: string;
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

// What the runtime's own server takes.
const MAX_HEAD = 16 * 1024;
const VERSION = " HTTP/1.1";
const END = Buffer.from("\r\n\r\n");
// All header lines, each without anything two readers could take in two ways: no folded lines, no empty values, printable ASCII,
// and no blanks but one behind the colon and those within a value.
const PLAIN = /^(?:[A-Za-z0-9-]+: ?[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?(?:\r\n|$))+$/;
// What says how a message is framed, or asks for something before it is whole.
const SPECIAL = new Set(["transfer-encoding", "expect", "upgrade", "trailer", "te", "keep-alive", "proxy-connection", "http2-settings"]);

/**
 * Reads bytes that are one request of HTTP/1.1, whole and with nothing behind it, in its plainest form: a length and no other
 * framing, each header once, ASCII. Null for anything else, which may be valid all the same.
 */
export function readPlain(bytes: Buffer): PlainRequest | null {
  const head = bytes.indexOf(END);
  if (head < 0 || head > MAX_HEAD) return null;
  const text = bytes.toString("latin1", 0, head);
  const line = text.indexOf("\r\n");
  if (line < 0 || !text.startsWith(VERSION, line - VERSION.length)) return null;
  const block = text.slice(line + 2);
  if (!PLAIN.test(block)) return null;
  const headers = headersOf(block);
  const length = headers?.["content-length"];
  if (!headers || headers.host === undefined || length === undefined || !/^\d{1,9}$/.test(length)) return null;
  const from = head + END.length;
  if (from + Number(length) !== bytes.length) return null;
  return { target: text.slice(0, line - VERSION.length), headers, body: bytes.subarray(from) };
}

/** The lines by their names; null when one of them asks for more than an answer, or comes twice. */
function headersOf(block: string): Record<string, string> | null {
  const headers: Record<string, string> = Object.create(null);
  for (let at = 0; at < block.length; ) {
    const next = block.indexOf("\r\n", at);
    const end = next < 0 ? block.length : next;
    const colon = block.indexOf(":", at);
    const name = block.slice(at, colon).toLowerCase();
    const value = block.slice(block[colon + 1] === " " ? colon + 2 : colon + 1, end);
    if (name in headers || SPECIAL.has(name)) return null;
    if (name === "connection" && value.toLowerCase() !== "keep-alive") return null;
    headers[name] = value;
    at = end + 2;
  }
  return headers;
}
