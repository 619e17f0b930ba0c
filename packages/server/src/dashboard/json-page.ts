import type * as z from "zod";
import type { BrowserRequest } from "../http/auth.ts";
import type { PageRequest, PageResponse } from "../http/public/public-pages.ts";
import { ApiError } from "../lib/api-error.ts";

const MAX_BODY = 4096;

/** The request of a page as the one of a browser. */
export function toBrowser({ method, header, peer }: PageRequest): BrowserRequest {
  return { method, headers: { get: header }, remoteAddress: peer };
}

/** The JSON body of a request, checked. Throws ApiError validation_error or unsupported_media_type. */
export async function readBody<T>(request: PageRequest, schema: z.ZodType<T>): Promise<T> {
  if (!/^application\/json\b/i.test(request.header("content-type") ?? ""))
    throw new ApiError("unsupported_media_type", "Send application/json.");
  const text = new TextDecoder().decode(await request.body(MAX_BODY));
  const { success, data, error } = schema.safeParse(parse(text));
  if (success) return data;
  throw new ApiError("validation_error", error.issues[0]?.message ?? "Invalid request.");
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** An answer in JSON, which nothing keeps. */
export function json(value: unknown, headers: PageResponse["headers"] = []): PageResponse {
  return {
    status: 200,
    headers: [
      ["content-type", "application/json; charset=utf-8"],
      ["cache-control", "no-store"],
      ["content-security-policy", "sandbox; default-src 'none'"],
      ...headers,
    ],
    body: JSON.stringify(value),
  };
}
