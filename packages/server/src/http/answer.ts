import type { ErrorBody } from "@mailsvc/sdk/contract";
import { FastResponse } from "srvx";
import type { ApiError } from "../lib/api-error.ts";

/** Headers of an answer, as pairs: what the server writes without making a Headers object first. */
export type HeaderList = [string, string][];

// Nothing here may be cached or sniffed: answers hold people's data.
const BASE: readonly [string, string][] = [
  ["cache-control", "no-store"],
  ["x-content-type-options", "nosniff"],
];

export const answer = (status: number, type: string, body: string | Uint8Array, headers: HeaderList): Response =>
  new FastResponse(body as BodyInit, { status, headers: [["content-type", type], ...BASE, ...headers] as [string, string][] });

/** The answer to a request that failed (SPEC 7, DESIGN 3). */
export const errorAnswer = (error: ApiError, requestId: string, headers: HeaderList): Response => {
  const body: ErrorBody = {
    error: { code: error.code, message: error.message, status: error.status, requestId, details: error.details, hint: error.hint },
  };
  return answer(error.status, "application/json", JSON.stringify(body), [...headers, ...Object.entries(error.headers)]);
};
