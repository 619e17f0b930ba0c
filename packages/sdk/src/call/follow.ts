import { ConnectionError, isApiError, isMailsvcError } from "../errors.ts";
import type { Settings } from "../options.ts";
import type { StreamResponse } from "../platform/transport.ts";
import { summarizeRequest } from "./attempt.ts";
import { toApiError, toConnectionError } from "./failure.ts";
import { checkHeader, createRedactor } from "./headers.ts";
import { type CallRequest, type PreparedRequest, prepareRequest } from "./request.ts";
import { delayMs, isTransient } from "./retry.ts";
import { parseSse, type SseMessage } from "./sse.ts";
import { withTimeout } from "./timeout.ts";

// The server sends something at least every 15 seconds, so a connection that is silent for longer is dead.
const SILENCE_MS = 45_000;
const MAX_ERROR_BYTES = 64 * 1024;
// A server or a proxy may ask for hours with Retry-After, and would be followed no more.
const MAX_WAIT_MS = 60_000;

/**
 * Follows a stream of server-sent events. When the connection is lost it connects again, for as long as it takes, and continues
 * after the last message; what a proxy answers in place of the server does not end it then. Ends when the signal aborts. Throws what a call
 * throws: ApiError for a refusal, and ConnectionError or TimeoutError when the first connection fails as often as a call may.
 */
export async function* follow(call: CallRequest, settings: Settings): AsyncGenerator<SseMessage, void, undefined> {
  const request = prepareRequest(call, settings);
  const { runtime, log } = settings;
  let lastId = request.headers["last-event-id"] ?? "";
  let connected = false;
  let failures = 0;
  while (!request.signal?.aborted) {
    const connection = new AbortController();
    const abort = (): void => connection.abort();
    request.signal?.addEventListener("abort", abort);
    try {
      log?.(`mailsvc > ${request.method} ${request.path} from ${lastId === "" ? "the start" : lastId}`);
      const headers = lastId === "" ? request.headers : { ...request.headers, "last-event-id": lastId };
      const response = await open({ ...request, headers }, settings, connection.signal, failures + 1);
      connected = true;
      for await (const message of parseSse(watch(response.chunks, request, settings, connection))) {
        failures = 0;
        if (message.id !== "") lastId = message.id;
        yield message;
      }
      failures += 1;
      log?.("mailsvc ~ the stream has ended; connecting again");
      if (!request.signal?.aborted) await pause(settings, request, delayMs(endOfStream(request), failures, runtime.random));
    } catch (error) {
      if (request.signal?.aborted) return;
      if (!isMailsvcError(error)) throw error;
      failures += 1;
      // A server that has streamed is there: a proxy or a hotel's network stands in for it at the moment.
      const passes = isTransient(error) || (connected && isApiError(error, "unexpected_answer"));
      if (!passes || (!connected && failures > request.maxRetries)) throw error;
      const wait = Math.min(MAX_WAIT_MS, delayMs(error, failures, runtime.random));
      log?.(`mailsvc ~ ${error.message}; connecting again in ${wait} ms`);
      settings.onRetry?.({ request: summarizeRequest(request, failures), error, delayMs: wait });
      await pause(settings, request, wait);
    } finally {
      request.signal?.removeEventListener("abort", abort);
      connection.abort();
    }
  }
}

/** Opens the stream. Throws ApiError for a response other than 2xx, and for one that is no stream of events. */
async function open(request: PreparedRequest, settings: Settings, signal: AbortSignal, attempt: number): Promise<StreamResponse> {
  const { runtime, stream, apiKey } = settings;
  const summary = summarizeRequest(request, attempt);
  let { headers } = request;
  if (request.authorize && apiKey) {
    const key = await apiKey();
    checkHeader("authorization", key, "apiKey");
    headers = { ...headers, authorization: `Bearer ${key}` };
  }
  const redact = createRedactor(headers);
  const { method, url } = request;
  const opening = stream({ method, url, headers, body: undefined, signal }).catch((error: unknown) => {
    throw toConnectionError(error, summary, settings.baseUrl, redact);
  });
  const opened = await withTimeout(request.attemptTimeoutMs, request.signal, runtime.after, () => opening);
  if ("cut" in opened) throw lost(request, "did not answer in time");
  const response = opened.value;
  const { status, headers: given } = response;
  const ok = status >= 200 && status < 300;
  if (ok && /^text\/event-stream\b/i.test(given["content-type"] ?? "")) return response;
  // Skips the body of a 2xx response: another server's may never end, and its type shows that it is the wrong server.
  const bytes = ok ? new Uint8Array() : await collect(response.chunks);
  throw toApiError({ ...response, bytes }, summary, redact, runtime.wallTime());
}

/** Passes chunks on. Throws ConnectionError when the connection breaks or is silent for too long. */
async function* watch(
  chunks: AsyncIterable<Uint8Array>,
  request: PreparedRequest,
  { runtime }: Settings,
  connection: AbortController,
): AsyncGenerator<Uint8Array, void, undefined> {
  const iterator = chunks[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await withTimeout(SILENCE_MS, connection.signal, runtime.after, () => iterator.next()).catch(() => null);
      if (next === null) throw lost(request, "closed the connection");
      if ("cut" in next) throw lost(request, "fell silent");
      if (next.value.done) return;
      yield next.value.value;
    }
  } finally {
    connection.abort();
    void Promise.resolve(iterator.return?.()).catch(() => {});
  }
}

function pause({ runtime }: Settings, request: PreparedRequest, ms: number): Promise<unknown> {
  return withTimeout(Number.POSITIVE_INFINITY, request.signal, runtime.after, (signal) => runtime.sleep(ms, signal));
}

function lost(request: PreparedRequest, what: string): ConnectionError {
  return new ConnectionError({
    message: `${request.method} ${request.path}: the server ${what}.`,
    request: summarizeRequest(request, 1),
    code: null,
    transient: true,
  });
}

function endOfStream(request: PreparedRequest): ConnectionError {
  return lost(request, "ended the stream");
}

async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    parts.push(chunk);
    size += chunk.length;
    if (size > MAX_ERROR_BYTES) break;
  }
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
