import { createHash } from "node:crypto";
import type { Endpoint } from "@mailsvc/sdk/contract";
import { ApiError, invalid } from "../../lib/api-error.ts";
import { CHUNK_BYTES, yieldToEventLoop } from "../../lib/turn.ts";
import type { HeaderReader } from "../headers.ts";
import { decodeBase64 } from "./base64.ts";
import { isForm, parseForm } from "./form.ts";
import { parseJson } from "./json.ts";

/** The file of an upload. */
export interface FileBody {
  readonly bytes: Uint8Array;
  /** In hexadecimal digits. */
  readonly sha256: string;
}

/** The body of an upload: what stands beside the file, and the file, which is not looked at before `file` is called. */
export interface UploadBody {
  /** With something in place of the file's contents. */
  readonly fields: Record<string, unknown>;
  /** Throws ApiError validation_error for what is no base64. */
  file(): Promise<FileBody>;
}

const FIELD = "contentBase64";
const STAND_IN = "AA==";
// What may stand beside a file: far more than all its fields take.
const BESIDE = 1024 * 1024;
// A text as long as this is cut out of the JSON around it.
const LONG = 16 * 1024;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Reads the body of an upload, a form or else JSON. Throws ApiError validation_error, payload_too_large or unsupported_media_type. */
export function readUpload(endpoint: Endpoint, headers: HeaderReader, body: Uint8Array): UploadBody {
  return isForm(headers) ? readForm(endpoint, headers, body) : readJson(body);
}

/** Where the text in JSON ends whose quote stands at `start`; -1 for one that does not end, or is long and holds a quote. */
function textEnd(json: Buffer, start: number): number {
  for (let at = json.indexOf(QUOTE, start + 1); at !== -1; at = json.indexOf(QUOTE, at + 1)) {
    // No base64: not worth a look at each of its megabytes.
    if (at - start > LONG && json[at - 1] === BACKSLASH) return -1;
    let escapes = 0;
    while (json[at - 1 - escapes] === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return at;
  }
  return -1;
}

/** The long text that is the file's contents, and the JSON without it; null when there is none near the beginning. */
function cut(json: Buffer): { text: Buffer; rest: Buffer } | null {
  let at = 0;
  while (at < BESIDE) {
    const start = json.indexOf(QUOTE, at);
    if (start === -1) return null;
    const end = textEnd(json, start);
    if (end === -1) return null;
    if (end - start > LONG && /"contentBase64"\s*:\s*$/.test(json.toString("latin1", Math.max(0, start - 200), start)))
      return {
        text: json.subarray(start + 1, end),
        rest: Buffer.concat([json.subarray(0, start + 1), Buffer.from(STAND_IN), json.subarray(end)]),
      };
    at = end + 1;
  }
  return null;
}

async function fileOf(bytes: Uint8Array): Promise<FileBody> {
  const hash = createHash("sha256");
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    if (at > 0) await yieldToEventLoop();
    hash.update(bytes.subarray(at, at + CHUNK_BYTES));
  }
  return { bytes, sha256: hash.digest("hex") };
}

async function fromBase64(text: Buffer): Promise<FileBody> {
  const bytes = await decodeBase64(text);
  if (bytes === null)
    throw invalid(FIELD, "invalid_base64", `${FIELD} is not base64: A to Z, a to z, 0 to 9, + and /, nothing between them.`);
  return fileOf(bytes);
}

function assertBeside(size: number): void {
  if (size > BESIDE) throw new ApiError("payload_too_large", `What stands beside the file is larger than ${BESIDE / 1024 / 1024} MB.`);
}

/** The file as base64: cut out, or among the fields where it is short. */
function withText(fields: Record<string, unknown>, text: Buffer | null): UploadBody {
  return {
    fields,
    file: () => fromBase64(text ?? Buffer.from(JSON.stringify(fields[FIELD] ?? "").slice(1, -1))),
  };
}

function readJson(body: Uint8Array): UploadBody {
  const json = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const found = cut(json);
  assertBeside((found?.rest ?? json).length);
  const fields = parseJson(found?.rest ?? json);
  return withText(fields, found && fields[FIELD] === STAND_IN ? found.text : null);
}

function readForm(endpoint: Endpoint, headers: HeaderReader, body: Uint8Array): UploadBody {
  const { fields, file } = parseForm(endpoint, headers, body);
  assertBeside(body.length - (file?.length ?? 0));
  if (file === null) return withText(fields, null);
  if (fields[FIELD] !== undefined) throw invalid(FIELD, "unexpected", `Give either file or ${FIELD}.`);
  return { fields: { ...fields, [FIELD]: STAND_IN }, file: () => fileOf(file) };
}
