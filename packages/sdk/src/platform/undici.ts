import type { Dispatcher } from "undici";
import { isLoopbackHost } from "../contract/loopback.ts";
import { UsageError } from "../errors.ts";
import { environment } from "../runtime.ts";
import { globalFetch, type StreamTransport, type Transport, type UndiciDispatcher } from "./transport.ts";

/**
 * Transport over undici's `request` with keep-alive connections: those of a dispatcher, or undici's global ones. If undici cannot be
 * loaded, and no dispatcher needs it, the transport uses the global `fetch`.
 */
export function undiciTransport(given: UndiciDispatcher | undefined): Transport {
  const dispatcher = given as Dispatcher | undefined;
  const { transport: fallback } = globalFetch();
  let undici: typeof import("undici") | null | undefined;
  let proxy: ProxyOf | undefined;
  return async (request) => {
    if (undici === undefined) undici = await loadUndici(dispatcher);
    if (undici === null) return fallback(request);
    const { method, url, headers, body, signal } = request;
    const options = { method: method as Dispatcher.HttpMethod, headers, body: body ?? null, signal };
    const way = dispatcher ?? (proxy ??= createProxy(undici))(url);
    const response = await undici.request(url, way ? { ...options, dispatcher: way } : options);
    const { statusCode: status } = response;
    return { status, headers: flatten(response.headers), bytes: await response.body.bytes() };
  };
}

/** The same for streams, without undici's limits on how long a body may take. */
export function undiciStream(given: UndiciDispatcher | undefined): StreamTransport {
  const dispatcher = given as Dispatcher | undefined;
  const { stream: fallback } = globalFetch();
  let proxy: ProxyOf | undefined;
  return async (request) => {
    const undici = await loadUndici(dispatcher);
    if (undici === null) return fallback(request);
    const { method, url, headers, signal } = request;
    const options = { method: method as Dispatcher.HttpMethod, headers, signal, bodyTimeout: 0 };
    const way = dispatcher ?? (proxy ??= createProxy(undici))(url);
    const response = await undici.request(url, way ? { ...options, dispatcher: way } : options);
    return { status: response.statusCode, headers: flatten(response.headers), chunks: response.body };
  };
}

/** The dispatcher by which an address is reached through a proxy; undefined to go there directly. */
type ProxyOf = (url: string) => Dispatcher | undefined;

/**
 * The proxy that HTTPS_PROXY, HTTP_PROXY and NO_PROXY name. This machine is always reached directly, and a program that has set a dispatcher of
 * its own for undici keeps it.
 */
function createProxy(undici: typeof import("undici")): ProxyOf {
  const { http, https, none } = readProxies();
  if (http === undefined && https === undefined) return () => undefined;
  const options = { ...(http && { httpProxy: http }), ...(https && { httpsProxy: https }), noProxy: none };
  let agent: Dispatcher | undefined;
  return (url) => {
    const { hostname, protocol } = new URL(url);
    if (isLoopbackHost(hostname) || (protocol === "https:" ? https : http) === undefined) return undefined;
    const global = undici.getGlobalDispatcher();
    // Node's own copy of undici has a class of its own.
    if (!(global instanceof undici.Agent) && global.constructor.name !== "Agent") return undefined;
    agent ??= new undici.EnvHttpProxyAgent(options);
    return agent;
  };
}

/** The proxies of the environment, in full; lower case wins, as for curl. Throws UsageError for one that is no address. */
function readProxies(): { readonly http: string | undefined; readonly https: string | undefined; readonly none: string } {
  const read = (name: "http_proxy" | "https_proxy"): string | undefined => {
    const given = environment(name) ?? environment(name === "http_proxy" ? "HTTP_PROXY" : "HTTPS_PROXY");
    if (given === undefined) return undefined;
    const full = given.includes("://") ? given : `http://${given}`;
    if (URL.canParse(full) && /^https?:$/.test(new URL(full).protocol)) return full;
    throw new UsageError({
      message: `${name.toUpperCase()} is not the address of an HTTP proxy.`,
      hint: "Write it as http://proxy.example:3128.",
    });
  };
  return { http: read("http_proxy"), https: read("https_proxy"), none: environment("no_proxy") ?? environment("NO_PROXY") ?? "" };
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
