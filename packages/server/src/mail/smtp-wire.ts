import { SmtpError, type SmtpFailure } from "./smtp-reply.ts";

const [LF, CR, DOT] = [0x0a, 0x0d, 0x2e];
// Larger than any honest reply, also one of many lines.
const MAX_REPLY = 64 * 1024;

/** The replies of a mail server, read from bytes that may be split anywhere. A reply of several lines is one text, with LF between them. */
export class SmtpReplies {
  readonly #whole: string[] = [];
  /** Lines of a reply that goes on. */
  #lines = "";
  /** Bytes of a line that goes on, one character each. */
  #line = "";
  #failure: SmtpFailure | null = null;
  #reader: { resolve(reply: string): void; reject(failure: SmtpFailure): void } | null = null;

  /** True if no byte of a reply is here that nobody has read. */
  get isEmpty(): boolean {
    return this.#whole.length === 0 && this.#lines === "" && this.#line.trim() === "";
  }

  /** True while somebody waits for a reply of which no byte is here. */
  get isAwaited(): boolean {
    return this.#reader !== null && this.isEmpty;
  }

  /** Adds bytes of the server. */
  push(bytes: Buffer): void {
    const lines = bytes.toString("latin1").split("\n");
    for (const [i, part] of lines.entries()) {
      this.#line += part;
      if (i < lines.length - 1) this.#endLine();
    }
    if (this.#lines.length + this.#line.length > MAX_REPLY)
      this.fail(new SmtpError("EPROTOCOL", "The mail server sent a reply without an end."));
  }

  /** Returns the next reply; rejects if none can come any more. For one reader at a time. */
  next(): Promise<string> {
    const reply = this.#whole.shift();
    if (reply !== undefined) return Promise.resolve(reply);
    if (this.#failure) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => {
      this.#reader = { resolve, reject };
    });
  }

  /** Ends the replies, because of the first failure. Complete replies can still be read. */
  fail(failure: SmtpFailure): void {
    this.#failure ??= failure;
    this.#reader?.reject(this.#failure);
    this.#reader = null;
  }

  /** Ends the replies, because the connection has ended; a refusal that lacks its end is told. */
  end(): void {
    const cut = toText(this.#lines + this.#line).trim();
    this.fail(new SmtpError("ECONNECTION", "Connection closed unexpectedly", /^[45]\d\d[ -]/.test(cut) ? { response: cut } : {}));
  }

  #endLine(): void {
    const line = this.#line.trimEnd();
    this.#line = "";
    // Some servers send empty lines between replies.
    if (this.#lines === "" && line === "") return;
    const goesOn = this.#lines === "" ? /^\d{3}-/.test(line) : !/^\d{3}(?![\d-])/.test(line);
    if (goesOn) {
      this.#lines += `${line}\n`;
      return;
    }
    const reply = toText(this.#lines + line);
    this.#lines = "";
    if (this.#reader) this.#reader.resolve(reply);
    else this.#whole.push(reply);
    this.#reader = null;
  }
}

/**
 * The bytes `from` to `to` of a message as they are written to a mail server: every line ends with CRLF, because some servers take a bare
 * CR or LF for the end of a line and others do not, and a dot at the start of a line is doubled.
 */
export function toWire(message: Buffer, from: number, to: number): Buffer {
  let wire: Buffer | null = null;
  let length = 0;
  for (let at = from; at < to; at += 1) {
    const byte = message[at] as number;
    const before = byte > DOT ? 0 : findMissing(message, at, byte);
    const after = byte === CR && message[at + 1] !== LF ? LF : 0;
    if (wire === null) {
      if (before === 0 && after === 0) continue;
      wire = Buffer.allocUnsafe(2 * (to - from));
      length = message.copy(wire, 0, from, at);
    }
    if (before !== 0) wire[length++] = before;
    wire[length++] = byte;
    if (after !== 0) wire[length++] = after;
  }
  return wire === null ? message.subarray(from, to) : wire.subarray(0, length);
}

/** The end of a message on the wire. */
export function endOf(message: Buffer): string {
  const last = message.at(-1);
  return last === undefined || last === LF || last === CR ? ".\r\n" : "\r\n.\r\n";
}

/** Bytes, one character each, as the text they are: mostly UTF-8, which no standard says. */
function toText(bytes: string): string {
  const text = Buffer.from(bytes, "latin1").toString();
  return text.includes("\ufffd") ? bytes : text;
}

/** The byte that belongs before one of a message; 0 if none is missing. */
function findMissing(message: Buffer, at: number, byte: number): number {
  const before = at === 0 ? LF : message[at - 1];
  if (byte === LF) return before === CR ? 0 : CR;
  return byte === DOT && (before === LF || before === CR) ? DOT : 0;
}
