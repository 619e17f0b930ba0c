import type { Bytes } from "../call/binary.ts";

/** An HTTP request, ready to be sent. */
interface HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Bytes | undefined;
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
    body?: string | Bytes;
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

/** A dispatcher of undici, of any version. Its own type would bring the types of undici and Node into every program. */
export interface UndiciDispatcher {
  dispatch(options: never, handler: never): boolean;
}

/** A transport over `fetch`. */
export function fetchTransport(fetch: FetchLike): Transport {
  return async ({ method, url, headers, body, signal }) => {
    const response = await fetch(url, { method, headers: { ...headers }, ...(body !== undefined && { body }), signal, redirect: "manual" });
    return { status: response.status, headers: readHeaders(response), bytes: new Uint8Array(await response.arrayBuffer()) };
  };
}

/** The same for streams. */
export function fetchStream(fetch: FetchLike): StreamTransport {
  return async ({ method, url, headers, signal }) => {
    const response = await fetch(url, { method, headers: { ...headers }, signal, redirect: "manual" });
    return { status: response.status, headers: readHeaders(response), chunks: readChunks(response.body ?? null) };
  };
}

/** Both over the global `fetch`, looked up at each call: tests and tracing replace it. */
export function globalFetch(): { transport: Transport; stream: StreamTransport } {
  const fetch: FetchLike = (url, init) => globalThis.fetch(url, init);
  return { transport: fetchTransport(fetch), stream: fetchStream(fetch) };
}

function readHeaders({ headers }: Awaited<ReturnType<FetchLike>>): Record<string, string> {
  const received: Record<string, string> = {};
  headers.forEach((value, name) => {
    received[name.toLowerCase()] = value;
  });
  return received;
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
