import type { ApiResponse } from "../api-promise.ts";
import { isMailsvcError, type MailsvcError, type RequestSummary } from "../errors.ts";
import type { Settings } from "../options.ts";
import type { HttpResponse } from "../platform/transport.ts";
import { createAbortError, sendOnce, summarizeRequest } from "./attempt.ts";
import { type CallRequest, prepareRequest } from "./request.ts";
import { delayMs, isTransient } from "./retry.ts";
import { withTimeout } from "./timeout.ts";

/** One call: the request, and how to read its response. */
export interface Call<T> extends CallRequest {
  /** Extracts the data from a complete response. May throw a MailsvcError. */
  readonly read: (response: HttpResponse, request: RequestSummary) => Promise<T>;
  /** True if `read` also gets a final response other than 2xx; otherwise the call throws it. */
  readonly returnErrors?: boolean;
}

/** Makes a call with retries and time limits. */
export type CallWithRetries = <T>(call: Call<T>) => Promise<ApiResponse<T>>;

/** Builds the function that makes a client's calls. */
export function createCaller(settings: Settings): CallWithRetries {
  const { runtime, log } = settings;
  return async <T>(call: Call<T>): Promise<ApiResponse<T>> => {
    const request = prepareRequest(call, settings);
    const deadline = runtime.now() + request.timeoutMs;
    const finish = async (response: HttpResponse, attempts: number): Promise<ApiResponse<T>> => {
      const result = {
        data: await call.read(response, summarizeRequest(request, attempts)),
        status: response.status,
        headers: response.headers,
        requestId: response.headers["x-request-id"] ?? null,
        attempts,
        idempotencyKey: request.idempotencyKey,
        idempotencyReplayed: response.headers["idempotency-replayed"] === "true",
      };
      return Object.defineProperty(result, "bytes", { value: response.bytes }) as ApiResponse<T>;
    };

    let before: MailsvcError | undefined;
    for (let number = 1; ; number += 1) {
      if (request.signal?.aborted) throw createAbortError(request, number - 1);
      let response: HttpResponse | undefined;
      const startedAt = runtime.now();
      log?.(`mailsvc > ${request.method} ${request.path} attempt ${number}`);
      try {
        const outcome = await sendOnce(request, settings, { number, deadline, before });
        response = outcome.response;
        log?.(`mailsvc < ${response.status} ${response.headers["x-request-id"] ?? ""} (${Math.round(runtime.now() - startedAt)} ms)`);
        if (outcome.failure === undefined) return await finish(response, number);
        before = outcome.failure;
      } catch (error) {
        if (!isMailsvcError(error)) throw error;
        response = undefined;
        before = error;
      }
      if (response === undefined) log?.(`mailsvc < ${before.name}: ${before.message} (${Math.round(runtime.now() - startedAt)} ms)`);
      const wait =
        request.repeatable && number <= request.maxRetries && isTransient(before) ? delayMs(before, number, runtime.random) : null;
      // Do not start a wait that ends after the deadline: it would replace a specific error by a timeout.
      if (wait === null || runtime.now() + wait >= deadline) {
        if (response !== undefined && call.returnErrors) return finish(response, number);
        throw before;
      }
      log?.(`mailsvc ~ retry in ${wait} ms`);
      settings.onRetry?.({ request: summarizeRequest(request, number), error: before, delayMs: wait });
      // An abort ends the wait early; the top of the loop then throws.
      await withTimeout(Number.POSITIVE_INFINITY, request.signal, runtime.after, (signal) => runtime.sleep(wait, signal));
    }
  };
}
