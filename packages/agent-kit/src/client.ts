import { AGENT_ENDPOINTS, type AgentApi, type AgentEndpoint } from "./contract.generated.ts";
import { AgentApiError, AgentConnectionError, AgentDeactivatedError, AgentPausedError, isTransient, UsageError } from "./errors.ts";
import { randomFraction, randomToken, sleep } from "./runtime.ts";
import type { Telemetry } from "./telemetry.ts";

/** Options of a single call. */
export interface CallOptions {
  /** Ends the call. */
  signal?: AbortSignal | undefined;
  /** Repeating a write with the same key does not act twice. By default each call has one of its own, the same for its retries. */
  idempotencyKey?: string | undefined;
  /** @internal Called with the status of a success: 201 for what is new, 200 for what a repeat found. */
  onStatus?: ((status: number) => void) | undefined;
  /** @internal How long to wait before a repeat at most, ms, whatever the service asks for. By default a minute. */
  maxWaitMs?: number | undefined;
}

/**
 * The API of one activation: `client.<noun>.<verb>(...)`, each limited to the scopes the brand granted. Calls throw AgentApiError,
 * AgentConnectionError, and AgentPausedError or AgentDeactivatedError without asking the service once an event has said so. A call that
 * waits for its next attempt when the agent stops throws AgentStoppedError.
 */
export interface AgentClient extends AgentApi<CallOptions> {
  readonly activationId: string;
}

interface ClientOptions {
  readonly activationId: string;
  readonly baseUrl: string;
  readonly fetch: typeof fetch;
  /** Gives the key before each attempt; throws while the activation is paused or deactivated. */
  readonly authorize: () => Promise<string>;
  /** Performs each call. */
  readonly around?: <T>(call: () => Promise<T>) => Promise<T>;
  /** Called when a call was refused for good. */
  readonly onRefused: (error: unknown) => void;
  readonly telemetry: Telemetry;
  /** Aborts when the agent stops, with the error that calls throw instead of being repeated. */
  readonly stopped: AbortSignal;
}

const ATTEMPTS = 5;
const BASE_MS = 250;
const CAP_MS = 8000;
// A service or a proxy may ask for hours, and no handler should hang for so long.
const MAX_WAIT_MS = 60_000;
const TIMEOUT_MS = 30_000;

/** The client of an activation. It retries what can succeed later, with backoff and an Idempotency-Key for writes. */
export function createClient(options: ClientOptions): AgentClient {
  const nouns = Object.entries(AGENT_ENDPOINTS).map(([noun, verbs]) => [
    noun,
    Object.fromEntries(
      Object.entries(verbs).map(([verb, endpoint]) => [verb, (...args: unknown[]) => call(options, `${noun}.${verb}`, endpoint, args)]),
    ),
  ]);
  return Object.assign(Object.fromEntries(nouns), { activationId: options.activationId }) as AgentClient;
}

async function call(client: ClientOptions, label: string, [method, path, takesInput]: AgentEndpoint, args: unknown[]): Promise<unknown> {
  const params = path.match(/:\w+/g) ?? [];
  let target = `/api/agents/activations/${encodeURIComponent(client.activationId)}${path}`;
  params.forEach((name, i) => {
    const value = args[i];
    if (typeof value !== "string" || value === "" || /^\.{1,2}$/.test(value))
      throw new UsageError(`${label}: ${name.slice(1)} is missing.`);
    target = target.replace(name, encodeURIComponent(value));
  });
  const input = (takesInput ? args[params.length] : undefined) ?? {};
  const { signal, idempotencyKey = randomToken(), onStatus, maxWaitMs } = (args[params.length + (takesInput ? 1 : 0)] ?? {}) as CallOptions;
  if (typeof input !== "object" || Array.isArray(input)) throw new UsageError(`${label}: the input must be an object.`);
  const isRead = method === "GET";
  const url = client.baseUrl + target + (isRead ? toQuery(input) : "");
  const body = isRead || !takesInput ? null : JSON.stringify(input);
  const { around = (perform) => perform() }: Pick<ClientOptions, "around"> = client;
  return around(() =>
    client.telemetry({ name: "call", attributes: { activationId: client.activationId, endpoint: label } }, () =>
      sendUntilAnswered(client, { method, url, body, idempotencyKey, signal, onStatus, maxWaitMs }),
    ),
  );
}

