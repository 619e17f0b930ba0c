import type { Endpoint, ErrorCode } from "@mailsvc/sdk/contract";
import type { Tracing } from "../lib/tracing.ts";
import type { AnyHandler, Call } from "./call.ts";
import type { HttpDeps } from "./deps.ts";
import { toApiError } from "./errors.ts";
import { DROP_HEADER, type FaultInjector } from "./fault-injection.ts";
import type { PublicContext } from "./handler.ts";
import type { HeaderList, HeaderReader } from "./headers.ts";
import type { InFlightRequests } from "./in-flight.ts";
import type { Performer } from "./perform.ts";
import { type AnyResponse, compress, type RespondToError } from "./response.ts";
import type { Serve } from "./routes.ts";
import { check } from "./validation.ts";

/** A request that was served. */
export interface ObservedRequest extends ServedRequest {
  /** The path that was asked for. It may name people. */
  readonly pathname: string;
  /** The code of the error that was answered. */
  readonly error: ErrorCode | null;
  /** The workspace of the key; null without one that works. */
  readonly workspaceId: string | null;
  readonly headers: HeaderReader;
  /** True for a call of dev mode. */
  readonly dev: boolean;
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

interface ServeParts {
  readonly deps: HttpDeps;
  readonly inFlight: InFlightRequests;
  /** Rules that make requests fail; dev mode only. */
  readonly faults: FaultInjector | null;
  /** Called after each request, for the access log and metrics; null when nothing observes. */
  readonly observe: ((request: ObservedRequest) => void) | null;
}

/** An API: how its requests are performed and its errors answered. */
export interface Api {
  readonly performer: Performer;
  readonly respondToError: RespondToError;
  /** Makes a successful response what the clients of this API expect; without it, it stays as it is. */
  readonly reshape?: (response: AnyResponse) => AnyResponse;
  /** Compresses answers for clients that take it. Operations of dialects do not say which of them may be. */
  readonly compresses?: true;
}

/** Makes the function that serves an endpoint of an API. */
export function makeServe({ deps, inFlight, faults, observe }: ServeParts, { performer, respondToError, reshape, compresses }: Api) {
  const { ids, clock, tracing } = deps;

  const respond = async (call: Call): Promise<AnyResponse> => {
    const { request, endpoint, base, headers } = call;
    const perform = async (): Promise<AnyResponse> => {
      const response = await performer.perform(call);
      return reshape ? reshape(response) : response;
    };
    try {
      return faults?.any && endpoint.access !== "dev"
        ? await faults.inject(endpoint.method, request.pathname(), headers, perform)
        : await perform();
    } catch (error) {
      // A fault rule that cuts the connection; callers in process see it by the header.
      if (headers.some(([name]) => name === DROP_HEADER)) request.cut();
      const answered = toApiError(error, endpoint, base.requestId, deps);
      call.error = answered.code;
      return respondToError(answered, base.requestId, headers, request, endpoint);
    }
  };

  return (endpoint: Endpoint, handler: AnyHandler): Serve => {
    const announced = listDeprecationHeaders(endpoint);
    return async (request) => {
      const requestId = ids("req");
      const startedAt = observe && clock.real.now();
      const headers: HeaderList = [["x-request-id", requestId], ...announced];
      if (inFlight.draining) headers.push(["connection", "close"]);
      const { received, end } = inFlight.begin();
      try {
        const base: PublicContext<HttpDeps> = {
          deps,
          requestId,
          check,
          header: (name) => request.headers.get(name),
          signal: () => request.signal(),
        };
        const call: Call = { request, endpoint, handler, base, headers, received };
        const response = tracing ? await traceRequest(tracing, call, respond) : await respond(call);
        if (observe && startedAt !== null) {
          const { method, path: route, access } = endpoint;
          const { keyId = null, workspaceId = null, error = null } = call;
          const facts = { requestId, method, route, status: response.status, ms: clock.real.now() - startedAt };
          const { headers } = request;
          observe({ ...facts, keyId, workspaceId, error, headers, pathname: request.pathname(), dev: access === "dev" });
        }
        return request.respond(compresses ? await compress(response, endpoint, request.headers) : response);
      } finally {
        end();
      }
    };
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

/** The headers that announce the end of an operation: Deprecation (RFC 9745) and Sunset (RFC 8594). None for all others. */
export function listDeprecationHeaders({ deprecated }: Endpoint): HeaderList {
  if (deprecated === undefined) return [];
  const { since, sunset } = deprecated;
  return [
    ["deprecation", `@${Date.parse(`${since}T00:00:00Z`) / 1000}`],
    ["sunset", new Date(`${sunset}T00:00:00Z`).toUTCString()],
  ];
}
