import type { Dispatcher } from "undici";
import type { StreamTransport, Transport, UndiciDispatcher } from "../call/transport.ts";

/** A transport over undici's `request` with keep-alive connections: those of a dispatcher, or undici's global ones. */
export function undiciTransport(given: UndiciDispatcher | undefined): Transport {
  const dispatcher = given as Dispatcher | undefined;
  let undici: typeof import("undici") | undefined;
  return async ({ method, url, headers, body, signal }) => {
    // Loaded on first use: it takes about 100 ms, which programs with their own fetch should not pay.
    undici ??= await import("undici");
    const options = { method: method as Dispatcher.HttpMethod, headers, body: body ?? null, signal };
    const response = await undici.request(url, dispatcher ? { ...options, dispatcher } : options);
    const { statusCode: status } = response;
    return { status, headers: flatten(response.headers), bytes: await response.body.bytes() };
  };
}

/** The same for streams, without undici's limits on how long a body may take. */
export function undiciStream(given: UndiciDispatcher | undefined): StreamTransport {
  const dispatcher = given as Dispatcher | undefined;
  return async ({ method, url, headers, signal }) => {
    const undici = await import("undici");
    const options = { method: method as Dispatcher.HttpMethod, headers, signal, bodyTimeout: 0 };
    const response = await undici.request(url, dispatcher ? { ...options, dispatcher } : options);
    return { status: response.statusCode, headers: flatten(response.headers), chunks: response.body };
  };
}

/** Header names in lower case; repeated headers are joined with commas. */
function flatten(headers: Dispatcher.ResponseData["headers"]): Record<string, string> {
  const received: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) received[name.toLowerCase()] = Array.isArray(value) ? value.join(", ") : value;
  return received;
}
