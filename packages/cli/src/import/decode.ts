import { isUtf8 } from "node:buffer";
import { guessEncodings, LEGACY_ENCODINGS, type LegacyEncoding } from "@mailsvc/sdk/contact-files";
import { invalidInput } from "../runtime/errors.ts";

/** Encodings a file may be in; without one said, it is found out. */
const UNICODE = ["utf-8", "utf-16le", "utf-16be", "utf-32le", "utf-32be"] as const;
export const ENCODINGS: readonly string[] = [...UNICODE, ...Object.keys(LEGACY_ENCODINGS)];
export type Encoding = (typeof UNICODE)[number] | LegacyEncoding;

type Bytes = AsyncIterable<Uint8Array>;
const EMPTY = Buffer.alloc(0);
const UTF32LE_MARK = Buffer.from([0xff, 0xfe, 0, 0]);
const UTF32BE_MARK = Buffer.from([0, 0, 0xfe, 0xff]);
const LF = 0x0a;
const CR = 0x0d;

// Bytes 0x80 to 0x9f; the rest of Windows-1252 is Latin-1. The platform's own decoder takes them for control characters in some versions.
const HIGH = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ";

/**
 * Decodes a stream in constant memory and removes a byte order mark. `name` is used in errors. Throws CliError
 * that names the line where the text is not in its encoding, and for what is no text: workbooks, archives.
 */
export async function* decode(name: string, bytes: Bytes, given?: Encoding): AsyncGenerator<string> {
  const source = bytes[Symbol.asyncIterator]();
  try {
    let start: Buffer = EMPTY;
    // The first chunk of a pipe may be a single byte.
    for (let next = await source.next(); !next.done; next = await source.next()) {
      start = Buffer.concat([start, next.value]);
      if (start.length >= 256) break;
    }
    if (given === undefined) assertText(name, start);
    const { encoding, mark } = detectEncoding(start);
    const used = given ?? encoding;
    const all = prependBytes(start.subarray(encoding === used ? mark : 0), source);
    if (used === "utf-8") yield* decodeUtf8(name, all);
    else if (used === "utf-32le" || used === "utf-32be") yield* decodeUtf32(name, used, all);
    else if (used === "windows-1252") yield* decodeWindows1252(all);
    else yield* decodeByPlatform(name, used, all);
  } finally {
    await source.return?.();
  }
}

function decode1252(bytes: Buffer): string {
  return bytes.toString("latin1").replace(/[\u0080-\u009f]/g, (c) => HIGH.charAt(c.charCodeAt(0) - 0x80));
}

function notTextError(name: string, what: string, hint: string): never {
  throw invalidInput(`${name} ${what}`, [], { code: "not_text", hint });
}

/** Throws CliError for what is no text at all, with how to make one of it. */
function assertText(name: string, start: Buffer): void {
  const begins = (...bytes: number[]): boolean => bytes.every((byte, i) => start[i] === byte);
  const save = "Save it as CSV (UTF-8) and import that file.";
  if (begins(0x50, 0x4b, 0x03, 0x04)) notTextError(name, "is a workbook or an archive, not text.", save);
  if (begins(0xd0, 0xcf, 0x11, 0xe0)) notTextError(name, "is an old Excel workbook, not text.", save);
  if (begins(0x1f, 0x8b)) notTextError(name, "is compressed.", `Write: gunzip -c ${name} | mailsvc … import -`);
  if (begins(0x25, 0x50, 0x44, 0x46)) notTextError(name, "is a PDF.", "Export the data from where it is kept as CSV.");
}

/**
 * The encoding by the byte order mark, else by the positions of zero bytes: every second byte of UTF-16 and three of four of
 * UTF-32 are usually zero. The mark of UTF-32 LE begins with that of UTF-16 LE.
 */
function detectEncoding(start: Buffer): { encoding: Encoding; mark: number } {
  if (start[0] === 0xef && start[1] === 0xbb && start[2] === 0xbf) return { encoding: "utf-8", mark: 3 };
  if (start.indexOf(UTF32LE_MARK) === 0) return { encoding: "utf-32le", mark: 4 };
  if (start.indexOf(UTF32BE_MARK) === 0) return { encoding: "utf-32be", mark: 4 };
  if (start[0] === 0xff && start[1] === 0xfe) return { encoding: "utf-16le", mark: 2 };
  if (start[0] === 0xfe && start[1] === 0xff) return { encoding: "utf-16be", mark: 2 };
  const head = start.subarray(0, 256);
  const zeros = [0, 0, 0, 0];
  head.forEach((byte, i) => {
    if (byte === 0) zeros[i % 4] = (zeros[i % 4] ?? 0) + 1;
  });
  const [a = 0, b = 0, c = 0, d = 0] = zeros;
  const most = head.length / 8;
  if (b > most && c > most && d > most && a < most / 2) return { encoding: "utf-32le", mark: 0 };
  if (a > most && b > most && c > most && d < most / 2) return { encoding: "utf-32be", mark: 0 };
  const [even, odd] = [a + c, b + d];
  if (odd > head.length / 8 && even < odd / 4) return { encoding: "utf-16le", mark: 0 };
  if (even > head.length / 8 && odd < even / 4) return { encoding: "utf-16be", mark: 0 };
  return { encoding: "utf-8", mark: 0 };
}

