import { type Endpoint, isForAgents, listStatuses, type StreamMessage } from "@mailsvc/sdk/contract";
import type { Tx } from "../db/db.ts";
import type { Deps } from "../deps.ts";
import { PAGE_POLICY } from "../html/page.ts";
import { ApiError } from "../lib/api-error.ts";
import type { Limiter } from "../lib/rate.ts";
import { CHUNK_BYTES, waitForTurn } from "../lib/turn.ts";
import {
  authenticateAgent,
  authenticateDeveloper,
  authenticateOperator,
  authorizeAgent,
  authorizeDeveloper,
  type CountRefusals,
  type DeveloperKey,
  type KeyLookup,
} from "./auth.ts";
import { isForm } from "./body/form.ts";
import { checkMediaType, parseJson, parseLongJson } from "./body/json.ts";
import { readUpload } from "./body/upload.ts";
import { getClientAddress } from "./client-address.ts";
import { FailedAuthLimiter } from "./failed-auth-limiter.ts";
import { ForgeryLimiter } from "./forgery-limiter.ts";
import type { AgentContext, KeyContext, PublicContext, RawBody } from "./handler.ts";
import type { HeaderList } from "./headers.ts";
import { parseClaim } from "./idempotency.ts";
import { guardDev } from "./public/dev-guard.ts";
import { limitAgent, limitAgentWork, limitDeveloper } from "./rate-limit.ts";
import type { HttpRequest } from "./request.ts";
import { type AnyResponse, buildResponse, buildStaticResponse, buildStream, withETag } from "./response.ts";
import { type AnyHandler, type Caller, createWriter, type Input, type RunAny } from "./transaction.ts";
import { UploadLimiter } from "./upload-limiter.ts";
import { parseInput, parseParams } from "./validation.ts";

// A captured mail is hostile content: opened in a browser, it gets neither scripts nor our origin.
const CAPTURED_MAIL_HEADERS: Readonly<HeaderList> = [
  ["content-security-policy", "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'"],
];

// Pages with a button, such as those of confirmation links: no other site may frame them or see the token in their address.
const PUBLIC_PAGE_HEADERS: Readonly<HeaderList> = [
  ["content-security-policy", PAGE_POLICY],
  ["referrer-policy", "no-referrer"],
];

const MB = 1024 * 1024;
// The largest body of an agent's call that is no upload: a landing page of half a megabyte with each character escaped.
const AGENT_BODY_BYTES = 4 * MB;
// The largest body without a key, or with the operator key: Stripe's events are a few kilobytes.
const PUBLIC_BODY_BYTES = MB;
// Base64 takes a third more than the bytes it encodes.
const BASE64_OVERHEAD = 4 / 3;

/** A request to an endpoint, on its way to the handler. */
export interface Call {
  readonly request: HttpRequest;
  readonly endpoint: Endpoint;
  readonly handler: AnyHandler;
  readonly base: PublicContext;
  /** Headers of the response, added to on the way; also those of an error. */
  readonly headers: HeaderList;
  /** The id of the key, once it is known: for the access log. */
  keyId?: string;
}

export type Perform = (call: Call) => Promise<AnyResponse>;

export interface PerformParts {
  readonly deps: Deps;
  readonly keys: KeyLookup;
  readonly limiter: Limiter;
}

/**
 * Makes what takes a request from its key to its response: authenticate, take from the rate limit, authorize, read and validate
 * the input, run the handler, in this order. Gives a function that chooses by an endpoint's access.
 */
