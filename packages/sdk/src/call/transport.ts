import type { Dispatcher } from "undici";

/** An HTTP request, ready to be sent. */
export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array<ArrayBuffer> | undefined;
  readonly signal: AbortSignal;
}

/** An HTTP response with its complete body. */
export interface HttpResponse {
  readonly status: number;
  /** Header names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
}

/** An HTTP response whose body is read as it comes. */
export interface StreamResponse extends Omit<HttpResponse, "bytes"> {
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** Sends a request and resolves when the head of the response has come, or rejects. The signal ends the response too. */
export type StreamTransport = (request: HttpRequest) => Promise<StreamResponse>;

/** Sends a request and resolves to the complete response, or rejects. */
export type Transport = (request: HttpRequest) => Promise<HttpResponse>;

/** The part of the standard `fetch` that a client uses. */
export type FetchLike = (
  url: string,
  init: {
    method: string;
    headers: Record<string, string>;
    body?: string | Uint8Array<ArrayBuffer>;
    signal: AbortSignal;
    redirect: "manual";
  },
) => Promise<{
  readonly status: number;
  readonly headers: { forEach(visit: (value: string, name: string) => void): void };
  arrayBuffer(): Promise<ArrayBuffer>;
  /** Needed for streams only. */
  readonly body?: ReadableStream<Uint8Array> | null;
}>;

/** A transport over `fetch`. */
export function fetchTransport(fetch: FetchLike): Transport {
  return async ({ method, url, headers, body, signal }) => {
    const response = await fetch(url, { method, headers: { ...headers }, ...(body !== undefined && { body }), signal, redirect: "manual" });
    const received: Record<string, string> = {};
    response.headers.forEach((value, name) => {
      received[name.toLowerCase()] = value;
    });
    return { status: response.status, headers: received, bytes: new Uint8Array(await response.arrayBuffer()) };
  };
}

/** The same for streams. */
export function fetchStream(fetch: FetchLike): StreamTransport {
  return async ({ method, url, headers, signal }) => {
    const response = await fetch(url, { method, headers: { ...headers }, signal, redirect: "manual" });
    const received: Record<string, string> = {};
    response.headers.forEach((value, name) => {
      received[name.toLowerCase()] = value;
    });
    return { status: response.status, headers: received, chunks: readChunks(response.body ?? null) };
  };
}

// Not every runtime can iterate over a ReadableStream.
async function* readChunks(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = body?.getReader();
  if (!reader) return;
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/** A transport over undici's `request` with keep-alive connections: those of `dispatcher`, or undici's global ones. */
export function undiciTransport(dispatcher: Dispatcher | undefined): Transport {
  let undici: typeof import("undici") | undefined;
  return async ({ method, url, headers, body, signal }) => {
    // Loaded on first use: it takes about 100 ms, which programs with their own fetch should not pay.
    undici ??= await import("undici");
    const options = { method: method as Dispatcher.HttpMethod, headers, body: body ?? null, signal };
    const response = await undici.request(url, dispatcher ? { ...options, dispatcher } : options);
    const received: Record<string, string> = {};
    for (const [name, value] of Object.entries(response.headers)) {
      if (value !== undefined) received[name.toLowerCase()] = Array.isArray(value) ? value.join(", ") : value;
    }
    return { status: response.statusCode, headers: received, bytes: new Uint8Array(await response.body.arrayBuffer()) };
  };
}

/** The same for streams, without undici's limits on how long a body may take. */
export function undiciStream(dispatcher: Dispatcher | undefined): StreamTransport {
  return async ({ method, url, headers, signal }) => {
    const undici = await import("undici");
    const options = { method: method as Dispatcher.HttpMethod, headers, signal, bodyTimeout: 0 };
    const response = await undici.request(url, dispatcher ? { ...options, dispatcher } : options);
    const received: Record<string, string> = {};
    for (const [name, value] of Object.entries(response.headers)) {
      if (value !== undefined) received[name.toLowerCase()] = Array.isArray(value) ? value.join(", ") : value;
    }
    return { status: response.statusCode, headers: received, chunks: response.body };
  };
}
