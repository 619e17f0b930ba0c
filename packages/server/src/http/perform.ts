import { isForAgents, listStatuses, type StreamMessage } from "@mailsvc/sdk/contract";
import { PAGE_POLICY } from "../html/page.ts";
import { ApiError } from "../lib/api-error.ts";
import { CHUNK_BYTES, waitForTurn } from "../lib/turn.ts";
import { Admission, type AdmissionParts, PUBLIC_BODY_BYTES } from "./admission.ts";
import { isForm } from "./body/form.ts";
import { checkMediaType, parseJson, parseLongJson } from "./body/json.ts";
import { type BodyMemory, type BodyShare, FREE_BYTES } from "./body/read.ts";
import { readUpload } from "./body/upload.ts";
import type { Call, Caller, Input, RunAny } from "./call.ts";
import type { ChangeRecorder } from "./change-recorder.ts";
import { getClientAddress } from "./client-address.ts";
import type { HttpDeps } from "./deps.ts";
import type { OpenContext } from "./handler.ts";
import type { HeaderList } from "./headers.ts";
import { parseClaim } from "./idempotency.ts";
import { readRevision, toMismatch } from "./if-match.ts";
import { guardDev, guardDevWrite } from "./public/dev-guard.ts";
import { ForgeryLimiter, UploadLimiter } from "./rate-limit.ts";
import { type AnyResponse, buildResponse, buildStream, StaticDocuments, withETag } from "./response.ts";
import { Writes } from "./transaction.ts";
import { parseInput, parseParams } from "./validation.ts";

// A captured mail is hostile content: opened in a browser, it gets neither scripts nor our origin.
const NOTHING = new Uint8Array();

const CAPTURED_MAIL_HEADERS: Readonly<HeaderList> = [
  ["content-security-policy", "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'"],
];

// Pages with a button, such as those of confirmation links: no other site may frame them or see the token in their address.
const PUBLIC_PAGE_HEADERS: Readonly<HeaderList> = [
  ["content-security-policy", PAGE_POLICY],
  ["referrer-policy", "no-referrer"],
];

type Params = Record<string, string>;

interface PerformerParts extends AdmissionParts {
  readonly bodies: BodyMemory;
  readonly changes: ChangeRecorder;
  readonly deps: Pick<HttpDeps, "config" | "db" | "clock" | "storage" | "seal" | "log" | "failedLogins" | "tracing">;
}

/**
 * Takes requests from their keys to their responses: authenticate, take from the rate limit, authorize, read and validate the
 * input, run the handler, in this order.
 */
export class Performer {
  readonly #deps: PerformerParts["deps"];
  readonly #admission: Admission;
  readonly #writes: Writes;
  readonly #bodies: BodyMemory;
  readonly #forgeries: ForgeryLimiter;
  readonly #documents = new StaticDocuments();
  readonly #developerUploads = new UploadLimiter("key", 100);
  readonly #agentUploads = new UploadLimiter("activation", 16);

  constructor(parts: PerformerParts) {
    this.#deps = parts.deps;
    this.#bodies = parts.bodies;
    this.#admission = new Admission(parts);
    this.#writes = new Writes(parts.deps, parts.changes);
    this.#forgeries = new ForgeryLimiter(parts.deps.clock);
  }

  /** Runs a call by the access that its endpoint requires. Throws ApiError. */
  async perform(call: Call): Promise<AnyResponse> {
    const { access } = call.endpoint;
    if (access === "public" || access === "dev") return this.#performOpen(call);
    if (access === "operator") return this.#serve(call, await this.#admission.admitOperator(call), parseParams(call.request));
    if (isForAgents(access)) {
      const params = parseParams(call.request);
      return this.#limitUploads(this.#agentUploads, call, await this.#admission.admitAgent(call, params.activationId ?? ""), params);
    }
    const caller = await this.#admission.admitDeveloper(call);
    return this.#limitUploads(this.#developerUploads, call, caller, parseParams(call.request));
  }

