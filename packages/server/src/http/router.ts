import type { IncomingMessage, ServerResponse } from "node:http";
import { type Contract, type Endpoint, isForAgents, listStatuses } from "@mailsvc/sdk/contract";
import { H3, type H3Event } from "h3";
import type { Tx } from "../db/db.ts";
import { StorageUnavailable, Unstorable } from "../db/errors.ts";
import type { Deps } from "../deps.ts";
import type { KeyInfo } from "../keys/key-cache.ts";
import { ApiError, invalid } from "../lib/api-error.ts";
import type { Limiter } from "../lib/rate.ts";
import { admitAgent } from "../marketplace/activations/agent-keys.ts";
import { authenticate, authenticateAgent, authenticateOperator, authorise, authoriseAgent, type LookUp } from "./auth.ts";
import { isForm } from "./body/form.ts";
import { checkMediaType, parseJson } from "./body/json.ts";
import { readUpload } from "./body/upload.ts";
import { FailedAuthLimiter } from "./failed-auth-limiter.ts";
import { DROP_HEADER, type FaultInjector } from "./fault-injection.ts";
import type { AgentContext, KeyContext, PublicContext, RawBody } from "./handler.ts";
import type { HeaderList } from "./headers.ts";
import { parseClaim } from "./idempotency.ts";
import { CROWDED_AT, type InFlightRequests } from "./in-flight.ts";
import { guardDev } from "./public/dev-guard.ts";
import { limitAgent, limitKey, limitWork, UploadLimiter } from "./rate-limit.ts";
import { DirectRequest, type HttpRequest, RoutedRequest } from "./request.ts";
import { buildResponse, errorResponse, type HttpResponse, sendResponse, withETag } from "./response.ts";
import { type AnyHandler, type Caller, createWriter, type Input, type RunAny } from "./transaction.ts";
import { check, parseInput } from "./validation.ts";

// The largest body of an agent's call that is no upload: a landing page of half a megabyte, each character of it escaped.
const AGENT_BODY_BYTES = 4 * 1024 * 1024;

// A file may come as base64, which takes a third more than its bytes.
const BASE64 = 4 / 3;

// The largest body without a key. The news of Stripe are a few kilobytes.
const PUBLIC_BODY_BYTES = 1024 * 1024;

type Perform = (
  exchange: HttpRequest,
  endpoint: Endpoint,
  handler: AnyHandler,
  base: PublicContext,
  headers: HeaderList,
) => Promise<HttpResponse>;

/** What the routes are made of. */
export interface RouterParts {
  contract: Contract;
  /** By noun and verb; those of dev mode may be missing outside it. */
  handlers: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  deps: Deps;
  flight: InFlightRequests;
  limiter: Limiter;
  /** Rules that make requests fail; in dev mode only. */
  faults: FaultInjector | null;
}

/** The routes. */
export interface Router {
  readonly h3: H3;
  /** Serves a write whose path has neither parameters nor a query, without the router; false for any other request. */
  direct(req: IncomingMessage, res: ServerResponse): boolean;
}

