import type { Endpoint } from "@mailsvc/sdk/contract";
import { H3, type H3Event, type HTTPResponse as H3Response } from "h3";
import { ApiError } from "../lib/api-error.ts";
import type { HeaderReader } from "./headers.ts";
import type { HttpRequest } from "./request.ts";
import { RoutedRequest } from "./routed-request.ts";
import { undecodablePath } from "./validation.ts";

/** Serves a request; what it gives is for h3. */
export type Serve = (request: HttpRequest) => Promise<H3Response | undefined>;

/** An endpoint at one of its paths. */
export interface Route {
  readonly endpoint: Endpoint;
  readonly path: `/${string}`;
  readonly serve: Serve;
  /** The stream that answers instead to a client that wants events; null without one. */
  readonly follow: Serve | null;
}

/** Answers a request that no endpoint takes with an error. */
export type Refuse = (request: HttpRequest, method: string, error: ApiError) => H3Response | undefined;

/** A path that this server does not have, and the error that says why. */
export interface AbsentPath {
  readonly path: `/${string}`;
  readonly makeError: () => ApiError;
}

/** Routes requests with h3. Unknown paths answer 404, `absent` ones with the reason, known paths with another method 405. */
export function createRoutes(routes: readonly Route[], absent: readonly AbsentPath[], refuse: Refuse): H3 {
  const refuseEvent =
    (makeError: () => ApiError) =>
    (event: H3Event): H3Response | undefined =>
      refuse(new RoutedRequest(event), event.req.method, makeError());

  const h3 = new H3({
    silent: true,
    // Called only for what h3 itself refuses: a path that cannot be decoded.
    onError: (_error, event) => refuseEvent(undecodablePath)(event as H3Event),
  });
  const methodsByPath = new Map<string, string[]>();
  for (const { endpoint, path, serve, follow } of routes) {
    const serveEvent = (event: H3Event): Promise<H3Response | undefined> => {
      const request = new RoutedRequest(event);
      return follow && event.req.method === "GET" && prefersEvents(request.headers) ? follow(request) : serve(request);
    };
    h3.on(endpoint.method, path, serveEvent);
    if (endpoint.method === "GET" && !endpoint.stream) h3.on("HEAD", path, serveEvent);
    const shape = normalizeParams(path);
    methodsByPath.set(shape, [...(methodsByPath.get(shape) ?? []), endpoint.method]);
  }
  const places = [...methodsByPath].map(([path, methods]) => ({ path, methods, segments: path.split("/") }));
  const withParams = Map.groupBy(
    places.filter(({ path }) => path.includes(":")),
    ({ segments }) => segments.length,
  );
  for (const { path, methods, segments } of places) {
    // A run may be called "complete": GET of its path is not refused because POST there has another meaning.
    const wider = (withParams.get(segments.length) ?? []).flatMap((other) =>
      other.path !== path && covers(other.segments, segments) ? other.methods : [],
    );
    const allowed = new Set([...methods, ...wider]);
    const allow = [...allowed].join(", ");
    const answer = refuseEvent(
      () => new ApiError("method_not_allowed", `Method not allowed. This path accepts ${allow}.`, { headers: { allow } }),
    );
    if (wider.length === 0) h3.all(path, answer);
    else for (const method of METHODS) if (!allowed.has(method === "HEAD" ? "GET" : method)) h3.on(method, path, answer);
  }
  for (const { path, makeError } of absent) h3.all(path, refuseEvent(makeError));
  h3.all(
    "/**",
    refuseEvent(() => new ApiError("not_found", "There is nothing at this address.", { hint: "The API is described at /openapi.json." })),
  );
  return h3;
}

/** True for a client that wants server-sent events, as EventSource does. */
function prefersEvents(headers: HeaderReader): boolean {
  return /\btext\/event-stream\b/i.test(headers.get("accept") ?? "");
}

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;

/** True if a path with parameters also matches another one of its length, which has words in place of parameters. */
function covers(own: readonly string[], its: readonly string[]): boolean {
  return own.every((segment, i) => segment.startsWith(":") || segment === its[i]);
}

/** Paths that differ only in the names of their parameters become the same text. */
function normalizeParams(path: string): string {
  let count = 0;
  return path.replace(/:\w+/g, () => `:x${count++}`);
}
