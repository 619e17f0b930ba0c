import { isUtf8 } from "node:buffer";
import { listInexactNumbers } from "@mailsvc/sdk/contract";
import { ApiError } from "../../lib/api-error.ts";
import { waitForTurn } from "../../lib/turn.ts";
import type { HeaderReader } from "../headers.ts";
import { formatPath } from "../validation.ts";

// Deeper JSON is an attack: a million nested arrays parse well, and then overflow the stack of the code that walks them.
const MAX_JSON_DEPTH = 32;

// Fields of one object. Validating a million of them would block the event loop for seconds.
const MAX_FIELDS = 10_000;

/** Fields, items, objects and lists of a whole body. Parsing ten million of them would block the event loop for ten seconds. */
export const MAX_JSON_VALUES = 500_000;

const OBJECT = 0x7b;
const OBJECT_END = 0x7d;
const ARRAY = 0x5b;
const ARRAY_END = 0x5d;
const COMMA = 0x2c;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Throws ApiError unsupported_media_type for headers that announce anything but JSON in UTF-8. An empty body may have any type. */
export function checkMediaType(headers: HeaderReader): void {
  if (headers.get("content-length") === "0") return;
  assertNotEncoded(headers);
  const type = headers.get("content-type");
  if (!type || type === "application/json") return;
  const media = (type.split(";")[0] as string).trim().toLowerCase();
  if (media !== "application/json" && !media.endsWith("+json"))
    throw new ApiError("unsupported_media_type", `Unsupported Content-Type ${type.slice(0, 80)}. Send application/json.`);
  const charset = /charset\s*=\s*"?([^";\s]+)/i.exec(type)?.[1]?.toLowerCase();
  if (charset && charset !== "utf-8" && charset !== "utf8")
    throw new ApiError("unsupported_media_type", `Unsupported charset ${charset.slice(0, 40)}. Send JSON as UTF-8.`);
}

/** Throws ApiError unsupported_media_type for a compressed body. */
export function assertNotEncoded(headers: HeaderReader): void {
  const encoding = headers.get("content-encoding");
  if (encoding && encoding !== "identity")
    throw new ApiError("unsupported_media_type", `Unsupported Content-Encoding ${encoding.slice(0, 40)}. Send the body uncompressed.`);
}

/**
 * Parses a body as one JSON object, or as an array that becomes the field `list`; an empty body is an empty object. Throws ApiError
 * validation_error that says what is wrong.
 */
export function parseJson(bytes: Uint8Array, list?: string): Record<string, unknown> {
  return bytes.length === 0 ? {} : parseText(decodeUtf8(bytes), list);
}

/**
 * Parses a body as one JSON object, or as an array of anything; an empty body is an empty object. Throws ApiError validation_error, whose
 * detail has the code `invalid_json` if the body is no JSON.
 */
export function parseObjectOrArray(bytes: Uint8Array): object {
  const text = bytes.length === 0 ? "{}" : decodeUtf8(bytes);
  const value = parseValue(text);
  if (typeof value !== "object" || value === null) throw invalidJson("The body must be a JSON object or an array.", "", "invalid_type");
  assertKept(value, text);
  return value;
}

/** The same as `parseJson` for a large body: others have a turn between decoding and parsing, which take 25 and 35 ms for 20 MB. */
export async function parseLongJson(bytes: Uint8Array, list?: string): Promise<Record<string, unknown>> {
  const text = decodeUtf8(bytes);
  await waitForTurn();
  return parseText(text, list);
}

function parseText(text: string, list: string | undefined): Record<string, unknown> {
  const value = parseValue(text);
  if (list !== undefined && !Array.isArray(value)) throw invalidJson("The body must be a JSON array: [ … ].");
  const body = list === undefined ? value : { [list]: value };
  if (typeof body !== "object" || body === null || Array.isArray(body)) throw invalidJson("The body must be a JSON object: { … }.");
  assertKept(body, text);
  return body as Record<string, unknown>;
}

function parseValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalidJson(`The body is not valid JSON: ${(error as Error).message.slice(0, 200)}.`);
  }
}