/** Turns the contract into routes, each with its handler. */
export function createRouter({ contract, handlers, deps, flight, limiter, faults }: RouterParts): Router {
  const { config, db, ids, clock } = deps;
  const write = createWriter(deps);
  const refusals = new FailedAuthLimiter(limiter, config.rates.agent, () => clock.now());
  const uploads = { ofKeys: new UploadLimiter("key", 100), ofAgents: new UploadLimiter("activation", 16) };
  const app = new H3({
    silent: true,
    // Only what the router itself refuses comes here: a path that cannot be decoded.
    onError: (_error, event) =>
      refuse(() => new ApiError("validation_error", "The path is not valid: a % must be followed by two hexadecimal digits."))(
        event as H3Event,
      ),
  });

  /** Serves a caller who may come in. */
  const answerCaller = async (
    exchange: HttpRequest,
    endpoint: Endpoint,
    handler: AnyHandler,
    caller: Caller,
    params: Record<string, string>,
    headers: HeaderList,
  ): Promise<HttpResponse> => {
    const search = endpoint.query ? exchange.search() : null;
    if (endpoint.method === "GET") {
      const input = parseInput(endpoint, params, search, {});
      const output = await (handler as RunAny)(input, { ...caller.context, read: db.read });
      return typeof output === "string" && endpoint.produces
        ? buildResponse(200, `${endpoint.produces}; charset=utf-8`, output, headers)
        : endpoint.etag
          ? withETag(JSON.stringify(output), exchange.headers, headers)
          : buildResponse(200, "application/json", JSON.stringify(output), headers);
    }
    if (!endpoint.raw && !(endpoint.form && isForm(exchange.headers))) checkMediaType(exchange.headers);
    const bytes = await exchange.body(caller.maxBody);
    const upload = endpoint.form ? readUpload(endpoint, exchange.headers, bytes) : null;
    const body = endpoint.raw ? {} : (upload?.fields ?? parseJson(bytes));
    if (!endpoint.body && Object.keys(body).length > 0) throw new ApiError("validation_error", "This endpoint takes no body.");
    const input = parseInput(endpoint, params, search, body);
    if (caller.limit) await caller.limit(input);
    const file = upload && (await upload.file());
    // A form that is sent again has other boundaries: what counts is what stands in it.
    const claimed = file ? Buffer.from(JSON.stringify({ ...body, contentBase64: file.sha256 })) : bytes;
    const claim = parseClaim(exchange.headers, caller.id, endpoint, params, claimed);
    const beside = endpoint.raw ? { bytes, headers: exchange.headers } : file && { file };
    const known = beside ? { ...caller, context: { ...caller.context, ...beside } } : caller;
    const stored = await write(endpoint, handler, input, known, claim);
    if (stored.replayed) headers.push(["idempotency-replayed", "true"]);
    return buildResponse(stored.status, "application/json", stored.answer, headers);
  };

  const keyed: Perform = (exchange, endpoint, handler, base, headers) => {
    const admitted = (key: KeyInfo): Promise<HttpResponse> => {
      authorise(key, endpoint);
      const context: KeyContext = { ...base, workspaceId: key.workspaceId, key };
      const params = paramsOf(exchange);
      if (!endpoint.form)
        return answerCaller(exchange, endpoint, handler, { id: key.id, context, maxBody: config.maxBodyBytes }, params, headers);
      const caller: Caller = { id: key.id, context, maxBody: config.maxBodyBytes * BASE64 };
      const serve = (): Promise<HttpResponse> => answerCaller(exchange, endpoint, handler, caller, params, headers);
      return uploads.ofKeys.around(key.id, exchange.signal(), serve);
    };
    const counted = (key: KeyInfo): Promise<HttpResponse> => {
      const waits = limitKey(limiter, config.rates, key.id, endpoint, headers);
      return waits ? waits.then(() => admitted(key)) : admitted(key);
    };
    // Nearly always known: a promise more is a microsecond.
    const known = authenticate(exchange.headers, deps, (hash, look) => refusals.around(hash, headers, look));
    return known instanceof Promise ? known.then(counted) : counted(known);
  };

  const forOperators: Perform = async (exchange, endpoint, handler, base, headers) => {
    await authenticateOperator(exchange.headers, deps, (hash, look) => refusals.around(hash, headers, look));
    await limitKey(limiter, config.rates, "operator", endpoint, headers);
    const caller: Caller = { id: "operator", context: base, maxBody: Math.min(config.maxBodyBytes, PUBLIC_BODY_BYTES) };
    return answerCaller(exchange, endpoint, handler, caller, paramsOf(exchange), headers);
  };

  const forAgents: Perform = async (exchange, endpoint, handler, base, headers) => {
    const params = paramsOf(exchange);
    const lookUp: LookUp = (key, look) => refusals.around(key, headers, look);
    const { hash, ...agent } = await authenticateAgent(exchange.headers, deps, params.activationId ?? "", lookUp);
    const { activationId } = agent;
    await limitAgent(limiter, config.rates, activationId, headers);
    authoriseAgent(agent, endpoint);
    const context: AgentContext = { ...base, workspaceId: agent.workspaceId, agent };
    // Asked again where the write happens: a pause that was committed meanwhile counts.
    const confirm = (tx: Tx): Promise<unknown> => admitAgent(tx, hash, clock.now());
    const caller: Caller = {
      id: activationId,
      context,
      confirm,
      // Nothing but a file is large.
      maxBody: endpoint.form ? config.maxBodyBytes * BASE64 : Math.min(config.maxBodyBytes, AGENT_BODY_BYTES),
      limit: (input) => limitWork(limiter, config.rates, activationId, endpoint, input, headers),
    };
    const serve = (): Promise<HttpResponse> => answerCaller(exchange, endpoint, handler, caller, params, headers);
    return endpoint.form ? uploads.ofAgents.around(activationId, exchange.signal(), serve) : serve();
  };

  const open: Perform = async (exchange, endpoint, handler, base, headers) => {
    if (endpoint.access === "dev") guardDev(exchange, exchange.remoteAddress);
    let body: Input = {};
    let context = base;
    // Whoever has shown no key sends little.
    const most = endpoint.access === "dev" ? config.maxBodyBytes : Math.min(config.maxBodyBytes, PUBLIC_BODY_BYTES);
    if (endpoint.raw) {
      const raw: RawBody = { bytes: await exchange.body(most), headers: exchange.headers };
      context = { ...base, ...raw };
    } else if (endpoint.body) {
      checkMediaType(exchange.headers);
      body = parseJson(await exchange.body(most));
    }
    const output = await (handler as RunAny)(
      parseInput(endpoint, paramsOf(exchange), endpoint.query ? exchange.search() : null, body),
      context,
    );
    // What a captured mail brings along is no page of ours: whoever opens it in a browser sees it without scripts or origin.
    if (endpoint.access === "dev" && endpoint.produces)
      headers.push(["content-security-policy", "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'"]);
    if (endpoint.produces)
      return buildResponse(listStatuses(endpoint)[0] ?? 200, `${endpoint.produces}; charset=utf-8`, output as string, headers);
    return buildResponse(listStatuses(endpoint)[0] ?? 200, "application/json", JSON.stringify(output), headers);
  };

  const performOf = (access: Endpoint["access"]): Perform => {
    if (access === "public" || access === "dev") return open;
    if (access === "operator") return forOperators;
    return isForAgents(access) ? forAgents : keyed;
  };

  const route = (endpoint: Endpoint, handler: AnyHandler) => {
    const perform = performOf(endpoint.access);
    return async (exchange: HttpRequest): Promise<Response> => {
      const requestId = ids("req");
      const headers: HeaderList = [["x-request-id", requestId]];
      if (flight.draining) headers.push(["connection", "close"]);
      flight.count += 1;
      if (flight.count >= CROWDED_AT) flight.crowdedAt = clock.real.now();
      try {
        const base: PublicContext = {
          deps,
          requestId,
          check,
          header: (name) => exchange.headers.get(name),
          signal: () => exchange.signal(),
        };
        if (faults?.any && endpoint.access !== "dev")
          return exchange.respond(
            await faults.around(endpoint.method, exchange.pathname(), headers, () => perform(exchange, endpoint, handler, base, headers)),
          );
        return exchange.respond(await perform(exchange, endpoint, handler, base, headers));
      } catch (error) {
        // A fault rule that cuts the connection; in-process callers see it by the header.
        if (faults?.any && headers.some(([name]) => name === DROP_HEADER)) exchange.cut();
        return exchange.respond(errorResponse(asApiError(error, endpoint, requestId, deps), requestId, headers));
      } finally {
        flight.count -= 1;
      }
    };
  };

  const direct = new Map<string, (exchange: HttpRequest) => Promise<Response>>();
  const methods = new Map<string, string[]>();
  for (const [noun, group] of Object.entries(contract)) {
    for (const [verb, endpoint] of Object.entries(group)) {
      if (endpoint.access === "dev" && !config.dev) continue;
      const serve = route(endpoint, handlers[noun]?.[verb] as AnyHandler);
      const handle = (event: H3Event): Promise<Response> => serve(new RoutedRequest(event));
      for (const path of [endpoint.path, ...(endpoint.aliases ?? [])]) {
        app.on(endpoint.method, path, handle);
        if (endpoint.method === "GET") app.on("HEAD", path, handle);
        else if (!path.includes(":")) direct.set(`${endpoint.method} ${path}`, serve);
        const shape = nameless(path);
        methods.set(shape, [...(methods.get(shape) ?? []), endpoint.method]);
      }
    }
  }

  const refuse =
    (make: () => ApiError) =>
    (event: H3Event): Response => {
      const requestId = ids("req");
      return sendResponse(event, errorResponse(make(), requestId, [["x-request-id", requestId]]));
    };
  for (const [path, allowed] of methods) {
    const allow = allowed.join(", ");
    app.all(
      path,
      refuse(() => new ApiError("method_not_allowed", `This path answers ${allow} only.`, { headers: { allow } })),
    );
  }
  app.all(
    "/**",
    refuse(() => new ApiError("not_found", "There is nothing at this path.", { hint: "The API is described at /openapi.json." })),
  );
  return {
    h3: app,
    direct: (req, res) => {
      const serve = direct.get(`${req.method} ${req.url}`);
      if (!serve) return false;
      // An answer that cannot be written ends its own connection only.
      serve(new DirectRequest(req, res)).catch(() => void res.destroy());
      return true;
    },
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalid("", "invalid_path", "The path is not valid: what follows a % must be UTF-8 in hexadecimal digits.");
  }
}

