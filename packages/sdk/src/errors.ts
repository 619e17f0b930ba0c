import type { ErrorCode, ErrorDetail } from "./contract/index.ts";

// Two copies of this package in one program (its ESM and its CommonJS build) have two sets of classes; the mark is shared.
const MARK = Symbol.for("mailsvc.error");

/** What was asked when a call failed. The path is without its query. */
export interface RequestSummary {
  readonly method: string;
  readonly path: string;
  /** How many times the request was sent, at least in part. */
  readonly attempts: number;
  /** Give this key to a repeat by hand and it cannot act twice; null when the request carried none. */
  readonly idempotencyKey: string | null;
}

interface ErrorFacts {
  readonly message: string;
  readonly hint?: string;
  readonly request?: RequestSummary;
  readonly cause?: unknown;
}

/** The base of every error this package throws. No API key is ever part of one. */
export class MailsvcError extends Error {
  override name = "MailsvcError";
  /** What to do about it, a sentence; empty when there is nothing to add. */
  readonly hint: string;
  /** Null when the fault was found before there was a request. */
  readonly request: RequestSummary | null;

  constructor(facts: ErrorFacts) {
    super(facts.message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.hint = facts.hint ?? "";
    this.request = facts.request ?? null;
    Object.defineProperty(this, MARK, { value: true });
  }

  /** Everything worth logging, as plain data. */
  toJSON(): Record<string, unknown> {
    return { name: this.name, message: this.message, ...Object.fromEntries(Object.entries(this)) };
  }
}

/** The call was put together wrongly: a bad option, an empty id, a body that JSON cannot hold. Nothing was sent. */
export class UsageError extends MailsvcError {
  override name = "UsageError";
}

/** The documented codes, `unexpected_answer` when something other than mailsvc answered, and codes newer than this package. */
export type ApiErrorCode = ErrorCode | "unexpected_answer" | (string & {});

interface ApiErrorFacts<C> extends ErrorFacts {
  readonly code: C;
  readonly status: number;
  readonly requestId: string | null;
  readonly details?: readonly ErrorDetail[];
  readonly retryAfterMs?: number | null;
  readonly headers: Readonly<Record<string, string>>;
}

/** The server answered, and the answer is not 2xx (SPEC 7). */
export class ApiError<C extends string = ApiErrorCode> extends MailsvcError {
  override name = "ApiError";
  readonly code: C;
  /** The HTTP status. */
  readonly status: number;
  /** Quote it when reporting a problem. */
  readonly requestId: string | null;
  /** Each fault in the request: where it is, a word for it, a sentence. */
  readonly details: readonly ErrorDetail[];
  /** What Retry-After asked for, in milliseconds. */
  readonly retryAfterMs: number | null;
  /** Headers of the answer, names in lower case. Left out when the error is printed or turned into JSON. */
  declare readonly headers: Readonly<Record<string, string>>;

  constructor(facts: ApiErrorFacts<C>) {
    super(facts);
    this.code = facts.code;
    this.status = facts.status;
    this.requestId = facts.requestId;
    this.details = facts.details ?? [];
    this.retryAfterMs = facts.retryAfterMs ?? null;
    Object.defineProperty(this, "headers", { value: facts.headers });
  }
}

/** No whole answer arrived: nobody there, the connection broke, or what came was not the JSON it should be. */
export class ConnectionError extends MailsvcError {
  override name = "ConnectionError";
  /** The system's word for it, such as `ECONNREFUSED`; null when there is none. */
  readonly code: string | null;
  /** Whether another try may work; a wrong host name or certificate stays wrong. */
  readonly transient: boolean;

  constructor(facts: ErrorFacts & { readonly code: string | null; readonly transient: boolean }) {
    super(facts);
    this.code = facts.code;
    this.transient = facts.transient;
  }
}

/** Time ran out: of one attempt, or of the call with all its retries. `cause` is the failure before, if there was one. */
export class TimeoutError extends MailsvcError {
  override name = "TimeoutError";
  readonly scope: "attempt" | "total";
  /** The limit that was passed. */
  readonly timeoutMs: number;

  constructor(facts: ErrorFacts & { readonly scope: "attempt" | "total"; readonly timeoutMs: number }) {
    super(facts);
    this.scope = facts.scope;
    this.timeoutMs = facts.timeoutMs;
  }
}

/** The caller's AbortSignal fired; `cause` is its reason. */
export class AbortError extends MailsvcError {
  override name = "AbortError";
}

/** The answer does not fit the contract (only with `validate: "strict"`). */
export class ResponseValidationError extends MailsvcError {
  override name = "ResponseValidationError";
  readonly details: readonly ErrorDetail[];

  constructor(facts: ErrorFacts & { readonly details: readonly ErrorDetail[] }) {
    super(facts);
    this.details = facts.details;
  }
}

/** Whether a caught value comes from this package. */
export function isMailsvcError(error: unknown): error is MailsvcError {
  return error instanceof Error && MARK in error;
}

/**
 * Whether a caught value is an answer of the API, and one of the given codes when codes are given:
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
