import { BadAnswer, FIELD, type Framing, Heads } from "./answer-head.ts";

// What is read of a body; the rest of it is of no interest, and may have no end.
const READ = 16 * 1024;
// Headers of an answer, and of each that only announces it: more is no answer to an event.
const HEAD = 16 * 1024;
// All of them together: to read 64 KiB of headers takes 3 ms, in which nobody else is served.
const HEADS = 64 * 1024;
// The line before a chunk.
const CHUNK_LINE = 1024;
// What is taken in all: a body that is spread over more than this, a byte here and there, is no more read to its end than a long one.
const TAKEN = HEADS + 8 * READ;

const START = Buffer.from("HTTP/1.");
const END = Buffer.from("\r\n\r\n");
const EOL = Buffer.from("\r\n");
const NOTHING = Buffer.alloc(0);

const CHUNK = /^([0-9a-f]{1,8})(?:;[!#$%&'*+.^_`|~0-9a-z-]+(?:=(?:[!#$%&'*+.^_`|~0-9a-z-]+|"[^"\\]*"))?)*$/i;
// Too late in a trailer.
const FRAMES = /^(?:content-length|transfer-encoding):/i;
const BARE = /[^\r]\n|\r(?!\n|$)/;

/** An answer as it comes in. */
export class Answer {
  /** 0 before its first line is there. */
  status = 0;
  retryAfter: string | null = null;
  /** For how long its connection may carry further requests, ms; 0 when it must be closed. */
  keepMs = 0;
  /** True once a byte of it has come. */
  begun = false;
  readonly #heads: Heads;
  /** Bytes of heads so far. */
  #headed = 0;
  #taken = 0;
  #framing: Framing | null = null;
  /** Bytes of a body with a length that are still to come. */
  #left = 0;
  /** What was read and is not understood yet: part of a head, or of a line between chunks. */
  #rest: Buffer = NOTHING;
  /** What is kept of the body, copied: a part of what was read would hold on to all of it, up to 64 KiB for each byte. */
  #body: Buffer = NOTHING;
  #read = 0;
  /** Bytes of the chunk that are still to come; null between chunks, -1 in the trailer. */
  #chunk: number | null = null;
  #trailer = 0;

  /** What `heads` has read on the same connection is not read again. */
  constructor(heads = new Heads()) {
    this.#heads = heads;
  }

  /** The beginning of its body. */
  get bytes(): Uint8Array {
    return this.#read === 0 ? NOTHING : this.#body.subarray(0, this.#read);
  }

  /** Takes what has come. True when the answer is complete, or enough of it is read. Throws BadAnswer. */
  push(bytes: Buffer): boolean {
    this.begun = true;
    this.#taken += bytes.length;
    // What was looked at before need not be looked at again, but for its last bytes.
    let known = this.#rest.length;
    let rest = known === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    this.#rest = NOTHING;
    while (this.#framing === null) {
      const end = rest.indexOf(END, Math.max(0, known - END.length + 1));
      if (end < 0 || end > HEAD) {
        checkHead(rest, known);
        this.#rest = apart(rest);
        return false;
      }
      known = 0;
      this.#headed += end;
      if (this.#headed > HEADS) throw new BadAnswer("INTERIM");
      this.#head(rest.toString("latin1", 0, end));
      rest = rest.subarray(end + END.length);
    }
    return this.#take(this.#framing, rest);
  }

  /** The other side has nothing more to say. True when the answer is complete by that. */
  close(): boolean {
    this.keepMs = 0;
    return this.#framing?.kind === "close";
  }

  #head(text: string): void {
    const { status, retryAfter, keepMs, framing } = this.#heads.read(text);
    if (status < 200) return;
    this.status = status;
    this.retryAfter = retryAfter;
    this.keepMs = keepMs;
    this.#framing = framing;
    if (framing.kind === "length") this.#left = framing.length;
  }

  #take(framing: Framing, bytes: Buffer): boolean {
    if (framing.kind === "chunked") return this.#takeChunks(bytes);
    if (framing.kind === "close") return this.#keep(bytes);
    const more = bytes.length - this.#left;
    if (more < 0) {
      this.#left -= bytes.length;
      return this.#keep(bytes);
    }
    this.#keep(more === 0 ? bytes : bytes.subarray(0, this.#left));
    // What follows is no part of any answer we wait for.
    if (more > 0) this.keepMs = 0;
    return true;
  }

  /** Keeps a part of the body. True when enough is read. */
  #keep(bytes: Buffer): boolean {
    if (bytes.length === 0) return false;
    const length = Math.min(bytes.length, READ - this.#read);
    const end = this.#read + length;
    if (end > this.#body.length) {
      const larger = Buffer.allocUnsafe(Math.min(READ, 2 * end));
      this.#body.copy(larger, 0, 0, this.#read);
      this.#body = larger;
    }
    bytes.copy(this.#body, this.#read, 0, length);
    this.#read = end;
    return length < bytes.length && this.#leave();
  }

  /** Reads no further. */
  #leave(): true {
    this.keepMs = 0;
    return true;
  }

  #takeChunks(bytes: Buffer): boolean {
    let rest = bytes;
    while (rest.length > 0) {
      if (this.#chunk !== null && this.#chunk > 0) {
        const part = rest.subarray(0, this.#chunk);
        this.#chunk -= part.length;
        rest = rest.subarray(part.length);
        if (this.#keep(part)) return true;
        continue;
      }
      const end = rest.indexOf(EOL);
      if (end < 0 || end > CHUNK_LINE) {
        if (rest.length > CHUNK_LINE || BARE.test(rest.toString("latin1"))) throw new BadAnswer("CHUNK");
        this.#rest = apart(rest);
        break;
      }
      const line = rest.toString("latin1", 0, end);
      rest = rest.subarray(end + EOL.length);
      if (!this.#chunkLine(line)) continue;
      if (rest.length > 0) this.keepMs = 0;
      return true;
    }
    return this.#taken > TAKEN && this.#leave();
  }

  /** A line between chunks. True when it was the last. */
  #chunkLine(line: string): boolean {
    if (this.#chunk === 0) {
      // The end of a chunk's bytes.
      if (line !== "") throw new BadAnswer("CHUNK");
      this.#chunk = null;
      return false;
    }
    if (this.#chunk === -1) {
      if (line === "") return true;
      this.#trailer += line.length;
      if (!FIELD.test(line) || FRAMES.test(line) || this.#trailer > HEAD) throw new BadAnswer("TRAILER");
      return false;
    }
    const size = CHUNK.exec(line)?.[1];
    if (size === undefined) throw new BadAnswer("CHUNK");
    this.#chunk = Number.parseInt(size, 16) || -1;
    return false;
  }
}

/** A small part of what was read, apart from it: otherwise it would hold on to all of it. */
function apart(bytes: Buffer): Buffer {
  return 2 * bytes.length < bytes.buffer.byteLength ? Buffer.from(bytes) : bytes;
}

/** Throws as soon as a head that is not whole yet cannot become one; the first `known` bytes were looked at before. */
function checkHead(bytes: Buffer, known: number): void {
  const n = Math.min(bytes.length, START.length);
  if (bytes.compare(START, 0, n, 0, n) !== 0) throw new BadAnswer("NOT_HTTP");
  if (bytes.length > HEAD) throw new BadAnswer("HEADERS_TOO_LONG");
  if (BARE.test(bytes.toString("latin1", Math.max(0, known - 1)))) throw new BadAnswer("LINE_END");
}
