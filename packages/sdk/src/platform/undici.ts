import type { Dispatcher } from "undici";
import { globalFetch, type StreamTransport, type Transport, type UndiciDispatcher } from "../call/transport.ts";

/**
 * A transport over undici's `request` with keep-alive connections: those of a dispatcher, or undici's global ones. Where undici cannot be
 * loaded, and no dispatcher needs it, it is one over the global `fetch`.
 */
export function undiciTransport(given: UndiciDispatcher | undefined): Transport {
  const dispatcher = given as Dispatcher | undefined;
  const { transport: fallback } = globalFetch();
  let undici: typeof import("undici") | null | undefined;
  return async (request) => {
    if (undici === undefined) undici = await loadUndici(dispatcher);
    if (undici === null) return fallback(request);
    const { method, url, headers, body, signal } = request;
    const options = { method: method as Dispatcher.HttpMethod, headers, body: body ?? null, signal };
    const response = await undici.request(url, dispatcher ? { ...options, dispatcher } : options);
    const { statusCode: status } = response;
    return { status, headers: flatten(response.headers), bytes: await response.body.bytes() };
  };
}

/** The same for streams, without undici's limits on how long a body may take. */
export function undiciStream(given: UndiciDispatcher | undefined): StreamTransport {
  const dispatcher = given as Dispatcher | undefined;
  const { stream: fallback } = globalFetch();
  return async (request) => {
    const undici = await loadUndici(dispatcher);
    if (undici === null) return fallback(request);
    const { method, url, headers, signal } = request;
    const options = { method: method as Dispatcher.HttpMethod, headers, signal, bodyTimeout: 0 };
    const response = await undici.request(url, dispatcher ? { ...options, dispatcher } : options);
    return { status: response.statusCode, headers: flatten(response.headers), chunks: response.body };
  };
}

/**
 * Loaded on first use: it takes about 100 ms, which programs with their own fetch should not pay. Null where it cannot be loaded: Jest
 * without its flag for ES modules knows no `import()`, and esbuild makes ES modules in which undici's `require` fails.
 */
async function loadUndici(dispatcher: Dispatcher | undefined): Promise<typeof import("undici") | null> {
  try {
    return await import("undici");
  } catch (error) {
    if (dispatcher || typeof globalThis.fetch !== "function") throw error;
    return null;
  }
}

/** Header names in lower case; repeated headers are joined with commas. */
function flatten(headers: Dispatcher.ResponseData["headers"]): Record<string, string> {
  const received: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) received[name.toLowerCase()] = Array.isArray(value) ? value.join(", ") : value;
  return received;
}
