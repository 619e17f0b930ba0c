/** A header field of a message as it stands there. */
export interface HeaderField {
  readonly name: string;
  /** The name in lower case. */
  readonly key: string;
  /** Unfolded, without blanks at its ends; encoded words are not decoded. */
  readonly value: string;
  /** The field with its line end, a byte a character. */
  readonly line: string;
}

/** A message cut after its headers. */
interface SplitMessage {
  readonly fields: readonly HeaderField[];
  /** Length of the headers in bytes, without the empty line after them. */
  readonly headBytes: number;
  /** Content after the headers and the empty line. */
  readonly content: Buffer;
}

const [LF, CR, TAB, SPACE] = [10, 13, 9, 32];
const LINE_END = "\r\n";
const FIELD = /^([\x21-\x39\x3b-\x7e]+)[ \t]*:([\s\S]*)$/;

/**
 * Cuts a message, with CRLF at its line ends, into its header fields and the content. A line that is no header ends the headers, as if an
 * empty line stood before it: what simple programs send may have no headers at all. With more than `maxHead` bytes of headers it stops
 * there, and `headBytes` is larger.
 */
export function splitMessage(message: Buffer, maxHead = Number.POSITIVE_INFINITY): SplitMessage {
  const fields: HeaderField[] = [];
  let at = 0;
  while (at < message.length && at <= maxHead) {
    if (message[at] === CR && message[at + 1] === LF) return { fields, headBytes: at, content: message.subarray(at + 2) };
    const end = endOfField(message, at, maxHead);
    const line = message.toString("latin1", at, end);
    const [, name, value] = FIELD.exec(line) ?? [];
    if (name === undefined || value === undefined) break;
    fields.push({ name, key: name.toLowerCase(), value: toText(value.replace(/\r\n(?=[ \t])/g, "").trim()), line });
    at = end;
  }
  return { fields, headBytes: at, content: message.subarray(at) };
}

/** The position behind the field that begins at `start`, with its folded lines as far as they begin within `limit`. */
function endOfField(message: Buffer, start: number, limit: number): number {
  for (let at = message.indexOf(LINE_END, start); at !== -1; at = message.indexOf(LINE_END, at + 2)) {
    const next = message[at + 2];
    if ((next !== SPACE && next !== TAB) || at > limit) return at + 2;
  }
  return message.length;
}

/** Header text beyond ASCII is UTF-8 (RFC 6532). */
function toText(latin1: string): string {
  return /[\x80-\xff]/.test(latin1) ? Buffer.from(latin1, "latin1").toString("utf8") : latin1;
}