  /** Serves a public or dev endpoint, which takes no key. */
  async #performOpen(call: Call): Promise<AnyResponse> {
    const { request, endpoint, headers } = call;
    const dev = endpoint.access === "dev";
    if (dev) guardDev(request, request.remoteAddress);
    if (dev && endpoint.method !== "GET") guardDevWrite(request);
    const context: OpenContext<HttpDeps> = { ...call.base, isOperator: () => this.#admission.isOperator(call) };
    const maxBody = dev ? this.#deps.config.maxBodyBytes : Math.min(this.#deps.config.maxBodyBytes, PUBLIC_BODY_BYTES);
    if (endpoint.raw) {
      const address = getClientAddress(request.remoteAddress, request.headers.get("x-forwarded-for"), this.#deps.config.trustedProxies);
      return this.#forgeries.run(address, headers, async () => {
        const raw = { bytes: await request.body(maxBody), headers: request.headers };
        return this.#answerOpen(call, {}, { ...context, ...raw });
      });
    }
    if (!endpoint.body) return this.#answerOpen(call, {}, context);
    checkMediaType(request.headers);
    return this.#answerOpen(call, parseJson(await request.body(maxBody)), context);
  }

  async #answerOpen({ request, endpoint, handler, headers }: Call, body: Input, context: OpenContext<HttpDeps>): Promise<AnyResponse> {
    const input = parseInput(endpoint, parseParams(request), request.search(), body);
    const run = (): Promise<unknown> => (handler as RunAny)(input, context);
    if (endpoint.etag) return this.#documents.respond(endpoint, run, request.headers, headers);
    const output = await run();
    const status = listStatuses(endpoint)[0] ?? 200;
    if (!endpoint.produces) return buildResponse(status, "application/json", JSON.stringify(output), headers);
    if (endpoint.access === "dev") headers.push(...CAPTURED_MAIL_HEADERS);
    else if (endpoint.produces === "text/html") headers.push(...PUBLIC_PAGE_HEADERS);
    return buildResponse(status, `${endpoint.produces}; charset=utf-8`, output as string, headers);
  }

  async #limitUploads(uploads: UploadLimiter, call: Call, caller: Caller, params: Params): Promise<AnyResponse> {
    const serve = (): Promise<AnyResponse> => this.#serve(call, caller, params);
    return call.endpoint.form ? uploads.run(caller.id, call.request.signal(), serve) : serve();
  }

  async #serve(call: Call, caller: Caller, params: Params): Promise<AnyResponse> {
    return call.endpoint.method === "GET" ? this.#read(call, caller, params) : this.#write(call, caller, params);
  }

  async #read(call: Call, admitted: Caller, params: Params): Promise<AnyResponse> {
    const { endpoint, handler, request, headers } = call;
    const input = parseInput(endpoint, params, request.search(), {});
    const context = admitted.settle ? await admitted.settle(input) : admitted.context;
    const caller = { ...admitted, context };
    if (endpoint.stream) return this.#stream(call, caller, input);
    const read = { ...context, read: this.#deps.db.read };
    const output = await (endpoint.waits ? this.#wait(call, caller, input) : (handler as RunAny)(input, read));
    if (typeof output === "string" && endpoint.produces) return buildResponse(200, `${endpoint.produces}; charset=utf-8`, output, headers);
    if (output instanceof Uint8Array && endpoint.produces) return buildResponse(200, endpoint.produces, output, headers);
    const json = JSON.stringify(output);
    return endpoint.etag ? withETag(json, request.headers, headers) : buildResponse(200, "application/json", json, headers);
  }

  /** Performs a read that may wait: it ends when the client leaves or the key is revoked. A revoked key gets nothing that comes later. */
  async #wait({ handler, request }: Call, { context, watch, recheck }: Caller, input: Input): Promise<unknown> {
    const over = new AbortController();
    const revoked = watch?.(over.signal);
    const signal = AbortSignal.any([request.signal(), ...(revoked ? [revoked] : [])]);
    const run = (handler as RunAny)(input, { ...context, signal: () => signal, read: this.#deps.db.read });
    const [done] = await Promise.allSettled([run]);
    over.abort();
    if (recheck) await recheck();
    // Another process has revoked it, and the cache of this one does not know yet.
    if (revoked?.aborted) throw new ApiError("key_revoked", "This API key was revoked while the request waited.");
    if (done.status === "rejected") throw done.reason;
    return done.value;
  }

  /** A response that goes on until the client leaves. A revoked key ends the connection, also one whose client does not read. */
  async #stream({ handler, request, headers }: Call, { context, watch }: Caller, input: Input): Promise<AnyResponse> {
    const over = new AbortController();
    const end = (): void => over.abort();
    const left = request.signal();
    left.addEventListener("abort", end, { once: true });
    const signals = [left];
    if (watch) {
      const revoked = watch(over.signal);
      revoked.addEventListener("abort", () => request.cut(), { once: true, signal: over.signal });
      signals.push(revoked);
    }
    const signal = AbortSignal.any(signals);
    try {
      const messages = await (handler as RunAny)(input, { ...context, signal: () => signal, read: this.#deps.db.read });
      return buildStream(thenCall(messages as AsyncIterable<StreamMessage<unknown>>, end), headers);
    } catch (error) {
      end();
      throw error;
    }
  }

  async #write(call: Call, caller: Caller, params: Params): Promise<AnyResponse> {
    const share = this.#bodies.open();
    try {
      return await this.#writeWithin(share, call, caller, params);
    } finally {
      share.release();
    }
  }

  async #writeWithin(share: BodyShare, call: Call, admitted: Caller, params: Params): Promise<AnyResponse> {
    const { endpoint, handler, request, headers, received } = call;
    let caller = admitted;
    const { lowDisk } = this.#deps.storage;
    // Deleting is how room is made.
    if (lowDisk !== null && endpoint.method !== "DELETE")
      throw new ApiError("storage_unavailable", lowDisk, { headers: { "retry-after": "30" } });
    if (!endpoint.raw && !(endpoint.form && isForm(request.headers))) checkMediaType(request.headers);
    let bytes = await request.body(caller.maxBody, share);
    received(bytes.length);
    if (bytes.length > FREE_BYTES) await share.work(bytes.length);
    if (caller.recheck) await caller.recheck();
    // Receiving, reading, parsing, checking and decoding 20 MB of attachments each take up to 60 ms.
    const isLarge = bytes.length > CHUNK_BYTES;
    if (isLarge) await waitForTurn();
    const upload = endpoint.form ? readUpload(endpoint, request.headers, bytes) : null;
    const body = endpoint.raw
      ? {}
      : (upload?.fields ?? (isLarge ? await parseLongJson(bytes, endpoint.bodyIs) : parseJson(bytes, endpoint.bodyIs)));
    // Parsed, a large body is not kept as bytes besides.
    if (!endpoint.raw) bytes = NOTHING;
    if (!endpoint.body && !endpoint.ignoresUnknown && Object.keys(body).length > 0)
      throw new ApiError("validation_error", "This endpoint takes no body.");
    if (isLarge) await waitForTurn();
    const named = readRevision(endpoint, request.headers);
    const input = parseInput(endpoint, params, request.search(), named === null ? body : { ...body, revision: named });
    if (isLarge) await waitForTurn();
    if (caller.settle) caller = { ...caller, context: await caller.settle(input) };
    if (caller.limit) await caller.limit(input);
    const file = upload && (await upload.file());
    const more = endpoint.raw ? { raw: Buffer.from(bytes).toString("base64") } : file && { contentBase64: file.sha256 };
    const claim = await parseClaim(request.headers, caller.id, endpoint, { ...input, ...more });
    const extra = endpoint.raw ? { bytes, headers: request.headers } : file && { file };
    const informed = extra ? { ...caller, context: { ...caller.context, ...extra } } : caller;
    const result = await this.#writes.run({ endpoint, handler, input, caller: informed }, claim).catch((error: unknown) => {
      throw named === null ? error : toMismatch(error);
    });
    if (result.replayed) headers.push(["idempotency-replayed", "true"]);
    return buildResponse(result.status, "application/json", result.answer, headers);
  }
}

/** The same messages; calls `end` after the last one, or when nobody wants more. */
async function* thenCall<T>(messages: AsyncIterable<T>, end: () => void): AsyncGenerator<T> {
  try {
    yield* messages;
  } finally {
    end();
  }
}
