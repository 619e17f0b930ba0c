import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { ApiError } from "../../lib/api-error.ts";
import type { HeaderReader } from "../headers.ts";
import { drainRequest } from "./drain.ts";
import { exceedsJsonDepth, MAX_JSON_DEPTH } from "./json-depth.ts";

const MB = 1024 * 1024;

/** Reads the body of a node request straight from its socket, `limit` bytes at most. Throws ApiError payload_too_large. */
export function readNodeBody(req: IncomingMessage, limit: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    // A connection that broke while its request waited says nothing more, not even that.
    if (req.destroyed) {
      reject(ended());
      return;
    }
    const refuse = (): void => {
      drainRequest(req);
      reject(tooLarge(limit));
    };
    if (Number(req.headers["content-length"] ?? 0) > limit) {
      refuse();
      return;
    }
    let first: Buffer | null = null;
    let rest: Buffer[] | null = null;
    let size = 0;
    req.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > limit) refuse();
      else if (first === null) first = chunk;
      else if (rest === null) rest = [first, chunk];
      else rest.push(chunk);
    });
    req.on("end", () => resolve(rest === null ? (first ?? Buffer.alloc(0)) : Buffer.concat(rest)));
    req.on("error", () => reject(ended()));
    req.on("close", () => reject(ended()));
  });
}

/** The body of a request made in process, `limit` bytes at most. Throws ApiError payload_too_large. */
export async function readWebBody(request: Request, limit: number): Promise<Uint8Array> {
  if (Number(request.headers.get("content-length") ?? 0) > limit) throw tooLarge(limit);
  const bytes = new Uint8Array(await request.arrayBuffer());
  if (bytes.length > limit) throw tooLarge(limit);
  return bytes;
}

/** Refuses what is no JSON by its headers; of a body without a byte the type does not matter. Throws ApiError unsupported_media_type. */
export function checkMediaType(headers: HeaderReader): void {
  if (headers.get("content-length") === "0") return;
  const encoding = headers.get("content-encoding");
  if (encoding && encoding !== "identity")
    throw new ApiError("unsupported_media_type", `Content-Encoding ${encoding.slice(0, 40)} is not read here. Send the body as it is.`);
  const type = headers.get("content-type");
  if (type === null || type === "application/json") return;
  const media = (type.split(";")[0] as string).trim().toLowerCase();
  if (media !== "application/json" && !media.endsWith("+json"))
    throw new ApiError("unsupported_media_type", `Content-Type ${type.slice(0, 80)} is not read here.`);
  const charset = /charset\s*=\s*"?([^";\s]+)/i.exec(type)?.[1]?.toLowerCase();
  if (charset && charset !== "utf-8" && charset !== "utf8")
    throw new ApiError("unsupported_media_type", "JSON is UTF-8; no other charset is read here.");
}

const PROTO = "__proto__";

/** Parses a body as one JSON object. Throws ApiError validation_error with what is wrong with it. */
export function parseJson(bytes: Uint8Array): Record<string, unknown> {
  if (bytes.length === 0) return {};
  const refuse = (message: string): never => {
    throw new ApiError("validation_error", message, { details: [{ path: "", code: "invalid_json", message }] });
  };
  if (exceedsJsonDepth(bytes)) refuse(`The body nests deeper than ${MAX_JSON_DEPTH} levels.`);
  if (!isUtf8(bytes)) refuse("The body is not valid UTF-8.");
  const text = textOf(bytes);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    refuse(`The body is not valid JSON: ${(error as Error).message.slice(0, 200)}.`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) refuse("The body must be a JSON object: { … }.");
  // Looked for only where it may stand, if need be in escapes.
  const path = text.includes(PROTO) || text.includes("\\u005") ? protoIn(value) : null;
  if (path !== null) {
    const message = `No field can be called ${PROTO}.`;
    throw new ApiError("validation_error", message, { details: [{ path, code: "invalid_key", message }] });
  }
  return value as Record<string, unknown>;
}

function size(bytes: number): string {
  return bytes < MB ? `${Math.floor(bytes / 1024)} KB` : `${Math.floor(bytes / MB)} MB`;
}

function tooLarge(limit: number): ApiError {
  return new ApiError("payload_too_large", `The body is larger than ${size(limit)}.`, {
    // What is left of the body is not read, so the connection cannot be used again.
    headers: { connection: "close" },
  });
}

function ended(): ApiError {
  return new ApiError("validation_error", "The request ended before its body was complete.");
}

/** The text of valid UTF-8, without the mark some editors put before it. */
function textOf(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}

/**
 * Where a field of that name stands within the fields of a body, as a path; null when there is none. Validation would drop it
 * without a word, but for one among the fields themselves.
 */
function protoIn(value: unknown, path: readonly string[] = []): string | null {
  if (typeof value !== "object" || value === null) return null;
  for (const [key, inner] of Object.entries(value)) {
    const found = key === PROTO && path.length > 0 ? [...path, key].join(".") : protoIn(inner, [...path, key]);
    if (found !== null) return found;
  }
  return null;
}
