import { createHash } from "node:crypto";
import type { Endpoint } from "@mailsvc/sdk/contract";
import { ApiError, invalid } from "../../lib/api-error.ts";
import { CHUNK_BYTES, waitForTurn } from "../../lib/turn.ts";
import { MB } from "../../lib/units.ts";
import type { HeaderReader } from "../headers.ts";
import { isForm, parseForm } from "./form.ts";
import { parseJson } from "./json.ts";

/** The file of an upload, decoded. */
export interface FileBody {
  readonly bytes: Uint8Array;
  /** Hexadecimal. */
  readonly sha256: string;
}

/** The body of an upload: its fields, and its file, which is decoded only when `file` is called. */
interface UploadBody {
  /** With a placeholder instead of the file's contents. */
  readonly fields: Record<string, unknown>;
  /** Throws ApiError validation_error for invalid base64. */
  file(): Promise<FileBody>;
}

const FIELD = "contentBase64";
const PLACEHOLDER = "AA==";
// The most bytes of the fields sent with a file: far more than they need.
const MAX_FIELD_BYTES = MB;
// Only strings longer than this are cut out of the JSON before it is parsed.
const LONG = 16 * 1024;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Reads the body of an upload, a form or JSON. Throws ApiError validation_error, payload_too_large or unsupported_media_type. */
export function readUpload(endpoint: Endpoint, headers: HeaderReader, body: Uint8Array): UploadBody {
  return isForm(headers) ? readForm(endpoint, headers, body) : readJson(body);
}

/** The end of the JSON string whose opening quote is at `start`; -1 when it does not end, or is long and contains a quote. */
function findStringEnd(json: Buffer, start: number): number {
  for (let at = json.indexOf(QUOTE, start + 1); at !== -1; at = json.indexOf(QUOTE, at + 1)) {
    // Base64 contains no quote, so this string is not worth scanning megabyte by megabyte.
    if (at - start > LONG && json[at - 1] === BACKSLASH) return -1;
    let escapes = 0;
    while (json[at - 1 - escapes] === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return at;
  }
  return -1;
}

/** Cuts the long string of the file's contents out of the JSON; null when there is none near the beginning. */
function cutContents(json: Buffer): { text: Buffer; rest: Buffer } | null {
  let at = 0;
  while (at < MAX_FIELD_BYTES) {
    const start = json.indexOf(QUOTE, at);
    if (start === -1) return null;
    const end = findStringEnd(json, start);
    if (end === -1) return null;
    if (end - start > LONG && /"contentBase64"\s*:\s*$/.test(json.toString("latin1", Math.max(0, start - 200), start)))
      return {
        text: json.subarray(start + 1, end),
        rest: Buffer.concat([json.subarray(0, start + 1), Buffer.from(PLACEHOLDER), json.subarray(end)]),
      };
    at = end + 1;
  }
  return null;
}

async function hashFile(bytes: Uint8Array): Promise<FileBody> {
  const hash = createHash("sha256");
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    if (at > 0) await waitForTurn();
    hash.update(bytes.subarray(at, at + CHUNK_BYTES));
  }
  return { bytes, sha256: hash.digest("hex") };
}

async function decodeFile(text: Buffer): Promise<FileBody> {
  const bytes = await decodeBase64(text);
  if (bytes === null)
    throw invalid(
      FIELD,
      "invalid_base64",
      `${FIELD} is not valid base64. Use A to Z, a to z, 0 to 9, + and /, without spaces or line breaks.`,
    );
  return hashFile(bytes);
}

function assertFieldSize(size: number): void {
  if (size > MAX_FIELD_BYTES)
    throw new ApiError("payload_too_large", `The fields sent with the file are too large: at most ${MAX_FIELD_BYTES / 1024 / 1024} MB.`);
}

/** An upload whose file is base64: cut out of the JSON, or in its field when it is short. */
function toUploadBody(fields: Record<string, unknown>, text: Buffer | null): UploadBody {
  return {
    fields,
    file: () => decodeFile(text ?? Buffer.from(JSON.stringify(fields[FIELD] ?? "").slice(1, -1))),
  };
}

function readJson(body: Uint8Array): UploadBody {
  const json = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const found = cutContents(json);
  assertFieldSize((found?.rest ?? json).length);
  const fields = parseJson(found?.rest ?? json);
  return toUploadBody(fields, found && fields[FIELD] === PLACEHOLDER ? found.text : null);
}

function readForm(endpoint: Endpoint, headers: HeaderReader, body: Uint8Array): UploadBody {
  const { fields, file } = parseForm(endpoint, headers, body);
  assertFieldSize(body.length - (file?.length ?? 0));
  if (file === null) return toUploadBody(fields, null);
  if (fields[FIELD] !== undefined) throw invalid(FIELD, "unexpected", `Send either file or ${FIELD}, not both.`);
  return { fields: { ...fields, [FIELD]: PLACEHOLDER }, file: () => hashFile(file) };
}

// The longest escape in JSON, \\u0000, has six characters.
const ESCAPE = 6;

/**
 * Decodes base64 as it appears between the quotes of JSON; null when it is invalid. Works in chunks and yields to the event loop
 * between them: thirty megabytes at once would block it for a tenth of a second.
 */
export async function decodeBase64(text: Buffer): Promise<Uint8Array | null> {
  const bytes = Buffer.allocUnsafeSlow(Math.ceil((text.length * 3) / 4));
  let written = 0;
  let rest = "";
  for (let from = 0; from < text.length; ) {
    const to = findChunkEnd(text, from);
    const chunk = unescapeJson(text.toString("latin1", from, to));
    if (chunk === null) return null;
    const last = to === text.length;
    const all = rest + chunk;
    const digits = last ? all.replace(/={1,2}$/, "") : all.slice(0, all.length - (all.length % 4));
    rest = last ? "" : all.slice(digits.length);
    // Node skips characters that are not base64 digits, and then bytes are missing.
    const size = bytes.write(digits, written, "base64");
    if (size !== Math.floor((digits.length * 3) / 4) || digits.length % 4 === 1) return null;
    written += size;
    from = to;
    if (!last) await waitForTurn();
  }
  return bytes.subarray(0, written);
}

/** The end of the chunk that starts at `from`, never within an escape. */
function findChunkEnd(text: Buffer, from: number): number {
  const end = from + CHUNK_BYTES;
  if (end >= text.length) return text.length;
  const at = text.subarray(end - ESCAPE, end).indexOf(BACKSLASH);
  return at === -1 ? end : end - ESCAPE + at;
}

/** Resolves the escapes of a JSON string; null when one is invalid. */
function unescapeJson(text: string): string | null {
  if (!text.includes("\\")) return text;
  try {
    return JSON.parse(`"${text}"`) as string;
  } catch {
    return null;
  }
}
