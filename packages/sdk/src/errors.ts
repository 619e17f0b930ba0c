import type { ErrorCode, ErrorDetail } from "./types.generated.ts";

// Two copies of this package in one program (its ESM and its CommonJS build) have two sets of classes, so instanceof fails between them; they share this mark.
const MARK = Symbol.for("mailsvc.error");

/** The request of a failed call. The path has no query string. */
export interface RequestSummary {
  readonly method: string;
  readonly path: string;
  /** Number of times the request was sent, partial sends included. */
  readonly attempts: number;
  /** Pass this key when you repeat the call yourself, and it cannot act twice; null when the request had none. */
  readonly idempotencyKey: string | null;
}

interface ErrorInit {
  readonly message: string;
  readonly hint?: string;
  readonly request?: RequestSummary;
  readonly cause?: unknown;
}

/** The base of every error this package throws. No API key is ever part of one. */
export class MailsvcError extends Error {
  override name = "MailsvcError";
  /** One sentence on how to fix the error; empty when there is nothing to add. */
  readonly hint: string;
  /** Null when the error was found before a request was built. */
  readonly request: RequestSummary | null;

  constructor(init: ErrorInit) {
    super(init.message, init.cause === undefined ? undefined : { cause: init.cause });
    this.hint = init.hint ?? "";
    this.request = init.request ?? null;
    Object.defineProperty(this, MARK, { value: true });
  }

  /** The error as plain data, for logs. */
  toJSON(): Record<string, unknown> {
    return { name: this.name, message: this.message, ...Object.fromEntries(Object.entries(this)) };
  }
}

/** The call is invalid: a bad option, an empty id, a body that JSON cannot hold. Nothing was sent. */
export class UsageError extends MailsvcError {
  override name = "UsageError";
}

/** The documented codes, `unexpected_answer` when something other than mailsvc answered, and codes newer than this package. */
export type ApiErrorCode = ErrorCode | "unexpected_answer" | (string & {});

interface ApiErrorInit<C> extends ErrorInit {
  readonly code: C;
  readonly status: number;
  readonly requestId: string | null;
  readonly details?: readonly ErrorDetail[];
  readonly retryAfterMs?: number | null;
  readonly headers: Readonly<Record<string, string>>;
}

/** The server responded with a status other than 2xx (docs/reference/errors.md). */
export class ApiError<C extends string = ApiErrorCode> extends MailsvcError {
  override name = "ApiError";
  readonly code: C;
  /** The HTTP status. */
  readonly status: number;
  /** Include it when you report a problem. */
  readonly requestId: string | null;
  /** Every invalid field of the request: its path, a code and a message. */
  readonly details: readonly ErrorDetail[];
  /** The Retry-After header in milliseconds; null when absent. */
  readonly retryAfterMs: number | null;
  /** Response headers, names in lower case. Not enumerable, so logs and JSON leave them out. */
  declare readonly headers: Readonly<Record<string, string>>;

  constructor(init: ApiErrorInit<C>) {
    super(init);
    this.code = init.code;
    this.status = init.status;
    this.requestId = init.requestId;
    this.details = init.details ?? [];
    this.retryAfterMs = init.retryAfterMs ?? null;
    Object.defineProperty(this, "headers", { value: init.headers });
  }
}

/** No complete response arrived: the server is unreachable, the connection broke, or the body is not valid JSON. */
export class ConnectionError extends MailsvcError {
  override name = "ConnectionError";
  /** The system error code, such as `ECONNREFUSED`; null when there is none. */
  readonly code: string | null;
  /** True if a retry may succeed; a wrong host name or certificate stays wrong. */
  readonly transient: boolean;

  constructor(init: ErrorInit & { readonly code: string | null; readonly transient: boolean }) {
    super(init);
    this.code = init.code;
    this.transient = init.transient;
  }
}

/** A time limit passed: of one attempt, or of the call with all its retries. `cause` is the previous attempt's error, if any. */
export class TimeoutError extends MailsvcError {
  override name = "TimeoutError";
  readonly scope: "attempt" | "total";
  /** The limit that was passed. */
  readonly timeoutMs: number;

  constructor(init: ErrorInit & { readonly scope: "attempt" | "total"; readonly timeoutMs: number }) {
    super(init);
    this.scope = init.scope;
    this.timeoutMs = init.timeoutMs;
  }
}

/** The caller's AbortSignal aborted the call; `cause` is its reason. */
export class AbortError extends MailsvcError {
  override name = "AbortError";
}

/** The response does not match the contract (only with `validate: "strict"`). */
export class ResponseValidationError extends MailsvcError {
  override name = "ResponseValidationError";
  readonly details: readonly ErrorDetail[];

  constructor(init: ErrorInit & { readonly details: readonly ErrorDetail[] }) {
    super(init);
    this.details = init.details;
  }
}

/** True if a caught value is an error of this package. */
export function isMailsvcError(error: unknown): error is MailsvcError {
  return error instanceof Error && MARK in error;
}

/**
 * True if a caught value is an ApiError, with one of the given codes if any are given:
 * `if (isApiError(e, "recipient_suppressed")) …`.
 */
export function isApiError<C extends ErrorCode | "unexpected_answer" = never>(
  error: unknown,
  ...codes: C[]
): error is [C] extends [never] ? ApiError : ApiError<C> {
  return (
    isMailsvcError(error) && error.name === "ApiError" && (codes.length === 0 || codes.some((code) => code === (error as ApiError).code))
  );
}
