import { UsageError } from "../errors.ts";
import { type CallOptions, checkRetries, checkTimeout, type Settings } from "../options.ts";
import type { Bytes } from "./binary.ts";
import { checkHeader, mergeHeaders } from "./headers.ts";

/** A call before the client's settings are applied. */
export interface CallRequest {
  readonly method: string;
  /** Path and query, to be appended to the base URL. */
  readonly target: string;
  readonly body: string | Bytes | undefined;
  /** The media type of the body; JSON when absent. */
  readonly contentType?: string;
  readonly accept: string;
  /** True to send the API key; public and dev endpoints need none. `if-known`: send it if the client has one. */
  readonly authorize: boolean | "if-known";
  /** True if the server stores idempotency keys for this endpoint; writes then get one by default. */
  readonly keyed: boolean;
  /** Time the server may wait before it responds; added to the client's default time limits. */
  readonly longPollMs: number;
  readonly options: CallOptions;
}

/** A call after settings are applied. Every attempt sends exactly this; only the API key may change. */
export interface PreparedRequest {
  readonly method: string;
  readonly path: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Bytes | undefined;
  readonly authorize: boolean;
  readonly idempotencyKey: string | null;
  /** True if a retry is safe: a read, or a write with an idempotency key. */
  readonly repeatable: boolean;
  readonly timeoutMs: number;
  readonly attemptTimeoutMs: number;
  readonly maxRetries: number;
  readonly signal: AbortSignal | undefined;
}

const READS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/** Applies the client's settings to a call. Throws UsageError. */
export function prepareRequest(call: CallRequest, settings: Settings): PreparedRequest {
  const { method, target, body, options, longPollMs } = call;
  const limit = (name: "timeoutMs" | "attemptTimeoutMs"): number => {
    const own = options[name];
    return own === undefined ? settings[name] + longPollMs : checkTimeout(name, own);
  };
  const type = body === undefined ? {} : { "content-type": call.contentType ?? "application/json" };
  const merged = mergeHeaders({ accept: call.accept }, type, settings.headers, options.headers);
  const { "idempotency-key": given, ...headers } = merged;
  const idempotencyKey = resolveIdempotencyKey(call, given, settings);
  const authorize = call.authorize !== false && headers.authorization === undefined;
  if (authorize && call.authorize === true && settings.apiKey === undefined && settings.requireKey) {
    throw new UsageError({
      message: `${method} ${target.split("?", 1)[0]} needs an API key, and the client has none.`,
      hint: "Pass apiKey to the client or set MAILSVC_API_KEY. `mailsvc dev` prints a key for this machine.",
    });
  }
  return {
    method,
    path: target.split("?", 1)[0] ?? target,
    url: settings.baseUrl + target,
    headers: idempotencyKey === null ? headers : { ...headers, "idempotency-key": idempotencyKey },
    body,
    authorize,
    idempotencyKey,
    repeatable: READS.has(method) || idempotencyKey !== null,
    timeoutMs: limit("timeoutMs"),
    attemptTimeoutMs: limit("attemptTimeoutMs"),
    maxRetries: checkRetries(options.maxRetries ?? settings.maxRetries),
    signal: options.signal,
  };
}

function resolveIdempotencyKey({ method, keyed, options }: CallRequest, given: string | undefined, settings: Settings): string | null {
  if (READS.has(method)) return null;
  const key = options.idempotencyKey ?? given ?? (keyed && settings.idempotencyKey !== false && settings.idempotencyKey());
  if (key === false) return null;
  checkHeader("idempotency-key", key, "The idempotency key");
  if (key.trim() === "") throw new UsageError({ message: "The idempotency key is empty." });
  return key;
}
