import type { IncomingMessage, ServerResponse } from "node:http";
import { type Contract, DEV_ONLY, type Endpoint } from "@mailsvc/sdk/contract";
import type { H3, H3Event } from "h3";
import { readWishes } from "../html/texts.ts";
import { ApiError } from "../lib/api-error.ts";
import type { Limiter } from "../lib/rate.ts";
import type { KeyLookup, SessionLookup } from "./auth.ts";
import { BodyMemory } from "./body/read.ts";
import type { AnyHandler } from "./call.ts";
import type { ChangeRecorder } from "./change-recorder.ts";
import type { HttpDeps } from "./deps.ts";
import type { Dialect, DialectAnswer, DialectLoaders, DialectOperation } from "./dialect.ts";
import type { FaultInjector } from "./fault-injection.ts";
import type { HeaderList, HeaderReader } from "./headers.ts";
import type { InFlightRequests } from "./in-flight.ts";
import { OperatorRights, type WorkspaceLookup } from "./operator-rights.ts";
import { Performer } from "./perform.ts";
import { errorPage, prefersHtml } from "./public/error-page.ts";
import { DirectRequest } from "./request.ts";
import { type AnyResponse, buildResponse, errorResponse, type HttpResponse, type RespondToError } from "./response.ts";
import type { AbsentPath, Refuse, Route, Serve } from "./routes.ts";
import { type Api, makeServe, type ObservedRequest } from "./serve-requests.ts";

interface RouterParts {
  readonly contract: Contract;
  /** By noun and verb; those of dev mode may be missing outside it. */
  readonly handlers: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** The APIs of other services that are served too. */
  readonly dialects: DialectLoaders;
  readonly deps: HttpDeps;
  readonly keys: KeyLookup;
  readonly sessions: SessionLookup;
  readonly workspaces: WorkspaceLookup;
  readonly inFlight: InFlightRequests;
  readonly limiter: Limiter;
  readonly changes: ChangeRecorder;
  /** Rules that make requests fail; dev mode only. */
  readonly faults: FaultInjector | null;
  /** Called after each request, for the access log and metrics; null when nothing observes. */
  readonly observe: ((request: ObservedRequest) => void) | null;
  /** Adds what is served besides the contract. */
  readonly mount: (h3: H3) => Promise<void>;
}

export interface Router {
  /** The router for all requests. It is loaded when it is first needed: with what it needs of Node, that takes a fifth of a start. */
  routed(): Promise<H3>;
  /** Serves a probe, or a write whose path has neither parameters nor a query, without h3; false for any other request. */
  serveDirectly(req: IncomingMessage, res: ServerResponse): boolean;
  /** The response to a request that cannot be read. */
  refuse(error: ApiError): HttpResponse;
}

// Other services' APIs are for programs: nobody calls them from the dashboard.
const NO_SESSIONS: SessionLookup = { admit: async () => null, admitOperator: async () => false };

const NO_HEADERS: HeaderReader = { get: () => null };

/** A load balancer's probes: served at once, however busy the server is. */
export const PROBES: ReadonlySet<string> = new Set(["/healthz", "/readyz"]);

