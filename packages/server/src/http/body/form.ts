import { isUtf8 } from "node:buffer";
import type { Endpoint } from "@mailsvc/sdk/contract";
import type { z } from "zod";
import { invalid } from "../../lib/api-error.ts";
import type { HeaderReader } from "../headers.ts";
import { assertNotEncoded } from "./json.ts";

/** True if the body is multipart/form-data. */
export function isForm(headers: HeaderReader): boolean {
  return /^multipart\/form-data\s*(?:;|$)/i.test(headers.get("content-type") ?? "");
}

/** A parsed form: its fields as JSON would have them, and the bytes of its file. */
interface Form {
  readonly fields: Record<string, unknown>;
  readonly file: Uint8Array | null;
}

/**
 * Parses a form. The file in `file` also gives the fields `fileName` and `contentType`; a field that takes a list may be repeated. Throws
 * ApiError validation_error or unsupported_media_type.
 */
export function parseForm({ body }: Endpoint, headers: HeaderReader, bytes: Uint8Array): Form {
  assertNotEncoded(headers);
  const parts = readMultipart(headers.get("content-type") ?? "", bytes);
  const fields: Record<string, unknown> = Object.create(null);
  let file: Part | null = null;
  for (const [name, all] of Map.groupBy(parts, (part) => part.name)) {
    const shown = name.slice(0, 60);
    const list = findKind(body?.shape[name]) === "array";
    if (all.length > 1 && !list) throw invalid(shown, "duplicate", `${shown} appears ${all.length} times; it takes one value.`);
    const texts = all.map((part) => {
      if ((part.fileName !== null) !== (name === "file"))
        throw invalid(
          shown,
          "invalid_type",
          name === "file" ? "file must be a file: its part needs a filename." : "Send the file in the field file.",
        );
      if (part.fileName === null) {
        if (!isUtf8(part.bytes)) throw invalid(shown, "invalid_characters", `${shown} is not valid UTF-8.`);
        return part.bytes.toString();
      }
      return "";
    });
    if (name === "file") file = all[0] ?? null;
    else fields[name] = list ? texts : texts[0];
  }
  return { fields: { ...describeFile(file), ...fields }, file: file?.bytes ?? null };
}

/** The kind of values a field takes, without wrappers such as optional. */
function findKind(schema: z.core.$ZodType | undefined): string | null {
  const { def } = schema?._zod ?? {};
  if (!def) return null;
  return "innerType" in def ? findKind(def.innerType as z.core.$ZodType) : def.type;
}

/** The name and type of a file's part; other fields override them. */
function describeFile(file: Part | null): Record<string, string> {
  return {
    ...(file?.fileName != null && { fileName: file.fileName }),
    ...(file && file.type !== "" && { contentType: file.type }),
  };
}

/** One part of a form. */
interface Part {
  readonly name: string;
  /** Null for a field that is not a file. */
  readonly fileName: string | null;
  /** The media type of its headers; empty without one. */
  readonly type: string;
  readonly bytes: Buffer;
}

// The most parts of one form; no endpoint has as many fields.
const MAX_PARTS = 64;
// The most bytes of the headers of one part.
const MAX_HEAD = 8 * 1024;
const BLANK_LINE = Buffer.from("\r\n\r\n");

/**
 * Splits a form into its parts (RFC 7578). Their bytes are views of the body: nothing is copied. Throws ApiError validation_error.
 */
