import { AbortError, type MailsvcError, type RequestSummary, TimeoutError } from "../errors.ts";
import type { Settings } from "../options.ts";
import { toApiError, toConnectionError } from "./failure.ts";
import { checkHeader, createRedactor, findSecrets } from "./headers.ts";
import type { PreparedRequest } from "./request.ts";
import { withTimeout } from "./timeout.ts";
import type { HttpResponse } from "./transport.ts";

/** Which attempt it is, by when the whole call must be over, and what went wrong before. */
export interface AttemptContext {
  /** From 1. */
  readonly number: number;
  /** On the runtime's clock. */
  readonly deadline: number;
  readonly before: MailsvcError | undefined;
}

/** A request in the words of an error. */
export function summarizeRequest({ method, path, idempotencyKey }: PreparedRequest, attempts: number): RequestSummary {
  return {
    method,
    path,
    attempts,
    idempotencyKey,
  };
}

/** The error of a call whose signal fired. */
export function createAbortError(request: PreparedRequest, attempts: number): AbortError {
  return new AbortError({
    message: `${request.method} ${request.path} was called off.`,
    request: summarizeRequest(request, attempts),
    cause: request.signal?.reason,
  });
}

/**
 * Sends a request once and reads the whole answer. An answer that is not 2xx comes back with its ApiError beside it.
 * Throws ConnectionError, TimeoutError, AbortError, UsageError for a key that cannot stand in a header, and whatever the `apiKey` function throws.
 */
export async function sendOnce(
  request: PreparedRequest,
  settings: Settings,
  context: AttemptContext,
): Promise<{ answer: HttpResponse; failure: MailsvcError | undefined }> {
  const { runtime, transport } = settings;
  const left = context.deadline - runtime.now();
  const scope = request.attemptTimeoutMs < left ? "attempt" : "total";
  const summary = summarizeRequest(request, context.number);
  let redact = createRedactor(findSecrets(request.headers));

  const send = async (signal: AbortSignal): Promise<HttpResponse> => {
    const { method, url, body } = request;
    let { headers } = request;
    if (request.authorize && settings.apiKey) {
      const key = await settings.apiKey();
      checkHeader("authorization", key, "apiKey");
      headers = { ...headers, authorization: `Bearer ${key}` };
      redact = createRedactor(findSecrets(headers));
    }
    return transport({ method, url, headers, body, signal }).catch((error: unknown) => {
      throw toConnectionError(error, summary, settings.baseUrl, redact);
    });
  };

  const ending = await withTimeout(Math.min(request.attemptTimeoutMs, left), request.signal, runtime.after, send);
  if ("cut" in ending) {
    throw ending.cut === "abort" ? createAbortError(request, context.number) : createTimeoutError(request, context, scope);
  }
  const answer = ending.value;
  const ok = answer.status >= 200 && answer.status < 300;
  return { answer, failure: ok ? undefined : toApiError(answer, summary, redact, runtime.now()) };
}

function createTimeoutError(request: PreparedRequest, { number, before }: AttemptContext, scope: "attempt" | "total"): TimeoutError {
  const timeoutMs = scope === "attempt" ? request.attemptTimeoutMs : request.timeoutMs;
  const counted = scope === "attempt" ? `attempt ${number}` : `in all, attempts: ${number}`;
  return new TimeoutError({
    message: `${request.method} ${request.path} took longer than ${timeoutMs} ms (${counted}).`,
    request: summarizeRequest(request, number),
    scope,
    timeoutMs,
    cause: before,
  });
}
