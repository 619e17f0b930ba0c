import { AbortError, type MailsvcError, type RequestSummary, TimeoutError, UsageError } from "../errors.ts";
import type { Settings } from "../options.ts";
import type { HttpResponse } from "../platform/transport.ts";
import { toApiError, toConnectionError } from "./failure.ts";
import { checkHeader, createRedactor } from "./headers.ts";
import type { PreparedRequest } from "./request.ts";
import { withTimeout } from "./timeout.ts";

/** The number of an attempt, the deadline of the whole call and the error of the attempt before. */
interface AttemptContext {
  /** Starts at 1. */
  readonly number: number;
  /** Time by the runtime's clock. */
  readonly deadline: number;
  readonly before: MailsvcError | undefined;
}

/** The part of a request that errors carry. */
export function summarizeRequest({ method, path, idempotencyKey }: PreparedRequest, attempts: number): RequestSummary {
  return {
    method,
    path,
    attempts,
    idempotencyKey,
  };
}

/** The error of a call that its signal aborted. */
export function createAbortError(request: PreparedRequest, attempts: number): AbortError {
  return new AbortError({
    message: `${request.method} ${request.path} was aborted.`,
    request: summarizeRequest(request, attempts),
    cause: request.signal?.reason,
  });
}

/**
 * Sends a request once and reads the whole response. A response other than 2xx is returned together with its ApiError.
 * Throws ConnectionError, TimeoutError, AbortError, UsageError for a key that is not valid in a header, and any error of
 * the `apiKey` function.
 */
export async function sendOnce(
  request: PreparedRequest,
  settings: Settings,
  context: AttemptContext,
): Promise<{ response: HttpResponse; failure: MailsvcError | undefined }> {
  const { runtime, transport } = settings;
  const left = context.deadline - runtime.now();
  const scope = request.attemptTimeoutMs < left ? "attempt" : "total";
  const summary = summarizeRequest(request, context.number);
  let redact = createRedactor(request.headers);

  const send = async (signal: AbortSignal): Promise<HttpResponse> => {
    const { method, url, body } = request;
    let { headers } = request;
    if (request.authorize && settings.apiKey) {
      const key = await settings.apiKey();
      checkHeader("authorization", key, "apiKey");
      headers = { ...headers, authorization: `Bearer ${key}` };
      redact = createRedactor(headers);
    }
    return transport({ method, url, headers, body, signal }).catch((error: unknown) => {
      if (error instanceof UsageError) throw error;
      throw toConnectionError(error, summary, settings.baseUrl, redact);
    });
  };

  const result = await withTimeout(Math.min(request.attemptTimeoutMs, left), request.signal, runtime.after, send);
  if ("cut" in result) {
    throw result.cut === "abort" ? createAbortError(request, context.number) : createTimeoutError(request, context, scope);
  }
  const response = result.value;
  const ok = response.status >= 200 && response.status < 300;
  return { response, failure: ok ? undefined : toApiError(response, summary, redact, runtime.wallTime()) };
}

function createTimeoutError(request: PreparedRequest, { number, before }: AttemptContext, scope: "attempt" | "total"): TimeoutError {
  const timeoutMs = scope === "attempt" ? request.attemptTimeoutMs : request.timeoutMs;
  const detail = scope === "attempt" ? `attempt ${number}` : `in all, attempts: ${number}`;
  return new TimeoutError({
    message: `${request.method} ${request.path} took longer than ${timeoutMs} ms (${detail}).`,
    request: summarizeRequest(request, number),
    scope,
    timeoutMs,
    cause: before,
  });
}