/** Makes a route of each endpoint in the contract. Unknown paths answer 404, known paths with another method 405. */
export function createRouter(routerParts: RouterParts): Router {
  const { contract, handlers, dialects, deps, keys, sessions, workspaces, inFlight, limiter, changes, faults, observe, mount } =
    routerParts;
  const { config, ids } = deps;
  const parts = { deps, inFlight, faults, observe };
  const operators = new OperatorRights(workspaces);
  const bodies = new BodyMemory();
  const performer = new Performer({ deps, keys, sessions, operators, limiter, bodies, changes });
  const createServe = makeServe(parts, { performer, respondToError: respondInContract, compresses: true });

  const loaded: Dialect[] = [];

  /** Answers a request that no endpoint takes. */
  const refuse: Refuse = (request, method, error) => {
    const requestId = ids("req");
    const dialect = loaded.find(({ prefix }) => request.pathname().startsWith(`${prefix}/`));
    const respond = dialect ? respondInDialect(dialect) : respondInContract;
    const { headers } = request;
    const facts = { route: null, ms: 0, keyId: null, workspaceId: null, dev: false };
    observe?.({ ...facts, requestId, method, status: error.status, error: error.code, pathname: request.pathname(), headers });
    return request.respond(respond(error, requestId, [["x-request-id", requestId]], request, null));
  };

  const routes: Route[] = [];
  const absent: AbsentPath[] = [];
  const direct = new Map<string, Serve>();
  const addDirect = ({ path, endpoint, serve }: Route): void => {
    if (PROBES.has(path) || (endpoint.method !== "GET" && !path.includes(":"))) direct.set(`${endpoint.method} ${path}`, serve);
  };
  for (const [noun, group] of Object.entries(contract)) {
    for (const [verb, endpoint] of Object.entries(group)) {
      if (endpoint.access === "dev" && !config.dev) {
        absent.push({ path: endpoint.path, makeError: () => devOnly(noun) });
        continue;
      }
      const serveVerb = (name: string): Serve => createServe(group[name] as Endpoint, handlers[noun]?.[name] as AnyHandler);
      const serve = serveVerb(verb);
      const follow = endpoint.followedBy === undefined ? null : serveVerb(endpoint.followedBy);
      for (const path of [endpoint.path, ...(endpoint.aliases ?? [])]) routes.push({ endpoint, path, serve, follow });
    }
  }
  routes.forEach(addDirect);

  let loading: Promise<H3> | undefined;
  const load = async (): Promise<H3> => {
    const { createRoutes } = await import("./routes.ts");
    const loadDialect = async (loader: () => Promise<Dialect>): Promise<H3> => {
      const dialect = await loader();
      loaded.push(dialect);
      const performer = new Performer({ deps, keys: dialect.lookUpKeys(keys), sessions: NO_SESSIONS, operators, limiter, bodies, changes });
      const own = listDialectRoutes(dialect, performer, (api) => makeServe(parts, api));
      own.forEach(addDirect);
      return createRoutes(own, [], refuse);
    };
    const h3 = createRoutes(routes, absent, refuse);
    for (const [prefix, loader] of dialects) {
      let loading: Promise<H3> | undefined;
      const follow = async (event: H3Event) => (await (loading ??= loadDialect(loader))).handler(event);
      for (const path of [prefix, `${prefix}/**` as const]) h3.all(path, follow);
    }
    await mount(h3);
    return h3;
  };

  return {
    refuse: (error) => {
      const requestId = ids("req");
      const facts = { route: null, ms: 0, keyId: null, workspaceId: null, dev: false };
      observe?.({ ...facts, requestId, method: "-", status: error.status, error: error.code, pathname: "-", headers: NO_HEADERS });
      return errorResponse(error, requestId, [["x-request-id", requestId]]);
    },
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

/** The error for a call of a noun that exists in dev mode only. */
function devOnly(noun: string): ApiError {
  const { message, hint } = DEV_ONLY[noun] ?? {};
  return new ApiError("dev_only", message ?? "This call exists in dev mode only.", hint === undefined ? {} : { hint });
}

/** An error of the contract; a page for a person who opens a public address in a browser. */
const respondInContract: RespondToError = (error, requestId, headers, request, endpoint) => {
  const isPublic = endpoint === null || endpoint.access === "public";
  if (!isPublic || !prefersHtml(request.headers)) return errorResponse(error, requestId, headers);
  return errorPage(
    error,
    requestId,
    headers,
    readWishes(request.search(), (name) => request.headers.get(name)),
  );
};

type MakeServe = (api: Api) => (endpoint: Endpoint, handler: AnyHandler) => Serve;

/** The routes of a dialect. */
function listDialectRoutes(dialect: Dialect, performer: Performer, makeServe: MakeServe): Route[] {
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
function respondInDialect({ describeError }: Pick<Dialect, "describeError">): RespondToError {
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
