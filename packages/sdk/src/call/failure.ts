import { ERRORS, type ErrorDetail } from "../contract/index.ts";
import { ApiError, ConnectionError, type RequestSummary } from "../errors.ts";
import { retryAfterMs } from "./retry.ts";
import type { HttpResponse } from "./transport.ts";

type Redact = (text: string) => string;

/** Makes an ApiError of an answer that is not 2xx, whoever wrote it: the service (SPEC 7), a proxy, another server. */
export function toApiError(answer: HttpResponse, request: RequestSummary, redact: Redact, now: number): ApiError {
  const { status, headers } = answer;
  const body = record(record(parse(answer.bytes)).error);
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
      message: `${request.method} ${request.path} was answered with ${status} (${type}), which is not an answer of mailsvc.`,
      hint: strangerHint(status),
    });
  }
  const known = Object.hasOwn(ERRORS, code) ? ERRORS[code as keyof typeof ERRORS].hint : "";
  return new ApiError({
    ...common,
    code,
    message: redact(text(body.message) ?? `${request.method} ${request.path} was answered with ${status} ${code}.`),
    details: toDetails(body.details, redact),
    hint: redact(text(body.hint) ?? known),
  });
}

// Faults that stand until somebody changes something: names, certificates, arguments.
const PERMANENT = /^(?:ENOTFOUND|CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|ERR_TLS_|ERR_SSL_|EPROTO|UND_ERR_INVALID_|ERR_INVALID_)/;

const REASONS: Record<string, string> = {
  ECONNREFUSED: "refused the connection",
  ECONNRESET: "closed the connection before the answer was complete",
  UND_ERR_SOCKET: "closed the connection before the answer was complete",
  EPIPE: "closed the connection before the request was sent",
  ENOTFOUND: "cannot be found",
  EAI_AGAIN: "cannot be looked up at the moment",
  ETIMEDOUT: "cannot be reached in time",
  UND_ERR_CONNECT_TIMEOUT: "cannot be reached in time",
};

/** Makes a ConnectionError of whatever a transport threw. */
export function toConnectionError(cause: unknown, request: RequestSummary, baseUrl: string, redact: Redact): ConnectionError {
  const code = findCode(cause);
  const words = REASONS[code ?? ""] ?? `could not be asked: ${redact(cause instanceof Error ? cause.message : String(cause))}`;
  return new ConnectionError({
    message: `${request.method} ${request.path}: ${baseUrl} ${words}${code === null ? "" : ` (${code})`}.`,
    hint: code === "ECONNREFUSED" ? "Is the server running there? Start one with: mailsvc serve" : "",
    request,
    cause: cleanCause(cause, redact),
    code,
    transient: !PERMANENT.test(code ?? ""),
  });
}

/** The ConnectionError of a 2xx answer whose body is not the JSON it should be: cut off, or not from mailsvc. */
export function toInvalidBodyError(answer: HttpResponse, request: RequestSummary): ConnectionError {
  const type = answer.headers["content-type"]?.split(";")[0] ?? "no content type";
  const json = type.includes("json");
  return new ConnectionError({
    message: `${request.method} ${request.path} was answered with ${answer.status}, but its ${answer.bytes.length} bytes (${type}) are not valid JSON.`,
    hint: json ? "The answer was cut off or altered on its way." : strangerHint(answer.status),
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

/** What a person can do when the answer did not come from mailsvc. */
function strangerHint(status: number): string {
  return status >= 300 && status < 400
    ? "Redirects are not followed, because the key would go along. Set baseUrl to the final address."
    : "Something other than mailsvc answered. Check baseUrl, and any proxy in between.";
}

/** The first system code in an error, its causes, or the errors it gathers. */
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

/** Errors of a transport may quote headers. If one does, only a cleaned message of it is kept. */
function cleanCause(error: unknown, redact: Redact, depth = 0): unknown {
  if (!(error instanceof Error)) return typeof error === "string" ? redact(error) : undefined;
  const { message, stack = "", cause } = error;
  const inner = cause === undefined || depth === 5 ? undefined : cleanCause(cause, redact, depth + 1);
  const parts = error instanceof AggregateError ? error.errors.map(String).join() : "";
  if (redact(message + stack + parts) === message + stack + parts && inner === cause) return error;
  return Object.assign(new Error(redact(message), { cause: inner }), { stack: redact(stack) });
}
