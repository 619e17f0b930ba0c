import { ERRORS, type ErrorCode, type ErrorDetail, RECIPIENT_TEXTS, type TextKey } from "@mailsvc/sdk/contract";

interface ApiErrorOptions {
  details?: ErrorDetail[];
  /** Replaces the hint of the error table. */
  hint?: string;
  /** The texts of the page on which a person sees the error; by default those of its code. */
  page?: ErrorTexts;
  /** Further response headers, e.g. Retry-After. */
  headers?: Record<string, string>;
  /** The cause, for the log only. */
  cause?: unknown;
}

/** The heading and the sentence of an error's page. */
export interface ErrorTexts {
  readonly title: ErrorKey;
  readonly text: ErrorKey;
}

/** The names of texts without values. */
type ErrorKey = TextKey & (`${"mail" | "notFound" | "tooLarge" | "wait" | "unavailable" | "error"}${"Title" | "Text"}` | `link${string}`);
type LinkKey = TextKey & `link${string}`;

/** An error response: thrown by features, written by `http/`. Its message is shown to the caller. */
export class ApiError extends Error {
  override name = "ApiError";
  readonly code: ErrorCode;
  readonly status: number;
  readonly details: ErrorDetail[];
  readonly hint: string;
  readonly page: ErrorTexts | null;
  readonly headers: Record<string, string>;

  constructor(code: ErrorCode, message: string, options: ApiErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.status = ERRORS[code].status;
    this.details = options.details ?? [];
    this.hint = options.hint ?? ERRORS[code].hint;
    this.page = options.page ?? null;
    this.headers = options.headers ?? {};
  }
}

/** 404 for something looked up by id. */
export function notFound(what: string, id: string): ApiError {
  const where = what === "workspace" ? "on this server" : "in this workspace";
  return new ApiError("not_found", `There is no ${what} ${JSON.stringify(id.slice(0, 100))} ${where}.`);
}

/** Returns the result of `work`; null if it throws ApiError not_found. */
export async function nullIfNotFound<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof ApiError && error.code === "not_found") return null;
    throw error;
  }
}

/** 404 for a link in a mail or on a page that leads nowhere. `text` tells the person who followed it what to do. */
export function brokenLink(text: LinkKey): ApiError {
  return new ApiError("not_found", RECIPIENT_TEXTS[text], { page: { title: "linkTitle", text } });
}

/** 400 for one field. */
export function invalid(path: string, code: string, message: string): ApiError {
  return new ApiError("validation_error", message, { details: [{ path, code, message }] });
}