export function readMultipart(contentType: string, body: Uint8Array): Part[] {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const line = Buffer.from(`\r\n--${parseBoundary(contentType)}`);
  /** Finds the next boundary line from `from`: where it starts and where it ends. */
  const next = (from: number): { at: number; end: number | "close" } => {
    for (let at = bytes.indexOf(line, from); at !== -1; at = bytes.indexOf(line, at + 1)) {
      const end = findLineEnd(bytes, at + line.length);
      if (end !== null) return { at, end };
    }
    return refuse("it ends before the closing boundary, or its boundary differs from the one in Content-Type.");
  };
  const first = bytes.subarray(0, line.length - 2).equals(line.subarray(2)) ? findLineEnd(bytes, line.length - 2) : null;
  let end = first ?? next(0).end;
  const parts: Part[] = [];
  while (end !== "close") {
    if (parts.length === MAX_PARTS) throw invalid("", "too_big", `A form has at most ${MAX_PARTS} parts.`);
    const head = bytes.subarray(end, end + MAX_HEAD).indexOf(BLANK_LINE);
    if (head === -1) return refuse("the headers of a part do not end.");
    const part = parseHead(bytes.subarray(end, end + head));
    const from = end + head + BLANK_LINE.length;
    const close = next(from);
    parts.push({ ...part, bytes: bytes.subarray(from, close.at) });
    end = close.end;
  }
  return parts;
}

function refuse(why: string): never {
  throw invalid("", "invalid_form", `The body is not valid multipart/form-data: ${why}`);
}

function parseBoundary(contentType: string): string {
  const [, quoted, plain] = /;\s*boundary\s*=\s*(?:"([^"]*)"|([^\s;"]*))/i.exec(contentType) ?? [];
  const boundary = quoted ?? plain ?? "";
  return /^[\x20-\x7e]{1,200}$/.test(boundary) ? boundary : refuse("Content-Type has no boundary. Let your HTTP client write that header.");
}

/** Parses parameters such as `name="a"; filename*=UTF-8''b`. If two have the same name, the first counts. */
function parseParameters(value: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  // A quote ends a value only before another parameter or the end: some browsers send whole Windows paths, whose backslashes are
  // literal, and older clients escape quotes with a backslash.
  for (const [, key = "", quoted, plain = ""] of value.matchAll(/;\s*([\w*-]+)\s*=\s*(?:"(.*?)"(?=\s*(?:;|$))|([^\s;"]*))/g)) {
    const text = quoted?.replaceAll('\\"', '"').replace(/%(22|0D|0A)/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
    if (!found.has(key.toLowerCase())) found.set(key.toLowerCase(), text ?? plain);
  }
  return found;
}

/** Decodes a value of RFC 5987, which some clients use for names beyond ASCII; undefined for any other. */
function decodeExtended(value: string | undefined): string | undefined {
  const encoded = /^utf-8'[^']*'(.*)$/i.exec(value ?? "")?.[1];
  try {
    return encoded === undefined ? undefined : decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
}

function parseHead(head: Buffer): Omit<Part, "bytes"> {
  if (!isUtf8(head)) refuse("the headers of a part are not UTF-8.");
  const headers = new Map(
    head
      .toString()
      .split("\r\n")
      .map((line) => {
        const colon = line.indexOf(":");
        return [line.slice(0, Math.max(0, colon)).trim().toLowerCase(), line.slice(colon + 1).trim()];
      }),
  );
  const disposition = headers.get("content-disposition") ?? "";
  const parameters = parseParameters(disposition);
  const name = parameters.get("name");
  if (!/^form-data\s*(?:;|$)/i.test(disposition) || name === undefined)
    return refuse("a part has no Content-Disposition: form-data with a name.");
  const encoding = headers.get("content-transfer-encoding") ?? "binary";
  if (!/^(?:7bit|8bit|binary)$/i.test(encoding)) refuse("a part has a Content-Transfer-Encoding. Send its bytes as they are.");
  return {
    name,
    fileName: decodeExtended(parameters.get("filename*")) ?? parameters.get("filename") ?? null,
    type: headers.get("content-type") ?? "",
  };
}

/** The end of a boundary line whose boundary ends at `at`; "close" for the closing boundary, null when it is no boundary line. */
function findLineEnd(bytes: Buffer, at: number): number | "close" | null {
  if (bytes[at] === 0x2d && bytes[at + 1] === 0x2d) return "close";
  let end = at;
  while (bytes[end] === 0x20 || bytes[end] === 0x09) end += 1;
  return bytes[end] === 0x0d && bytes[end + 1] === 0x0a ? end + 2 : null;
}
