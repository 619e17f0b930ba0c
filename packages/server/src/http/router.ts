import type { IncomingMessage, ServerResponse } from "node:http";
import type { Contract, Endpoint } from "@mailsvc/sdk/contract";
import type { H3 } from "h3";
import type { Limiter } from "../lib/rate.ts";
import type { Tracing } from "../lib/tracing.ts";
import type { KeyLookup } from "./auth.ts";
import type { AnyHandler, Call } from "./call.ts";
import type { HttpDeps } from "./deps.ts";
import { toApiError } from "./errors.ts";
import { DROP_HEADER, type FaultInjector } from "./fault-injection.ts";
import type { PublicContext } from "./handler.ts";
import type { HeaderList } from "./headers.ts";
import type { InFlightRequests } from "./in-flight.ts";
import { Performer } from "./perform.ts";
import { errorPage, prefersHtml } from "./public/error-page.ts";
import { DirectRequest } from "./request.ts";
import { type AnyResponse, errorResponse } from "./response.ts";
import type { Refuse, Route, Serve } from "./routes.ts";
import { check } from "./validation.ts";

export interface RouterParts {
  readonly contract: Contract;
  /** By noun and verb; those of dev mode may be missing outside it. */
  readonly handlers: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly deps: HttpDeps;
  readonly keys: KeyLookup;
  readonly inFlight: InFlightRequests;
  readonly limiter: Limiter;
  /** Rules that make requests fail; dev mode only. */
  readonly faults: FaultInjector | null;
  /** Called after each request, for the access log and metrics; null when nothing observes. */
  readonly observe: ((request: ServedRequest) => void) | null;
  /** Adds what is served besides the contract. */
  readonly mount: (h3: H3) => Promise<void>;
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
  /** The router for all requests. It is loaded when it is first needed: with what it needs of Node, that takes a fifth of a start. */
  routed(): Promise<H3>;
  /** Serves a probe, or a write whose path has neither parameters nor a query, without h3; false for any other request. */
  serveDirectly(req: IncomingMessage, res: ServerResponse): boolean;
}

/** A load balancer's probes: served at once, however busy the server is. */
export const PROBES: ReadonlySet<string> = new Set(["/healthz", "/readyz"]);

/** Makes a route of each endpoint in the contract. Unknown paths answer 404, known paths with another method 405. */
export function createRouter({ contract, handlers, deps, keys, inFlight, limiter, faults, observe, mount }: RouterParts): Router {
  const { config, ids, clock, tracing } = deps;
  const performer = new Performer({ deps, keys, limiter });

  const createServe = (endpoint: Endpoint, handler: AnyHandler): Serve => {
    const respond = async (call: Call): Promise<AnyResponse> => {
      const { request, base, headers } = call;
      try {
        return faults?.any && endpoint.access !== "dev"
          ? await faults.inject(endpoint.method, request.pathname(), headers, () => performer.perform(call))
          : await performer.perform(call);
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
        const base: PublicContext<HttpDeps> = {
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
  const refuse: Refuse = (request, method, error) => {
    const requestId = ids("req");
    const headers: HeaderList = [["x-request-id", requestId]];
    observe?.({ requestId, method, route: null, status: error.status, ms: 0, keyId: null });
    return request.respond(prefersHtml(request.headers) ? errorPage(error, requestId, headers) : errorResponse(error, requestId, headers));
  };

  const routes: Route[] = [];
  const direct = new Map<string, Serve>();
  for (const [noun, group] of Object.entries(contract)) {
    for (const [verb, endpoint] of Object.entries(group)) {
      if (endpoint.access === "dev" && !config.dev) continue;
      const serveVerb = (name: string): Serve => createServe(group[name] as Endpoint, handlers[noun]?.[name] as AnyHandler);
      const serve = serveVerb(verb);
      const follow = endpoint.followedBy === undefined ? null : serveVerb(endpoint.followedBy);
      for (const path of [endpoint.path, ...(endpoint.aliases ?? [])]) {
        routes.push({ endpoint, path, serve, follow });
        if (PROBES.has(path) || (endpoint.method !== "GET" && !path.includes(":"))) direct.set(`${endpoint.method} ${path}`, serve);
      }
    }
  }
  let loading: Promise<H3> | undefined;
  const load = async (): Promise<H3> => {
    const { createRoutes } = await import("./routes.ts");
    const h3 = createRoutes(routes, refuse);
    await mount(h3);
    return h3;
  };

  return {
    routed: () => (loading ??= load()),
    serveDirectly: (req, res) => {
      const serve = direct.get(`${req.method} ${req.url}`);
      if (!serve) return false;
      // A response that cannot be written ends its own connection only.
      serve(new DirectRequest(req, res)).catch(() => void res.destroy());
      return true;
    },
  };
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