interface ClientRequest extends CallOptions {
  readonly method: string;
  readonly url: string;
  readonly body: string | null;
  readonly idempotencyKey: string;
}

/** Sends a request, again after what can succeed later. */
async function sendUntilAnswered(
  client: ClientOptions,
  { method, url, body, idempotencyKey, signal, onStatus, maxWaitMs = MAX_WAIT_MS }: ClientRequest,
): Promise<unknown> {
  const isRead = method === "GET";
  for (let attempt = 1; ; attempt += 1) {
    signal?.throwIfAborted();
    const apiKey = await client.authorize();
    const headers = {
      authorization: `Bearer ${apiKey}`,
      ...(!isRead && { "idempotency-key": idempotencyKey }),
      ...(body !== null && { "content-type": "application/json" }),
    };
    const outcome = await send(client, url, { method, body, headers }, signal);
    if (!("error" in outcome)) {
      onStatus?.(outcome.status);
      return outcome.data;
    }
    const { error, retryAfterMs } = outcome;
    if (!isTransient(error) && !isInProgress(error)) {
      client.onRefused(error);
      throw error;
    }
    if (attempt >= ATTEMPTS) throw error;
    const wait = Math.min(maxWaitMs, retryAfterMs ?? randomFraction() * Math.min(CAP_MS, BASE_MS * 2 ** attempt));
    await sleep(wait, AbortSignal.any([client.stopped, signal ?? client.stopped]));
    client.stopped.throwIfAborted();
  }
}

function isInProgress(error: unknown): boolean {
  return error instanceof AgentApiError && error.code === "idempotency_in_progress";
}

type Outcome = { data: unknown; status: number } | { error: unknown; retryAfterMs: number | null };

async function send(client: ClientOptions, url: string, init: RequestInit, signal: AbortSignal | undefined): Promise<Outcome> {
  const limit = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const response = await client.fetch(url, { ...init, redirect: "error", signal: signal ? AbortSignal.any([signal, limit]) : limit });
    const text = await response.text();
    if (response.ok) return { data: text === "" ? null : JSON.parse(text), status: response.status };
    const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
    return { error: toError(client.activationId, response, text), retryAfterMs: seconds >= 0 ? seconds * 1000 : null };
  } catch (cause) {
    signal?.throwIfAborted();
    const message = cause instanceof Error ? cause.message : String(cause);
    return { error: new AgentConnectionError(`No answer from ${new URL(url).origin}: ${message}`, { cause }), retryAfterMs: null };
  }
}

function toError(activationId: string, response: Response, text: string): Error {
  const { code = "unexpected_answer", message = `The answer has status ${response.status}.`, details = [] } = readError(text);
  if (code === "activation_paused") return new AgentPausedError(activationId, null);
  if (code === "key_revoked") return new AgentDeactivatedError(activationId, null);
  return new AgentApiError({ code, message, details, status: response.status, requestId: response.headers.get("x-request-id") });
}

function readError(text: string): Partial<Pick<AgentApiError, "code" | "message" | "details">> {
  try {
    return (JSON.parse(text) as { error?: Partial<AgentApiError> }).error ?? {};
  } catch {
    return {};
  }
}

function toQuery(input: object): string {
  const entries = Object.entries(input).filter(([, value]) => value !== undefined);
  return entries.length === 0 ? "" : `?${new URLSearchParams(entries.map(([name, value]) => [name, String(value)]))}`;
}
