import type { Endpoint } from "@mailsvc/sdk/contract";
import type { AnyHandler } from "./call.ts";
import type { Dialect, DialectAnswer, DialectOperation } from "./dialect.ts";
import type { HeaderList } from "./headers.ts";
import type { Performer } from "./perform.ts";
import { type AnyResponse, buildResponse, type HttpResponse, type RespondToError } from "./response.ts";
import type { Route, Serve } from "./routes.ts";
import type { Api } from "./serve-requests.ts";

type MakeServe = (api: Api) => (endpoint: Endpoint, handler: AnyHandler) => Serve;

/** The routes of a dialect. */
export function listDialectRoutes(dialect: Dialect, performer: Performer, makeServe: MakeServe): Route[] {
  const respondToError = respondInDialect(dialect);
  return dialect.operations.flatMap(({ endpoint, handler, reshape }) => {
    const api = { performer, respondToError, ...(reshape && { reshape: reshapeWith(reshape) }) };
    const serve = makeServe(api)(endpoint, handler);
    return listPaths(dialect, endpoint).map((path) => ({ endpoint, path, serve, follow: null }));
  });
}

/** The paths of an operation: its own, and that of a client which puts the path behind an address that ends with a slash. */
function listPaths({ prefix }: Dialect, { path }: Endpoint): Route["path"][] {
  return path === prefix ? [path] : [path, `${prefix}/${path.slice(prefix.length)}`];
}

/** Answers errors in the words of a dialect. */
export function respondInDialect({ describeError }: Pick<Dialect, "describeError">): RespondToError {
  return (error, _requestId, headers, request) =>
    toResponse(describeError(error, request.headers), [...headers, ...Object.entries(error.headers)]);
}

/** Rewrites a response, which may have been stored for an Idempotency-Key, so that only outputs are stored. */
function reshapeWith(reshape: NonNullable<DialectOperation["reshape"]>) {
  return (response: AnyResponse): AnyResponse => {
    if (typeof response.body !== "string" || response.body === "") return response;
    const own = response.headers.filter(([name]) => !HEADERS_OF_BODY.has(name));
    return toResponse(reshape(JSON.parse(response.body)), own);
  };
}

// Headers that `buildResponse` writes itself.
const HEADERS_OF_BODY = new Set(["content-type", "cache-control", "x-content-type-options"]);

function toResponse({ status, body, headers = {} }: DialectAnswer, common: HeaderList): HttpResponse {
  const all: HeaderList = [...common, ...Object.entries(headers)];
  return buildResponse(status, "application/json", body === null ? "" : JSON.stringify(body), all);
}
