import { hash } from "node:crypto";
import type { ServerResponse } from "node:http";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip, gzipSync } from "node:zlib";
import type { Endpoint, ErrorBody, StreamMessage } from "@mailsvc/sdk/contract";
import type { ApiError } from "../lib/api-error.ts";
import { chooseCoding, takesCoding } from "../lib/content-coding.ts";
import type { HeaderList, HeaderReader } from "./headers.ts";

// Responses hold personal data, so none may be cached or sniffed.
const BASE_HEADERS: Readonly<HeaderList> = [
  ["cache-control", "no-store"],
  ["x-content-type-options", "nosniff"],
];

// A smaller answer fits into the first packet of a connection, or nearly so.
const WORTH_BYTES = 1024;

// About 0.5 ms for 80 kB, which become 5; higher levels save a tenth of that and take twice as long.
const BROTLI_QUALITY = 4;
const GZIP_LEVEL = 4;

const toBrotli = promisify(brotliCompress);
const toGzip = promisify(gzip);

/** A response that has not been written yet. */
export interface HttpResponse<Body = string | Uint8Array> {
  readonly status: number;
  readonly headers: HeaderList;
  readonly body: Body;
}

/** A response of either kind: whole, or in chunks that are written as fast as the client reads them. */
export type AnyResponse = HttpResponse | HttpResponse<AsyncIterable<string>>;

export function buildResponse(status: number, type: string, body: string | Uint8Array, headers: HeaderList): HttpResponse {
  return { status, headers: [["content-type", type], ...BASE_HEADERS, ...headers], body };
}

/** A stream of server-sent events. */
export function buildStream(messages: AsyncIterable<StreamMessage<unknown>>, headers: HeaderList): HttpResponse<AsyncIterable<string>> {
  // A proxy must pass each message on at once.
  const unbuffered: HeaderList = [...headers, ["x-accel-buffering", "no"]];
  return { status: 200, headers: [["content-type", "text/event-stream"], ...BASE_HEADERS, ...unbuffered], body: encodeMessages(messages) };
}

async function* encodeMessages(messages: AsyncIterable<StreamMessage<unknown>>): AsyncGenerator<string> {
  for await (const { id, data } of messages)
    yield data === undefined ? `: ping\nid: ${id}\n\n` : `id: ${id}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** A JSON response with an ETag; 304 without a body when If-None-Match names it. */
export function withETag(json: string, request: HeaderReader, headers: HeaderList): HttpResponse {
  const etag = toETag(json);
  const all: HeaderList = [...headers, ["etag", etag]];
  return matchesETag(request.get("if-none-match"), etag)
    ? buildResponse(304, "application/json", "", all)
    : buildResponse(200, "application/json", json, all);
}

interface StaticDocument {
  readonly etag: string;
  readonly json: string;
  readonly gzipped: Uint8Array;
}

/** Large documents that never change: each is built, serialized, hashed and compressed once. */
export class StaticDocuments {
  readonly #documents = new Map<Endpoint, StaticDocument>();

  /** The document of an endpoint: gzipped when the client accepts that; 304 when If-None-Match names it. */
  async respond(endpoint: Endpoint, build: () => Promise<unknown>, request: HeaderReader, headers: HeaderList): Promise<HttpResponse> {
    const { json, etag, gzipped } = this.#documents.get(endpoint) ?? (await this.#add(endpoint, build));
    const all: HeaderList = [...headers, ["etag", etag], ["vary", "accept-encoding"]];
    if (matchesETag(request.get("if-none-match"), etag)) return buildResponse(304, "application/json", "", all);
    return takesCoding(request.get("accept-encoding"), "gzip")
      ? buildResponse(200, "application/json", gzipped, [...all, ["content-encoding", "gzip"]])
      : buildResponse(200, "application/json", json, all);
  }

  async #add(endpoint: Endpoint, build: () => Promise<unknown>): Promise<StaticDocument> {
    const json = JSON.stringify(await build());
    const document = { json, etag: toETag(json), gzipped: gzipSync(json) };
    this.#documents.set(endpoint, document);
    return document;
  }
}

/**
 * An answer in the coding that its client takes, made on a thread of its own. Only JSON of reads that may be compressed (`Endpoint.uncompressed`):
 * answers to writes are short, and may hold a secret.
 */
export async function compress(response: AnyResponse, endpoint: Endpoint, request: HeaderReader): Promise<AnyResponse> {
  const { headers, body } = response;
  if (endpoint.method !== "GET" || endpoint.uncompressed || endpoint.produces || isStreamed(body)) return response;
  if (typeof body !== "string" || body.length < WORTH_BYTES) return response;
  // Documents that never change are compressed already.
  if (headers.some(([name]) => name === "vary" || name === "content-encoding")) return response;
  const coding = chooseCoding(request.get("accept-encoding"));
  const varying: HeaderList = [...headers, ["vary", "accept-encoding"]];
  if (coding === null) return { ...response, headers: varying, body };
  const bytes = Buffer.from(body);
  const encoded = await (coding === "br"
    ? toBrotli(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } })
    : toGzip(bytes, { level: GZIP_LEVEL }));
  // A strong ETag would promise the same bytes in every coding.
  const all = varying.map(([name, value]): [string, string] => [name, name === "etag" ? `W/${value}` : value]);
  return { ...response, headers: [...all, ["content-encoding", coding]], body: encoded };
}

/** True if a list of ETags, as in If-None-Match and If-Match, contains this one. Weak ones count as well. */
function matchesETag(list: string | null, etag: string): boolean {
  return list !== null && (list.trim() === "*" || list.split(",").some((one) => one.trim().replace(/^W\//, "") === etag));
}

/** Responds to a request that failed; `headers` are those of every response to it. */
export type RespondToError = (
  error: ApiError,
  requestId: string,
  headers: HeaderList,
  request: { readonly headers: HeaderReader; search(): URLSearchParams },
  endpoint: Endpoint | null,
) => HttpResponse;

/** The response to a request that failed (docs/reference/errors.md). */
export function errorResponse(error: ApiError, requestId: string, headers: HeaderList): HttpResponse {
  const body: ErrorBody = {
    error: { code: error.code, message: error.message, status: error.status, requestId, details: error.details, hint: error.hint },
  };
  return buildResponse(error.status, "application/json", JSON.stringify(body), [...headers, ...Object.entries(error.headers)]);
}

/** Writes a response to its connection at once, which saves a tenth of a small request. */
export function writeResponse(res: ServerResponse, { status, headers, body }: HttpResponse): void {
  const lines = status === 304 ? [] : ["content-length", String(Buffer.byteLength(body))];
  for (const [name, value] of headers) lines.push(name, value);
  res.writeHead(status, lines);
  res.end(body);
}

/** True if a body comes in chunks. */
export function isStreamed(body: AnyResponse["body"]): body is AsyncIterable<string> {
  return typeof body === "object" && Symbol.asyncIterator in body;
}

function toETag(text: string): string {
  return `"${hash("sha256", text, "base64url").slice(0, 27)}"`;
}
