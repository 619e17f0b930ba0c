import { ERRORS, type ErrorDetail } from "../contract/index.ts";
import { ApiError, ConnectionError, type RequestSummary } from "../errors.ts";
import type { HttpResponse } from "../platform/transport.ts";
import { retryAfterMs } from "./retry.ts";

type Redact = (text: string) => string;

/** Turns a response other than 2xx into an ApiError. The response may come from mailsvc (docs/reference/errors.md), a proxy or another server. */
export function toApiError(response: HttpResponse, request: RequestSummary, redact: Redact, now: number): ApiError {
  const { status, headers } = response;
  const body = record(record(parse(response.bytes)).error);
  const code = text(body.code);
  const common = {
    request,
    status,
    headers,
    requestId: text(body.requestId) ?? headers["x-request-id"] ?? null,
    retryAfterMs: retryAfterMs(headers, now),
  };
  if (code === undefined) {
    const type = headers["content-type"]?.split(";")[0] ?? "no content type";
    return new ApiError({
      ...common,
      code: "unexpected_answer",
      message: `${request.method} ${request.path} returned ${status} (${type}), which is not a mailsvc response.`,
      hint: foreignServerHint(status),
    });
  }
  const known = Object.hasOwn(ERRORS, code) ? ERRORS[code as keyof typeof ERRORS].hint : "";
  return new ApiError({
    ...common,
    code,
    message: redact(text(body.message) ?? `${request.method} ${request.path} returned ${status} ${code}.`),
    details: toDetails(body.details, redact),
    hint: redact(text(body.hint) ?? known),
  });
}

// Errors that a retry cannot fix: unknown hosts, invalid certificates, invalid arguments.
const PERMANENT = /^(?:ENOTFOUND|CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|ERR_TLS_|ERR_SSL_|EPROTO|UND_ERR_INVALID_|ERR_INVALID_)/;

const REASONS: Record<string, string> = {
  ECONNREFUSED: "refused the connection",
  ECONNRESET: "closed the connection before the response was complete",
  UND_ERR_SOCKET: "closed the connection before the response was complete",
  EPIPE: "closed the connection before the request was sent",
  ENOTFOUND: "cannot be found",
  EAI_AGAIN: "cannot be looked up at the moment",
  ETIMEDOUT: "cannot be reached in time",
  UND_ERR_CONNECT_TIMEOUT: "cannot be reached in time",
};

const HINTS: Record<string, string> = {
  ECONNREFUSED: "Is the server running there? Start one with: mailsvc serve",
  ENOTFOUND: "Check the spelling of the host, and that this machine has DNS. Behind a proxy, set HTTPS_PROXY.",
  EAI_AGAIN: "Check that this machine has DNS.",
};

/** Turns an error of a transport into a ConnectionError. */
export function toConnectionError(cause: unknown, request: RequestSummary, baseUrl: string, redact: Redact): ConnectionError {
  const code = findCode(cause);
  const words = REASONS[code ?? ""] ?? `could not be reached: ${redact(cause instanceof Error ? cause.message : String(cause))}`;
  return new ConnectionError({
    message: `${request.method} ${request.path}: ${baseUrl} ${words}${code === null ? "" : ` (${code})`}.`,
    hint: HINTS[code ?? ""] ?? "",
    request,
    cause: cleanCause(cause, redact),
    code,
    transient: !PERMANENT.test(code ?? ""),
  });
}

/** The ConnectionError for a 2xx response whose body is not valid JSON: truncated, or not from mailsvc. */
export function toInvalidBodyError(response: HttpResponse, request: RequestSummary): ConnectionError {
  const type = response.headers["content-type"]?.split(";")[0] ?? "no content type";
  const json = type.includes("json");
  return new ConnectionError({
    message: `${request.method} ${request.path} returned ${response.status}, but its body of ${response.bytes.length} bytes (${type}) is not valid JSON.`,
    hint: json ? "The response was truncated or altered on the way." : foreignServerHint(response.status),
    request,
    code: null,
    transient: json,
  });
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}

function toDetails(value: unknown, redact: Redact): ErrorDetail[] {
  return (Array.isArray(value) ? value : []).map(record).map((detail) => ({
    path: redact(text(detail.path) ?? ""),
    code: text(detail.code) ?? "invalid",
    message: redact(text(detail.message) ?? ""),
    ...(typeof detail.line === "number" && { line: detail.line }),
    ...(typeof detail.column === "number" && { column: detail.column }),
  }));
}

/** The hint for a response that did not come from mailsvc. */
function foreignServerHint(status: number): string {
  return status >= 300 && status < 400
    ? "Redirects are not followed, because they would forward the API key. Set baseUrl to the final address."
    : "Another server responded. Check baseUrl and any proxy in between.";
}

/** Finds the first system error code in an error, its causes, or its aggregated errors. */
function findCode(error: unknown, depth = 0): string | null {
  const { code, cause, errors } = record(error);
  if (typeof code === "string") return code;
  if (depth === 5) return null;
  for (const inner of [cause, ...(Array.isArray(errors) ? errors : [])]) {
    const found = inner === undefined ? null : findCode(inner, depth + 1);
    if (found !== null) return found;
  }
  return null;
}

/** Removes secrets from an error of a transport, whose message may quote headers. */
function cleanCause(error: unknown, redact: Redact, depth = 0): unknown {
  if (!(error instanceof Error)) return typeof error === "string" ? redact(error) : undefined;
  const { message, stack = "", cause } = error;
  const inner = cause === undefined || depth === 5 ? undefined : cleanCause(cause, redact, depth + 1);
  const parts = error instanceof AggregateError ? error.errors.map(String).join() : "";
  if (redact(message + stack + parts) === message + stack + parts && inner === cause) return error;
  return Object.assign(new Error(redact(message), { cause: inner }), { stack: redact(stack) });
}