export function createPerform({ deps, keys, limiter }: PerformParts): (endpoint: Endpoint) => Perform {
  const { config, db, clock, storage, random } = deps;
  const { rates } = config;
  const write = createWriter(deps);
  const forgeries = new ForgeryLimiter(clock);
  const failedAuth = new FailedAuthLimiter({ limiter, rate: rates.agent, clock });
  const developerUploads = new UploadLimiter("key", 100);
  const agentUploads = new UploadLimiter("activation", 16);

  const countRefusals =
    ({ headers }: Call): CountRefusals =>
    (hash, lookUp) =>
      failedAuth.run(hash, headers, lookUp);

  /** Counts an invalid key against the client's address. */
  const countFailure = (call: Call, error: unknown): never => {
    const { request, headers } = call;
    if (error instanceof ApiError && error.code === "unauthorized" && request.remoteAddress !== undefined)
      failedAuth.countInvalidKey(getClientAddress(request.remoteAddress, request.headers.get("x-forwarded-for")), headers);
    throw error;
  };

  const read = async (call: Call, { context }: Caller, params: Record<string, string>): Promise<AnyResponse> => {
    const { endpoint, request, headers } = call;
    const output = await (call.handler as RunAny)(parseInput(endpoint, params, request.search(), {}), { ...context, read: db.read });
    if (endpoint.stream) return buildStream(output as AsyncIterable<StreamMessage<unknown>>, headers);
    if (typeof output === "string" && endpoint.produces) return buildResponse(200, `${endpoint.produces}; charset=utf-8`, output, headers);
    const json = JSON.stringify(output);
    return endpoint.etag ? withETag(json, request.headers, headers) : buildResponse(200, "application/json", json, headers);
  };

  const mutate = async (call: Call, caller: Caller, params: Record<string, string>): Promise<AnyResponse> => {
    const { endpoint, handler, request, headers } = call;
    // Deleting is how room is made.
    if (storage.lowDisk !== null && endpoint.method !== "DELETE")
      throw new ApiError("storage_unavailable", storage.lowDisk, { headers: { "retry-after": "30" } });
    if (!endpoint.raw && !(endpoint.form && isForm(request.headers))) checkMediaType(request.headers);
    const bytes = await request.body(caller.maxBody);
    // Receiving, reading, parsing, checking and decoding 20 MB of attachments each take up to 50 ms.
    const isLarge = bytes.length > CHUNK_BYTES;
    if (isLarge) await waitForTurn();
    const upload = endpoint.form ? readUpload(endpoint, request.headers, bytes) : null;
    const body = endpoint.raw ? {} : (upload?.fields ?? (isLarge ? await parseLongJson(bytes, random) : parseJson(bytes)));
    if (!endpoint.body && Object.keys(body).length > 0) throw new ApiError("validation_error", "This endpoint takes no body.");
    if (isLarge) await waitForTurn();
    const input = parseInput(endpoint, params, request.search(), body);
    if (isLarge) await waitForTurn();
    if (caller.limit) await caller.limit(input);
    const file = upload && (await upload.file());
    // A repeated form has other boundaries, so its fields and file are compared, not its bytes.
    const compared = file ? Buffer.from(JSON.stringify({ ...body, contentBase64: file.sha256 })) : bytes;
    const claim = parseClaim(request.headers, caller.id, endpoint, params, compared);
    const extra = endpoint.raw ? { bytes, headers: request.headers } : file && { file };
    const informed = extra ? { ...caller, context: { ...caller.context, ...extra } } : caller;
    const stored = await write(endpoint, handler, input, informed, claim);
    if (stored.replayed) headers.push(["idempotency-replayed", "true"]);
    return buildResponse(stored.status, "application/json", stored.answer, headers);
  };

  const serve = (call: Call, caller: Caller, params: Record<string, string>): Promise<AnyResponse> =>
    call.endpoint.method === "GET" ? read(call, caller, params) : mutate(call, caller, params);

  const performForDeveloper: Perform = (call) => {
    const { request, endpoint, base, headers } = call;
    const admit = (key: DeveloperKey): Promise<AnyResponse> => {
      authorizeDeveloper(key, endpoint);
      const context: KeyContext = { ...base, workspaceId: key.workspaceId, key };
      const params = parseParams(request);
      if (!endpoint.form) return serve(call, { id: key.id, context, maxBody: config.maxBodyBytes }, params);
      const caller: Caller = { id: key.id, context, maxBody: config.maxBodyBytes * BASE64_OVERHEAD };
      return developerUploads.run(key.id, request.signal(), () => serve(call, caller, params));
    };
    const limitAndAdmit = (key: DeveloperKey): Promise<AnyResponse> => {
      call.keyId = key.id;
      const limiting = limitDeveloper(limiter, rates, key.id, endpoint, headers);
      return limiting ? limiting.then(() => admit(key)) : admit(key);
    };
    // The key is nearly always cached; another promise costs a microsecond.
    let key: DeveloperKey | Promise<DeveloperKey>;
    try {
      key = authenticateDeveloper(request.headers, keys, countRefusals(call));
    } catch (error) {
      return countFailure(call, error);
    }
    return key instanceof Promise ? key.catch((error: unknown) => countFailure(call, error)).then(limitAndAdmit) : limitAndAdmit(key);
  };

  const performForOperator: Perform = async (call) => {
    const { request, endpoint, base, headers } = call;
    await authenticateOperator(request.headers, keys, countRefusals(call)).catch((error: unknown) => countFailure(call, error));
    call.keyId = "operator";
    await limitDeveloper(limiter, rates, "operator", endpoint, headers);
    const caller: Caller = { id: "operator", context: base, maxBody: Math.min(config.maxBodyBytes, PUBLIC_BODY_BYTES) };
    return serve(call, caller, parseParams(request));
  };

  const performForAgent: Perform = async (call) => {
    const { request, endpoint, base, headers } = call;
    const params = parseParams(request);
    const { hash, ...agent } = await authenticateAgent(
      request.headers,
      keys,
      db.read,
      params.activationId ?? "",
      countRefusals(call),
    ).catch((error: unknown) => countFailure(call, error));
    const { activationId } = agent;
    call.keyId = activationId;
    await limitAgent(limiter, rates, activationId, headers);
    authorizeAgent(agent, endpoint);
    const context: AgentContext = { ...base, workspaceId: agent.workspaceId, agent };
    const caller: Caller = {
      id: activationId,
      context,
      // Checked again in the write's transaction: a pause committed meanwhile counts.
      confirm: (tx: Tx) => keys.admitAgent(tx, hash),
      maxBody: endpoint.form ? config.maxBodyBytes * BASE64_OVERHEAD : Math.min(config.maxBodyBytes, AGENT_BODY_BYTES),
      limit: (input) => limitAgentWork(limiter, rates, activationId, endpoint, input, headers),
    };
    const run = (): Promise<AnyResponse> => serve(call, caller, params);
    return endpoint.form ? agentUploads.run(activationId, request.signal(), run) : run();
  };

  /** Public and dev endpoints, which take no key. */
  const performOpen: Perform = (call) => {
    if (!call.endpoint.raw) return open(call);
    const address = getClientAddress(call.request.remoteAddress, call.request.headers.get("x-forwarded-for"));
    return forgeries.run(address, call.headers, () => open(call));
  };

  const open: Perform = async ({ request, endpoint, handler, base, headers }) => {
    const dev = endpoint.access === "dev";
    if (dev) guardDev(request, request.remoteAddress);
    let body: Input = {};
    let context = base;
    const maxBody = dev ? config.maxBodyBytes : Math.min(config.maxBodyBytes, PUBLIC_BODY_BYTES);
    if (endpoint.raw) {
      const raw: RawBody = { bytes: await request.body(maxBody), headers: request.headers };
      context = { ...base, ...raw };
    } else if (endpoint.body) {
      checkMediaType(request.headers);
      body = parseJson(await request.body(maxBody));
    }
    const output = await (handler as RunAny)(parseInput(endpoint, parseParams(request), request.search(), body), context);
    const status = listStatuses(endpoint)[0] ?? 200;
    if (endpoint.etag) return buildStaticResponse(output as object, request.headers, headers);
    if (!endpoint.produces) return buildResponse(status, "application/json", JSON.stringify(output), headers);
    if (dev) headers.push(...CAPTURED_MAIL_HEADERS);
    else if (endpoint.produces === "text/html") headers.push(...PUBLIC_PAGE_HEADERS);
    return buildResponse(status, `${endpoint.produces}; charset=utf-8`, output as string, headers);
  };

  return ({ access }) => {
    if (access === "public" || access === "dev") return performOpen;
    if (access === "operator") return performForOperator;
    return isForAgents(access) ? performForAgent : performForDeveloper;
  };
}
