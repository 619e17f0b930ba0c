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
export interface SplitMessage {
  readonly fields: readonly HeaderField[];
  /** What follows the headers: the empty line and the content. */
  readonly rest: Buffer;
}

const CR = 13;
const FIELD = /^([\x21-\x39\x3b-\x7e]+)[ \t]*:([\s\S]*)$/;

/**
 * Cuts a message, with CRLF at its line ends, into its header fields and the rest. A line that is no header ends the headers, as if an empty
 * line stood before it: what simple programs send may have no headers at all.
 */
export function splitMessage(message: Buffer): SplitMessage {
  const end = endOfHead(message);
  const lines = end === 0 ? [] : message.toString("latin1", 0, end).split(/(?<=\r\n)(?![ \t])/);
  const fields: HeaderField[] = [];
  let at = 0;
  for (const line of lines) {
    const [, name, value] = FIELD.exec(line) ?? [];
    if (name === undefined || value === undefined) return { fields, rest: Buffer.concat([Buffer.from("\r\n"), message.subarray(at)]) };
    fields.push({ name, key: name.toLowerCase(), value: toText(value.replace(/\r\n(?=[ \t])/g, "").trim()), line });
    at += line.length;
  }
  return { fields, rest: message.subarray(end) };
}

/** How many bytes the headers of a message take, without the empty line after them. */
export function endOfHead(message: Buffer): number {
  if (message[0] === CR) return 0;
  const end = message.indexOf("\r\n\r\n");
  return end === -1 ? message.length : end + 2;
}

/** Header text beyond ASCII is UTF-8 (RFC 6532). */
function toText(latin1: string): string {
  return /[\x80-\xff]/.test(latin1) ? Buffer.from(latin1, "latin1").toString("utf8") : latin1;
}
