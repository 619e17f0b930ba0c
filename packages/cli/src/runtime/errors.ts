import { ERRORS, type ErrorCode } from "@mailsvc/sdk/contract/facts";
import type { Failure, Fault, FlagOf } from "../types.ts";
import { EXIT, getStatusExit } from "./exit.ts";

/** An error whose explanation the program knows. */
export class CliError extends Error {
  override name = "CliError";
  readonly failure: Failure;
  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

/** Wrong usage: exit code 2. */
export function usageError(message: string, more: Partial<Failure> = {}): CliError {
  return new CliError({ code: "usage", message, exit: EXIT.usage, ...more });
}

/** Input that is refused before it is sent: exit code 3. */
export function invalidInput(message: string, details: Fault[] = [], more: Partial<Failure> = {}): CliError {
  return new CliError({ code: "validation_error", message, exit: EXIT.validation, details, ...more });
}

export function cancelledError(): CliError {
  return new CliError({ code: "cancelled", message: "Cancelled.", exit: EXIT.cancelled });
}

/** Message of a server for a path that it does not have, and for nothing else. */
export const NO_SUCH_PATH = "There is nothing at this address.";

// The API's hints are for programs that call it; on the command line the same advice names a flag or a command.
const HINTS: Partial<Record<ErrorCode, { hint: string; next?: string }>> = {
  unauthorized: { hint: "Log in, set MAILSVC_API_KEY or use --api-key.", next: "mailsvc login" },
  key_expired: { hint: "This key has expired. Log in with another one.", next: "mailsvc login" },
  key_revoked: { hint: "This key is revoked for good. Log in with another one.", next: "mailsvc login" },
  forbidden: { hint: "Use a key that has the permission named above.", next: "mailsvc whoami" },
  validation_error: { hint: "Correct the input listed above." },
  idempotency_key_reused: { hint: "Use another --idempotency-key for a different request." },
  idempotency_in_progress: { hint: "The first request with this --idempotency-key is still running; try again shortly." },
  queue_failed: { hint: "Nothing was queued. Try again with the same --idempotency-key." },
  rate_limited: { hint: "Wait and try again." },
  payload_too_large: { hint: "Send less at once." },
  recipient_suppressed: { hint: "The recipient bounced, complained or unsubscribed.", next: "mailsvc suppressions list" },
  email_suppressed: { hint: "This address is on the suppression list.", next: "mailsvc suppressions list" },
  sender_not_verified: { hint: "Verify the address or its domain first.", next: "mailsvc senders create --email you@example.com" },
  not_found: { hint: "Check the id; it may belong to another workspace." },
};

interface ApiErrorLike extends Error {
  code: string;
  status: number;
  requestId?: string | null;
  details?: readonly { path: string; code: string; message: string }[];
  hint?: string | null;
  retryAfterMs?: number | null;
}

export function withFlag(fault: { path: string; code: string; message: string }, flagOf: FlagOf): Fault {
  const flag = flagOf(fault.path);
  return { path: fault.path, ...(flag ? { flag } : {}), code: fault.code, message: fault.message };
}

/** Converts any error to a Failure. `url` is the server the request went to. */
export function toFailure(error: unknown, flagOf: FlagOf = () => undefined, url?: string): Failure {
  if (error instanceof CliError) return error.failure;
  if (isApiError(error)) {
    const failure = fromApiError(error, flagOf);
    return error.message === NO_SUCH_PATH ? { ...failure, hint: explainNoSuchPath(url), next: "mailsvc doctor" } : failure;
  }
  if (hasName(error, "TimeoutError"))
    return {
      code: "timeout",
      message: error.message,
      exit: EXIT.network,
      hint: "Allow more time with --timeout, for example --timeout 2m.",
      retryable: true,
    };
  if (hasName(error, "ConnectionError"))
    return {
      code: "connection_failed",
      message: error.message,
      exit: EXIT.network,
      hint: SPEAKS_HTTP.test(error.message)
        ? "This server does not speak HTTPS. Begin its URL with http://"
        : `Is a server running at ${url ?? "this address"}? Start one with: mailsvc dev`,
      next: "mailsvc doctor",
      retryable: true,
    };
  if (hasName(error, "AbortError")) return cancelledError().failure;
  if (hasName(error, "LineTooLongError"))
    return invalidInput(error.message, [], { code: "line_too_long", hint: (error as { hint?: string }).hint }).failure;
  if (hasName(error, "UsageError")) return usageError(error.message).failure;
  const message = error instanceof Error ? error.message : String(error);
  return {
    code: "internal_error",
    message: `Unexpected: ${message}`,
    exit: EXIT.internal,
    hint: "This is a bug in mailsvc. Run it again with --verbose for the stack trace.",
  };
}

// OpenSSL's codes for an answer that is not TLS.
const SPEAKS_HTTP = /\((?:ERR_SSL_WRONG_VERSION_NUMBER|ERR_SSL_PACKET_LENGTH_TOO_LONG)\)/;

/** Either the URL of the server has a path too many, or the server lacks the path of the request. */
function explainNoSuchPath(url: string | undefined): string {
  const path = url === undefined ? "/" : new URL(url).pathname;
  return path === "/"
    ? "Check the path: mailsvc openapi lists all that this server has. It may be older than this program."
    : `Leave out ${path} in the server's URL: the commands add the paths of the API.`;
}

// Compares names, because importing the SDK's error classes would load the SDK for every command.
function isApiError(error: unknown): error is ApiErrorLike {
  return error instanceof Error && error.name === "ApiError" && "status" in error;
}

/** True for an error response with this HTTP status. */
export function hasStatus(error: unknown, status: number): boolean {
  return isApiError(error) && error.status === status;
}

function hasName(error: unknown, name: string): error is Error {
  return error instanceof Error && error.name === name;
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERRORS, code);
}

function fromApiError(error: ApiErrorLike, flagOf: FlagOf): Failure {
  const advice = isErrorCode(error.code) ? HINTS[error.code] : undefined;
  // The server's hint about this case is better than advice for all of its kind.
  const given = error.hint ?? undefined;
  const special = isErrorCode(error.code) && given !== ERRORS[error.code].hint ? given : undefined;
  const hint = special ?? advice?.hint ?? given;
  return {
    code: error.code,
    message: error.message,
    exit: getStatusExit(error.status),
    status: error.status,
    ...(error.requestId ? { requestId: error.requestId } : {}),
    details: (error.details ?? []).map((d) => withFlag(d, flagOf)),
    ...(hint ? { hint } : {}),
    ...(advice?.next ? { next: advice.next } : {}),
    retryable: error.status === 429 || error.status >= 500 || error.code === "idempotency_in_progress",
    ...(typeof error.retryAfterMs === "number" ? { retryAfterMs: error.retryAfterMs } : {}),
  };
}
