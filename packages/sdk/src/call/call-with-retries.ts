import type { ApiResponse } from "../api-promise.ts";
import { isMailsvcError, type MailsvcError, type RequestSummary } from "../errors.ts";
import type { Settings } from "../options.ts";
import { createAbortError, sendOnce, summarizeRequest } from "./attempt.ts";
import { type CallRequest, prepareRequest } from "./request.ts";
import { delayMs, isTransient } from "./retry.ts";
import { withTimeout } from "./timeout.ts";
import type { HttpResponse } from "./transport.ts";

/** One call: what to send, and how to read what comes back. */
export interface Call<T> extends CallRequest {
  /** Takes the data out of a whole answer. May throw a MailsvcError. */
  readonly read: (answer: HttpResponse, request: RequestSummary) => T;
  /** Whether an answer that is not 2xx is given to `read` as well, once retrying is over, instead of being thrown. */
  readonly returnErrors?: boolean;
}

/** Makes a call, with its retries, under its time limits. */
export type CallWithRetries = <T>(call: Call<T>) => Promise<ApiResponse<T>>;

/** Builds the function that makes a client's calls. */
export function createCaller(settings: Settings): CallWithRetries {
  const { runtime } = settings;
  return async <T>(call: Call<T>): Promise<ApiResponse<T>> => {
    const request = prepareRequest(call, settings);
    const deadline = runtime.now() + request.timeoutMs;
    const finish = (answer: HttpResponse, attempts: number): ApiResponse<T> => ({
      data: call.read(answer, summarizeRequest(request, attempts)),
      status: answer.status,
      headers: answer.headers,
      requestId: answer.headers["x-request-id"] ?? null,
      attempts,
      idempotencyKey: request.idempotencyKey,
      idempotencyReplayed: answer.headers["idempotency-replayed"] === "true",
    });

    let before: MailsvcError | undefined;
    for (let number = 1; ; number += 1) {
      if (request.signal?.aborted) throw createAbortError(request, number - 1);
      let answer: HttpResponse | undefined;
      try {
        const outcome = await sendOnce(request, settings, { number, deadline, before });
        answer = outcome.answer;
        if (outcome.failure === undefined) return finish(answer, number);
        before = outcome.failure;
      } catch (error) {
        if (!isMailsvcError(error)) throw error;
        answer = undefined;
        before = error;
      }
      const wait =
        request.repeatable && number <= request.maxRetries && isTransient(before) ? delayMs(before, number, runtime.random) : null;
      // A wait that ends after the deadline could only turn a telling error into a timeout.
      if (wait === null || runtime.now() + wait >= deadline) {
        if (answer !== undefined && call.returnErrors) return finish(answer, number);
        throw before;
      }
      settings.onRetry?.({ request: summarizeRequest(request, number), error: before, delayMs: wait });
      // An abort ends the wait; the top of the loop then says so.
      await withTimeout(Number.POSITIVE_INFINITY, request.signal, runtime.after, (signal) => runtime.sleep(wait, signal));
    }
  };
}
