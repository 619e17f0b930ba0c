import { guessEncodings, LEGACY_ENCODINGS } from "../../../../sdk/src/contact-files/encodings.ts";
import { RequestError } from "../../api/request-error.ts";

/** Encodings a file may be in, as people choose them. */
export const ENCODINGS = { "utf-8": "UTF-8", "utf-16le": "UTF-16 LE", "utf-16be": "UTF-16 BE", ...LEGACY_ENCODINGS } as const;
export type Encoding = keyof typeof ENCODINGS;

// Bytes read at once. Parsing them takes a few milliseconds, so the page stays responsive.
const SLICE = 64 * 1024;

// So much of a file says in which encoding it is.
const HEAD = 256 * 1024;

/** First bytes of files that are not text, each with a name and a hint. */
const NO_TEXT: readonly (readonly [bytes: readonly number[], what: string, hint: string])[] = [
  [[0x50, 0x4b, 0x03, 0x04], "a workbook or an archive", "Save it as CSV (UTF-8) and import that file."],
  [[0xd0, 0xcf, 0x11, 0xe0], "an old Excel workbook", "Save it as CSV (UTF-8) and import that file."],
  [[0x1f, 0x8b], "compressed", "Unpack it and import the file in it."],
  [[0x25, 0x50, 0x44, 0x46], "a PDF", "Export the data from where it is kept as CSV."],
];

/** The encoding of a file, by its first bytes. Throws RequestError for what is no text. */
export async function detectEncoding(file: File): Promise<Encoding> {
  const head = new Uint8Array(await file.slice(0, HEAD).arrayBuffer());
  const begins = (bytes: readonly number[]): boolean => bytes.every((byte, i) => head[i] === byte);
  const other = NO_TEXT.find(([bytes]) => begins(bytes));
  if (other) throw fileError(`${file.name} is ${other[1]}, not text.`, other[2]);
  if (begins([0xff, 0xfe])) return "utf-16le";
  if (begins([0xfe, 0xff])) return "utf-16be";
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(head, { stream: true });
    return "utf-8";
  } catch {
    return guessEncodings(head)[0]?.encoding ?? "windows-1252";
  }
}

/** The text of a file in small pieces, and up to which byte each of them goes. Throws RequestError where it is not in its encoding. */
export async function* readText(file: File, encoding: Encoding): AsyncGenerator<{ readonly text: string; readonly bytes: number }> {
  const decoder = new TextDecoder(encoding, { fatal: true });
  let line = 1;
  for (let at = 0; at < file.size; at += SLICE) {
    const slice = await file.slice(at, at + SLICE).arrayBuffer();
    const last = at + SLICE >= file.size;
    let text: string;
    try {
      text = decoder.decode(slice, { stream: !last });
    } catch {
      throw fileError(`Near line ${line} the file is not ${ENCODINGS[encoding]}.`, "Choose another encoding, or save the file as UTF-8.");
    }
    line += text.split("\n").length - 1;
    yield { text, bytes: Math.min(file.size, at + SLICE) };
  }
}

/** Returns an error about a file, with a hint to fix it. */
export function fileError(message: string, hint: string): RequestError {
  return new RequestError({ code: "validation_error", message, hint });
}