/**
 * The path parameters, decoded whole: the router leaves `%2F`, `%25` and everything beyond ASCII as it came. Throws
 * ApiError validation_error, also for a control character: no id has one, and Postgres refuses NUL.
 */
function paramsOf(exchange: HttpRequest): Record<string, string> {
  const params: Record<string, string> = {};
  for (const [name, text] of Object.entries(exchange.params())) {
    const value = decoded(text);
    if (/\p{Cc}/u.test(value)) throw invalid(name, "invalid_characters", `${name} holds no control characters.`);
    params[name] = value;
  }
  return params;
}

/** Whatever was thrown, as an answer. What we did not foresee is logged whole and answered without its text. */
function asApiError(error: unknown, endpoint: Endpoint | null, requestId: string, { log }: Deps): ApiError {
  if (error instanceof ApiError) {
    if (error.status >= 500) log.error(error.message, { requestId, cause: String(error.cause) });
    return error;
  }
  if (error instanceof StorageUnavailable) {
    log.error(error.message, { requestId });
    return new ApiError("storage_unavailable", error.message, { headers: { "retry-after": "1" } });
  }
  if (error instanceof Unstorable)
    return invalid("", "invalid_characters", "A text in this request holds NUL (\\u0000) or another character that cannot be stored.");
  log.error("a request failed in a way nobody foresaw", {
    requestId,
    error: error instanceof Error ? (error.stack ?? error.message) : String(error),
  });
  if (endpoint?.errors?.includes("queue_failed")) return new ApiError("queue_failed", "The email could not be queued.");
  return new ApiError("internal_error", "Something went wrong on our side.");
}

/** A path by its shape: paths that differ only in how their parameters are called are one. */
function nameless(path: string): string {
  let count = 0;
  return path.replace(/:\w+/g, () => `:x${count++}`);
}
