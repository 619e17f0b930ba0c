import { hash } from "node:crypto";
import type { ServerResponse } from "node:http";
import type { ErrorBody } from "@mailsvc/sdk/contract";
import type { H3Event } from "h3";
import { FastResponse } from "srvx";
import type { ApiError } from "../lib/api-error.ts";
import type { HeaderList, HeaderReader } from "./headers.ts";

// Nothing here may be cached or sniffed: answers hold people's data.
const BASE: readonly [string, string][] = [
  ["cache-control", "no-store"],
  ["x-content-type-options", "nosniff"],
];

/** What goes back to the caller. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: HeaderList;
  readonly body: string | Uint8Array;
}

export function buildResponse(status: number, type: string, body: string | Uint8Array, headers: HeaderList): HttpResponse {
  return {
    status,
    headers: [["content-type", type], ...BASE, ...headers],
    body,
  };
}

/** Whether a list of ETags, as If-None-Match and If-Match have it, names this one. Weak ones count as well. */
export function matchesETag(list: string | null, etag: string): boolean {
  return list !== null && (list.trim() === "*" || list.split(",").some((one) => one.trim().replace(/^W\//, "") === etag));
}

/** JSON with an ETag: 304 for a caller who has it already. */
export function withETag(json: string, request: HeaderReader, headers: HeaderList): HttpResponse {
  const etag = `"${hash("sha256", json, "base64url").slice(0, 27)}"`;
  const own: HeaderList = [...headers, ["etag", etag]];
  return matchesETag(request.get("if-none-match"), etag)
    ? buildResponse(304, "application/json", "", own)
    : buildResponse(200, "application/json", json, own);
}

/** Writes an answer to its connection at once, which saves a tenth of a small request. */
export function writeResponse(res: ServerResponse, { status, headers, body }: HttpResponse): void {
  const lines = status === 304 ? [] : ["content-length", String(Buffer.byteLength(body))];
  for (const [name, value] of headers) lines.push(name, value);
  res.writeHead(status, lines);
  res.end(body);
}

/** Sends an answer of a routed request: to its connection, or in process as a Response. */
export function sendResponse({ runtime }: Pick<H3Event, "runtime">, answer: HttpResponse): Response {
  const res = runtime?.node?.res as ServerResponse | undefined;
  if (!res) {
    const body = answer.status === 304 ? null : (answer.body as BodyInit);
    return new FastResponse(body, { status: answer.status, headers: answer.headers });
  }
  writeResponse(res, answer);
  // Nothing is left to write; what comes after sees that and lets the connection be.
  return new FastResponse(null);
}

/** The answer to a request that failed (SPEC 7, DESIGN 3). */
export function errorResponse(error: ApiError, requestId: string, headers: HeaderList): HttpResponse {
  const body: ErrorBody = {
    error: { code: error.code, message: error.message, status: error.status, requestId, details: error.details, hint: error.hint },
  };
  return buildResponse(error.status, "application/json", JSON.stringify(body), [...headers, ...Object.entries(error.headers)]);
}