/** Throws ApiError validation_error for JSON text that nests too deep or has too many values. Looks at bytes only: about 1 µs per KB. */
function assertShape(bytes: Uint8Array): void {
  // Most bodies have few brackets and commas in all, which is found out ten times as fast.
  const hasFewBrackets = !occursMoreThan(bytes, OBJECT, MAX_JSON_DEPTH / 2) && !occursMoreThan(bytes, ARRAY, MAX_JSON_DEPTH / 2);
  if (hasFewBrackets && !occursMoreThan(bytes, COMMA, MAX_JSON_VALUES - MAX_JSON_DEPTH)) return;
  let depth = 0;
  let values = 0;
  for (let i = 0; i < bytes.length; i += 1) {
    const byte = bytes[i];
    if (byte === QUOTE) {
      for (i += 1; i < bytes.length && bytes[i] !== QUOTE; i += 1) if (bytes[i] === BACKSLASH) i += 1;
    } else if (byte === COMMA) {
      values += 1;
    } else if (byte === OBJECT || byte === ARRAY) {
      values += 1;
      depth += 1;
      if (depth > MAX_JSON_DEPTH) throw invalidJson(`The body nests deeper than ${MAX_JSON_DEPTH} levels.`);
    } else if (byte === OBJECT_END || byte === ARRAY_END) {
      depth -= 1;
    }
    if (values > MAX_JSON_VALUES) throw tooManyValues();
  }
}

function tooManyValues(): ApiError {
  const message = `The body has more than ${MAX_JSON_VALUES} fields and items in all. Send several smaller requests.`;
  return invalidJson(message, "", "too_many_values");
}

function occursMoreThan(bytes: Uint8Array, byte: number, limit: number): boolean {
  let count = 0;
  for (let at = bytes.indexOf(byte); at !== -1; at = bytes.indexOf(byte, at + 1)) {
    count += 1;
    if (count > limit) return true;
  }
  return false;
}

function invalidJson(message: string, path = "", code = "invalid_json"): ApiError {
  return new ApiError("validation_error", message, { details: [{ path, code, message }] });
}

/** Decodes a body, without the byte order mark some editors put before it. */
function decodeUtf8(bytes: Uint8Array): string {
  assertShape(bytes);
  if (!isUtf8(bytes)) throw invalidJson("The body is not valid UTF-8.");
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}

/**
 * Refuses what JSON.parse accepts and what would be changed in silence later, or take seconds to validate: a number beyond the range
 * of a double becomes Infinity, and then null where it is stored; validation drops a nested field named `__proto__`. Throws ApiError
 * validation_error.
 */
function assertKept(value: object, text: string): void {
  let changed: ReadonlySet<number> | null = null;
  const isChanged = (number: number): boolean => (changed ??= new Set(Array.from(listInexactNumbers(text), Number))).has(number);
  const fault = findFault(value, isChanged, true);
  if (fault === null) return;
  const path = formatPath(fault.path);
  const messages: Record<Fault["code"], string> = {
    out_of_range: `${path} is out of range: a number must lie between -1.8e308 and 1.8e308.`,
    changed_number: `${path} is a number that would be changed: integers beyond 9007199254740991 are not exact. Send it as a text.`,
    invalid_key: "A field must not be named __proto__.",
    too_many_fields: `${path === "" ? "The body" : path} has more than ${MAX_FIELDS} fields.`,
  };
  throw invalidJson(messages[fault.code], path, fault.code);
}

interface Fault {
  readonly path: (string | number)[];
  readonly code: "out_of_range" | "changed_number" | "invalid_key" | "too_many_fields";
}

function findFault(value: unknown, isChanged: (number: number) => boolean, isRoot = false): Fault | null {
  if (typeof value === "number") {
    if (!Number.isFinite(value)) return { path: [], code: "out_of_range" };
    return Number.isInteger(value) && !Number.isSafeInteger(value) && isChanged(value) ? { path: [], code: "changed_number" } : null;
  }
  if (typeof value !== "object" || value === null) return null;
  if (Array.isArray(value)) {
    // By index: names of a million items would take a second.
    for (let i = 0; i < value.length; i += 1) {
      const fault = findFault(value[i], isChanged);
      if (fault) return within(i, fault);
    }
    return null;
  }
  const keys = Object.keys(value);
  if (keys.length > MAX_FIELDS) return { path: [], code: "too_many_fields" };
  for (const key of keys) {
    // At the root it is reported as an unknown field.
    if (key === "__proto__" && !isRoot) return { path: [key], code: "invalid_key" };
    const fault = findFault((value as Record<string, unknown>)[key], isChanged);
    if (fault) return within(key, fault);
  }
  return null;
}

function within(step: string | number, fault: Fault): Fault {
  fault.path.unshift(step);
  return fault;
}
