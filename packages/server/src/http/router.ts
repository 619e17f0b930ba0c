import type { IncomingMessage, ServerResponse } from "node:http";
import type { Contract, Endpoint } from "@mailsvc/sdk/contract";
import { H3, type H3Event, type HTTPResponse as H3Response } from "h3";
import type { Deps } from "../deps.ts";
import { ApiError } from "../lib/api-error.ts";
import type { Limiter } from "../lib/rate.ts";
import type { Tracing } from "../lib/tracing.ts";
import type { KeyLookup } from "./auth.ts";
import { toApiError } from "./errors.ts";
import { DROP_HEADER, type FaultInjector } from "./fault-injection.ts";
import type { PublicContext } from "./handler.ts";
import type { HeaderList, HeaderReader } from "./headers.ts";
import type { InFlightRequests } from "./in-flight.ts";
import { type Call, createPerform } from "./perform.ts";
import { errorPage, prefersHtml } from "./public/error-page.ts";
import { DirectRequest, type HttpRequest, RoutedRequest } from "./request.ts";
import { type AnyResponse, errorResponse, sendResponse } from "./response.ts";
import type { AnyHandler } from "./transaction.ts";
import { check } from "./validation.ts";

export interface RouterParts {
  readonly contract: Contract;
  /** By noun and verb; those of dev mode may be missing outside it. */
  readonly handlers: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly deps: Deps;
  readonly keys: KeyLookup;
  readonly inFlight: InFlightRequests;
  readonly limiter: Limiter;
  /** Rules that make requests fail; dev mode only. */
  readonly faults: FaultInjector | null;
  /** Called after each request, for the access log and metrics; null when nothing observes. */
  readonly observe: ((request: ServedRequest) => void) | null;
}

/** A request that was served, without any personal data: neither address nor path parameters. */
export interface ServedRequest {
  readonly requestId: string;
  readonly method: string;
  /** The path of the endpoint, such as `/api/v1/emails/:id`; null for an unknown path. */
  readonly route: string | null;
  readonly status: number;
  readonly ms: number;
  /** The id of the key or the activation; null without a key. */
  readonly keyId: string | null;
}

export interface Router {
  readonly h3: H3;
  /** Serves a write whose path has neither parameters nor a query without h3; false for any other request. */
  serveDirectly(req: IncomingMessage, res: ServerResponse): boolean;
}

type Serve = (request: HttpRequest) => Promise<H3Response>;