function countByte(bytes: Buffer, byte: number): number {
  let n = 0;
  for (let at = bytes.indexOf(byte); at !== -1; at = bytes.indexOf(byte, at + 1)) n += 1;
  return n;
}

/** The length of what can be decoded: a character cut off at the end waits for its rest. */
function getCompleteLength(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return bytes.length;
    if (byte >= 0xc0) return (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

/** Counts lines in bytes that go by; files with CR alone have lines too. */
function createLineCounter() {
  let lf = 0;
  let cr = 0;
  return {
    pass: (bytes: Buffer): void => {
      lf += countByte(bytes, LF);
      if (lf === 0) cr += countByte(bytes, CR);
    },
    /** The line that comes next, from 1. */
    line: (): number => (lf === 0 ? cr : lf) + 1,
  };
}

const IS_MIXED =
  "Lines before it are UTF-8, so the file mixes encodings, and no --encoding reads all of it. Correct this line, and others like it.";

/** Throws for the first line that is no UTF-8; `mixed` if one before `bytes` has other characters than ASCII and is. */
function invalidUtf8Error(name: string, bytes: Buffer, first: number, mixed: boolean): never {
  const end = bytes.includes(LF) ? LF : CR;
  let line = first;
  const guesses = guessEncodings(bytes);
  const [best] = guesses;
  let hint =
    best === undefined
      ? `Add --encoding with one of ${ENCODINGS.join(", ")}, or save the file as UTF-8 and import that.`
      : `Add --encoding for what reads well, such as --encoding ${best.encoding}. Otherwise save the file as UTF-8 and import that.`;
  if (mixed) hint = IS_MIXED;
  for (let from = 0; ; line += 1) {
    const to = bytes.indexOf(end, from);
    const part = bytes.subarray(from, to === -1 ? undefined : to);
    if (!isUtf8(part) || to === -1) {
      throw invalidInput(
        `${name}, line ${line}: this is not UTF-8.`,
        guesses.map(({ encoding, sample }) => ({ path: "", code: "not_utf8", message: `In ${encoding} it would read: ${sample}` })),
        { code: "not_utf8", hint },
      );
    }
    if (part.some((byte) => byte > 0x7f)) hint = IS_MIXED;
    from = to + 1;
  }
}

async function* decodeUtf8(name: string, bytes: Bytes): AsyncGenerator<string> {
  const lines = createLineCounter();
  let rest: Buffer = EMPTY;
  let hasOthers = false;
  const checked = (part: Buffer): string => {
    if (!isUtf8(part)) invalidUtf8Error(name, part, lines.line(), hasOthers);
    lines.pass(part);
    const text = part.toString("utf8");
    // A character beyond ASCII is more bytes than units of the text.
    hasOthers ||= text.length !== part.length;
    return text;
  };
  for await (const chunk of bytes) {
    const all = rest.length === 0 ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length) : Buffer.concat([rest, chunk]);
    const end = getCompleteLength(all);
    rest = Buffer.from(all.subarray(end));
    yield checked(all.subarray(0, end));
  }
  if (rest.length > 0) checked(rest);
}

async function* decodeByPlatform(name: string, encoding: Encoding, bytes: Bytes): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
  let line = 1;
  const decoded = (part?: Uint8Array): string => {
    try {
      return part ? decoder.decode(part, { stream: true }) : decoder.decode();
    } catch {
      damagedError(name, encoding, line);
    }
  };
  for await (const chunk of bytes) {
    const text = decoded(chunk);
    yield text;
    line += text.split("\n").length - 1;
  }
  decoded();
}

async function* decodeUtf32(name: string, encoding: "utf-32le" | "utf-32be", bytes: Bytes): AsyncGenerator<string> {
  let rest: Buffer = EMPTY;
  let line = 1;
  for await (const chunk of bytes) {
    const all = Buffer.concat([rest, chunk]);
    const end = all.length - (all.length % 4);
    rest = Buffer.from(all.subarray(end));
    let text = "";
    for (let at = 0; at < end; at += 4) {
      const code = encoding === "utf-32le" ? all.readUInt32LE(at) : all.readUInt32BE(at);
      if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) damagedError(name, encoding, line);
      if (code === LF) line += 1;
      text += String.fromCodePoint(code);
    }
    yield text;
  }
  if (rest.length > 0) damagedError(name, encoding, line);
}

function damagedError(name: string, encoding: Encoding, line: number): never {
  throw invalidInput(`${name}, near line ${line}: this is not ${encoding.toUpperCase()}.`, [], {
    code: encoding.startsWith("utf-16") ? "not_utf16" : encoding.startsWith("utf-32") ? "not_utf32" : "wrong_encoding",
    hint: encoding.startsWith("utf-")
      ? "The file is damaged or cut off. Save it as UTF-8 and import that."
      : "Try another --encoding, or save the file as UTF-8 and import that.",
  });
}

async function* decodeWindows1252(bytes: Bytes): AsyncGenerator<string> {
  for await (const chunk of bytes) yield decode1252(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length));
}

/** Bytes after those read already. */
async function* prependBytes(start: Buffer, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (start.length > 0) yield start;
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
}
