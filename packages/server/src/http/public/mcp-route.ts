import { ErrorBody } from "@mailsvc/sdk/contract";
import type { H3, H3Event } from "h3";
import { ApiError } from "../../lib/api-error.ts";
import type { Ids } from "../../lib/ids.ts";
import type { IpNetwork } from "../../lib/ip-network.ts";
import type { Log } from "../../lib/log.ts";
import { MB } from "../../lib/units.ts";
import { checkMediaType, parseObjectOrArray } from "../body/json.ts";
import { getClientAddress } from "../client-address.ts";
import type { FailedLogins } from "../failed-logins.ts";
import type { InFlightRequests } from "../in-flight.ts";
import { RoutedRequest } from "../routed-request.ts";
import { guardDev } from "./dev-guard.ts";

/** A call of the API within this process, with the key of the request that needs it. */
export type CallApi = (
  request: {
    readonly method: string;
    readonly path: string;
    readonly query: Readonly<Record<string, string>>;
    readonly body: unknown;
    readonly headers: Readonly<Record<string, string>>;
  },
  /** Ends a call that waits. */
  signal: AbortSignal,
) => Promise<{ readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly body: unknown }>;

/** Answers a request of the protocol whose key was accepted; `me` is the answer to `me.get`. */
export type ServeMcp = (request: Request, body: unknown, call: CallApi, me: unknown) => Promise<Response>;

interface McpRouteParts {
  /** Loaded at the first request. */
  readonly load: () => Promise<ServeMcp>;
  readonly ids: Ids;
  readonly log: Log;
  readonly inFlight: InFlightRequests;
  readonly failedLogins: FailedLogins;
  readonly dev: boolean;
  /** Proxies whose X-Forwarded-For names the client. */
  readonly trustedProxies: readonly IpNetwork[];
}

// Arguments of a tool: a template, or a mail with small files.
const MAX_BODY = 4 * MB;
const METHODS = ["POST", "GET", "DELETE"];
// The base of addresses within this process; no request leaves it.
const IN_PROCESS = "http://mailsvc.internal";

/**
 * Serves the Model Context Protocol at /mcp. A request needs the ordinary key, and every call of a tool is a request to the API with
 * that key: permissions, rate limits and workspaces hold as everywhere. Pages of other sites are refused, and in dev mode also other
 * machines, because its tools reach /__dev.
 */
export function mountMcp(h3: H3, parts: McpRouteParts): void {
  const { ids, log, inFlight } = parts;
  const serve = serveWith(h3, parts);
  h3.all("/mcp", async (event) => {
    const requestId = ids("req");
    const { end } = inFlight.begin();
    try {
      const response = await serve(event);
      const headers = new Headers(response.headers);
      headers.set("x-request-id", requestId);
      headers.set("x-content-type-options", "nosniff");
      if (inFlight.draining) headers.set("connection", "close");
      return new Response(response.body, { status: response.status, headers });
    } catch (error) {
      if (!(error instanceof ApiError))
        log.error("mcp failed", { requestId, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
      return toResponse(error instanceof ApiError ? error : new ApiError("internal_error", "An unexpected error occurred."), requestId);
    } finally {
      end();
    }
  });
}

function serveWith(h3: H3, { load, failedLogins, dev, trustedProxies }: McpRouteParts): (event: H3Event) => Promise<Response> {
  let loading: Promise<ServeMcp> | undefined;
  return async (event) => {
    const request = new RoutedRequest(event);
    const { method, headers } = event.req;
    if (!METHODS.includes(method))
      throw new ApiError("method_not_allowed", `Method not allowed. This address accepts ${METHODS.join(", ")}.`, {
        headers: { allow: METHODS.join(", ") },
      });
    if (dev) guardDev(request, request.remoteAddress);
    assertOwnOrigin(headers);
    if (method === "POST") checkMediaType(headers);
    const signal = request.leaving();
    const address = getClientAddress(request.remoteAddress, headers.get("x-forwarded-for"), trustedProxies);
    const call = callWith(h3, { authorization: headers.get("authorization"), address }, signal);
    const me = await call({ method: "GET", path: "/api/v1/me", query: {}, body: undefined, headers: {} }, signal);
    if (me.status !== 200) {
      const refusal = toApiError(me);
      failedLogins.countRequest(refusal, request);
      throw refusal;
    }
    // A message, or the batch of the revision 2025-03-26.
    const body = method === "POST" ? parseObjectOrArray(await request.body(MAX_BODY)) : undefined;
    const serve = await (loading ??= load());
    return serve(new Request(`${IN_PROCESS}/mcp`, { method, headers: new Headers(headers), signal }), body, call, me.body);
  };
}

/** Throws ApiError forbidden for a page of another site. A program sends no Origin. */
function assertOwnOrigin(headers: Headers): void {
  const origin = headers.get("origin");
  const host = headers.get("host") ?? "";
  if (origin === null || origin === `http://${host}` || origin === `https://${host}`) return;
  throw new ApiError("forbidden", "/mcp is not open to pages of other sites.", {
    hint: "Call it from a program, without an Origin header.",
  });
}

/** The sender of a request. */
interface Client {
  readonly authorization: string | null;
  readonly address: string;
}

/** Calls that end when the client of the request has left, or when it cancels the call of a tool. */
function callWith(h3: H3, { authorization, address }: Client, left: AbortSignal): CallApi {
  return async ({ method, path, query, body, headers }, signal) => {
    const search = new URLSearchParams(query).toString();
    const response = await h3.fetch(
      new Request(`${IN_PROCESS}${path}${search === "" ? "" : `?${search}`}`, {
        method,
        signal: AbortSignal.any([left, signal]),
        headers: {
          ...headers,
          // A key may be limited to networks.
          "x-forwarded-for": address,
          ...(authorization === null ? {} : { authorization }),
          ...(body === undefined ? {} : { "content-type": "application/json" }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    );
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.startsWith("application/json") ?? false;
    return { status: response.status, headers: Object.fromEntries(response.headers), body: isJson ? (JSON.parse(text) as unknown) : text };
  };
}

/** The refusal of the API, as an error of our own. */
function toApiError({ body, headers }: Awaited<ReturnType<CallApi>>): ApiError {
  const { code, message, hint, details } = ErrorBody.parse(body).error;
  const kept = ["www-authenticate", "retry-after"].flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]]));
  return new ApiError(code, message, { hint, details, headers: Object.fromEntries(kept) as Record<string, string> });
}

/** The status of HTTP, and an error of JSON-RPC that belongs to no request. */
function toResponse({ status, code, message, hint, details, headers }: ApiError, requestId: string): Response {
  // "Parse error" and "Invalid Request" of JSON-RPC 2.0.
  const number = details.some((detail) => detail.code === "invalid_json") ? -32_700 : -32_600;
  const error = { code: number, message: `${message} ${hint}`, data: { code, hint, details, requestId } };
  return Response.json({ jsonrpc: "2.0", id: null, error }, { status, headers: { ...headers, "x-request-id": requestId } });
}
