import type { Dispatcher } from "undici";

/** One HTTP request, ready to go. */
export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array<ArrayBuffer> | undefined;
  readonly signal: AbortSignal;
}

/** One HTTP answer, read to its end. */
export interface HttpResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
}

/** Carries a request and brings the whole answer back, or rejects. */
export type Transport = (request: HttpRequest) => Promise<HttpResponse>;

/** The part of the standard `fetch` a client needs: the platform's, undici's, or a function of your own. */
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
}>;

/** Sends over a `fetch`. */
export function fetchTransport(fetch: FetchLike): Transport {
  return async ({ method, url, headers, body, signal }) => {
    const answer = await fetch(url, { method, headers: { ...headers }, ...(body !== undefined && { body }), signal, redirect: "manual" });
    const received: Record<string, string> = {};
    answer.headers.forEach((value, name) => {
      received[name.toLowerCase()] = value;
    });
    return { status: answer.status, headers: received, bytes: new Uint8Array(await answer.arrayBuffer()) };
  };
}

/** Sends over undici's `request`, on kept-alive connections: those of `dispatcher`, or the process's own. */
export function undiciTransport(dispatcher: Dispatcher | undefined): Transport {
  let undici: typeof import("undici") | undefined;
  return async ({ method, url, headers, body, signal }) => {
    // Loading undici takes about 100 ms, which a program that makes no call, or brings its own fetch, need not pay.
    undici ??= await import("undici");
    const options = { method: method as Dispatcher.HttpMethod, headers, body: body ?? null, signal };
    const answer = await undici.request(url, dispatcher ? { ...options, dispatcher } : options);
    const received: Record<string, string> = {};
    for (const [name, value] of Object.entries(answer.headers)) {
      if (value !== undefined) received[name.toLowerCase()] = Array.isArray(value) ? value.join(", ") : value;
    }
    return { status: answer.statusCode, headers: received, bytes: new Uint8Array(await answer.body.arrayBuffer()) };
  };
}