/** Makes a route of each endpoint in the contract. Unknown paths answer 404, known paths with another method 405. */
export function createRouter({ contract, handlers, deps, keys, inFlight, limiter, faults, observe }: RouterParts): Router {
  const { config, ids, clock, tracing } = deps;
  const choosePerform = createPerform({ deps, keys, limiter });

  const createServe = (endpoint: Endpoint, handler: AnyHandler): Serve => {
    const perform = choosePerform(endpoint);
    const respond = async (call: Call): Promise<AnyResponse> => {
      const { request, base, headers } = call;
      try {
        return faults?.any && endpoint.access !== "dev"
          ? await faults.inject(endpoint.method, request.pathname(), headers, () => perform(call))
          : await perform(call);
      } catch (error) {
        // A fault rule that cuts the connection; callers in process see it by the header.
        if (headers.some(([name]) => name === DROP_HEADER)) request.cut();
        const apiError = toApiError(error, endpoint, base.requestId, deps);
        const toPage = endpoint.access === "public" && prefersHtml(request.headers);
        return toPage ? errorPage(apiError, base.requestId, headers) : errorResponse(apiError, base.requestId, headers);
      }
    };
    return async (request) => {
      const requestId = ids("req");
      const startedAt = observe && clock.real.now();
      const headers: HeaderList = [["x-request-id", requestId]];
      if (inFlight.draining) headers.push(["connection", "close"]);
      inFlight.begin();
      try {
        const base: PublicContext = {
          deps,
          requestId,
          check,
          header: (name) => request.headers.get(name),
          signal: () => request.signal(),
        };
        const call: Call = { request, endpoint, handler, base, headers };
        const response = tracing ? await traceRequest(tracing, call, respond) : await respond(call);
        if (observe && startedAt !== null) {
          const { method, path: route } = endpoint;
          observe({ requestId, method, route, status: response.status, ms: clock.real.now() - startedAt, keyId: call.keyId ?? null });
        }
        return request.respond(response);
      } finally {
        inFlight.end();
      }
    };
  };

  /** Answers a request that no endpoint takes. */
  const refuse =
    (makeError: () => ApiError) =>
    (event: H3Event): H3Response => {
      const requestId = ids("req");
      const headers: HeaderList = [["x-request-id", requestId]];
      const error = makeError();
      observe?.({ requestId, method: event.req.method, route: null, status: error.status, ms: 0, keyId: null });
      return sendResponse(
        event,
        prefersHtml(event.req.headers) ? errorPage(error, requestId, headers) : errorResponse(error, requestId, headers),
      );
    };

  const h3 = new H3({
    silent: true,
    // Called only for what h3 itself refuses: a path that cannot be decoded.
    onError: (_error, event) =>
      refuse(() => new ApiError("validation_error", "Invalid path: a % must be followed by two hexadecimal digits."))(event as H3Event),
  });
  const direct = new Map<string, Serve>();
  const methodsByPath = new Map<string, string[]>();
  for (const [noun, group] of Object.entries(contract)) {
    for (const [verb, endpoint] of Object.entries(group)) {
      if (endpoint.access === "dev" && !config.dev) continue;
      const serveVerb = (name: string): Serve => createServe(group[name] as Endpoint, handlers[noun]?.[name] as AnyHandler);
      const serve = serveVerb(verb);
      const follow = endpoint.followedBy === undefined ? null : serveVerb(endpoint.followedBy);
      const serveEvent = (event: H3Event): Promise<H3Response> => {
        const request = new RoutedRequest(event);
        return follow && event.req.method === "GET" && prefersEvents(request.headers) ? follow(request) : serve(request);
      };
      for (const path of [endpoint.path, ...(endpoint.aliases ?? [])]) {
        h3.on(endpoint.method, path, serveEvent);
        if (endpoint.method === "GET" && !endpoint.stream) h3.on("HEAD", path, serveEvent);
        else if (endpoint.method !== "GET" && !path.includes(":")) direct.set(`${endpoint.method} ${path}`, serve);
        const shape = normalizeParams(path);
        methodsByPath.set(shape, [...(methodsByPath.get(shape) ?? []), endpoint.method]);
      }
    }
  }
  for (const [path, methods] of methodsByPath) {
    const allow = methods.join(", ");
    h3.all(
      path,
      refuse(() => new ApiError("method_not_allowed", `Method not allowed. This path accepts ${allow}.`, { headers: { allow } })),
    );
  }
  h3.all(
    "/**",
    refuse(() => new ApiError("not_found", "There is nothing at this address.", { hint: "The API is described at /openapi.json." })),
  );

  return {
    h3,
    serveDirectly: (req, res) => {
      const serve = direct.get(`${req.method} ${req.url}`);
      if (!serve) return false;
      // A response that cannot be written ends its own connection only.
      serve(new DirectRequest(req, res)).catch(() => void res.destroy());
      return true;
    },
  };
}

/** True for a client that wants server-sent events, as EventSource does. */
function prefersEvents(headers: HeaderReader): boolean {
  return /\btext\/event-stream\b/i.test(headers.get("accept") ?? "");
}

/** Serves a request in a span that continues the trace of the caller. */
function traceRequest(tracing: Tracing, call: Call, respond: (call: Call) => Promise<AnyResponse>): Promise<AnyResponse> {
  const { endpoint, request, base } = call;
  const { method, path } = endpoint;
  const attributes = { "http.request.method": method, "http.route": path, "mailsvc.request.id": base.requestId };
  const parent = request.headers.get("traceparent");
  return tracing.span({ name: `${method} ${path}`, kind: "server", parent, attributes }, async (span) => {
    const response = await respond(call);
    span.set({ "http.response.status_code": response.status });
    if (response.status >= 500) span.fail(String(response.status));
    return response;
  });
}

/** Paths that differ only in the names of their parameters become the same text. */
function normalizeParams(path: string): string {
  let count = 0;
  return path.replace(/:\w+/g, () => `:x${count++}`);
}
